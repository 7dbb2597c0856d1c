package tui

import (
	"bytes"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

const (
	// maxLine is how many bytes of a source line a diagnostic shows. People write shorter ones; a name or text of a megabyte would
	// bury what is said about it.
	maxLine = 512
	// clipBefore is how many of these come before the place itself.
	clipBefore = 128
	ellipsis   = "..."
)

// excerpt is the source line that a range starts in, or the part of a long one around that.
type excerpt struct {
	code       []byte
	start, end int // of the range within code
	clipped    bool
}

// cut finds the excerpt of a range; false when the range is not of this file.
func cut(src []byte, r hcl.Range) (excerpt, bool) {
	if r.Start.Byte < 0 || r.Start.Byte > len(src) {
		return excerpt{}, false
	}
	begin, end := bytes.LastIndexByte(src[:r.Start.Byte], '\n')+1, len(src)
	if n := bytes.IndexByte(src[r.Start.Byte:], '\n'); n >= 0 {
		end = r.Start.Byte + n
	}
	stop := max(r.Start.Byte, min(r.End.Byte, end))
	if end-begin <= maxLine {
		return excerpt{code: src[begin:end], start: r.Start.Byte - begin, end: stop - begin}, true
	}
	from := max(begin, r.Start.Byte-clipBefore)
	for from > begin && !utf8.RuneStart(src[from]) {
		from--
	}
	to := min(end, from+maxLine)
	for to < end && to > r.Start.Byte && !utf8.RuneStart(src[to]) {
		to--
	}
	x := excerpt{clipped: true}
	if from > begin {
		x.code = append(x.code, ellipsis...)
	}
	x.start = len(x.code) + r.Start.Byte - from
	x.end = len(x.code) + min(stop, to) - from
	x.code = append(x.code, src[from:to]...)
	if to < end {
		x.code = append(x.code, ellipsis...)
	}
	return x, true
}
