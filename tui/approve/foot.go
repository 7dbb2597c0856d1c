package approve

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/x/ansi"

	"github.com/waybill-dev/waybill/tui/screen"
)

// footLines are the counts and below them the keys, the search or the prompt.
func (m *model) footLines() []string {
	var lines []string
	if m.roomy() {
		lines = append(lines, "")
		if f := m.o.Plan.Forecast; f != nil {
			lines = append(lines, m.styles.Faint.Render(screen.Cut(f.Line(), m.width)))
		}
	}
	position := m.position()
	if ansi.StringWidth(m.list.changes.sum)+ansi.StringWidth(position)+1 > m.width {
		position = "" // what is approved matters more
	}
	lines = append(lines, screen.Spread(m.sum(m.width-ansi.StringWidth(position)-1), m.styles.Faint.Render(position), m.width))
	switch {
	case m.prompt.open:
		return append(lines, m.promptLines()...)
	case m.height < 3:
		return lines
	case m.typing.open:
		return append(lines, screen.Cut("/"+m.typing.input.shown(m.width-1), m.width))
	case m.notice != "":
		return append(lines, m.styles.Notice.Render(screen.Cut(m.notice, m.width)))
	case m.showHelp:
		return append(lines, m.help.Styles.ShortDesc.Render(screen.Cut("any key closes this help · y approve", m.width)))
	case m.showForecast:
		return append(lines, m.help.Styles.ShortDesc.Render(screen.Cut("any key closes this forecast · y approve", m.width)))
	case m.why.open:
		return append(lines, m.styles.Faint.Render(screen.Cut("enter goes to the change · w or esc closes · y approve", m.width)))
	}
	return append(lines, m.keyLine())
}

// sum is the sentence that scripts match, and as much of what it does not count as there is room for.
func (m *model) sum(room int) string {
	p := m.o.Plan
	s := m.list.changes.sum
	also := ""
	for _, more := range []struct {
		n                int
		singular, plural string
	}{{m.list.changes.forgotten, "record forgotten", "records forgotten"}, {len(p.Queues), "queue", "queues"}, {len(p.Outputs), "output", "outputs"}} {
		if more.n == 0 {
			continue
		}
		next := also + ", " + count(more.n, more.singular, more.plural)
		if also == "" {
			next = next[2:]
		}
		if ansi.StringWidth(s+next)+3 > room {
			break
		}
		also = next
	}
	s = m.styles.Title.Render(s)
	if also != "" {
		s += m.styles.Faint.Render(" (" + also + ")")
	}
	return s
}

// position says where the search or the cursor stands.
func (m *model) position() string {
	s, c := &m.search, m.list.changes
	if !s.active() {
		l := &m.list
		if number, ok := l.current(); len(l.entries) == 0 || ok && c.list[number].warning != nil {
			return ""
		}
		return grouped(int(l.ranks[l.cursor.at])+1) + " of " + grouped(c.counts[l.tab])
	}
	running := ""
	if s.running(c) {
		running = fmt.Sprintf(" (searching, %d%%)", s.scanned*100/len(c.list))
	}
	n := s.hits()
	if n == 0 {
		if running != "" {
			return strings.Trim(running, " ()")
		}
		return "no match for " + shorten(s.pattern.text, 20)
	}
	if i := s.at(m.here()); i < n && s.hit(i) == m.here() {
		return fmt.Sprintf("match %s of %s%s", grouped(i+1), grouped(n), running)
	}
	return count(n, "match", "matches") + running
}

// keyLine is the line of keys; those that matter less go first when there is little room.
func (m *model) keyLine() string {
	bindings := m.keys.short()
	if m.search.active() {
		bindings = append([]key.Binding{m.keys.Next, m.keys.Prior}, bindings...)
		bindings[0], bindings[1], bindings[2], bindings[3] = bindings[2], bindings[3], bindings[0], bindings[1]
	}
	line, help := "", " · "+m.keys.Help.Help().Key+" "+m.keys.Help.Help().Desc
	for _, b := range bindings {
		part := m.styles.Title.Render(b.Help().Key) + m.styles.Faint.Render(" "+b.Help().Desc)
		if line != "" {
			part = line + m.styles.Faint.Render(" · ") + part
		}
		room := m.width
		if b.Help() != m.keys.Help.Help() {
			room -= ansi.StringWidth(help) // the help names the others
		}
		if ansi.StringWidth(part) > room {
			continue
		}
		line = part
	}
	return line
}

func (m *model) promptLines() []string {
	question := m.styles.Title.Render(screen.Clean(m.o.Question)) + " Only 'yes' will be accepted to approve."
	enter := "Enter a value: "
	line := m.styles.Title.Render(enter) + m.prompt.answer.shown(max(1, m.width-len(enter)))
	hint := m.styles.Faint.Render("enter confirms · esc goes back")
	if m.prompt.wrong != "" {
		hint = m.styles.Notice.Render(screen.Cut(shorten(m.prompt.wrong, 12)+" is not yes", max(1, m.width-len(enter)-6)))
	}
	line = screen.Spread(line, hint, m.width)
	if m.height < 8 {
		return []string{line}
	}
	lines := strings.Split(ansi.Wordwrap(question, m.width, ""), "\n")
	if detail := screen.Clean(m.o.Explanation); detail != "" {
		lines = append(lines, strings.Split(ansi.Wordwrap(detail, m.width, ""), "\n")...)
	}
	if most := max(0, m.height/3); len(lines) > most {
		lines = lines[:most]
	}
	return append(lines, line)
}
