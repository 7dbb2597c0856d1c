package board

// Ref names what stands on a line: a job, or a part of what stands below it.
type Ref struct {
	Place int  // of the job in Board.Jobs; -1 is above them all
	Part  Part // PartWhole is the job itself
}

// Row is one line of a tree.
type Row struct {
	Ref
	Depth  int  // 0 for what stands under nothing
	Detail int  // 0 for the line of the job itself, then its details
	Open   bool // a part that its user has opened
	Kids   bool // a job with others below it
	Shut   bool // and they are not shown
	Passed int  // finished jobs right above it that are left out
}

// Lines is how many lines the tree has.
func (t *Tree) Lines() int { return int(t.nodes[0].lines) }

// Rows are n lines from one on, or as many as there are.
func (t *Tree) Rows(from, n int) []Row {
	w := walk{tree: t, skip: max(0, from), left: n}
	w.below(0, 0)
	return w.rows
}

// walk collects lines from top to bottom.
type walk struct {
	tree *Tree
	rows []Row
	skip int // lines to pass before the first one wanted
	left int // lines still wanted
}

// put is the next line.
func (w *walk) put(r Row) {
	switch {
	case w.skip > 0:
		w.skip--
	case w.left > 0:
		w.left--
		w.rows = append(w.rows, r)
	}
}

func (w *walk) node(v int32, depth int) {
	nd, passed := &w.tree.nodes[v], 0
	for w.tree.passed(v) {
		v, passed = nd.kids[0], passed+1
		nd = &w.tree.nodes[v]
	}
	r := Row{Passed: passed, Ref: Ref{Place: int(v) - 1}, Depth: depth, Kids: len(nd.kids) > 0, Shut: nd.flags&shut != 0}
	for range w.tree.own(v) {
		w.put(r)
		r.Detail++
	}
	if !r.Shut {
		w.below(v, depth+1)
	}
}

func (w *walk) below(v int32, depth int) {
	for part := range parts {
		if w.left <= 0 {
			return
		}
		s := w.tree.shape(v, part)
		if w.skip >= s.lines {
			w.skip -= s.lines
			continue
		}
		fold := Row{Ref: Ref{Place: int(v) - 1, Part: part}, Depth: depth, Open: s.head}
		if s.head {
			w.put(fold)
		}
		w.kids(v, part, s, depth)
		if s.rest > 0 {
			w.put(fold)
		}
	}
}

// kids puts the shown kids of a part.
func (w *walk) kids(v int32, part Part, s shape, depth int) {
	if w.skip >= s.kids {
		w.skip -= s.kids
		return
	}
	rank, nth, before := w.tree.under(v, part, w.skip)
	w.skip -= before
	for ; nth < s.shown && rank >= 0 && w.left > 0; nth++ {
		w.node(w.tree.nodes[v].kids[rank], depth)
		rank = w.tree.after(v, part, rank+1)
	}
}

// Hidden counts the jobs that the line of a part stands for: those left out, or all of it when it is open.
func (t *Tree) Hidden(r Ref) Sums {
	v := t.at(r)
	s := t.shape(v, r.Part)
	sums := t.sumsOf(v, r.Part)
	if s.head {
		return sums
	}
	rank := -1
	for range s.shown {
		if rank = t.after(v, r.Part, rank+1); rank < 0 {
			break
		}
		sums.subtract(&t.nodes[t.nodes[v].kids[rank]].sums)
	}
	return sums
}

// Sums counts a job and all below it; of place -1 all jobs.
func (t *Tree) Sums(place int) Sums { return t.nodes[t.at(Ref{Place: place})].sums }

// at is the node of a ref; the root for one that is out of range.
func (t *Tree) at(r Ref) int32 {
	if r.Place < 0 || r.Place+1 >= len(t.nodes) {
		return 0
	}
	return int32(r.Place + 1)
}

// Seen is r when it is shown, and else what hides it: the closed job or folded part that it is in.
func (t *Tree) Seen(r Ref) Ref {
	v := t.at(r)
	if r.Part != PartWhole {
		s := t.shape(v, r.Part)
		if !s.head && s.rest == 0 || t.nodes[v].flags&shut != 0 {
			r = Ref{Place: r.Place} // there is no line for the part
		}
	}
	for v != 0 && r.Part == PartWhole && t.passed(v) {
		v = t.nodes[v].kids[0]
		r = Ref{Place: int(v) - 1}
	}
	for v != 0 {
		nd := &t.nodes[v]
		up := &t.nodes[nd.up]
		if up.flags&shut != 0 {
			r = Ref{Place: int(nd.up) - 1}
		} else if nth, _ := t.position(nd.up, int(nd.rank)); nth >= t.shape(nd.up, nd.part).shown {
			r = Ref{Place: int(nd.up) - 1, Part: nd.part}
		}
		v = nd.up
	}
	return r
}

// Line is where r stands, or what hides it.
func (t *Tree) Line(r Ref) int {
	r = t.Seen(r)
	v, line := t.at(r), 0
	if r.Part != PartWhole {
		line = t.own(v)
		for part := range r.Part {
			line += t.shape(v, part).lines
		}
		if s := t.shape(v, r.Part); !s.head {
			line += s.kids
		}
	}
	for v != 0 {
		nd := &t.nodes[v]
		line += t.own(nd.up)
		for part := range nd.part {
			line += t.shape(nd.up, part).lines
		}
		if t.shape(nd.up, nd.part).head {
			line++
		}
		_, before := t.position(nd.up, int(nd.rank))
		line += before
		v = nd.up
	}
	return line
}
