package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/planner"
)

// TestPartsAreTheWhole puts a plan together from its rows, queues and outputs: it is what Render writes of them.
func TestPartsAreTheWhole(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"text", "settings", "edges", "sensitive", "running", "edit_child"} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			folder := "testdata/plans/" + folder
			p := mustMake(t, load(t, folder+"/after.hcl"), goldenState(t, folder), goldenOptions(t, folder))
			for _, width := range []int{0, 60, 100} {
				whole := render(t, p, planner.RenderOptions{Width: width})
				var lines []planner.Line
				for _, r := range p.Rows {
					if r.Action == planner.NoOp {
						continue
					}
					if text := r.Text(planner.RenderOptions{Width: width}); !strings.Contains(whole, "\n"+text) {
						t.Errorf("width %d: the plan lacks\n%s", width, text)
					}
					lines = append(lines, r.Lines(width)...)
				}
				for i := range p.Queues {
					lines = append(lines, p.Queues[i].Lines(width)...)
				}
				lines = append(lines, p.OutputsLines(width)...)
				var want, got []string
				for line := range strings.SplitSeq(whole, "\n") {
					want = append(want, line)
				}
				for _, l := range lines {
					got = append(got, l.String())
				}
				if diff := cmp.Diff(besidesBlank(got), within(besidesBlank(want), besidesBlank(got))); diff != "" {
					t.Errorf("width %d (-parts +whole):\n%s", width, diff)
				}
			}
		})
	}
}

func besidesBlank(lines []string) (rest []string) {
	for _, l := range lines {
		if l != "" {
			rest = append(rest, l)
		}
	}
	return rest
}

// within is what stands between the legend above the first part and the sentences below the last.
func within(whole, parts []string) []string {
	for i, line := range whole {
		if line == parts[0] && len(whole) >= i+len(parts) {
			return whole[i : i+len(parts)]
		}
	}
	return nil
}

func TestLinesKeepLooks(t *testing.T) {
	t.Parallel()
	w := workflowOf("a")
	p := mustMake(t, edited(w, "a", newHandling), stateOf(t, w), planner.Options{})
	var strong, changed []string
	for _, l := range row(t, p, "a").Lines(80) {
		for _, s := range l {
			switch s.Look {
			case planner.Strong:
				strong = append(strong, s.Text)
			case planner.Changed, planner.Added:
				changed = append(changed, s.Text)
			}
		}
	}
	if diff := cmp.Diff([]string{"# job.a"}, strong); diff != "" {
		t.Errorf("strong (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"~", "+"}, changed); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
}

func TestChains(t *testing.T) {
	t.Parallel()
	w := workflowOf("a", "b a", "c a", "d b,c", "e d")
	p := mustMake(t, edited(w, "a", newWork), stateOf(t, w), planner.Options{})
	tell := func(name string, most int) (lines []string) {
		links, whole := planner.NewChains(p).Of(row(t, p, name), most)
		for _, l := range links {
			lines = append(lines, fmt.Sprintf("%s%s %s last=%t again=%t", strings.Repeat("  ", l.Depth), l.Row.Addr, l.Row.Reason, l.Last, l.Again))
		}
		return append(lines, fmt.Sprint("whole=", whole))
	}
	want := []string{
		"job.e upstream_runs_again last=true again=false",
		"  job.d upstream_runs_again last=true again=false",
		"    job.b upstream_runs_again last=false again=false",
		"      job.a work_changed last=true again=false",
		"    job.c upstream_runs_again last=true again=false",
		"      job.a work_changed last=true again=false",
		"whole=true",
	}
	if diff := cmp.Diff(want, tell("e", 100)); diff != "" {
		t.Errorf("chain (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(append(want[:3:3], "whole=false"), tell("e", 3)); diff != "" {
		t.Errorf("three links (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{want[3][6:], "whole=true"}, tell("a", 9)); diff != "" {
		t.Errorf("of a root (-want +got):\n%s", diff)
	}
}
