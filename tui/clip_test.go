package tui

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
)

// TestLongLines shows diagnostics about lines of a megabyte: what is around the place, in whole characters, under the line's number.
func TestLongLines(t *testing.T) {
	t.Parallel()
	many := func(s string) string { return strings.Repeat(s, 1<<20/len(s)) }
	for _, row := range []struct {
		name        string
		line        string
		start, end  int // in bytes of the line
		want, marks string
	}{
		{name: "short", line: "job a {", start: 4, end: 5, want: "job a {", marks: "a"},
		{name: "a long name", line: "job " + many("x") + " {", start: 4, end: 4 + 1<<20, want: "job " + strings.Repeat("x", 508) + "...", marks: strings.Repeat("x", 508)},
		{name: "in the middle", line: many("y") + "!" + many("z"), start: 1 << 20, end: 1<<20 + 1,
			want: "..." + strings.Repeat("y", 128) + "!" + strings.Repeat("z", 383) + "...", marks: "!"},
		{name: "at the end", line: many("y") + "!", start: 1 << 20, end: 1<<20 + 1, want: "..." + strings.Repeat("y", 128) + "!", marks: "!"},
		{name: "whole characters", line: many("ü") + "!" + many("é"), start: 1 << 20, end: 1<<20 + 1,
			want: "..." + strings.Repeat("ü", 64) + "!" + strings.Repeat("é", 191) + "...", marks: "!"},
		{name: "from its middle to other lines", line: many("x"), start: 4, end: 1<<20 + 5, want: strings.Repeat("x", 512) + "...", marks: strings.Repeat("x", 508)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			const above = "one\ntwo\n"
			files := map[string]*hcl.File{"x.hcl": {Bytes: []byte(above + row.line + "\nbelow\n")}}
			d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Wrong", Detail: "Because.", Subject: &hcl.Range{Filename: "x.hcl",
				Start: hcl.Pos{Line: 3, Column: row.start + 1, Byte: len(above) + row.start}, End: hcl.Pos{Line: 3, Column: row.end + 1, Byte: len(above) + row.end}}}
			x := snippet(files["x.hcl"].Bytes, *d.Subject)
			if diff := cmp.Diff([]string{row.want, row.marks}, []string{x.Code, x.Code[x.HighlightStart:x.HighlightEnd]}); diff != "" {
				t.Errorf("as JSON (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff("  on x.hcl line 3:\n   3: "+row.want+"\n\n", Source(d, files["x.hcl"], Ink{})); diff != "" {
				t.Errorf("as text (-want +got):\n%s", diff)
			}
		})
	}
}
