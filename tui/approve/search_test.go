package approve

import (
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

func TestSearchFindsEveryLine(t *testing.T) {
	t.Parallel()
	m := play(started(testOptions(sales(t))), tea.WindowSizeMsg{Width: 100, Height: 40}, "e")
	lines := whole(m)
	for _, text := range []string{"extract", "EU", "forces", "sensitive", "weight", "nowhere", "東京", `"de"`} {
		m := play(m, "/", text, "enter")
		var want, got []string
		heads := 0
		for _, l := range lines {
			if m.search.pattern.in(l) {
				want = append(want, l)
			}
		}
		for i := range m.search.hits() {
			h := m.search.hit(i)
			if h.line == onItself {
				heads++
				continue
			}
			got = append(got, "    "+m.list.changes.lines(h.number, m.list.width)[h.line].String())
		}
		for _, l := range got {
			if !slices.Contains(want, strings.TrimRight(l, " ")) {
				t.Errorf("%s: found %q, in which it does not stand", text, l)
			}
		}
		if len(got)+heads == 0 && len(want) > 0 {
			t.Errorf("%s: found nothing, and it stands in %q", text, want)
		}
	}
}

// TestNextMatchGoesRound presses n until it has seen every match, and N back.
func TestNextMatchGoesRound(t *testing.T) {
	t.Parallel()
	m := play(started(testOptions(sales(t))), "/", "uuid", "enter")
	first, n := m.here(), m.search.hits()
	if n < 3 {
		t.Fatalf("%d matches", n)
	}
	seen := map[hit]bool{first: true}
	for range n - 1 {
		m = play(m, "n")
		seen[m.here()] = true
	}
	if len(seen) != n {
		t.Errorf("saw %d of %d matches", len(seen), n)
	}
	if m = play(m, "n"); m.here() != first {
		t.Errorf("after the last match comes %v, not the first, %v", m.here(), first)
	}
	if m = play(m, "N", "n"); m.here() != first {
		t.Errorf("back and on is %v, not %v", m.here(), first)
	}
}

// TestSearchStops types while a search runs: steps of the one before are not heard, and esc ends it where it began.
func TestSearchStops(t *testing.T) {
	t.Parallel()
	m := started(testOptions(many(t, 4000)))
	began := m.list.cursor
	next, _ := m.Update(keyMsg("/"))
	next, old := next.Update(keyMsg("s"))
	next, cmd := next.Update(keyMsg("t"))
	m = next.(model)
	stale := old()
	if next, cmd := m.Update(stale); cmd != nil || next.(model).search.scanned != 0 {
		t.Error("a step of an earlier search is heard")
	}
	step := cmd().(stepMsg)
	if step.scanned > stepChanges {
		t.Errorf("one step looks at %d changes", step.scanned)
	}
	next, cmd = m.Update(step)
	if m = next.(model); cmd == nil || !strings.Contains(m.position(), "searching, 12%") {
		t.Errorf("after one step of eight the view says %q", m.position())
	}
	next, _ = m.Update(keyMsg("esc"))
	m = next.(model)
	if next, cmd := m.Update(cmd()); cmd != nil || m.search.active() || next.(model).list.cursor != began {
		t.Error("esc does not end the search")
	}
}
