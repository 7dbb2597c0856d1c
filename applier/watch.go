package applier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
)

// The rhythm of watching. What the event log tells is told at once; the rest is looked at in turns.
const (
	idleTurns     = 4                // from one look to the next, in an idle namespace; one where something happens is looked at each turn
	idleWait      = 2                // turns that an idle namespace is waited for in one go
	crewEvery     = 10 * time.Second // what workers say of themselves, but for their beat
	againEvery    = 5 * time.Second  // lists are told again, though nothing has changed
	maxPause      = 5 * time.Second  // from one reading of a large state that changes to the next; ten times as long as it takes
	problemEvery  = 10 * time.Second // a workflow whose state could not be read is read again
	watchSilence  = 5 * time.Second  // after so long without an answer people are told
	maxTexts      = 200              // failures whose texts are read at first, for each workflow
	maxTails      = 10               // ends of logs read for the failures of one reading of the event log
	locksInTurn   = 4                // locks that are looked at in one turn though nothing hints at a holder
	maxLoose      = 1000             // jobs in LooseSeen
	drainsAtMost  = 100              // readings of the log that one load may take to catch up
	looseRetained = 4 * maxLoose     // changes of jobs without a workflow that are remembered
)

// Watch tells about a whole namespace until ctx ends, which is no error: the workflows and their jobs, queues, workers, and
// the jobs that belong to no workflow. It reads everything once and then follows the event log. It writes nothing, and waits
// for a store that is away as long as that lasts.
//
// The first events list the workflows and, for each, its jobs; WorkflowsSeen comes before a workflow's first event of its own.
func Watch(ctx context.Context, c *conveyor.Client, o WatchOptions, observer Observer) error {
	mail := newMailbox(observer)
	defer mail.close()
	w := newWatcher(c, o, mail)
	patient := endurance{post: mail.post, then: thenWatched, endless: true}
	var err error
	for err == nil {
		patient.silence = 0 // a first reading may take a while
		if w.survey != nil {
			patient.silence = watchSilence
		}
		err = patient.call(ctx, w.step)
	}
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("watch namespace %q: %w", c.Namespace(), err)
}

// watcher is one run of Watch. It belongs to one goroutine.
type watcher struct {
	client *conveyor.Client
	only   string
	every  time.Duration // a turn, and one wait for an event
	mail   *mailbox
	began  time.Time
	ahead  time.Duration // of the store's clock before this machine's

	survey *conveyor.Survey        // nil: where everything stands has to be read
	jobs   map[string]*watchedJob  // by uuid: all there are, and recorded ones that are not
	flows  map[string]*flow        // by name: all that have a state or had one
	early  map[*watchedJob]bool    // jobs of a state that was not read yet: they are nobody's for now
	runs   map[*watchedJob]bool    // recorded jobs that run
	news   map[*watchedJob]bool    // of those, the ones whose latest progress was not told
	loads  map[string]int          // running jobs by worker
	counts map[string]*queueCounts // by queue
	words  map[string]string       // names of queues, types and keys
	loose  looseJobs
	told   []told // changes that go out after the batch that brought them

	busy     bool      // something happened since the last look
	due      bool      // states may have changed
	turnedAt time.Time // of the last turn
	lookedAt time.Time
	searched bool
	locks    rota
	seen     seenFlows
	fleet    fleet
	cycles   cycles
	called   called
}

func newWatcher(c *conveyor.Client, o WatchOptions, mail *mailbox) *watcher {
	return &watcher{
		client: c, only: o.Workflow, every: cmp.Or(o.turn, turnEvery), mail: mail, began: time.Now(),
		jobs: map[string]*watchedJob{}, flows: map[string]*flow{}, early: map[*watchedJob]bool{}, runs: map[*watchedJob]bool{},
		news: map[*watchedJob]bool{}, loads: map[string]int{}, counts: map[string]*queueCounts{}, words: map[string]string{},
		cycles: newCycles(), called: newCalled(),
	}
}

// queueCounts are what a watch has counted of a queue.
type queueCounts struct{ started, ended int64 }

// told is an event that waits for the text of a failure.
type told struct {
	flow       *flow
	event      JobChanged
	occurrence bool // it is of an occurrence
	failed     bool
	fence      int64 // of the attempt that has
}

// step waits for the next events and tells them, and looks at what no event announces when its turn has come.
func (w *watcher) step(ctx context.Context) error {
	if w.survey == nil {
		return w.load(ctx)
	}
	if err := w.read(ctx, w.wait()); err != nil || w.survey == nil {
		return err
	}
	w.tell(ctx)
	return w.turn(ctx)
}

// wait is how long the next event is waited for: longer while there is nothing to tell by the clock.
func (w *watcher) wait() time.Duration {
	if w.busy || w.due || len(w.runs) > 0 || w.loose.dirty {
		return w.every
	}
	return idleWait * w.every
}

// read takes the next events in. A reader that missed some has no survey afterwards.
func (w *watcher) read(ctx context.Context, block time.Duration) error {
	batch, err := w.survey.Next(ctx, block)
	switch {
	case errors.Is(err, conveyor.ErrCorrupt):
		w.survey = nil
		w.warn(Warning{Summary: "An event cannot be read", Detail: err.Error() + ". How everything stands is read anew."})
		return nil
	case err != nil:
		return err
	case batch.Gap:
		w.survey = nil
		w.warn(Warning{Summary: "Events were missed", Detail: "The event log does not reach back to what was read last: this watch was too slow, or the " +
			"namespace was emptied. How everything stands is read anew; what happened in between is not told."})
		return nil
	}
	for _, e := range batch.Events {
		w.take(e)
	}
	return nil
}

// take notes what an event says.
func (w *watcher) take(e conveyor.Event) {
	w.busy = true
	w.due = w.due || e.Kind == "apply"
	w.fleet.moved = w.fleet.moved || len(e.Workers) > 0
	before := len(w.told)
	for i, s := range e.Jobs {
		j := w.jobs[s.UUID]
		if j != nil && j.status == s {
			if e.Progress != nil && j.flow != nil {
				j.progress, w.news[j] = *e.Progress, true
			}
			continue
		}
		w.count(j, s)
		w.see(j, s, Position{Seq: e.Seq, Part: i + 1}, e.At)
	}
	type list struct {
		flow       *flow
		occurrence bool
	}
	last := map[list]bool{}
	for i := len(w.told) - 1; i >= before; i-- {
		t := &w.told[i]
		of := list{t.flow, t.occurrence}
		t.event.Last, last[of] = !last[of], true
	}
	w.tellProgress(time.Now())
}

// count counts starts and ends by queue.
func (w *watcher) count(j *watchedJob, s conveyor.Status) {
	var prior conveyor.Status
	if j != nil {
		prior = j.status
	}
	started := max(s.Fence-prior.Fence, 0)
	ended := s.State.Ended() && (!prior.State.Ended() || started > 0)
	if started == 0 && !ended {
		return
	}
	c := w.counts[s.Queue]
	if c == nil {
		c = &queueCounts{}
		w.counts[s.Queue] = c
	}
	c.started += started
	if ended {
		c.ended++
	}
}

// see notes a job's status; j is nil for one that was not known. A recorded job's change is to be told.
func (w *watcher) see(j *watchedJob, s conveyor.Status, p Position, at time.Time) {
	if j == nil {
		if s.State == conveyor.StateUnknown {
			return
		}
		j = &watchedJob{}
		w.jobs[s.UUID] = j
		if s.Recorded {
			w.early[j] = true
			w.rehome(s.UUID)
		}
	}
	prior := j.status
	w.tally(j, -1)
	j.status = s
	w.tally(j, 1)
	w.seeTemplate(s)
	if prior.State == conveyor.StateRunning {
		w.carries(prior.Owner, -1)
	}
	if s.State == conveyor.StateRunning {
		w.carries(s.Owner, 1)
	}
	if j.flow == nil {
		switch {
		case s.Template != "" || prior.Template != "":
			w.occurrenceChanged(j, prior, p, at)
		case !w.early[j]:
			w.loose.changed(j)
		}
		if s.State == conveyor.StateUnknown {
			delete(w.jobs, s.UUID)
			delete(w.early, j)
			w.rehome(s.UUID)
		}
		return
	}
	w.running(j, prior)
	failures := failuresOf(s)
	failed := failures > j.told
	j.told = max(j.told, failures)
	if !j.flow.told || !w.shows(j.flow) {
		return
	}
	if at.IsZero() {
		at = w.now()
	}
	e := JobChanged{Addr: j.addr, Status: s, Seq: p.Seq, Part: p.Part, At: at}
	if up := w.jobs[s.Cause]; s.State == conveyor.StateSkipped && up != nil && up.recorded() {
		e.Upstream = up.addr.String()
	}
	w.told = append(w.told, told{flow: j.flow, event: e, failed: failed, fence: failedFence(prior, s)})
}

// running keeps track of the recorded jobs that run.
func (w *watcher) running(j *watchedJob, prior conveyor.Status) {
	if j.flow == nil || j.status.State != conveyor.StateRunning {
		delete(w.runs, j)
		delete(w.news, j)
		return
	}
	w.runs[j] = true
	if prior.Fence != j.status.Fence {
		j.stillAt = time.Now()
		delete(w.news, j)
	}
}

// carries counts the jobs that a worker runs.
func (w *watcher) carries(worker string, by int) {
	if w.loads[worker] += by; w.loads[worker] == 0 {
		delete(w.loads, worker)
	}
}

// tally counts a job where it belongs.
func (w *watcher) tally(j *watchedJob, by int) {
	switch {
	case j.status.Template != "":
		w.tallyOccurrence(j, by)
	case j.flow != nil:
		j.flow.counts[j.status.State] += by
	case j.status.State != conveyor.StateUnknown && !w.early[j]:
		w.loose.counts[j.status.State] += by
	}
}

// now is the store's clock.
func (w *watcher) now() time.Time { return time.Now().Add(w.ahead) }

// shows tells whether what concerns a workflow is told.
func (w *watcher) shows(f *flow) bool { return w.only == "" || w.only == f.name }

func (w *watcher) post(f *flow, e Event) { w.mail.post(OfWorkflow{Workflow: f.name, Event: e}) }
