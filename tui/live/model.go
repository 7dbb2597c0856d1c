package live

import (
	"time"

	"github.com/charmbracelet/bubbles/help"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// tickMsg moves the running times on.
type tickMsg time.Time

// stoppedMsg tells that the wish to stop has been passed on.
type stoppedMsg struct{}

// model is the live view's state. Everything in it comes from messages; what it causes are commands.
type model struct {
	o      Options
	take   tea.Cmd // waits for the next screen.Events
	keys   keyMap
	styles screen.Styles
	help   help.Model

	board         *board.Board
	width, height int
	began, now    time.Time
	top           int // first line of the body that is shown
	moreFailures  bool
	showDone      bool
	stops         int // how often the user asked to stop
}

// tickEvery is how often running times are drawn anew.
const tickEvery = time.Second

func newModel(o Options, r *lipgloss.Renderer, take tea.Cmd) model {
	quit := "detach"
	switch {
	case o.Watch:
		quit = "quit"
	case o.OwnWorker:
		quit = "stop"
	}
	m := model{o: o, take: take, keys: newKeyMap(quit), styles: screen.NewStyles(r), board: board.New(), width: 80, height: 24}
	m.help = m.styles.Help()
	return m
}

// Init asks for the first events and the first tick.
func (m model) Init() tea.Cmd { return tea.Batch(m.take, m.tick(0)) }

// tick reads the clock after a while.
func (m model) tick(after time.Duration) tea.Cmd {
	now := m.o.Now
	return tea.Tick(after, func(time.Time) tea.Msg { return tickMsg(now()) })
}

// stop passes on the n-th wish to stop.
func (m model) stop(n int) tea.Cmd {
	stop := m.o.Stop
	return func() tea.Msg {
		if stop != nil {
			stop(n)
		}
		return stoppedMsg{}
	}
}
