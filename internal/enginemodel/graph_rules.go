package enginemodel

// Rules works out by the rules for edges what becomes of each job of a graph, without any engine: the least that follows.
// What stays open can provably never end: each such job waits for another such job.
func (g Graph) Rules(f []Fate) []Outcome {
	own, final := make([]Outcome, len(g)), make([]Outcome, len(g)) // what its own work came to; what it ended as
	for moved := true; moved; {
		moved = false
		for i := range g {
			if own[i] == Open {
				own[i] = g.begin(i, f[i], own, final)
				moved = moved || own[i] != Open
			}
			if own[i] != Open && final[i] == Open {
				final[i] = g.end(i, own[i], final)
				moved = moved || final[i] != Open
			}
		}
	}
	return final
}

// begin decides what job i's own work comes to, open while an edge is not decided.
func (g Graph) begin(i int, f Fate, own, final []Outcome) Outcome {
	if f == CancelledWaiting {
		return Cancelled
	}
	byFailure, bySuccess := false, false
	for k, l := range g[i] {
		up := final[k]
		if l.parent() {
			up = own[k]
		}
		switch {
		case l == NoLink || l == AfterAll && up != Open:
		case up == Open:
			return Open
		case l.parent() && up != Completed:
			byFailure, bySuccess = byFailure || !up.success(), bySuccess || up.success()
		case l == AfterSuccess:
			byFailure = byFailure || !up.success()
		case l == AfterFailure:
			bySuccess = bySuccess || up.success()
		}
	}
	switch {
	case byFailure:
		return SkippedFail
	case bySuccess:
		return SkippedOK
	case f == Fails:
		return Failed
	case f == CancelledRunning:
		return Cancelled
	}
	return Completed
}

// end decides how job i ends whose own work came to own: after its children, as far as these are its children still.
func (g Graph) end(i int, own Outcome, final []Outcome) Outcome {
	if own != Completed {
		return own
	}
	for k := range g {
		if l := g[k][i]; l.parent() {
			if final[k] == Open {
				return Open
			}
			if l == ChildOf && !final[k].success() {
				own = FailedByChild
			}
		}
	}
	return own
}
