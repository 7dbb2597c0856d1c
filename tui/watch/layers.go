package watch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// layers is one workflow as a graph in columns: a job stands right of all that it waits for. What the chosen job waits for
// and what waits for it is marked. It is made of the found rows, so the filter and the sorting hold here too.
type layers struct {
	flow   *flow
	lists  int
	cols   []layer
	states []conveyor.State // as counted, by place
	spots  []layerSpot      // by place; columns count from 1, 0 is nowhere
	below  [][]int32        // by place: what waits for it
	col    int              // of the cursor
	left   int              // first column shown
}

// layerSpot is where a job stands.
type layerSpot struct{ col, at int32 }

type layer struct {
	rows    []row
	cursor  cursor
	settled int
	failed  int
	running int
}

// arrangeLayers makes the columns anew for the workflow of the chosen job.
func (m *model) arrangeLayers() {
	l := &m.layers
	chosen, ok := l.chosen()
	flow := l.flow
	switch {
	case m.jobs.scoped:
		flow = m.fleet.byName[m.jobs.scope]
	case flow == nil || m.fleet.byName[flow.key] != flow:
		flow = nil
		if len(m.jobs.rows) > 0 {
			flow = m.jobs.rows[0].flow
		}
	}
	old := l.cols
	*l = layers{flow: flow, lists: m.fleet.lists, col: l.col, left: l.left}
	if flow == nil {
		return
	}
	l.states = make([]conveyor.State, len(flow.board.Jobs))
	for _, r := range m.jobs.rows {
		if r.flow != flow {
			continue
		}
		depth := min(max(r.job.Depth, 0), len(flow.board.Jobs))
		for len(l.cols) <= depth {
			l.cols = append(l.cols, layer{})
		}
		l.states[r.job.Place] = r.job.Status.State
		c := &l.cols[depth]
		c.rows = append(c.rows, r)
		c.count(r.job.Status.State, 1)
	}
	l.cols = slices.DeleteFunc(l.cols, func(c layer) bool { return len(c.rows) == 0 }) // depths of jobs that a filter hides
	for i := range l.cols {
		if i < len(old) {
			l.cols[i].cursor = old[i].cursor
		}
	}
	l.spots = make([]layerSpot, len(flow.board.Jobs))
	for i := range l.cols {
		for n, r := range l.cols[i].rows {
			l.spots[r.job.Place] = layerSpot{int32(i + 1), int32(n)}
		}
	}
	l.col = max(0, min(l.col, len(l.cols)-1))
	l.linkUp()
	if ok {
		l.choose(chosen.key())
	}
}

// linkUp turns around what each job waits for.
func (l *layers) linkUp() {
	jobs := l.flow.board.Jobs
	l.below = make([][]int32, len(jobs))
	for _, j := range jobs {
		for _, above := range j.Above {
			if above >= 0 && int(above) < len(jobs) {
				l.below[above] = append(l.below[above], int32(j.Place))
			}
		}
	}
}

func (c *layer) count(s conveyor.State, n int) {
	switch board.SectionOf(s) {
	case board.Failed:
		c.failed += n
		c.settled += n
	case board.Done:
		c.settled += n
	case board.Running:
		c.running += n
	}
}

// changed goes on counting.
func (l *layers) changed(c change) {
	if c.flow != l.flow || c.job.Place >= len(l.states) || l.states[c.job.Place] == conveyor.StateUnknown {
		return
	}
	if s := l.spots[c.job.Place]; s.col > 0 {
		col := &l.cols[s.col-1]
		col.count(l.states[c.job.Place], -1)
		col.count(c.job.Status.State, 1)
		l.states[c.job.Place] = c.job.Status.State
	}
}

func (l *layers) chosen() (row, bool) {
	if l.col >= len(l.cols) {
		return row{}, false
	}
	return at(l.cols[l.col].rows, l.cols[l.col].cursor.at)
}

// choose puts the cursor on a job.
func (l *layers) choose(key jobKey) bool {
	if l.flow == nil || l.flow.key != key.flow {
		return false
	}
	j := l.flow.board.Job(key.addr)
	if j == nil || j.Place >= len(l.spots) || l.spots[j.Place].col == 0 {
		return false
	}
	s := l.spots[j.Place]
	l.col = int(s.col) - 1
	l.cols[l.col].cursor.at = int(s.at)
	return true
}

// move steps within the column, or along an edge to another one.
func (l *layers) move(dx, dy int) {
	if l.col >= len(l.cols) {
		return
	}
	c := &l.cols[l.col].cursor
	if dx == 0 {
		c.at = max(0, min(c.at+dy, len(l.cols[l.col].rows)-1))
		return
	}
	to := l.col + dx
	if to < 0 || to >= len(l.cols) {
		return
	}
	r, ok := l.chosen()
	next := &l.cols[to]
	if ok {
		if s, ok := l.first(l.neighbours(r), to); ok {
			next.cursor.at = s
		}
	}
	next.cursor.at = max(0, min(next.cursor.at, len(next.rows)-1))
	l.col = to
}

const (
	layerWidth = 26 // of a column at least
	layerHead  = 2  // lines above its jobs
)

// shownColumns is how many columns fit, and how wide they are.
func (l *layers) shownColumns(width int) (n, each int) {
	n = max(1, min(width/layerWidth, len(l.cols)))
	return n, width / n
}

// place scrolls: the cursor's column and its job are shown, and in the columns beside it what it is related to.
func (l *layers) place(width, height int) {
	n, _ := l.shownColumns(width)
	l.left = max(0, min(l.left, len(l.cols)-n))
	if l.col < l.left {
		l.left = max(0, l.col-1)
	}
	if l.col >= l.left+n {
		l.left = l.col - n + 1
	}
	r, ok := l.chosen()
	if !ok {
		return
	}
	room := height - layerHead
	l.cols[l.col].cursor.show(len(l.cols[l.col].rows), room)
	marked := l.neighbours(r)
	for i := l.left; i < min(l.left+n, len(l.cols)); i++ {
		c := &l.cols[i]
		if i == l.col || c.shows(marked, room) {
			continue
		}
		if at, ok := l.first(marked, i); ok {
			c.cursor.top = max(0, min(at-room/3, len(c.rows)-room))
		}
	}
}

// first is the topmost of the marked jobs in a column.
func (l *layers) first(marked map[int32]bool, col int) (at int, ok bool) {
	for p := range marked {
		if s := l.spots[p]; int(s.col)-1 == col && (!ok || int(s.at) < at) {
			at, ok = int(s.at), true
		}
	}
	return at, ok
}

// shows tells whether one of the marked jobs is in the part of a column that is shown.
func (c *layer) shows(marked map[int32]bool, room int) bool {
	top := max(0, min(c.cursor.top, len(c.rows)))
	for _, o := range c.rows[top:max(top, min(top+room, len(c.rows)))] {
		if marked[int32(o.job.Place)] {
			return true
		}
	}
	return false
}

// neighbours are the places of what a job waits for and of what waits for it, a bounded number of them.
func (l *layers) neighbours(r row) map[int32]bool {
	const most = 10_000
	marked := make(map[int32]bool, 16)
	if r.job == nil || r.flow != l.flow {
		return marked
	}
	for _, p := range r.job.Above {
		if len(marked) < most && p >= 0 && int(p) < len(l.spots) {
			marked[p] = true
		}
	}
	if r.job.Place < len(l.below) {
		for _, p := range l.below[r.job.Place] {
			if len(marked) < most {
				marked[p] = true
			}
		}
	}
	return marked
}

// layerLines draws the columns that fit.
func (m *model) layerLines(width, height int) []string {
	l := &m.layers
	if len(l.cols) == 0 || l.flow == nil {
		return m.nothing(width, height)
	}
	n, each := l.shownColumns(width)
	r, _ := l.chosen()
	marked := l.neighbours(r)
	lines := make([]string, height)
	for i := l.left; i < min(l.left+n, len(l.cols)); i++ {
		c := &l.cols[i]
		for y := range height {
			cell := ""
			switch at := c.cursor.top + y - layerHead; {
			case y == 0:
				cell = m.styles.Header.Render(screen.Cut(fmt.Sprintf(" Layer %d", i+1), each-1))
			case y == 1:
				cell = m.styles.Faint.Render(screen.Cut(" "+c.tally(), each-1))
			case at >= 0 && at < len(c.rows):
				cell = m.layerCell(c.rows[at], each-1, i == l.col && at == c.cursor.at, marked[int32(c.rows[at].job.Place)])
			}
			lines[y] += fill(cell, each)
		}
	}
	return lines
}

func (c *layer) tally() string {
	text := fmt.Sprintf("%d/%d settled", c.settled, len(c.rows))
	if c.running > 0 {
		text += fmt.Sprintf(" %s%d", screen.Mark(conveyor.StateRunning), c.running)
	}
	if c.failed > 0 {
		text += fmt.Sprintf(" %s%d", screen.Mark(conveyor.StateFailed), c.failed)
	}
	return text
}

func (m *model) layerCell(r row, width int, chosen, marked bool) string {
	name, mark := strings.TrimPrefix(r.job.Name, "job."), screen.Mark(r.job.Status.State)
	gutter := " "
	switch {
	case chosen:
		return m.styles.choice(m.focus == paneList).Render(fill("▸"+mark+" "+screen.Cut(name, width-3), width))
	case marked:
		gutter = "•"
		name = m.styles.marked.Render(screen.Cut(name, width-3))
	default:
		name = screen.Cut(name, width-3)
	}
	return gutter + m.styles.Of(r.job.Status.State).Render(mark) + " " + name
}

// downstream counts the jobs that wait for a job, directly or through others.
func downstream(r row) int {
	jobs := r.flow.board.Jobs
	if r.job.Place >= len(jobs) {
		return 0
	}
	behind, n := make([]bool, len(jobs)), 0
	behind[r.job.Place] = true
	for _, j := range jobs[r.job.Place+1:] { // upstream comes first in start order
		for _, above := range j.Above {
			if above >= 0 && int(above) < len(jobs) && behind[above] {
				behind[j.Place] = true
				n++
				break
			}
		}
	}
	return n
}
