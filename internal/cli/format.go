package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/screen"
)

// format is how a plan is written. The zero value is text.
type format struct {
	name string // of -format
	json bool
}

// The values of -format.
const (
	formatText     = "text"
	formatJSON     = "json"
	formatMarkdown = "markdown"
)

func (f *format) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "format", "", "Write the plan as `text`, json, which is what -json does, or markdown, for a comment below a change that is under review: at most "+
		"60,000 bytes. Default: text.")
}

// settle checks -format against -json, and makes both say the same.
func (f *format) settle() error {
	switch f.name {
	case "", formatText, formatJSON, formatMarkdown:
	default:
		hint := ""
		if n := nearest(f.name, []string{formatText, formatJSON, formatMarkdown}); n != "" {
			hint = fmt.Sprintf(" Did you mean %q?", n)
		}
		return fail("Invalid option", "-format is text, json or markdown, and got %q.%s", f.name, hint)
	}
	if f.json && f.name != "" && f.name != formatJSON {
		return fail("Wrong arguments", "-json is -format=json, and -format=%s says something else. Give one of the two.", f.name)
	}
	f.json = f.json || f.name == formatJSON
	return nil
}

func (f *format) markdown() bool { return f.name == formatMarkdown }

// notes are what is to be said about a plan, as reviewers read it.
func (d difference) notes(files map[string]*hcl.File) []planner.Note {
	notes := notesOf(append(slices.Clone(d.denials), d.diags...), files)
	for _, w := range d.warnings {
		notes = append(notes, planner.Note{Summary: w.Summary, Text: w.Detail})
	}
	return notes
}

// notesOf are diagnostics with the lines of the source that they are about.
func notesOf(diags hcl.Diagnostics, files map[string]*hcl.File) (notes []planner.Note) {
	for _, d := range diags {
		text := renderedFor(hcl.Diagnostics{d}, files, 0, false)
		_, text, _ = strings.Cut(strings.TrimSpace(text), "\n") // the summary, which stands above it
		notes = append(notes, planner.Note{Failed: d.Severity == hcl.DiagError, Summary: screen.CleanText(d.Summary), Text: strings.Trim(text, "\n")})
	}
	return notes
}

// inMarkdown writes why there is no plan in its place. The error goes its way to stderr, too: the comment is for reviewers, and
// stderr for the pipeline's log.
func (a *app) inMarkdown(on bool, err error) error {
	if !on || err == nil {
		return err
	}
	if _, ok := err.(exit); ok || a.stops.interrupted() {
		return err
	}
	if writing := planner.WriteMarkdownFailure(a.p.Stdout, notesOf(asDiagnostics(a.rights.explain(err)))); writing != nil {
		return writing
	}
	return err
}
