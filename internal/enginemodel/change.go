package enginemodel

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Added says how jobs are added.
type Added struct {
	ParentDead bool
	Strict     bool
}

// Add is AddMany of jobs that fit into one script.
func (e *Engine) Add(jobs []*wire.Job, o Added) error {
	return e.atomically(func() error {
		within := map[string]bool{}
		for _, w := range jobs {
			within[w.Uuid] = true
		}
		for _, w := range jobs {
			if err := e.add(w, o, within, nil); err != nil {
				return err
			}
		}
		e.settleAll()
		return nil
	})
}

// add stores a new job. A job that is there already is left alone, unless it was made by an earlier attempt of a job
// whose present attempt makes it again.
func (e *Engine) add(w *wire.Job, o Added, within map[string]bool, c *conveyor.Change) error {
	edges := edgesOf(w)
	if o.ParentDead {
		edges = slices.DeleteFunc(edges, func(d edge) bool { return !d.parent })
	}
	j := e.jobs[w.Uuid]
	if j != nil {
		if !e.remade(j, edges) {
			return nil
		}
		return e.change(j, w, edges)
	}
	if err := e.mayWait(nil, edges); err != nil {
		return err
	}
	for _, d := range edges {
		if o.Strict && !o.ParentDead && !within[d.up] && e.jobs[d.up] == nil {
			return conveyor.ErrUnknownUpstream
		}
	}
	j = &job{uuid: w.Uuid}
	replaces := ""
	if c != nil {
		replaces, j.recorded = c.Replaces, c.Attach != nil && c.Attach.Value != nil
	}
	alone := len(edges) == 0 && !j.recorded && !e.waitedFor(j)
	return e.begin(j, w, edges, beginning{replaces, o.ParentDead, alone})
}

// beginning says how a job begins.
type beginning struct {
	replaces   string
	parentDead bool
	refused    bool // if another holds its unique key; otherwise it has failed, so that what waits for it is decided
}

// begin stores a new job with its edges.
func (e *Engine) begin(j *job, w *wire.Job, edges []edge, b beginning) error {
	j.state, j.opening = conveyor.StateHeld, 1
	j.take(w)
	j.labels = w.Labels
	e.jobs[j.uuid] = j
	if isTemplate(w) && j.of == "" {
		e.declareTemplate(j)
		return nil
	}
	if j.of == "" {
		j.sync = firstSync(w)
	}
	e.mayWaitFor(j, w)
	j.unique, j.due, j.delay = uniqueKey(w), runAt(w), delay(w)
	e.wire(j, edges, b.replaces, b.parentDead)
	if how, _ := j.verdict(); j.pending() > 0 || how == undecided {
		if e.obsolete(j, b.replaces) {
			j.unique = ""
			e.dropped++
			e.closeAs(j, obsolete)
			return nil
		}
		err := e.claim(j, b.replaces)
		if err != nil && b.refused {
			return err
		}
		if err != nil {
			j.failure = fmt.Sprintf("unique key %s is held by %s", j.unique, e.unique[j.unique])
			e.closeAs(j, failed)
			return nil
		}
	}
	if isBroadcast(w) {
		e.broadcast(j)
		return nil
	}
	e.decide(j)
	return nil
}

// waitedFor tells whether others were added before this job that wait for its first opening, or did when the operation began.
func (e *Engine) waitedFor(j *job) bool {
	for _, turns := range []map[turn]int64{e.turns, e.began} {
		for t := range turns {
			if t.up == j.uuid && t.opening == 1 {
				return true
			}
		}
	}
	return false
}

// mayWait refuses edges that a superseded attempt makes.
func (e *Engine) mayWait(j *job, edges []edge) error {
	for i := range edges {
		d := &edges[i]
		had := j != nil && slices.ContainsFunc(j.edges, func(o edge) bool { return o.same(d) && o.mark != cut })
		if up := e.jobs[d.up]; d.madeBy != 0 && !had && (up == nil || up.state != conveyor.StateRunning || up.fence != d.madeBy) {
			return conveyor.ErrOutdated
		}
	}
	return nil
}

// remade tells whether a held job was made by an earlier attempt of the one that makes it again now.
func (e *Engine) remade(j *job, edges []edge) bool {
	if j.state != conveyor.StateHeld {
		return false
	}
	for _, was := range j.edges {
		for _, d := range edges {
			up := e.jobs[d.up]
			if was.madeBy != 0 && d.madeBy != 0 && was.up == d.up && was.madeBy != d.madeBy &&
				up != nil && up.state == conveyor.StateRunning && up.fence == d.madeBy {
				return true
			}
		}
	}
	return false
}

// take reads what may change with an update at any time.
func (j *job) take(w *wire.Job) {
	j.wire, j.queue, j.lane, j.lostLimit = w, placeOf(w), lane(w), 5
	if p := w.RetryPolicy; p != nil && p.MaxLost != nil {
		j.lostLimit = int(*p.MaxLost)
	}
	j.holds = w.RetryPolicy.GetHoldOnExhausted()
	j.removeAfter = milli(w.RemoveAfter.AsDuration())
	if w.MaxCycles == 0 {
		j.runs = 0
	}
}

func runAt(w *wire.Job) int64 {
	if w.RunAt == nil {
		return 0
	}
	t := w.RunAt.AsTime()
	return t.Add(time.Millisecond - 1).UnixMilli() // never early
}

func delay(w *wire.Job) int64 { return milli(w.After.AsDuration()) }

// milli is a duration in milliseconds, rounded up.
func milli(d time.Duration) int64 { return (d + time.Millisecond - 1).Milliseconds() }

// Update gives a waiting job new bytes, edges, place and time; one that has started takes what concerns its next attempt, and
// leaves the parents that it no longer names; one that is over is left alone.
func (e *Engine) Update(w *wire.Job) error {
	return e.one(conveyor.Change{Kind: conveyor.ChangeUpdate, Job: w, UUID: w.Uuid})
}

func (e *Engine) change(j *job, w *wire.Job, edges []edge) error {
	names := func(d *edge) bool { return slices.ContainsFunc(edges, func(o edge) bool { return o.same(d) }) }
	started := j.state == conveyor.StateRunning || j.state == conveyor.StateOnHold
	if started || j.open() {
		e.leaveParents(j, names)
	}
	if j.state.Ended() || j.end.decided() {
		return nil
	}
	if j.template != nil {
		e.changeTemplate(j, w)
		return nil
	}
	if key := uniqueKey(w); key != j.unique {
		e.free(j)
		j.unique = key
		if err := e.claim(j, ""); err != nil {
			return err
		}
	}
	j.removeAfter, j.labels = milli(w.RemoveAfter.AsDuration()), w.Labels
	if j.open() {
		return nil
	}
	if j.fence == 0 {
		j.sync = firstSync(w)
	}
	e.mayWaitFor(j, w)
	if started {
		j.take(w)
		for i := range j.edges {
			for k := range edges {
				if j.edges[i].same(&edges[k]) {
					j.edges[i].ignore = edges[k].ignore
				}
			}
		}
		return nil
	}
	if err := e.mayWait(j, edges); err != nil {
		return err
	}
	moved := j.queue != placeOf(w) || j.lane != lane(w)
	due := e.dueAfter(j, w)
	was := j.state
	j.take(w)
	j.delay = delay(w)
	if !j.withdrawn {
		e.leaveParents(j, names)
	}
	e.wire(j, edges, "", false)
	how, _ := j.verdict()
	switch {
	case j.pending() > 0:
		j.state, j.place = conveyor.StateHeld, 0
		if j.due = due; due <= e.now {
			j.due = runAt(w)
		}
	case how != undecided:
		j.state = conveyor.StateHeld
		e.decide(j)
	case was == conveyor.StateHeld:
		j.due = runAt(w)
		e.start(j)
	case due > e.now:
		e.schedule(j, due)
	case was == conveyor.StateScheduled || moved:
		e.ready(j)
	}
	return nil
}

func lane(w *wire.Job) int {
	if w.Priority == nil || w.Delivery.GetTo() == wire.Delivery_WORKER {
		return 1
	}
	return int(*w.Priority)
}

// dueAfter is when a job whose edges are satisfied may start after an update: a delay that is running goes on under its new
// length, a new one begins now, and a backoff is never cut short.
func (e *Engine) dueAfter(j *job, w *wire.Job) int64 {
	due, next := runAt(w), delay(w)
	switch {
	case j.state == conveyor.StateHeld:
		return 0
	case j.state == conveyor.StateScheduled && j.fence > 0:
		return max(due, j.due)
	case j.state == conveyor.StateScheduled && j.delay > 0 && next > 0:
		return max(due, j.due-j.delay+next)
	case next > 0 && next != j.delay && j.fence == 0:
		return max(due, e.now+next)
	}
	return due
}

// leaveParents takes a job out of the open parents that it no longer names.
func (e *Engine) leaveParents(j *job, names func(d *edge) bool) {
	if j.withdrawn {
		return
	}
	for i := 0; i < len(j.edges); {
		d := j.edges[i]
		if !d.parent || d.mark != success || names(&d) {
			i++
			continue
		}
		j.edges = slices.Delete(j.edges, i, i+1)
		e.look(d.up)
	}
}

// look settles an open parent that may have no unfinished child any more.
func (e *Engine) look(uuid string) {
	if p := e.jobs[uuid]; p != nil && p.open() {
		e.settle(p)
	}
}

// Cancel ends a waiting job and asks the worker of a running one, or a closing job, to end so.
func (e *Engine) Cancel(uuid string) error {
	return e.one(conveyor.Change{Kind: conveyor.ChangeCancel, UUID: uuid})
}

func (e *Engine) cancel(j *job) {
	switch {
	case j.state == conveyor.StateRunning, j.open():
		j.cancelled = true
	case j.live() && j.state != conveyor.StateClosing:
		e.closeAs(j, cancelled)
	}
}

// withdraw takes a job out of its parents; its end counts for no edge that exists now.
func (e *Engine) withdraw(j *job) {
	if j.withdrawn {
		return
	}
	j.withdrawn = true
	if !j.live() {
		e.uncount(j)
		return
	}
	for i := range j.edges {
		if d := &j.edges[i]; d.parent && d.mark == success {
			e.look(d.up)
		}
	}
}

// uncount takes back that a job failed its open parents.
func (e *Engine) uncount(j *job) {
	for i := range j.edges {
		d := &j.edges[i]
		if p := e.jobs[d.up]; d.counted && p != nil && p.open() && p.opening == d.opening {
			p.failedChildren--
			d.counted = false
		}
	}
}

// firstSync is the state that the first execution gets.
func firstSync(w *wire.Job) map[string]string {
	if len(w.Sync) == 0 {
		return nil
	}
	return maps.Clone(w.Sync)
}
