package screen

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Fit cuts lines to the terminal's size.
func Fit(lines []string, width, height int) string {
	if len(lines) > height {
		lines = lines[:height]
	}
	cut := make([]string, len(lines))
	for i, line := range lines {
		cut[i] = Cut(line, width)
	}
	return strings.Join(cut, "\n")
}

// Cut shortens a line to width cells; what is left out shows as an ellipsis.
func Cut(line string, width int) string {
	if ansi.StringWidth(line) <= width {
		return line
	}
	return ansi.Truncate(line, max(0, width), "…")
}

// Spread puts one text left and one right in a line of width cells. The right one goes when there is too little room.
func Spread(left, right string, width int) string {
	rw := ansi.StringWidth(right)
	room := width - rw - 1
	if room < 10 {
		return Cut(left, width)
	}
	left = Cut(left, room)
	return left + strings.Repeat(" ", width-rw-ansi.StringWidth(left)) + right
}

// Bar shows how much of total is good and how much bad, width cells wide.
func (s Styles) Bar(good, bad, total, width int) string {
	if width <= 0 {
		return ""
	}
	goodCells, badCells := cells(good, total, width), 0
	if bad > 0 {
		badCells = max(1, cells(good+bad, total, width)-goodCells)
		goodCells = min(goodCells, width-badCells)
	}
	return s.Good.Render(strings.Repeat("█", goodCells)) + s.Bad.Render(strings.Repeat("█", badCells)) +
		s.BarRest.Render(strings.Repeat("░", width-goodCells-badCells))
}

// cells is the share n of total in a bar of width cells; full only when n is.
func cells(n, total, width int) int {
	if total <= 0 || n <= 0 {
		return 0
	}
	if n >= total {
		return width
	}
	return int(int64(n) * int64(width) / int64(total))
}
