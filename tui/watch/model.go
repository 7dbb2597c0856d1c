package watch

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/waybill-dev/waybill/tui/screen"
)

// tab is one of the lists that the view shows.
type tab uint8

const (
	tabJobs tab = iota
	tabQueues
	tabWorkers
	tabScheduled
	tabWorkflows
	tabs
)

var tabNames = [tabs]string{"Jobs", "Queues", "Workers", "Scheduled", "Workflows"}

// hasJobs tells whether a tab's lines are jobs, which have details and logs.
func (t tab) hasJobs() bool { return t == tabJobs || t == tabScheduled }

// arrangement is how the Jobs tab shows jobs.
type arrangement uint8

const (
	asTree arrangement = iota
	asLayers
	asList
	arrangements
)

var arrangementNames = [arrangements]string{"tree", "layers", "list"}

// model is the view's state. Everything in it comes from messages; what it causes are commands.
type model struct {
	o      Options
	take   tea.Cmd                                     // waits for the next screen.Events
	after  func(time.Duration, func() tea.Msg) tea.Cmd // a message after a while
	keys   keyMap
	styles styles

	width, height int
	now           time.Time
	mouse         bool

	fleet     *fleet
	tab       tab
	focus     pane
	alone     bool // the focused pane is shown without the others
	arranged  arrangement
	jobs      finder // of the Jobs tab, as a list
	scheduled finder
	tree      tree
	layers    layers
	others    [tabs]cursor // of tabs without jobs
	detailTop int          // lines of the detail that are scrolled out

	subject subject
	typing  *string   // the filter as it is being typed
	asked   *question // waits for yes or no
	acting  bool      // an action is on its way
	help    bool
	helpTop int
	notice  notice
	stops   int // how often its user asked to stop
}

// notice is what came of something, until it is old or a key is pressed.
type notice struct {
	text string
	bad  bool
	at   time.Time
}

// noticeFor is how long a notice stands.
const noticeFor = 15 * time.Second

// tickMsg moves running times, ages and rates on.
type tickMsg time.Time

// stoppedMsg tells that the wish to stop has been passed on.
type stoppedMsg struct{}

const tickEvery = time.Second

func newModel(o Options, r *lipgloss.Renderer, take tea.Cmd) *model {
	return &model{o: o, take: take, after: later, keys: newKeyMap(), styles: newStyles(r), width: 80, height: 24, mouse: true, fleet: newFleet(),
		jobs: finder{query: query{scope: o.Workflow, scoped: o.Workflow != ""}}, scheduled: finder{query: query{scheduled: true}}}
}

// Init asks for the first events and the first tick.
func (m *model) Init() tea.Cmd { return tea.Batch(m.take, m.tick(0)) }

func (m *model) tick(after time.Duration) tea.Cmd {
	now := m.o.Now
	return m.after(after, func() tea.Msg { return tickMsg(now()) })
}

func later(d time.Duration, msg func() tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg() })
}

// stop passes on the wish to stop.
func (m *model) stop() tea.Cmd {
	m.stops++
	n, stop := m.stops, m.o.Stop
	m.subject.drop()
	return tea.Sequence(func() tea.Msg {
		if stop != nil {
			stop(n)
		}
		return stoppedMsg{}
	}, tea.Quit)
}

// suspend stops the process as the user asks.
func (m *model) suspend() tea.Cmd {
	suspend := m.o.Suspend
	if suspend == nil {
		return nil
	}
	return func() tea.Msg {
		suspend()
		return nil
	}
}

// layout is where everything stands now.
func (m *model) layout() layout {
	return lay(m.width, m.height, len(m.foot()), m.focus, m.alone, m.tab == tabJobs && m.arranged == asLayers, m.tab.hasJobs())
}

// styles are the looks that the watch view has beside those of all views.
type styles struct {
	screen.Styles
	selected, marked lipgloss.Style
}

func newStyles(r *lipgloss.Renderer) styles {
	return styles{Styles: screen.NewStyles(r), selected: r.NewStyle().Reverse(true), marked: r.NewStyle().Bold(true)}
}
