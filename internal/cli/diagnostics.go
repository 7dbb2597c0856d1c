package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/tui"
	"github.com/waybill-dev/waybill/tui/screen"
)

// complain writes an error to stderr.
func (a *app) complain(err error) {
	diags, files := asDiagnostics(a.rights.explain(err))
	a.show(diags, files)
}

// show writes diagnostics to stderr, each with the lines of the source that it is about.
func (a *app) show(diags hcl.Diagnostics, files map[string]*hcl.File) {
	if len(diags) == 0 {
		return
	}
	if a.compact && !diags.HasErrors() {
		writeCompact(a.p.Stderr, a.ink(a.p.Stderr), diags)
		return
	}
	fmt.Fprint(a.p.Stderr, "\n"+a.rendered(diags, files))
}

// rendered is diagnostics as people read them, as wide as stderr is.
func (a *app) rendered(diags hcl.Diagnostics, files map[string]*hcl.File) string {
	return renderedFor(diags, files, width(a.p.Stderr), a.ink(a.p.Stderr).On)
}

// renderedFor is diagnostics for a stream of some width, 0 for any.
func renderedFor(diags hcl.Diagnostics, files map[string]*hcl.File, width uint, colour bool) string {
	var b strings.Builder
	ink := tui.Ink{On: colour}
	for _, d := range diags {
		head := ink.Red("Error")
		if d.Severity == hcl.DiagWarning {
			head = ink.Yellow("Warning")
		}
		fmt.Fprintf(&b, "%s: %s\n\n", head, screen.CleanText(d.Summary))
		if d.Subject != nil {
			if file := files[d.Subject.Filename]; file != nil && file.Bytes != nil {
				b.WriteString(tui.Source(d, file, ink))
			} else {
				b.WriteString(unseenPlace(d))
			}
		}
		b.WriteString(screen.CleanText(valuesOf(d)))
		if d.Detail != "" {
			b.WriteString(ansi.Wordwrap(screen.CleanText(d.Detail), int(width), "") + "\n\n")
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// unseenPlace names the place of a diagnostic of which no line can be shown: a file or folder as a whole, unless the detail names it, or a
// file that may hold what is not to be shown.
func unseenPlace(d *hcl.Diagnostic) string {
	name := screen.CleanText(d.Subject.Filename)
	if d.Subject.Empty() {
		if name == "" || strings.Contains(d.Detail, d.Subject.Filename) {
			return ""
		}
		return "  on " + name + "\n\n"
	}
	return fmt.Sprintf("  on %s line %d\n\n", name, d.Subject.Start.Line)
}

// valuesOf tells, a line each, what the references in a diagnostic's expression stood for.
func valuesOf(d *hcl.Diagnostic) string {
	var b strings.Builder
	for _, v := range tui.Values(d) {
		fmt.Fprintf(&b, "    %s %s\n", v.Traversal, v.Statement)
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// width is how wide lines for a stream may be, in cells: its terminal's width, or 0 for as wide as they are.
func width(stream io.Writer) uint {
	f, ok := stream.(*os.File)
	if !ok || !terminal(stream) {
		return 0
	}
	w, _, err := term.GetSize(f.Fd())
	if err != nil || w < 20 {
		return 78
	}
	return uint(w)
}
