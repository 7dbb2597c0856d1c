package approve

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/screen"
)

// block is what an open change shows below its line: the planner's lines, wrapped to the room there is.
type block struct {
	lines []planner.Line
	of    []int32 // per line: the number of the planner's line that it is a part of
}

// first is the first line that shows a line of the planner.
func (b *block) first(number int) int {
	for i, of := range b.of {
		if int(of) >= number {
			return i
		}
	}
	return max(0, len(b.lines)-1)
}

// blocks keeps the blocks that were drawn last, at one width.
type blocks struct {
	width int
	lines int // in all of them
	kept  map[int32]*block
	// wanted are the heavy ones that were asked for and are not drawn yet: commands draw them.
	wanted []int32
}

// maxKept bounds the lines that are kept; a screen needs a few hundred of them at most.
const maxKept = 1 << 15

func newBlocks() *blocks { return &blocks{kept: map[int32]*block{}} }

// of returns the block of a change, width cells wide.
func (b *blocks) of(c *changes, number int32, width int) *block {
	if width != b.width {
		*b = blocks{width: width, kept: map[int32]*block{}}
	}
	if kept, ok := b.kept[number]; ok {
		return kept
	}
	if b.lines > maxKept {
		*b = blocks{width: width, kept: map[int32]*block{}, wanted: b.wanted}
	}
	made := awaited
	if c.list[number].heavy() {
		b.wanted = append(b.wanted, number)
	} else {
		made = newBlock(c.lines(number, width), width)
	}
	b.keep(number, made)
	return made
}

func (b *blocks) keep(number int32, made *block) {
	b.kept[number] = made
	b.lines += len(made.lines)
}

// awaited stands for a block that is being drawn.
var awaited = &block{lines: []planner.Line{{{Text: "  ..."}}}, of: []int32{0}}

// heavyEdges is how many edges make a job heavy: its lines take longer than a frame.
const heavyEdges = 4000

// heavy tells whether the block takes so long that it is drawn beside the view.
func (c *change) heavy() bool {
	return c.row != nil && (len(c.row.Edges) > heavyEdges || c.row.Prior != nil && len(c.row.Prior.Edges) > heavyEdges)
}

// blockMsg brings a heavy block.
type blockMsg struct {
	number int32
	width  int
	block  *block
}

// draw are the commands for what is wanted.
func (b *blocks) draw(c *changes) tea.Cmd {
	var all []tea.Cmd
	width := b.width
	for _, number := range b.wanted {
		all = append(all, func() tea.Msg { return blockMsg{number, width, newBlock(c.lines(number, width), width)} })
	}
	b.wanted = nil
	return tea.Batch(all...)
}

// lines are the whole lines of a change.
func (c *changes) lines(number int32, width int) []planner.Line {
	switch ch := &c.list[number]; {
	case ch.row != nil:
		return ch.row.Lines(width)
	case ch.queue != nil:
		return ch.queue.Lines(width)
	case ch.warning != nil:
		var lines []planner.Line
		for line := range strings.SplitSeq(ansi.Wordwrap(screen.CleanText(ch.warning.Detail), max(1, width), ""), "\n") {
			lines = append(lines, planner.Line{{Text: line}})
		}
		return lines
	default:
		return c.plan.OutputsLines(width)
	}
}

// sameLine is the line of a block at another width that says the same as a line does at this one: the nearest, since a
// long change takes two lines where there is little room.
func (c *changes) sameLine(h hit, before, after int) int32 {
	if c.list[h.number].heavy() {
		return h.line
	}
	was := c.lines(h.number, before)
	if int(h.line) >= len(was) {
		return h.line
	}
	text, nearest, found := was[h.line].String(), h.line, false
	for i, l := range c.lines(h.number, after) {
		if n := int32(i); l.String() == text && (!found || distance(n, h.line) < distance(nearest, h.line)) {
			nearest, found = n, true
		}
	}
	return nearest
}

func distance(a, b int32) int32 { return max(a-b, b-a) }

// onItself is the line of a change in the list, above its block.
const onItself int32 = -1

// find calls hit for each line of a change that matches: onItself for the change's own line, else the number of a line of
// lines(number, width). It returns how many bytes it looked at.
func (c *changes) find(number int32, width int, matches func(string) bool, hit func(line int32)) int {
	ch, o := &c.list[number], planner.RenderOptions{Width: width}
	text, own, before := "", 2, 0 // own: lines that say no more than the change's own line; before: those that are not of its block
	switch {
	case ch.row != nil:
		text = ch.row.Text(o)
		own += strings.Count(text, "\n  # (") // the reasons
	case ch.queue != nil:
		text = ch.queue.Text(o)
	case ch.warning != nil:
		own, before, text = 1, 1, ch.name
		for _, l := range c.lines(number, width) {
			text += "\n" + l.String()
		}
	default:
		own, text = 1, c.plan.OutputsText(o)
	}
	if !matches(text) {
		return len(text)
	}
	onOwn, line := false, 0
	for s := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		switch {
		case !matches(s):
		case line >= own:
			hit(int32(line - before))
		case !onOwn:
			onOwn = true
			hit(onItself)
		}
		line++
	}
	return len(text)
}

// maxBlock bounds the lines of one block: a job may have a hundred thousand predecessors.
const maxBlock = 5000

// newBlock wraps lines. What goes on in the next line stands below where the line began, a bit further in.
func newBlock(lines []planner.Line, width int) *block {
	b := &block{lines: make([]planner.Line, 0, len(lines)), of: make([]int32, 0, len(lines))}
	for number, line := range lines {
		if len(b.lines) >= maxBlock {
			rest := planner.Line{{Text: "    ... " + grouped(len(lines)-number) + " more lines; waybill plan shows them all"}}
			b.lines, b.of = append(b.lines, wrap(rest, width)[0]), append(b.of, int32(number))
			break
		}
		for i, s := range line {
			line[i].Text = harmless(s.Text)
		}
		for _, part := range wrap(line, width) {
			b.lines = append(b.lines, part)
			b.of = append(b.of, int32(number))
		}
	}
	return b
}

// harmless is screen.Clean for a text that keeps its columns: tabs become four spaces, and it may be long.
func harmless(s string) string {
	return screen.CleanText(strings.ReplaceAll(strings.ReplaceAll(s, "\n", " "), "\t", "    "))
}

// wrap breaks a line into lines of at most width cells.
func wrap(line planner.Line, width int) []planner.Line {
	text := line.String()
	if width < 1 || ansi.StringWidth(text) <= width {
		return []planner.Line{line}
	}
	margin := len(text) - len(strings.TrimLeft(text, " ")) + 4
	if margin > width/2 {
		margin = 0
	}
	var lines []planner.Line
	var part planner.Line
	used, start := 0, 0 // cells of part, and those of its margin
	for _, s := range line {
		for rest := s.Text; rest != ""; {
			head, cells := fitting(rest, width-used)
			switch {
			case head != "":
				part = append(part, planner.Span{Text: head, Look: s.Look})
				used += cells
				rest = rest[len(head):]
			case used > start:
				lines = append(lines, part)
				part, start = planner.Line{{Text: strings.Repeat(" ", margin)}}, margin
				used = start
			default: // a character that is wider than a whole line
				cluster, _ := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
				part = append(part, planner.Span{Text: "…"})
				used++
				rest = rest[max(1, len(cluster)):]
			}
		}
	}
	return append(lines, part)
}

// fitting is as much of the beginning of a text as fits into room cells.
func fitting(s string, room int) (head string, cells int) {
	n := 0
	for n < len(s) {
		cluster, width := ansi.FirstGraphemeCluster(s[n:], ansi.GraphemeWidth)
		if cluster == "" || cells+width > room {
			break
		}
		n += len(cluster)
		cells += width
	}
	return s[:n], cells
}
