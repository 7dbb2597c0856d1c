package board

import "github.com/waybill-dev/waybill/config"

// Tree shows a board's jobs as an outline: each once, below the first of the jobs it stands under. Jobs deeper than MaxDepth
// stand beside one another there, so that a chain of thousands stays readable.
//
// A folded tree shows what somebody should see without asking: what runs and what did not succeed. Below each job the rest is
// one line for what has finished and one for what is ahead, until it is opened. An unfolded tree shows all in start order.
//
// Of a chain of finished jobs above what runs it shows the last one.
//
// Heights and counts of every subtree are kept up to date as single jobs change, so that what stands on some line is found
// without going through the others: a change and a line cost the logarithm of the number of jobs. It belongs to one goroutine.
type Tree struct {
	board   *Board
	jobs    []*Job // Board.Jobs when the tree was made
	folded  bool
	nodes   []node // the root, then the jobs by their place
	longest [MaxDepth + 1]int
	failing int // jobs that showed their log without being asked
}

// MaxDepth is how many levels a tree has.
const MaxDepth = 16

// What is shown of trouble without being asked for.
const (
	troubledShown = 5 // branches below one job in which something did not succeed
	detailedShown = 3 // failed jobs of a run that show the end of their log, not only why they failed
)

// DetailTail is how many last lines of its log a failed job shows.
const DetailTail = 5

// node is a job in a tree.
type node struct {
	up     int32 // the node it stands under
	rank   int32 // among the kids of that
	depth  uint8 // 0 for the root
	part   Part  // of the kids of up that it belongs to
	kind   Kind
	detail uint8 // lines below its own that say why it failed
	flags  flags
	lines  int32 // of it and all that is shown below
	sums   Sums  // of it and all below
	kids   []int32
	index  *index // nil for few kids
}

type flags uint8

const (
	shut    flags = 1 << iota // its user has closed it
	logs                      // the end of its log is shown
	noLogs                    // and was, until its user closed it
	openBit                   // with a part: its user has opened that
)

// Part is a share of the kids of one node, in the order in which they are shown.
type Part uint8

// The parts of a folded tree, after that of an unfolded one.
const (
	PartWhole    Part = iota // all, in start order
	PartFinished             // all below has ended well
	PartTroubled             // something did not succeed, and nothing runs
	PartActive               // something runs, or is tried again
	PartAhead                // nothing runs yet
	parts
)

// opened is the flag of an opened part.
func opened(p Part) flags { return openBit << (p - PartFinished) }

// limit is how many kids of a part are shown until it is opened.
func (p Part) limit() int {
	switch p {
	case PartFinished, PartAhead:
		return 0
	case PartTroubled:
		return troubledShown
	default:
		return int(^uint32(0) >> 1)
	}
}

// NewTree returns the tree of a board's jobs as they are followed now; prior, if there was one, tells what its user has opened
// and closed. A board has one tree at a time.
func NewTree(b *Board, folded bool, prior *Tree) *Tree {
	if b.layout == nil {
		b.layout = newLayout(b.Jobs)
	}
	t := &Tree{board: b, jobs: b.Jobs, folded: folded, nodes: b.layout.nodes, longest: b.layout.longest}
	b.layout = nil // its nodes change from now on
	if prior != nil {
		t.failing = prior.failing
		t.keep(prior)
	}
	t.measure()
	return t
}

// keep takes over what the user of an earlier tree has opened and closed.
func (t *Tree) keep(prior *Tree) {
	t.nodes[0].flags = prior.nodes[0].flags
	byAddr := map[config.Addr]flags{}
	for i, j := range prior.jobs {
		if f := prior.nodes[i+1].flags; f != 0 {
			byAddr[j.Addr] = f
		}
	}
	if len(byAddr) == 0 {
		return
	}
	for i, j := range t.jobs {
		t.nodes[i+1].flags = byAddr[j.Addr]
	}
}

// measure computes every part and height anew. A node's kids come after it.
func (t *Tree) measure() {
	for v := len(t.nodes) - 1; v >= 0; v-- {
		nd := &t.nodes[v]
		if v > 0 {
			nd.detail = t.detailOf(nd, t.jobs[v-1])
		}
		t.buildIndex(int32(v))
		nd.lines, nd.part = t.height(int32(v)), t.partOf(nd)
	}
}

// Fold folds or unfolds the tree as a whole, and forgets what was opened and closed by hand.
func (t *Tree) Fold(on bool) {
	t.folded = on
	for v := range t.nodes {
		t.nodes[v].flags &= logs | noLogs
	}
	t.measure()
}

// Folded tells whether the tree is folded.
func (t *Tree) Folded() bool { return t.folded }

// Longest is the length of the longest name of jobs at a depth, in bytes, which are at least as many as cells.
func (t *Tree) Longest(depth int) int { return t.longest[min(max(depth+1, 0), MaxDepth)] }

// Changed takes in what the board was told of a job.
func (t *Tree) Changed(j *Job) {
	v := int32(j.Place + 1)
	if int(v) >= len(t.nodes) {
		*t = *NewTree(t.board, t.folded, t)
		return
	}
	nd := &t.nodes[v]
	prior, kind := nd.kind, KindOf(j.Status)
	nd.kind = kind
	detail := t.detailOf(nd, j)
	if kind == prior && detail == nd.detail {
		return
	}
	nd.detail = detail
	t.change(v, prior, kind)
}

// change counts v as another kind in all it stands under, and measures these.
func (t *Tree) change(v int32, prior, next Kind) {
	for {
		nd := &t.nodes[v]
		was, part, lines := nd.sums, nd.part, nd.lines
		nd.sums[prior]--
		nd.sums[next]++
		nd.lines, nd.part = t.height(v), t.partOf(nd)
		if v == 0 {
			return
		}
		if x := t.nodes[nd.up].index; x != nil {
			x[part].sums.subtract(&was)
			x[nd.part].sums.add(&nd.sums)
		}
		t.moved(nd, part, lines)
		v = nd.up
	}
}

// remeasure takes in that the height of v has changed, and nothing else.
func (t *Tree) remeasure(v int32) {
	for {
		nd := &t.nodes[v]
		lines := nd.lines
		nd.lines = t.height(v)
		if v == 0 || nd.lines == lines {
			return
		}
		t.moved(nd, nd.part, lines)
		v = nd.up
	}
}

// moved corrects the index above a node that had another part or height.
func (t *Tree) moved(nd *node, part Part, lines int32) {
	x := t.nodes[nd.up].index
	if x == nil {
		return
	}
	rank := int(nd.rank)
	if part == nd.part {
		x[part].lines.add(rank, nd.lines-lines)
		return
	}
	x[part].members.add(rank, -1)
	x[part].lines.add(rank, -lines)
	x[nd.part].members.add(rank, 1)
	x[nd.part].lines.add(rank, nd.lines)
}

// partOf is where a node belongs.
func (t *Tree) partOf(nd *node) Part {
	s := &nd.sums
	switch {
	case !t.folded:
		return PartWhole
	case s[AtWork]+s[Retrying] > 0:
		return PartActive
	case s[Unsuccessful] > 0:
		return PartTroubled
	case s.Jobs() == int(s[Completed]+s[PassedOver]+s[CalledOff]):
		return PartFinished
	default:
		return PartAhead
	}
}

// detailOf is how many lines below its own a job needs.
func (t *Tree) detailOf(nd *node, j *Job) uint8 {
	if nd.kind != Unsuccessful && nd.kind != Retrying || j.Failure == "" && len(j.Tail) == 0 {
		return 0
	}
	if nd.kind == Unsuccessful && nd.flags&(logs|noLogs) == 0 && t.failing < detailedShown && len(j.Tail) > 0 {
		t.failing++
		nd.flags |= logs
	}
	n := 0
	if j.Failure != "" {
		n++
	}
	if nd.flags&logs != 0 {
		n += min(len(j.Tail), DetailTail)
	}
	return uint8(n)
}

// height is how many lines a node has with all that is shown below it.
func (t *Tree) height(v int32) int32 {
	nd := &t.nodes[v]
	lines := t.own(v)
	if len(nd.kids) == 0 || nd.flags&shut != 0 {
		return int32(lines)
	}
	for part := range parts {
		lines += t.shape(v, part).lines
	}
	return int32(lines)
}

// own is how many lines a node has by itself.
func (t *Tree) own(v int32) int {
	if v == 0 || t.passed(v) {
		return 0
	}
	return 1 + int(t.nodes[v].detail)
}

// passed tells whether a folded tree leaves out the line of a job, since it is done and so is the one job below it, under which
// something goes on: of a chain only the last finished job is shown.
func (t *Tree) passed(v int32) bool {
	nd := &t.nodes[v]
	if !t.folded || v == 0 || len(nd.kids) != 1 || nd.flags&shut != 0 || !nd.kind.over() {
		return false
	}
	kid := &t.nodes[nd.kids[0]]
	return kid.kind.over() && len(kid.kids) > 0 && kid.flags&shut == 0 && (kid.part == PartActive || kid.part == PartTroubled)
}

// shape is how a part of a node's kids is shown.
type shape struct {
	lines int
	head  bool // a line for the part comes first: its user has opened it
	shown int  // so many of its kids follow
	kids  int  // their height
	rest  int  // so many are left out; then a line says what
}

func (t *Tree) shape(v int32, part Part) shape {
	if t.folded == (part == PartWhole) {
		return shape{}
	}
	members, lines := t.total(v, part)
	if members == 0 {
		return shape{}
	}
	limit := part.limit()
	switch {
	case part != PartWhole && limit < members && t.nodes[v].flags&opened(part) != 0:
		return shape{lines: lines + 1, head: true, shown: members, kids: lines}
	case members <= limit, members == 1 && t.single(v, part), part == PartTroubled && members == limit+1:
		return shape{lines: lines, shown: members, kids: lines}
	}
	kids := t.first(v, part, limit)
	return shape{lines: kids + 1, shown: limit, kids: kids, rest: members - limit}
}

// single tells whether a part with one kid holds one job only, which needs no more room than a line that says so.
func (t *Tree) single(v int32, part Part) bool {
	s := t.sumsOf(v, part)
	return s.Jobs() == 1
}
