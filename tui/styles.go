package tui

import (
	"github.com/charmbracelet/bubbles/help"
	"github.com/charmbracelet/lipgloss"

	"github.com/waybill-dev/waybill/conveyor"
)

// styles are the looks of the live view. They use the terminal's own sixteen colours, which its owner has chosen to be
// readable on the background, so the terminal need not be asked for it.
type styles struct {
	title, faint, header    lipgloss.Style
	good, bad, busy, notice lipgloss.Style
	barRest                 lipgloss.Style
}

func newStyles(r *lipgloss.Renderer) styles {
	colour := func(c string) lipgloss.Style { return r.NewStyle().Foreground(lipgloss.Color(c)) }
	return styles{
		title: r.NewStyle().Bold(true), header: r.NewStyle().Bold(true), faint: r.NewStyle().Faint(true),
		good: colour("2"), bad: colour("1"), busy: colour("6"), notice: colour("3"), barRest: r.NewStyle().Faint(true),
	}
}

// of is the style of a job in this state.
func (s styles) of(state conveyor.State) lipgloss.Style {
	switch sectionOf(state) {
	case sectionFailed:
		return s.bad
	case sectionRunning, sectionClosing:
		return s.busy
	case sectionDone:
		return s.good
	default:
		return s.faint
	}
}

func (s styles) help() help.Styles {
	return help.Styles{
		Ellipsis: s.faint, ShortKey: s.title, ShortDesc: s.faint, ShortSeparator: s.faint,
		FullKey: s.title, FullDesc: s.faint, FullSeparator: s.faint,
	}
}
