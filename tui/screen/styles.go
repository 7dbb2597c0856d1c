package screen

import (
	"io"

	"github.com/charmbracelet/bubbles/help"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"github.com/waybill-dev/waybill/conveyor"
)

// Styles are the looks of views. They use the terminal's own sixteen colours, which its owner has chosen to be readable
// on the background, so the terminal need not be asked for it.
type Styles struct {
	Title, Faint, Header    lipgloss.Style
	Good, Bad, Busy, Notice lipgloss.Style
	BarRest                 lipgloss.Style
}

// NewStyles returns the looks as a renderer's terminal can show them.
func NewStyles(r *lipgloss.Renderer) Styles {
	colour := func(c string) lipgloss.Style { return r.NewStyle().Foreground(lipgloss.Color(c)) }
	return Styles{
		Title: r.NewStyle().Bold(true), Header: r.NewStyle().Bold(true), Faint: r.NewStyle().Faint(true),
		Good: colour("2"), Bad: colour("1"), Busy: colour("6"), Notice: colour("3"), BarRest: r.NewStyle().Faint(true),
	}
}

// Renderer is the renderer for a terminal. The NO_COLOR variable does the same as noColor.
func Renderer(out io.Writer, noColor bool) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(out)
	if NoColor(noColor) {
		r.SetColorProfile(termenv.Ascii)
	}
	return r
}

// NoColor tells whether nothing is coloured, by option or by the NO_COLOR variable.
func NoColor(option bool) bool { return option || termenv.EnvNoColor() }

// Of is the style of a job in this state.
func (s Styles) Of(state conveyor.State) lipgloss.Style {
	switch state {
	case conveyor.StateFailed, conveyor.StateCancelled, conveyor.StateExpired, conveyor.StateOnHold:
		return s.Bad
	case conveyor.StateRunning, conveyor.StateClosing:
		return s.Busy
	case conveyor.StateCompleted:
		return s.Good
	default:
		return s.Faint
	}
}

// Mark is a job's state in one cell.
func Mark(s conveyor.State) string {
	switch s {
	case conveyor.StateCompleted:
		return "✓"
	case conveyor.StateFailed:
		return "✗"
	case conveyor.StateRunning:
		return "▶"
	case conveyor.StateClosing:
		return "◆"
	case conveyor.StateCancelled, conveyor.StateExpired, conveyor.StateSkipped, conveyor.StateObsolete:
		return "–"
	case conveyor.StateOnHold:
		return "!"
	case conveyor.StateScheduled:
		return "◷"
	case conveyor.StateQueued:
		return "·"
	default:
		return "∙"
	}
}

// Help returns a help line in these looks.
func (s Styles) Help() help.Model {
	h := help.New()
	h.Styles = help.Styles{
		Ellipsis: s.Faint, ShortKey: s.Title, ShortDesc: s.Faint, ShortSeparator: s.Faint,
		FullKey: s.Title, FullDesc: s.Faint, FullSeparator: s.Faint,
	}
	h.ShortSeparator, h.FullSeparator, h.Ellipsis = " · ", "   ", "…"
	return h
}
