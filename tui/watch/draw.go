package watch

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/waybill-dev/waybill/tui/screen"
)

// fill makes a text exactly width cells wide.
func fill(s string, width int) string {
	if width <= 0 {
		return ""
	}
	w := ansi.StringWidth(s)
	if w > width {
		s = screen.Cut(s, width)
		w = ansi.StringWidth(s)
	}
	return s + strings.Repeat(" ", max(0, width-w))
}

// right puts a text at the right end of a column.
func right(s string, width int) string {
	if w := ansi.StringWidth(s); w < width {
		return strings.Repeat(" ", width-w) + s
	}
	return fill(s, width)
}

// choice is the look of the chosen line; where keys go elsewhere it is less loud.
func (s styles) choice(focused bool) lipgloss.Style {
	if focused {
		return s.selected
	}
	return s.marked
}

// rule is the title of a pane; a heavy line shows where keys go.
func (m *model) rule(title, note string, width int, focused bool) string {
	dash, style := "─", m.styles.Faint
	if focused {
		dash, style = "━", m.styles.Title
	}
	if width < 4 {
		return style.Render(strings.Repeat(dash, max(0, width)))
	}
	title = screen.Cut(title, width-4)
	used := ansi.StringWidth(title) + 3
	if note != "" && width-used-4 >= 6 {
		note = screen.Cut(note, width-used-4)
	} else {
		note = ""
	}
	rest := width - used
	if note != "" {
		rest -= ansi.StringWidth(note) + 3
		note = style.Render(" ") + m.styles.Faint.Render(note) + style.Render(" "+dash)
	}
	return style.Render(dash+" ") + m.styles.Title.Render(title) + style.Render(" "+strings.Repeat(dash, max(0, rest))) + note
}

// column is one column of a table.
type column struct {
	head  string
	width int
	right bool
}

// tableLine lays out cells by columns, one cell apart by two.
func tableLine(columns []column, cells []string) string {
	var b strings.Builder
	for i, c := range columns {
		if c.width <= 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("  ")
		}
		if c.right {
			b.WriteString(right(cells[i], c.width))
		} else {
			b.WriteString(fill(cells[i], c.width))
		}
	}
	return b.String()
}

// heads are the columns' titles.
func heads(columns []column) []string {
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = c.head
	}
	return cells
}

// taken is how wide columns are together.
func taken(columns []column) int {
	w := 0
	for _, c := range columns {
		if c.width > 0 {
			w += c.width + 2
		}
	}
	return max(0, w-2)
}

// wrapped breaks plain text at spaces.
func wrapped(s string, width int) []string {
	if width <= 0 {
		return nil
	}
	return strings.Split(ansi.Wrap(s, width, ""), "\n")
}

// lower begins a sentence's words in the middle of a line.
func lower(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// over lays a box over the middle of lines.
func over(lines []string, box []string, width int) []string {
	boxWidth := 0
	for _, b := range box {
		boxWidth = max(boxWidth, ansi.StringWidth(b))
	}
	x, y := max(0, (width-boxWidth)/2), max(0, (len(lines)-len(box))/2)
	for i, b := range box {
		if y+i >= len(lines) {
			break
		}
		line := fill(lines[y+i], width)
		lines[y+i] = ansi.Cut(line, 0, x) + fill(b, min(boxWidth, width)) + ansi.Cut(line, x+boxWidth, width)
	}
	return lines
}

// framed puts a box around lines; a frame of characters shows without colours too.
func (m *model) framed(title string, inner []string, width int) []string {
	out := make([]string, 0, len(inner)+2)
	head := "┏━ " + screen.Cut(title, max(0, width-6)) + " "
	out = append(out, m.styles.Title.Render(head+strings.Repeat("━", max(0, width-ansi.StringWidth(head)-1))+"┓"))
	side := m.styles.Title.Render("┃")
	for _, line := range inner {
		out = append(out, side+" "+fill(line, width-4)+" "+side)
	}
	return append(out, m.styles.Title.Render("┗"+strings.Repeat("━", max(0, width-2))+"┛"))
}
