package approve

import (
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/planner"
)

// whole is every line of the list.
func whole(m model) (lines []string) {
	for p := (place{}); ; {
		lines = append(lines, unmarked(m.listLine(p, m.nameColumn())))
		next := m.list.move(p, 1)
		if next == p {
			return lines
		}
		p = next
	}
}

// unmarked is a line without the mark of the cursor.
func unmarked(line string) string {
	return strings.TrimRight(strings.Replace(line, "▌", " ", 1), " ")
}

// TestOpenedIsThePlan opens everything: below each change stands what the planner writes of it.
func TestOpenedIsThePlan(t *testing.T) {
	t.Parallel()
	p := sales(t)
	m := play(started(testOptions(p)), tea.WindowSizeMsg{Width: 300, Height: 100}, "e")
	got := strings.Join(whole(m), "\n")
	for _, r := range p.Rows {
		if r.Action == planner.NoOp {
			continue
		}
		var want []string
		for line := range strings.Lines(r.Text(planner.RenderOptions{Width: 300 - blockMargin})) {
			want = append(want, strings.TrimRight("    "+line, " \n"))
		}
		if !strings.Contains(got, strings.Join(want, "\n")) {
			t.Errorf("the list lacks\n%s", strings.Join(want, "\n"))
		}
	}
	if strings.Contains(got, "s3cr3t") || !strings.Contains(got, "(sensitive value)") {
		t.Error("a sensitive value shows, or nothing stands in its place")
	}
}

// TestScreenIsPartOfTheList scrolls through lists in every way: what is on the screen stands together in the whole.
func TestScreenIsPartOfTheList(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]any{nil, {"e"}, {"e", "-"}, {"end", "enter"}} {
		m := play(started(testOptions(sales(t))), append([]any{tea.WindowSizeMsg{Width: 100, Height: 20}}, keys...)...)
		all := whole(m)
		for _, move := range []string{"down", "down", "pgdown", "]", "up", "pgup", "end", "[", "pgup", "home", "pgdown", "pgdown", "G", "k"} {
			m = play(m, move)
			checkList(t, &m.list)
			var screen []string
			for _, l := range m.listLines(m.list.height) {
				screen = append(screen, unmarked(l))
			}
			if !contains(all, screen) {
				t.Fatalf("keys %v, then %s: the screen is no part of the list:\n%s", keys, move, strings.Join(screen, "\n"))
			}
		}
	}
}

func contains(all, part []string) bool {
	for i := 0; i+len(part) <= len(all); i++ {
		if slices.Equal(all[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// TestTabsListTheirs compares what the tabs list, and count, with the plan.
func TestTabsListTheirs(t *testing.T) {
	t.Parallel()
	m := play(started(testOptions(sales(t))), "e")
	for _, k := range []string{"a", "+", "~", "r", "-", "."} {
		m = play(m, k)
		var names []string
		for _, e := range m.list.entries {
			if e < 0 {
				continue
			}
			c := &m.list.changes.list[e]
			names = append(names, c.name)
			if !c.in(m.list.tab) {
				t.Errorf("%s lists %s", k, c.name)
			}
		}
		if got, want := len(names), m.list.changes.counts[m.list.tab]; got != want {
			t.Errorf("%s lists %d changes and counts %d: %q", k, got, want, names)
		}
	}
}

// TestHeavyBlock opens a job that waits for many others: its block comes when it is drawn, and so does what was looked for.
func TestHeavyBlock(t *testing.T) {
	t.Parallel()
	m := started(testOptions(fanIn(t, heavyEdges+1)))
	next, cmd := play(m, "end").Update(keyMsg("enter"))
	if got := next.(model); got.list.block(got.list.cursor.at) != awaited || cmd == nil {
		t.Error("a heavy block is drawn at once")
	}
	if got := settled(next.(model), cmd); !strings.Contains(got.View(), "# job.last will be created") {
		t.Errorf("the block did not come:\n%s", got.View())
	}
	got := play(m, "/", `job.first[3999],`, "enter")
	if _, marked, _ := strings.Cut(got.View(), "▌"); !strings.HasPrefix(strings.TrimSpace(marked), `+ job.first[3999],`) {
		t.Errorf("the search does not go to its match:\n%s", got.View())
	}
	checkList(t, &got.list)
}
