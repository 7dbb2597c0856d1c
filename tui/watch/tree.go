package watch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// tree shows the workflows one below the other, each as the tree of its board below a line of its own; a single one has none.
type tree struct {
	branches []branch
	at       spot // of the cursor
	chose    bool // its user has moved: before, the cursor stays in the first line
	top      int
}

// branch is one workflow.
type branch struct {
	flow *flow
	jobs []*board.Job // the board's, when the tree was made
	tree *board.Tree
	shut bool
}

// spot names a line: the one of a workflow, or one of its tree.
type spot struct {
	flow string
	head bool
	ref  board.Ref
}

// treeShown tells whether the tree is what the Jobs tab shows: a filter makes it a list.
func (m *model) treeShown() bool { return m.arranged == asTree && m.jobs.filter.empty() }

// arrangeTree makes the trees of the workflows in view, as far as they have changed.
func (m *model) arrangeTree() {
	t := &m.tree
	prior := make(map[*flow]branch, len(t.branches))
	for _, b := range t.branches {
		prior[b.flow] = b
	}
	t.branches = t.branches[:0]
	for _, w := range m.fleet.flows {
		if m.jobs.scoped && !w.within(m.jobs.scope) {
			continue
		}
		b := prior[w]
		if b.flow == nil || !slices.Equal(b.jobs, w.board.Jobs) {
			b = branch{flow: w, jobs: w.board.Jobs, tree: board.NewTree(w.board, true, b.tree), shut: b.shut}
		}
		t.branches = append(t.branches, b)
	}
}

// changed follows jobs while the tree is shown.
func (m *model) treeChanged(changes []change) {
	if m.arranged != asTree {
		m.tree.branches = nil // made anew when it is shown
		return
	}
	for _, c := range changes {
		if i := slices.IndexFunc(m.tree.branches, func(b branch) bool { return b.flow == c.flow }); i >= 0 {
			m.tree.branches[i].tree.Changed(c.job)
		}
	}
}

// headed tells whether each workflow has a line of its own.
func (t *tree) headed() bool { return len(t.branches) > 1 }

func (t *tree) height(b *branch) int {
	n := 0
	if t.headed() {
		n++
	}
	if b.shut && t.headed() {
		return n
	}
	return n + b.tree.Lines()
}

func (t *tree) lines() int {
	n := 0
	for i := range t.branches {
		n += t.height(&t.branches[i])
	}
	return n
}

// line is where the cursor stands.
func (t *tree) line() int {
	n := 0
	for i := range t.branches {
		b := &t.branches[i]
		if b.flow.key != t.at.flow {
			n += t.height(b)
			continue
		}
		switch {
		case t.at.head || b.shut && t.headed():
			return n
		case t.headed():
			n++
		}
		return n + b.tree.Line(t.at.ref)
	}
	return 0
}

// treeRow is one line.
type treeRow struct {
	branch *branch
	head   bool
	row    board.Row
}

func (r treeRow) spot() spot { return spot{r.branch.flow.key, r.head, r.row.Ref} }

// rows are the lines from one on.
func (t *tree) rows(from, n int) []treeRow {
	var rows []treeRow
	for i := range t.branches {
		b := &t.branches[i]
		h := t.height(b)
		if from >= h {
			from -= h
			continue
		}
		if len(rows) >= n {
			break
		}
		if t.headed() {
			if from == 0 {
				rows = append(rows, treeRow{branch: b, head: true})
			}
			from = max(0, from-1)
		}
		if !b.shut || !t.headed() {
			for _, r := range b.tree.Rows(from, n-len(rows)) {
				rows = append(rows, treeRow{branch: b, row: r})
			}
		}
		from = 0
	}
	return rows[:min(len(rows), n)]
}

// chosen is the job that the cursor is on.
func (t *tree) chosen() (row, bool) {
	b := t.branch()
	if b == nil || t.at.head || t.at.ref.Part != board.PartWhole || t.at.ref.Place < 0 || t.at.ref.Place >= len(b.flow.board.Jobs) {
		return row{}, false
	}
	return row{b.flow, b.flow.board.Jobs[t.at.ref.Place]}, true
}

func (t *tree) branch() *branch {
	for i := range t.branches {
		if t.branches[i].flow.key == t.at.flow {
			return &t.branches[i]
		}
	}
	return nil
}

// show keeps the cursor on a line and that line on the screen.
func (t *tree) show(height int) {
	n := t.lines()
	if t.branch() == nil || !t.chose {
		t.at = spot{}
		if first := t.rows(0, 1); len(first) > 0 {
			t.at = first[0].spot()
		}
	}
	at := t.line()
	t.top = min(t.top, at)
	t.top = max(t.top, at-max(height, 1)+1)
	t.top = max(0, min(t.top, n-height))
}

// move steps over lines, or closes and opens what stands below one.
func (t *tree) move(dx, dy int) {
	b := t.branch()
	if b == nil {
		return
	}
	t.chose = true
	switch {
	case dx < 0:
		t.outward(b)
		return
	case dx > 0:
		t.inward(b)
		return
	}
	n, at := t.lines(), t.line()
	to := max(0, min(at+dy, n-1))
	step := 1
	if dy < 0 {
		step = -1
	}
	for ; to >= 0 && to < n; to += step {
		if t.settle(to) {
			return
		}
	}
	for to = min(to, n-1); to > at; to-- { // the last line tells why a job failed
		if t.settle(to) {
			return
		}
	}
}

// settle puts the cursor on a line that can be chosen.
func (t *tree) settle(line int) bool {
	rows := t.rows(line, 1)
	if len(rows) == 0 || rows[0].row.Detail > 0 {
		return false
	}
	t.at = rows[0].spot()
	return true
}

// outward closes what is open below the cursor, or goes to what it stands under.
func (t *tree) outward(b *branch) {
	if t.at.head {
		b.shut = true
		return
	}
	r := b.tree.Seen(t.at.ref)
	rows := b.tree.Rows(b.tree.Line(r), 1)
	if len(rows) > 0 && (rows[0].Open || rows[0].Kids && !rows[0].Shut) && b.tree.Close(r) {
		t.at.ref = r
		return
	}
	if up, ok := b.tree.Above(r); ok {
		t.at.ref = up
	} else if t.headed() {
		t.at = spot{flow: b.flow.key, head: true}
	}
}

// inward opens what is closed, or goes to the line below.
func (t *tree) inward(b *branch) {
	switch {
	case t.at.head && b.shut:
		b.shut = false
	case t.at.head:
		t.move(0, 1)
	default:
		r := b.tree.Seen(t.at.ref)
		rows := b.tree.Rows(b.tree.Line(r), 1)
		t.at.ref = r
		if len(rows) > 0 && (rows[0].Shut || r.Part != board.PartWhole) && b.tree.Open(r) {
			return
		}
		if len(rows) > 0 && (rows[0].Kids || r.Part != board.PartWhole) {
			t.move(0, 1)
		}
	}
}

// toggle opens or closes what the cursor is on.
func (t *tree) toggle() {
	b := t.branch()
	if b == nil {
		return
	}
	t.chose = true
	if t.at.head {
		b.shut = !b.shut
		return
	}
	t.at.ref = b.tree.Seen(t.at.ref)
	b.tree.Toggle(t.at.ref)
}

// onFold tells whether the cursor is on a line that stands for others.
func (t *tree) onFold() bool {
	b := t.branch()
	return b != nil && (t.at.head || b.tree.Seen(t.at.ref).Part != board.PartWhole)
}

// choose puts the cursor on a job, and opens what hides it.
func (t *tree) choose(key jobKey) {
	for i := range t.branches {
		b := &t.branches[i]
		if b.flow.key != key.flow {
			continue
		}
		if j := b.flow.board.Job(key.addr); j != nil {
			b.shut = false
			b.tree.Reveal(j.Place)
			t.at, t.chose = spot{flow: key.flow, ref: board.Ref{Place: j.Place}}, true
		}
	}
}

// click chooses a line; one that stands for others opens.
func (t *tree) click(y int) {
	was := t.at
	if rows := t.rows(t.top+y, 1); len(rows) > 0 && y >= 0 {
		t.chose = true
		for line := t.top + y; line >= 0 && !t.settle(line); line-- {
		}
		if t.at == was || t.at.ref.Part != board.PartWhole {
			t.toggle()
		}
	}
}

// treeLines draws the lines of the tree.
func (m *model) treeLines(width, height int) []string {
	t := &m.tree
	if t.lines() == 0 {
		return m.nothing(width, height)
	}
	columns := []column{{}, {width: 11}, {}, {width: 8, right: true}}
	if width >= 100 {
		columns[2].width = min(24, width/6)
	}
	if width < 34 {
		columns[3].width = 0
	}
	if width < 24 {
		columns[1].width = 0
	}
	columns[0].width = max(1, width-1-taken(columns)-2)
	cursor := t.line() - t.top
	var lines []string
	for i, r := range t.rows(t.top, height) {
		lines = append(lines, m.treeLine(r, columns, width, i == cursor))
	}
	return lines
}

func (m *model) treeLine(r treeRow, columns []column, width int, chosen bool) string {
	if r.head {
		return m.headLine(r.branch, width, chosen)
	}
	depth := r.row.Depth
	if m.tree.headed() {
		depth++
	}
	indent := strings.Repeat("  ", min(depth, max(0, width/6)))
	gutter := " "
	if chosen {
		gutter = "▸"
	}
	if r.row.Part != board.PartWhole {
		sums, sign := r.branch.tree.Hidden(r.row.Ref), "+ "
		if r.row.Open {
			sign = "- "
		}
		line := gutter + indent + sign + sums.String()
		if chosen {
			return m.styles.choice(m.focus == paneList).Render(fill(line, width))
		}
		return m.styles.Faint.Render(screen.Cut(line, width))
	}
	j := r.branch.flow.board.Jobs[r.row.Place]
	s := j.Status
	if r.row.Detail > 0 {
		return m.detailRow(j, r.row.Detail, " "+indent+"  ", width)
	}
	name := j.Name
	if r.row.Shut {
		sums := r.branch.tree.Sums(r.row.Place)
		name += fmt.Sprintf(" (+%d)", sums.Jobs()-1)
	}
	mark := screen.Mark(s.State)
	cells := []string{indent + mark + " " + name, m.stateNote(s), screen.Clean(s.Owner), m.clock(s)}
	if s.State != conveyor.StateRunning {
		cells[2] = screen.Clean(queueOf(j))
	}
	line := tableLine(columns, cells)
	if chosen {
		return m.styles.choice(m.focus == paneList).Render(fill(gutter+line, width))
	}
	first := fill(indent+m.styles.Of(s.State).Render(mark)+" "+name, columns[0].width)
	cells[0] = ""
	rest := tableLine(columns, cells)[columns[0].width:]
	return gutter + first + m.styles.Faint.Render(rest)
}

// detailRow is a line below a job that did not succeed: why, then the end of its log.
func (m *model) detailRow(j *board.Job, n int, indent string, width int) string {
	if j.Failure != "" {
		if n == 1 {
			first, _, _ := strings.Cut(strings.TrimSpace(j.Failure), "\n")
			return m.styles.Bad.Render(screen.Cut(indent+screen.Clean(first), width))
		}
		n--
	}
	tail := board.LastLines(j.Tail, board.DetailTail)
	if n-1 >= len(tail) {
		return ""
	}
	return m.styles.Faint.Render(screen.Cut(indent+"│ "+screen.Clean(tail[n-1]), width))
}

// headLine is the line of a workflow.
func (m *model) headLine(b *branch, width int, chosen bool) string {
	gutter, sign := " ", "- "
	if chosen {
		gutter = "▸"
	}
	if b.shut {
		sign = "+ "
	}
	left := gutter + sign + b.flow.name
	if h := b.flow.seen.Lock; h != nil {
		left += " · " + screen.Clean(h.Operation) + " by " + screen.Clean(h.Who)
	}
	var marks []string
	sums := b.flow.sums()
	for _, p := range []struct {
		n     int
		state conveyor.State
	}{{sums[board.Failed], conveyor.StateFailed}, {sums[board.Running], conveyor.StateRunning},
		{sums[board.Waiting] + sums[board.Held] + sums[board.Closing], conveyor.StateHeld}, {sums[board.Done], conveyor.StateCompleted}} {
		if p.n > 0 {
			marks = append(marks, fmt.Sprintf("%s %d", screen.Mark(p.state), p.n))
		}
	}
	line := screen.Spread(left, strings.Join(marks, "  "), width)
	if chosen {
		return m.styles.choice(m.focus == paneList).Render(fill(line, width))
	}
	return m.styles.Title.Render(line)
}
