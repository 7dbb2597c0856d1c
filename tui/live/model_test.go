package live

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/internal/script"
	"github.com/waybill-dev/waybill/tui/screen"
)

func testModel(o Options) model {
	if o.Now == nil {
		o.Now = func() time.Time { return script.Noon }
	}
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.Ascii)
	return newModel(o, r, func() tea.Msg { return nil })
}

// play feeds messages to a model; an applier.Event stands for a frame with that event, a string for a key.
func play(m model, msgs ...any) model {
	for _, msg := range msgs {
		switch v := msg.(type) {
		case applier.Event:
			msg = screen.Events{Events: []applier.Event{v}}
		case []applier.Event:
			msg = screen.Events{Events: v}
		case string:
			msg = keyMsg(v)
		}
		next, _ := m.Update(msg)
		m = next.(model)
	}
	return m
}

func keyMsg(s string) tea.KeyMsg {
	named := map[string]tea.KeyType{"ctrl+c": tea.KeyCtrlC, "ctrl+z": tea.KeyCtrlZ, "up": tea.KeyUp, "down": tea.KeyDown, "pgup": tea.KeyPgUp,
		"pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd,
		"left": tea.KeyLeft, "right": tea.KeyRight, "enter": tea.KeyEnter, "esc": tea.KeyEsc, "ctrl+f": tea.KeyCtrlF}
	if k, ok := named[s]; ok {
		return tea.KeyMsg{Type: k}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s)}
}

func TestScreens(t *testing.T) {
	t.Parallel()
	holder := applier.Holder{Token: "t", Who: "ada@build-7", Operation: "apply", Since: script.At(-61)}
	tests := []struct {
		name string
		o    Options
		msgs []any
	}{
		{name: "starting"},
		{name: "waiting-for-lock", msgs: []any{
			applier.Opened{Store: "redis://127.0.0.1:6379", Workflow: "sales"}, applier.LockWaiting{Holder: holder, Left: 18 * time.Second}}},
		{name: "submitting", msgs: []any{script.Sales(t)[:2], applier.Submitting{Done: 400, Total: 1000}}},
		{name: "running", o: Options{OwnWorker: true}, msgs: []any{script.Sales(t), tickMsg(script.At(6))}},
		{name: "failed", msgs: []any{script.Broken(t), tickMsg(script.At(10))}},
		{name: "limits", msgs: []any{script.Limited(t), tickMsg(script.At(6))}},
		{name: "expired", msgs: []any{script.Expired(t)[:10], tickMsg(script.At(31))}},
		{name: "warned", msgs: []any{script.Sales(t), applier.Warning{Summary: "No worker serves queue \"etl\"", Detail: "x"}, tickMsg(script.At(2))}},
		{name: "away", msgs: []any{script.Sales(t), script.Away(7), tickMsg(script.At(9))}},
		{name: "retrying", msgs: []any{script.Broken(t)[:len(script.Broken(t))-3], tickMsg(script.At(5))}},
		{name: "on-hold", msgs: []any{script.Stories(t)[6].Events[:4], tickMsg(script.At(6))}},
		{name: "progress", msgs: []any{script.Sales(t), script.Progress(t), tickMsg(script.At(6))}},
		{name: "done-well", msgs: []any{script.FinishedWell(t), tickMsg(script.At(20))}},
		{name: "done-badly", msgs: []any{script.EndedBadly(t), tickMsg(script.At(20))}},
		{name: "many", msgs: []any{script.Shops(t, 1000), tickMsg(script.At(9))}},
		{name: "many-opened", msgs: []any{script.Shops(t, 1000), tickMsg(script.At(9)), "home", " ", "down", "down", " "}},
		{name: "many-next-failure", msgs: []any{script.Shops(t, 1000), tickMsg(script.At(9)), "n", "n"}},
		{name: "many-unfolded-end", msgs: []any{script.Shops(t, 1000), tickMsg(script.At(9)), "a", "end"}},
		{name: "huge", msgs: []any{script.Shops(t, 100_000), tickMsg(script.At(9)), tickMsg(script.At(12))}},
		{name: "stopping", o: Options{OwnWorker: true}, msgs: []any{script.Sales(t), tickMsg(script.At(6)), "ctrl+c"}},
		{name: "detaching", msgs: []any{script.Sales(t), tickMsg(script.At(6)), "q", "q"}},
		{name: "help", msgs: []any{script.Sales(t), tickMsg(script.At(6)), "?"}},
		{name: "destroy", o: Options{Destroy: true}, msgs: []any{script.Sales(t)[:2], applier.Submitting{Done: 2, Total: 5}}},
	}
	sizes := []struct {
		name string
		size tea.WindowSizeMsg
	}{
		{"80x24", tea.WindowSizeMsg{Width: 80, Height: 24}}, {"140x40", tea.WindowSizeMsg{Width: 140, Height: 40}},
		{"40x10", tea.WindowSizeMsg{Width: 40, Height: 10}},
	}
	for _, tt := range tests {
		for _, s := range sizes {
			t.Run(tt.name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				m := play(testModel(tt.o), append([]any{s.size, tickMsg(script.Noon)}, tt.msgs...)...)
				got := m.View()
				script.CheckSize(t, got, s.size.Width, s.size.Height)
				script.CheckGolden(t, "screen/"+tt.name+"-"+s.name, got+"\n")
			})
		}
	}
}

// TestColours draws with sixteen colours, with 256 and with all, on dark and light terminals: it is the same, for the terminal's
// own sixteen are readable on its background. Without the colours the same text stands there.
func TestColours(t *testing.T) {
	t.Parallel()
	draw := func(profile termenv.Profile, dark bool) string {
		r := lipgloss.NewRenderer(io.Discard)
		r.SetColorProfile(profile)
		r.SetHasDarkBackground(dark)
		m := newModel(Options{Now: func() time.Time { return script.Noon }}, r, nil)
		return play(m, tea.WindowSizeMsg{Width: 80, Height: 24}, tickMsg(script.Noon), script.Broken(t), tickMsg(script.At(10)), "n").View()
	}
	want := draw(termenv.ANSI, true)
	script.CheckGolden(t, "screen/failed-16-colours", want+"\n")
	for _, profile := range []termenv.Profile{termenv.ANSI, termenv.ANSI256, termenv.TrueColor} {
		for _, dark := range []bool{true, false} {
			if got := draw(profile, dark); got != want {
				t.Errorf("profile %v, dark %v: %q, with 16 colours on a dark one %q", profile, dark, got, want)
			}
		}
	}
	if plain := draw(termenv.Ascii, true); plain != ansi.Strip(want) {
		t.Errorf("without colours stands %q, with them %q", plain, ansi.Strip(want))
	}
}

// A template never settles: the bar is full without it.
func TestBarWithoutTemplates(t *testing.T) {
	t.Parallel()
	jobs := []applier.Followed{
		{Addr: config.Addr{Name: "once"}, Status: conveyor.Status{UUID: "1", State: conveyor.StateCompleted}},
		{Addr: config.Addr{Name: "nightly"}, Status: conveyor.Status{UUID: "2", State: conveyor.StateTemplate}},
	}
	m := play(testModel(Options{}), tea.WindowSizeMsg{Width: 60, Height: 24}, tickMsg(script.Noon), applier.Following{Jobs: jobs})
	if line := strings.Split(m.View(), "\n")[1]; !strings.HasSuffix(line, "1 of 1 settled") || strings.Contains(line, "░") {
		t.Errorf("the bar is %q", line)
	}
}

// TestPaceOnScreen shows the rate and the time left once they are known, and less of them where there is no room.
func TestPaceOnScreen(t *testing.T) {
	t.Parallel()
	events := script.Shops(t, 1000)
	jobs := events[1].(applier.Following).Jobs
	for _, tt := range []struct {
		width int
		want  string
	}{{140, "400 of 1,001 settled · 10 jobs/s · about 1m00s left"}, {60, " 400 of 1,001 settled · about 1m00s left"}, {45, "400 of 1,001 settled"}, {24, "400 of 1,001 settled"}} {
		t.Run(fmt.Sprint(tt.width), func(t *testing.T) {
			t.Parallel()
			m := play(testModel(Options{}), tea.WindowSizeMsg{Width: tt.width, Height: 24}, tickMsg(script.Noon), events, tickMsg(script.At(0)))
			for i := range 100 {
				s := script.Ended(conveyor.StateCompleted, script.At(1), script.At(2))
				s.UUID = jobs[len(jobs)-102-i].Status.UUID
				m = play(m, applier.JobChanged{Addr: jobs[len(jobs)-102-i].Addr, Status: s, At: script.At(2)})
				if i%10 == 9 {
					m = play(m, tickMsg(script.At(float64(i/10+1))))
				}
			}
			if line := strings.Split(m.View(), "\n")[1]; !strings.HasSuffix(line, tt.want) {
				t.Errorf("the bar is %q, want %q", line, tt.want)
			}
		})
	}
}

func TestStopping(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		keys []string
		want []int
	}{
		{name: "ctrl+c once", keys: []string{"ctrl+c"}, want: []int{1}},
		{name: "ctrl+c twice", keys: []string{"ctrl+c", "ctrl+c"}, want: []int{1, 2}},
		{name: "q twice is once", keys: []string{"q", "q"}, want: []int{1}},
		{name: "q, then ctrl+c", keys: []string{"q", "ctrl+c"}, want: []int{1, 2}},
		{name: "other keys", keys: []string{"a", "f", "?", "up", "x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []int
			var m tea.Model = testModel(Options{Stop: func(n int) { got = append(got, n) }})
			for _, k := range tt.keys {
				var cmd tea.Cmd
				if m, cmd = m.Update(keyMsg(k)); cmd != nil {
					cmd()
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("Stop was called with %v, want %v", got, tt.want)
			}
		})
	}
}

func TestQuitsAtTheEnd(t *testing.T) {
	t.Parallel()
	for name, msg := range map[string]screen.Events{"done": {Events: []applier.Event{applier.Done{}}}, "last event": {Last: true}} {
		_, cmd := testModel(Options{}).Update(msg)
		if cmd == nil {
			t.Fatalf("%s: the view waits for more", name)
		}
		if _, quit := cmd().(tea.QuitMsg); !quit {
			t.Errorf("%s: the view stays", name)
		}
	}
}

// TestHelpNamesBoundKeys checks that every key that a label shows is bound to that label's action.
func TestHelpNamesBoundKeys(t *testing.T) {
	t.Parallel()
	names := map[string]string{"space": " "}
	keys := newKeyMap("quit")
	for _, column := range append(keys.FullHelp(), keys.ShortHelp()) {
		for _, b := range column {
			for _, shown := range strings.Split(b.Help().Key, "/") {
				if name, ok := names[shown]; ok {
					shown = name
				}
				if !key.Matches(keyMsg(shown), b) {
					t.Errorf("the help for %q shows %q, which is not bound to it (%v)", b.Help().Desc, shown, b.Keys())
				}
			}
		}
	}
}

// TestKeysAtOnce types faster than is read.
func TestKeysAtOnce(t *testing.T) {
	t.Parallel()
	start := []any{tea.WindowSizeMsg{Width: 80, Height: 24}, tickMsg(script.Noon), script.Shops(t, 1000), tickMsg(script.At(9))}
	want := play(testModel(Options{}), append(slices.Clone(start), "n", "n", "k", "j", "j")...).View()
	m := play(testModel(Options{}), append(slices.Clone(start), "nnkjj")...)
	if got := m.View(); got != want {
		t.Errorf("at once:\n%s\none by one:\n%s", got, want)
	}
	if pasted := play(m, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("jjq"), Paste: true}); pasted.View() != want || pasted.stops > 0 {
		t.Errorf("pasted keys do something:\n%s", pasted.View())
	}
	if m = play(m, "jqq"); m.stops != 1 {
		t.Errorf("q twice stops %d times", m.stops)
	}
}
