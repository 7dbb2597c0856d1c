package planner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/planner"
)

// TestSourceClean: what stands in a commit steers no terminal and fills no screen.
func TestSourceClean(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 150)
	for _, row := range []struct {
		name      string
		got, want planner.Source
	}{
		{"nothing", planner.Source{}, planner.Source{}},
		{"first line", planner.Source{Message: "\n more jobs\t, less work \r\n\nbecause"}, planner.Source{Message: "more jobs , less work"}},
		{"escapes", planner.Source{Author: "Ann\x1b[2J\u202e <a@b>", Message: "\x1b]0;owned\x07"}, planner.Source{Author: "Ann[2J <a@b>", Message: "]0;owned"}},
		{"broken", planner.Source{Revision: "c0\xff\x00ffee"}, planner.Source{Revision: "c0ffee"}},
		{"long", planner.Source{Message: long}, planner.Source{Message: long[:196] + "…"}},
		{"time", planner.Source{Time: time.Unix(1e9, 5).In(time.FixedZone("", 3600))}, planner.Source{Time: time.Unix(1e9, 0).UTC()}},
	} {
		if diff := cmp.Diff(row.want, row.got.Clean()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
}
