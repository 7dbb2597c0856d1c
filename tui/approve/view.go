package approve

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/lipgloss"
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

// tabTexts are the tabs that list something, without styles, and the cells that each begins at.
func (m *model) tabTexts() (which []tab, texts []string, starts []int) {
	for _, words := range []bool{true, false} {
		which, texts, starts = nil, nil, nil
		at := 0
		for t := range tabs {
			n := m.list.changes.counts[t]
			if n == 0 && t != tabAll {
				continue
			}
			text := tabSymbols[t] + " " + grouped(n)
			if words && t != tabAll {
				text += " " + tabWords[t]
			}
			if t == m.list.tab {
				text = "[" + text + "]"
			} else {
				text = " " + text + " "
			}
			which, texts, starts = append(which, t), append(texts, text), append(starts, at)
			at += ansi.StringWidth(text) + 1
		}
		if at <= m.width {
			break
		}
	}
	return which, texts, starts
}

func (m *model) tabLine() string {
	which, texts, _ := m.tabTexts()
	for i, t := range which {
		switch {
		case t == m.list.tab:
			texts[i] = m.styles.tab.Render(texts[i])
		case t != tabAll:
			sign := strings.Join(paintAll(m.symbol(tabSymbols[t])), "")
			texts[i] = " " + strings.TrimLeft(sign, " ") + texts[i][1+len(tabSymbols[t]):]
		}
	}
	return strings.Join(texts, " ")
}

func paintAll(pieces []piece) (painted []string) {
	for _, p := range pieces {
		painted = append(painted, p.style.Render(strings.TrimLeft(p.text, " ")))
	}
	return painted
}

// listLines are as many lines of the list as there is room for.
func (m *model) listLines(room int) []string {
	l := &m.list
	if len(l.entries) == 0 {
		return []string{m.styles.Faint.Render("Nothing changes.")}[:min(1, room)]
	}
	names := m.nameColumn()
	lines := make([]string, 0, room)
	for p := l.top; len(lines) < room; {
		lines = append(lines, m.listLine(p, names))
		next := l.move(p, 1)
		if next == p {
			break
		}
		p = next
	}
	return lines
}

// nameColumn is how wide names may be, so that there is room for the reasons.
func (m *model) nameColumn() int {
	return max(8, min(m.list.changes.nameWidth+2, (m.width-8)*3/5)) // two for the members of groups
}

func (m *model) listLine(p place, names int) string {
	l, plain := &m.list, lipgloss.NewStyle()
	mark, name := " ", plain
	if p == l.cursor {
		mark, name = "▌", m.styles.Title
	}
	pieces := []piece{{mark, m.styles.Busy}}
	e := l.entries[p.at]
	if p.line > 0 {
		b := l.block(p.at)
		pieces = append(pieces, piece{strings.Repeat(" ", blockMargin-1), plain})
		return m.paint(append(pieces, m.looks(b.lines[p.line-1])...), m.width)
	}
	if g, ok := e.head(); ok {
		gr := &l.changes.groups[g]
		symbol, why := gr.words(l.tab)
		pieces = append(pieces, piece{sign(l.unfold.open(g)) + " ", m.styles.Faint})
		pieces = append(pieces, m.symbol(symbol)...)
		return m.paint(append(pieces, piece{" " + pad(shorten(gr.name, names), names) + "  ", name}, piece{why, m.styles.Faint}), m.width)
	}
	c := &l.changes.list[e]
	pieces = append(pieces, piece{sign(l.opened.open(int32(e))) + " ", m.styles.Faint})
	if c.warning != nil {
		return m.paint(append(append(pieces, m.symbol("!")...), piece{" " + c.name, m.styles.Notice}), m.width)
	}
	indent := ""
	if l.grouped(int32(e)) {
		indent = "  "
	}
	pieces = append(pieces, m.symbol(c.action.Symbol())...)
	text := " " + indent + pad(shorten(c.name, names-len(indent)), names-len(indent)) + "  "
	return m.paint(append(pieces, piece{text, name}, piece{c.why(), m.styles.Faint}), m.width)
}

// sign says whether something is open.
func sign(open bool) string {
	if open {
		return "▾"
	}
	return "▸"
}

// footLines are the counts and below them the keys, the search or the prompt.
func (m *model) footLines() []string {
	var lines []string
	if m.roomy() {
		lines = append(lines, "")
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
	line := ""
	for _, b := range bindings {
		part := m.styles.Title.Render(b.Help().Key) + m.styles.Faint.Render(" "+b.Help().Desc)
		if line != "" {
			part = line + m.styles.Faint.Render(" · ") + part
		}
		if ansi.StringWidth(part) > m.width {
			break
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

// helpLines are the keys in columns, as many as there is room for.
func (m *model) helpLines(room int) []string {
	h := m.help
	h.Width = m.width
	lines := strings.Split(strings.TrimRight(h.FullHelpView(m.keys.full()), "\n"), "\n")
	return lines[:min(len(lines), room)]
}

// whyHeight is how many links of a chain fit.
func (m *model) whyHeight() int {
	return max(1, m.height-len(m.headLines())-len(m.footLines())-whyHead)
}

// whyHead is how many lines stand above a chain.
const whyHead = 3

func (m *model) whyLines(room int) []string {
	w := &m.why
	lines := []string{m.styles.Title.Render(screen.Cut(w.title(), m.width)), m.styles.Faint.Render(screen.Cut(w.now(), m.width)), ""}
	for i := w.top; i < len(w.links) && len(lines) < room; i++ {
		lines = append(lines, m.whyLine(i))
	}
	if w.awaited {
		lines = append(lines, m.styles.Faint.Render("The causes are being put together ..."))
	}
	if !w.whole && !w.awaited && len(lines) < room {
		lines = append(lines, m.styles.Faint.Render(fmt.Sprintf("    ... the chain goes on; these are its first %s links", grouped(len(w.links)))))
	}
	return lines[:min(len(lines), room)]
}

func (m *model) whyLine(i int) string {
	w, link := &m.why, m.why.links[i]
	mark, name := " ", lipgloss.NewStyle()
	if i == w.cursor {
		mark, name = "▌", m.styles.Title
	}
	r := link.Row
	reason := whyOf(r)
	if link.Again {
		reason += " (as above)"
	}
	pieces := []piece{{mark + " ", m.styles.Busy}, {w.branches[i], m.styles.Faint}}
	pieces = append(pieces, m.symbol(r.Action.Symbol())...)
	pieces = append(pieces, piece{" " + shorten(screen.Clean(r.Addr.String()), max(8, m.width/2)) + "  ", name}, piece{screen.Clean(reason), m.styles.Faint})
	return m.paint(pieces, m.width)
}
