package approve

import (
	"github.com/charmbracelet/bubbles/help"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/screen"
)

// Answer is how a View ended.
type Answer uint8

// The answers. Whatever ends a view without an answer has declined.
const (
	Declined    Answer = iota
	Approved           // somebody typed yes
	Interrupted        // somebody pressed ctrl+c
)

// model is the view's state. Everything in it comes from messages; what it causes are commands.
type model struct {
	o      Options
	keys   keyMap
	styles styles
	help   help.Model
	chains *planner.Chains // nil until chainsMsg

	width, height int
	list          list
	search        search
	typing        typing
	prompt        prompt
	why           why
	showHelp      bool
	showForecast  bool
	notice        string // said once, until the next key
	answer        Answer
}

// typing is a search that is being typed: it goes on while it is, and esc takes the cursor back.
type typing struct {
	open   bool
	input  input
	from   hit
	before bookmark
}

// styles are the looks of this view.
type styles struct {
	screen.Styles
	hit lipgloss.Style // what a search looks for
	tab lipgloss.Style // the tab that is chosen
}

func newModel(o Options, r *lipgloss.Renderer) model {
	m := model{o: o, keys: newKeyMap(), styles: styles{Styles: screen.NewStyles(r), hit: r.NewStyle().Reverse(true), tab: r.NewStyle().Bold(true).Reverse(true)},
		width: 80, height: 24, list: newList(newChanges(o.Plan, o.Warnings))}
	m.help = m.styles.Help()
	m.layOut()
	return m
}

// chainsMsg brings what explains the changes. Of a large plan it takes a while to make, and not everybody asks why.
type chainsMsg struct{ chains *planner.Chains }

// Init has the chains of causes made.
func (m model) Init() tea.Cmd {
	p := m.o.Plan
	return func() tea.Msg { return chainsMsg{planner.NewChains(p)} }
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

// layOut gives the list the room that is left for it.
func (m *model) layOut() {
	m.list.height = max(1, m.height-len(m.headLines())-len(m.footLines()))
	m.list.width = max(1, m.width-blockMargin)
	m.list.settle()
	m.why.move(0, m.whyHeight())
}

// here is where the cursor stands, as searches tell it.
func (m *model) here() hit {
	number, line := m.list.line()
	return hit{number, line}
}
