package approve

// entry is one thing that the list shows under today's tab: the change with this number, or, below zero, the head of the
// group with the number ^entry.
type entry int32

func headOf(group int32) entry { return entry(^group) }

func (e entry) head() (group int32, ok bool) { return int32(^e), e < 0 }

// place is a line of the list: the line of an entry itself, 0, or one of the block below it. Places are told apart by
// entry, so that the list need not know how long the blocks above are: a block is drawn when its lines are looked at.
type place struct{ at, line int }

func (p place) before(q place) bool { return p.at < q.at || p.at == q.at && p.line < q.line }

// folds is what is open: everything or nothing, with exceptions.
type folds struct {
	all        bool
	exceptions map[int32]bool
}

func (f *folds) open(number int32) bool { return f.all != f.exceptions[number] }

func (f *folds) set(number int32, open bool) {
	if f.exceptions == nil {
		f.exceptions = map[int32]bool{}
	}
	if open == f.all {
		delete(f.exceptions, number)
	} else {
		f.exceptions[number] = true
	}
}

func (f *folds) setAll(open bool) { *f = folds{all: open} }

// list is what is shown of the changes, where the cursor stands, and what of it is on the screen.
type list struct {
	changes *changes
	blocks  *blocks
	tab     tab
	opened  folds // changes whose block shows
	unfold  folds // groups whose members show
	entries []entry
	ranks   []int32 // per entry: how many changes that the tab lists stand before it; warnings are none
	cursor  place
	top     place // first line on the screen
	pending hit   // where the cursor is to go when its block is drawn

	width  int // of blocks, in cells
	height int // lines on the screen
}

// smallGroup is how many instances of a block show from the start.
const smallGroup = 8

func newList(c *changes) list {
	l := list{changes: c, blocks: newBlocks(), width: 76, height: 10}
	for i := range c.groups {
		if g := &c.groups[i]; g.to-g.from <= smallGroup {
			l.unfold.set(int32(i), true)
		}
	}
	l.refill()
	return l
}

// refill makes the entries anew after a change of tab or groups. Groups of which the tab lists one member have no head.
func (l *list) refill() {
	c := l.changes
	l.entries, l.ranks = l.entries[:0], l.ranks[:0]
	rank := int32(0)
	for i := int32(0); i < int32(len(c.list)); {
		ch := &c.list[i]
		if ch.group == noGroup {
			if ch.in(l.tab) {
				l.entries, l.ranks = append(l.entries, entry(i)), append(l.ranks, rank)
				if ch.warning == nil {
					rank++
				}
			}
			i++
			continue
		}
		g := &c.groups[ch.group]
		listed := g.counts[l.tab]
		if listed > 1 {
			l.entries, l.ranks = append(l.entries, headOf(ch.group)), append(l.ranks, rank)
		}
		if listed == 1 || listed > 1 && l.unfold.open(ch.group) {
			member := rank
			for ; i < g.to; i++ {
				if c.list[i].in(l.tab) {
					l.entries, l.ranks = append(l.entries, entry(i)), append(l.ranks, member)
					member++
				}
			}
		}
		rank += int32(listed)
		i = g.to
	}
}

// grouped tells whether the change stands below the head of its group.
func (l *list) grouped(number int32) bool {
	g := l.changes.list[number].group
	return g != noGroup && l.changes.groups[g].counts[l.tab] > 1
}

// block is what shows below an entry, nil for nothing.
func (l *list) block(at int) *block {
	e := l.entries[at]
	if e < 0 || !l.opened.open(int32(e)) {
		return nil
	}
	return l.blocks.of(l.changes, int32(e), l.width)
}

// size is how many lines an entry takes.
func (l *list) size(at int) int {
	if b := l.block(at); b != nil {
		return 1 + len(b.lines)
	}
	return 1
}

// move is the place n lines further down, or up, as far as the list goes.
func (l *list) move(p place, n int) place {
	for ; n > 0; n-- {
		switch {
		case p.line+1 < l.size(p.at):
			p.line++
		case p.at+1 < len(l.entries):
			p = place{at: p.at + 1}
		default:
			return p
		}
	}
	for ; n < 0; n++ {
		switch {
		case p.line > 0:
			p.line--
		case p.at > 0:
			p = place{p.at - 1, l.size(p.at-1) - 1}
		default:
			return p
		}
	}
	return p
}

// last is the last line.
func (l *list) last() place {
	at := max(0, len(l.entries)-1)
	return place{at, l.sizeOrNone(at) - 1}
}

func (l *list) sizeOrNone(at int) int {
	if len(l.entries) == 0 {
		return 1
	}
	return l.size(at)
}

// settle brings the cursor into the list and the screen to the cursor, without empty lines at the end that need not be.
func (l *list) settle() {
	if len(l.entries) == 0 {
		l.cursor, l.top = place{}, place{}
		return
	}
	l.cursor, l.top = l.inside(l.cursor), l.inside(l.top)
	above := max(0, l.height-1)
	if l.cursor.before(l.top) {
		l.top = l.cursor
	}
	if lowest := l.move(l.cursor, -above); l.top.before(lowest) {
		l.top = lowest
	}
	if lowest := l.move(l.last(), -above); lowest.before(l.top) {
		l.top = lowest
	}
}

func (l *list) inside(p place) place {
	p.at = max(0, min(p.at, len(l.entries)-1))
	p.line = max(0, min(p.line, l.size(p.at)-1))
	return p
}

// scroll moves the screen, and the cursor only to keep it there.
func (l *list) scroll(n int) {
	if len(l.entries) == 0 {
		return
	}
	l.top = l.inside(l.top)
	above := max(0, l.height-1)
	l.top = l.move(l.top, n)
	if lowest := l.move(l.last(), -above); lowest.before(l.top) {
		l.top = lowest
	}
	if l.cursor.before(l.top) {
		l.cursor = l.top
	}
	if bottom := l.move(l.top, above); bottom.before(l.cursor) {
		l.cursor = bottom
	}
}

// current is the change under the cursor; ok is false on the head of a group and in an empty list.
func (l *list) current() (number int32, ok bool) {
	if len(l.entries) == 0 {
		return 0, false
	}
	e := l.entries[l.cursor.at]
	return int32(e), e >= 0
}

// anchor is the change that the cursor stays at when entries come and go: the first one of a group for its head.
func (l *list) anchor() int32 {
	if len(l.entries) == 0 {
		return 0
	}
	e := l.entries[l.cursor.at]
	if g, ok := e.head(); ok {
		return l.changes.groups[g].from
	}
	return int32(e)
}

// number is the order of entries: that of the change, and for a head that of its first member.
func (l *list) number(e entry) int32 {
	if g, ok := e.head(); ok {
		return l.changes.groups[g].from
	}
	return int32(e)
}
