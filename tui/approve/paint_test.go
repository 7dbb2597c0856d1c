package approve

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/planner"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line  planner.Line
		width int
		want  []string
	}{
		{planner.Line{{Text: "short"}}, 10, []string{"short"}},
		{planner.Line{{Text: "  + a = \"0123456789\""}}, 14, []string{"  + a = \"01234", "      56789\""}},
		{planner.Line{{Text: "  "}, {Text: "+", Look: planner.Added}, {Text: " 東京東京東京"}}, 9, []string{"  + 東京", "東京東京"}},
		{planner.Line{{Text: "東京"}}, 1, []string{"…", "…"}},
		{nil, 5, []string{""}},
	}
	for _, tt := range tests {
		var got []string
		for _, l := range wrap(tt.line, tt.width) {
			got = append(got, l.String())
			if w := ansi.StringWidth(l.String()); w > tt.width {
				t.Errorf("%q is %d cells wide", l.String(), w)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q in %d (-want +got):\n%s", tt.line, tt.width, diff)
		}
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text  string
		width int
		want  string
	}{
		{"job.load", 8, "job.load"}, {`module.west.job.load["eu-west-1"]`, 20, `module.wes…-west-1"]`}, {"東京東京東京", 7, "東…東"}, {"abcdef", 3, "ab…"},
		{"abcdef", 0, ""},
	} {
		got := shorten(tt.text, tt.width)
		if ansi.StringWidth(got) > tt.width || tt.width > 10 && got != tt.want {
			t.Errorf("shorten(%q, %d) is %q", tt.text, tt.width, got)
		}
	}
}
