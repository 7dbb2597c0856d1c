package approve

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

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
	got := play(m, "/", `"job.first[3999]"`, "enter")
	if _, marked, _ := strings.Cut(got.View(), "▌"); !strings.HasPrefix(strings.TrimSpace(marked), `+ "job.first[3999]",`) {
		t.Errorf("the search does not go to its match:\n%s", got.View())
	}
	checkList(t, &got.list)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		keys  []any
		quits bool
		want  Answer
	}{
		{[]any{"y", "e", "s", "enter"}, true, Approved},
		{[]any{"yes", "enter"}, true, Approved},
		{[]any{"y", "yes", "enter"}, true, Approved},
		{[]any{"y", "yes", "backspace", "s", "enter"}, true, Approved},
		{[]any{"y", "enter"}, false, Declined},
		{[]any{"YES", "enter"}, false, Declined},
		{[]any{"y", "esc"}, false, Declined},
		{[]any{"y", "ctrl+u", "enter"}, false, Declined},
		{[]any{"y", "ctrl+u", "no", "enter"}, true, Declined},
		{[]any{"y", "x", "enter", "yes", "enter"}, true, Approved},
		{[]any{"q"}, true, Declined},
		{[]any{"esc"}, true, Declined},
		{[]any{"ctrl+c"}, true, Interrupted},
		{[]any{"y", "yes", "ctrl+c"}, true, Interrupted},
		{[]any{"/", "yes", "enter"}, false, Declined},
		{[]any{"w", "esc"}, false, Declined},
		{[]any{"?", "q"}, false, Declined},
		{[]any{tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("yes\r"), Paste: true}, "enter"}, false, Declined},
		{[]any{"down", "enter", "w"}, false, Declined},
	}
	for _, tt := range tests {
		m := started(testOptions(sales(t)))
		var cmd tea.Cmd
		for _, k := range tt.keys {
			msg, ok := k.(tea.Msg)
			if s, named := k.(string); named {
				msg, ok = keyMsg(s), true
			}
			if !ok {
				t.Fatalf("%v is no message", k)
			}
			var next tea.Model
			next, cmd = m.Update(msg)
			m = next.(model)
		}
		quits := false
		if cmd != nil {
			_, quits = cmd().(tea.QuitMsg)
		}
		if quits != tt.quits || m.answer != tt.want {
			t.Errorf("%v: quits %t with answer %d, want %t with %d", tt.keys, quits, m.answer, tt.quits, tt.want)
		}
	}
}

// TestHelpNamesBoundKeys checks that every key that a label shows is bound to that label's action.
func TestHelpNamesBoundKeys(t *testing.T) {
	t.Parallel()
	names := map[string]string{"space": " "}
	keys := newKeyMap()
	for _, column := range append(keys.full(), keys.short()) {
		for _, b := range column {
			shown := []string{b.Help().Key}
			switch {
			case strings.Contains(shown[0], " "):
				shown = strings.Fields(shown[0])
			case len(shown[0]) > 1:
				shown = strings.Split(shown[0], "/")
			}
			for _, s := range shown {
				if name, ok := names[s]; ok {
					s = name
				}
				if !key.Matches(keyMsg(s), b) {
					t.Errorf("the help for %q shows %q, which is not bound to it (%v)", b.Help().Desc, s, b.Keys())
				}
			}
		}
	}
}

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
