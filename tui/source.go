package tui

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/tui/screen"
)

// maxLines is how many lines of a place in the source are shown.
const maxLines = 40

// Source says where a diagnostic is about, and shows the lines there with the place itself marked. It looks at nothing else of the file:
// there may be a thousand diagnostics about a file of a million lines.
func Source(d *hcl.Diagnostic, file *hcl.File, ink Ink) string {
	var b strings.Builder
	in := ""
	if nav, ok := file.Nav.(interface{ ContextString(int) string }); ok {
		if in = nav.ContextString(d.Subject.Start.Byte); in != "" {
			in = ", in " + screen.Clean(in)
		}
	}
	fmt.Fprintf(&b, "  on %s line %d%s:\n", screen.Clean(d.Subject.Filename), d.Subject.Start.Line, in)
	mark := shownRange(*d.Subject)
	whole := mark
	if d.Context != nil {
		whole = hcl.RangeOver(mark, shownRange(*d.Context))
	}
	if x, ok := cut(file.Bytes, mark); ok && x.clipped { // of a very long line, only what is around the place
		sourceLine(&b, mark.Start.Line, x.code, x.start, x.end, ink)
	} else if ok && whole.Start.Byte >= 0 {
		sourceLines(&b, file.Bytes, whole, mark, ink)
	}
	b.WriteByte('\n')
	return b.String()
}

// shownRange is a range with at least one byte, since nothing cannot be marked.
func shownRange(r hcl.Range) hcl.Range {
	if r.Empty() {
		r.End.Byte++
		r.End.Column++
	}
	return r
}

// sourceLines writes the lines of a range.
func sourceLines(b *strings.Builder, src []byte, whole, mark hcl.Range, ink Ink) {
	begin := bytes.LastIndexByte(src[:min(whole.Start.Byte, len(src))], '\n') + 1
	for n := range maxLines {
		end := len(src)
		if i := bytes.IndexByte(src[begin:], '\n'); i >= 0 {
			end = begin + i
		}
		line := bytes.TrimSuffix(src[begin:end], []byte("\r"))
		if len(line) > maxLine {
			line = line[:maxLine]
		}
		sourceLine(b, whole.Start.Line+n, line, mark.Start.Byte-begin, mark.End.Byte-begin, ink)
		if begin = end + 1; begin >= whole.End.Byte || begin > len(src) {
			return
		}
	}
	b.WriteString("      " + ellipsis + "\n")
}

// sourceLine writes one line, with what is between two offsets marked.
func sourceLine(b *strings.Builder, number int, line []byte, start, end int, ink Ink) {
	start, end = min(max(start, 0), len(line)), min(max(end, 0), len(line))
	marked := screen.Source(string(line[start:end]))
	if start < end {
		marked = ink.wrap("1;4", marked)
	}
	fmt.Fprintf(b, "%4d: %s%s%s\n", number, screen.Source(string(line[:start])), marked, screen.Source(string(line[end:])))
}
