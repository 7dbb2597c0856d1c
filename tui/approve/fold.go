package approve

import (
	"maps"
	"sort"
)

// bookmark is what of a list can be gone back to.
type bookmark struct {
	tab            tab
	opened, unfold folds
	cursor, top    place
}

func (f folds) clone() folds { return folds{f.all, maps.Clone(f.exceptions)} }

func (l *list) bookmark() bookmark {
	return bookmark{l.tab, l.opened.clone(), l.unfold.clone(), l.cursor, l.top}
}

func (l *list) restore(b bookmark) {
	refill := l.tab != b.tab || l.unfold.all != b.unfold.all || !maps.Equal(l.unfold.exceptions, b.unfold.exceptions)
	l.tab, l.opened, l.unfold, l.cursor, l.top = b.tab, b.opened.clone(), b.unfold.clone(), b.cursor, b.top
	if refill {
		l.refill()
	}
}

// turn opens what the cursor is at, or closes it.
func (l *list) turn() {
	if len(l.entries) == 0 {
		return
	}
	e := l.entries[l.cursor.at]
	if g, ok := e.head(); ok {
		l.setGroup(g, !l.unfold.open(g))
		return
	}
	l.setChange(int32(e), !l.opened.open(int32(e)))
}

// open opens what the cursor is at; what is open already lets the cursor step in.
func (l *list) open() {
	if len(l.entries) == 0 {
		return
	}
	e := l.entries[l.cursor.at]
	g, head := e.head()
	switch {
	case head && !l.unfold.open(g):
		l.setGroup(g, true)
	case !head && !l.opened.open(int32(e)):
		l.setChange(int32(e), true)
	case l.cursor.line == 0:
		l.cursor = l.move(l.cursor, 1)
	}
}

// close closes what the cursor is in, or goes to the head of the group.
func (l *list) close() {
	if len(l.entries) == 0 {
		return
	}
	e := l.entries[l.cursor.at]
	g, head := e.head()
	switch {
	case head:
		l.setGroup(g, false)
	case l.opened.open(int32(e)):
		l.setChange(int32(e), false)
	case l.grouped(int32(e)):
		l.cursor = place{at: l.find(headOf(l.changes.list[e].group))}
	}
}

func (l *list) setChange(number int32, open bool) {
	l.opened.set(number, open)
	if !open {
		l.cursor.line = 0
	}
}

func (l *list) setGroup(g int32, open bool) {
	if l.unfold.open(g) == open {
		return
	}
	top := l.entries[l.top.at]
	l.unfold.set(g, open)
	l.refill()
	l.cursor, l.top.at = place{at: l.find(headOf(g))}, l.find(top)
}

// openAll opens or closes every change and every group.
func (l *list) openAll(open bool) {
	at := l.anchor()
	l.opened.setAll(open)
	l.unfold.setAll(open)
	l.refill()
	l.cursor = place{at: l.near(at)}
	l.top = l.cursor
	l.scrollBack()
}

// choose lists another tab.
func (l *list) choose(t tab) {
	if l.changes.counts[t] == 0 && t != tabAll || t == l.tab {
		return
	}
	at := l.anchor()
	l.tab = t
	l.refill()
	l.cursor = place{at: l.near(at)}
	l.top = l.cursor
	l.scrollBack()
}

// scrollBack shows a third of the screen above the cursor.
func (l *list) scrollBack() {
	if len(l.entries) > 0 {
		l.top = l.move(l.inside(l.cursor), -l.height/3)
	}
}

// find is where an entry stands, or where it would.
func (l *list) find(e entry) int {
	if len(l.entries) == 0 {
		return 0
	}
	number := l.number(e)
	at := sort.Search(len(l.entries), func(i int) bool { return l.number(l.entries[i]) >= number })
	if at+1 < len(l.entries) && l.entries[at] != e && l.entries[at+1] == e { // a head and its first member have one number
		at++
	}
	return min(at, len(l.entries)-1)
}

// near is where a change stands, or, when the tab or its group hides it, what stands for it best.
func (l *list) near(number int32) int {
	if g := l.changes.list[number:]; len(g) > 0 && g[0].group != noGroup && l.changes.groups[g[0].group].counts[l.tab] > 1 && !l.unfold.open(g[0].group) {
		return l.find(headOf(g[0].group))
	}
	return l.find(entry(number))
}

// reveal goes to a line of a change: it is listed, its group and, for a line of its block, the block are opened.
func (l *list) reveal(number, line int32) {
	c := &l.changes.list[number]
	if !c.in(l.tab) {
		l.tab = tabAll
		l.refill()
	}
	if l.grouped(number) && !l.unfold.open(c.group) {
		l.unfold.set(c.group, true)
		l.refill()
	}
	l.cursor = place{at: l.find(entry(number))}
	if line != onItself {
		l.opened.set(number, true)
		b := l.block(l.cursor.at)
		l.cursor.line = 1 + b.first(int(line))
		if b == awaited {
			l.pending = hit{number, line}
		}
	}
	if l.cursor.before(l.top) || l.move(l.inside(l.top), max(0, l.height-1)).before(l.cursor) {
		l.top = l.cursor
		l.scrollBack()
	}
}

// drawn takes a heavy block, and goes on to where the cursor was to go in it.
func (l *list) drawn(msg blockMsg) {
	if msg.width != l.blocks.width || l.blocks.kept[msg.number] != awaited {
		return
	}
	l.blocks.keep(msg.number, msg.block)
	pending := l.pending
	l.pending = hit{line: onItself}
	if number, ok := l.current(); ok && number == msg.number && pending.number == number && pending.line != onItself && l.cursor.line > 0 {
		l.reveal(pending.number, pending.line)
	}
}

// line is where the cursor stands, as find tells it.
func (l *list) line() (number, line int32) {
	if len(l.entries) == 0 {
		return 0, onItself
	}
	number = l.number(l.entries[l.cursor.at])
	if b := l.block(l.cursor.at); b != nil && l.cursor.line > 0 && l.cursor.line <= len(b.of) {
		return number, b.of[l.cursor.line-1]
	}
	return number, onItself
}
