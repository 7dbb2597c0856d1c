package approve

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/waybill-dev/waybill/tui/screen"
)

// blockMargin is how far the lines of an open change stand from the left.
const blockMargin = 4

// roomy tells whether there is room for empty lines between the parts.
func (m *model) roomy() bool { return m.height >= 14 }

// View draws the screen: a head, the list or what stands in its place, the counts, and the keys or what is being typed. It
// is never wider or taller than the terminal; what is least needed goes first when there is little room.
func (m model) View() string {
	head, foot := m.headLines(), m.footLines()
	room := max(0, m.height-len(head)-len(foot))
	var body []string
	switch {
	case m.showHelp:
		body = m.helpLines(room)
	case m.showForecast:
		body = m.forecastLines(room)
	case m.why.open:
		body = m.whyLines(room)
	default:
		body = m.listLines(room)
	}
	lines := append(head, body...)
	for range room - len(body) {
		lines = append(lines, "")
	}
	return screen.Fit(append(lines, foot...), m.width, m.height)
}

// headLines are the title, why the user is asked again, and the tabs.
func (m *model) headLines() []string {
	var lines []string
	if m.height >= 6 {
		lines = append(lines, m.title())
	}
	if m.o.Again != "" && m.height >= 5 {
		lines = append(lines, m.styles.Notice.Render(screen.Cut("! "+screen.Clean(m.o.Again), m.width)))
	}
	if m.height >= 4 {
		lines = append(lines, m.tabLine())
	}
	if m.roomy() {
		lines = append(lines, "")
	}
	return lines
}

func (m *model) title() string {
	verb := "apply"
	if m.o.Plan.Destroy {
		verb = "destroy"
	}
	title := m.styles.Title.Render(strings.TrimSpace("waybill " + verb + " " + screen.Clean(m.o.Plan.Workflow)))
	if m.o.Store != "" {
		title += m.styles.Faint.Render(" · " + screen.Clean(m.o.Store))
	}
	const aside = "not applied yet"
	if ansi.StringWidth(title)+len(aside)+2 > m.width {
		return screen.Cut(title, m.width)
	}
	return screen.Spread(title, m.styles.Faint.Render(aside), m.width)
}

// helpLines are the keys in columns, as many as there is room for.
func (m *model) helpLines(room int) []string {
	h := m.help
	h.Width = m.width
	lines := strings.Split(strings.TrimRight(h.FullHelpView(m.keys.full()), "\n"), "\n")
	return lines[:min(len(lines), room)]
}
