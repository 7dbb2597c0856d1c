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

	board *board.Board
	tree  *board.Tree // nil before the jobs are known
	pace  *board.Pace

	width, height int
	began, now    time.Time
	stops         int // how often the user asked to stop

	nameWidth int       // of the longest name with its indent, in cells
	top       int       // first line of the tree that is shown
	pin       board.Ref // what keeps its line on the screen while lines come and go above it
	following bool      // pin is a job that runs; else it is where the user is
	started   []int     // places of jobs in the order in which they began to run; those that do not any more go when met
	folding   folding
	latestBad int // place of the job that failed last, -1 for none
}

// folding is how much of the tree is shown.
type folding uint8

const (
	foldToFit folding = iota // folded if it would not fit on the screen
	foldAlways
	foldNever
)

// tickEvery is how often running times are drawn anew.
const tickEvery = time.Second

func newModel(o Options, r *lipgloss.Renderer, take tea.Cmd) model {
	quit := "detach"
	if o.OwnWorker {
		quit = "stop"
	}
	m := model{o: o, take: take, keys: newKeyMap(quit), styles: screen.NewStyles(r), board: board.New(), pace: &board.Pace{},
		width: 80, height: 24, following: true, latestBad: -1}
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

// suspend stops the process as the user asks.
func (m model) suspend() tea.Cmd {
	suspend := m.o.Suspend
	if suspend == nil {
		return nil
	}
	return func() tea.Msg {
		suspend()
		return nil
	}
}
