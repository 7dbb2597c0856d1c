package board

// Open shows what stands below a job, or a whole part; false when it was shown already or there is nothing.
func (t *Tree) Open(r Ref) bool { return t.setOpen(r, true) }

// Close is the opposite of Open.
func (t *Tree) Close(r Ref) bool { return t.setOpen(r, false) }

func (t *Tree) setOpen(r Ref, open bool) bool {
	v := t.at(r)
	nd := &t.nodes[v]
	prior := nd.flags
	switch {
	case r.Part != PartWhole && open:
		nd.flags |= opened(r.Part)
	case r.Part != PartWhole:
		nd.flags &^= opened(r.Part)
	case v == 0 || len(nd.kids) == 0:
		return false
	case open:
		nd.flags &^= shut
	default:
		nd.flags |= shut
	}
	if nd.flags == prior {
		return false
	}
	t.remeasure(v)
	return true
}

// Toggle opens or closes: a part, the log of a job that did not succeed, or what stands below a job.
func (t *Tree) Toggle(r Ref) {
	nd := &t.nodes[t.at(r)]
	if r.Part == PartWhole && t.ToggleLog(r) {
		return
	}
	open := nd.flags&shut != 0
	if r.Part != PartWhole {
		open = nd.flags&opened(r.Part) == 0
	}
	t.setOpen(r, open)
}

// ToggleLog shows or hides the end of the log of a job whose latest attempt failed; false when there is none.
func (t *Tree) ToggleLog(r Ref) bool {
	v := t.at(r)
	nd := &t.nodes[v]
	if v == 0 || r.Part != PartWhole || nd.kind != Unsuccessful && nd.kind != Retrying {
		return false
	}
	j := t.jobs[r.Place]
	if len(j.Tail) == 0 {
		return false
	}
	if nd.flags&logs == 0 {
		nd.flags = nd.flags&^noLogs | logs
	} else {
		nd.flags = nd.flags&^logs | noLogs
	}
	nd.detail = t.detailOf(nd, j)
	t.remeasure(v)
	return true
}

// Above is what a ref stands under: the job of a part, the job or the open part around a job; false at the top.
func (t *Tree) Above(r Ref) (Ref, bool) {
	v := t.at(r)
	if r.Part == PartWhole && v != 0 {
		nd := &t.nodes[v]
		if t.shape(nd.up, nd.part).head {
			return Ref{Place: int(nd.up) - 1, Part: nd.part}, true
		}
		for v = nd.up; t.passed(v); {
			v = t.nodes[v].up
		}
	}
	return Ref{Place: int(v) - 1}, v != 0
}

// Reveal opens whatever hides a job.
func (t *Tree) Reveal(place int) {
	r := Ref{Place: place}
	for range 2 * MaxDepth {
		hider := t.Seen(r)
		if hider == r || !t.Open(hider) {
			return
		}
	}
}

// NextTrouble is the next job after place, or the one before when back is set, that did not succeed, around the end; false when
// all is well. It goes through all jobs.
func (t *Tree) NextTrouble(place int, back bool) (int, bool) {
	n := len(t.nodes) - 1
	if t.nodes[0].sums[Unsuccessful] == 0 {
		return 0, false
	}
	step := 1
	if back {
		step = n - 1
		place = max(place, 0)
	}
	for i, p := 0, (place+step)%n; i < n; i, p = i+1, (p+step)%n {
		if t.nodes[p+1].kind == Unsuccessful {
			return p, true
		}
	}
	return 0, false
}

// Kind is the kind of a job.
func (t *Tree) Kind(place int) Kind { return t.nodes[t.at(Ref{Place: place})].kind }

// Busy tells whether a job runs.
func (t *Tree) Busy(place int) bool { return place >= 0 && t.Kind(place) == AtWork }

// Details is how many lines that say more follow the line of r.
func (t *Tree) Details(r Ref) int {
	if v := t.at(r); v != 0 && r.Part == PartWhole {
		return t.own(v) - 1
	}
	return 0
}
