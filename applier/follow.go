package applier

import (
	"context"
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
)

// The rhythm of following. Changes arrive as events at once; only what no event announces is looked at in turns.
const (
	eventBlock    = 500 * time.Millisecond // one wait for an event; bounds how late the other turns are
	turnEvery     = time.Second
	upkeepEvery   = 2 * time.Second // state changed by another apply, unserved queues, missing keys
	stillEvery    = 10 * time.Second
	unservedGrace = 3 * time.Second // a worker that starts together with the apply needs a moment to register
)

// FollowOptions say from where on Follow tells changes. The zero value is from now on: how the jobs stand comes first.
type FollowOptions struct {
	// After is the last change that was told before, by this process or another: what came after it is told. A job that has
	// changed since then begins in Following without a status, the others with theirs, so that nothing moves backwards. If the
	// bounded event log does not reach back so far any more, a Warning says so and it begins as from now on.
	After *Position
	// Latest begins where the latest apply that wrote something did, if the log still reaches there, and else as from now on. Who
	// follows an apply from another process so gets what the apply itself tells. After goes before it.
	Latest bool
}

// Follow tells about a workflow's jobs until all are settled or wait for their time, whoever submitted them. It writes
// nothing. When ctx ends first, the Result says Interrupted and the error is nil: the jobs go on.
func Follow(ctx context.Context, c *conveyor.Client, workflow string, o FollowOptions, observer Observer) (Result, error) {
	mail := newMailbox(observer)
	defer mail.close()
	f := &follower{client: c, workflow: workflow, mail: mail, o: o}
	r, err := f.run(ctx)
	mail.post(Done{Result: r, Err: err})
	return r, err
}

// follower is one run of Follow. It belongs to one goroutine.
type follower struct {
	client   *conveyor.Client
	workflow string
	mail     *mailbox
	keyID    string // of the key under which this process signs; "" when it only watches
	o        FollowOptions
	first    int64 // of an apply's own follower: the number of the first event that it may have caused; 0: it wrote nothing

	snap     *snapshot
	jobs     *watchedJobs // nil before the first load
	at       Position     // of the last change told
	told     time.Time    // when its event was, by the store's clock; zero when the log did not hold it
	unsure   bool         // the log was not reached since
	backlog  []conveyor.Event
	current  int64         // state is at least as of this event
	ahead    time.Duration // of the store's clock before this machine's
	warned   map[Warning]bool
	news     map[*watchedJob]bool // running jobs whose latest progress was not told
	turnedAt time.Time
	upkeepAt time.Time
	began    time.Time
}

func (f *follower) run(ctx context.Context) (Result, error) {
	f.began, f.warned = time.Now(), map[Warning]bool{}
	patient := endurance{post: f.mail.post, then: thenFollowed}
	err := patient.call(ctx, f.load)
	for err == nil && !f.settled() {
		err = patient.call(ctx, f.step)
	}
	if err == nil && ctx.Err() != nil || endedBy(ctx, err) {
		if f.jobs == nil {
			return Result{Interrupted: true}, nil
		}
		r := f.result()
		r.Interrupted = !f.settled()
		return r, nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("follow workflow %q: %w. The jobs go on; apply again to follow them", f.workflow, err)
	}
	r := f.result()
	r.Schedules = f.schedules(ctx)
	return r, nil
}

// settled tells whether nothing is left to tell, and nothing to wait for.
func (f *follower) settled() bool { return len(f.backlog) == 0 && f.jobs.settled() }

// step waits for the next events and tells them, and looks at what no event announces when its turn has come.
func (f *follower) step(ctx context.Context) error {
	if len(f.backlog) == 0 {
		batch, err := f.read(ctx)
		if err != nil {
			return err
		}
		if batch.Gap {
			return f.healGap(ctx)
		}
		f.backlog = batch.Events
	}
	if err := f.tell(ctx); err != nil {
		return err
	}
	return f.turns(ctx)
}

// read waits for the next events. After an outage the log may be another one: a replica that took over never got the last events
// of its primary, and gives their numbers to others. One that is shorter, or does not reach back so far, is a gap by itself.
func (f *follower) read(ctx context.Context) (conveyor.EventBatch, error) {
	if f.unsure && !f.told.IsZero() {
		told, err := f.client.Told(ctx, f.at.Seq)
		if err != nil {
			return conveyor.EventBatch{}, err
		}
		if !told.IsZero() && !told.Equal(f.told) {
			return conveyor.EventBatch{Seq: f.at.Seq, Gap: true}, nil
		}
	}
	batch, err := f.client.Events(ctx, f.at.before(), eventBlock)
	f.unsure = err != nil
	return batch, err
}

// tell tells the backlog. Before an event by which another apply has changed the workflow the list of jobs is read anew, so that
// what the apply did to new jobs is told as well, at its place.
func (f *follower) tell(ctx context.Context) error {
	for len(f.backlog) > 0 {
		e := f.backlog[0]
		if e.Kind == "apply" && e.Seq > f.current {
			serial, err := readSerial(ctx, f.client, f.workflow)
			if err != nil {
				return err
			}
			if serial != f.snap.meta.serial {
				return f.load(ctx)
			}
			f.current = f.backlog[len(f.backlog)-1].Seq
		}
		f.tellEvent(ctx, e)
		f.at, f.told = Position{Seq: e.Seq}, e.At
		f.backlog = f.backlog[1:]
	}
	f.backlog = nil
	return nil
}

func (f *follower) tellEvent(ctx context.Context, e conveyor.Event) {
	if e.Progress != nil { // it tells about the job, and changes nothing of it
		if j := f.jobs.byUUID[e.Jobs[0].UUID]; j != nil && j.recorded() && j.status.State == conveyor.StateRunning {
			j.progress = *e.Progress
			f.news[j] = true
			f.tellProgress(time.Now())
		}
		return
	}
	last := 0
	for i, s := range e.Jobs {
		if j := f.jobs.byUUID[s.UUID]; j != nil && j.recorded() {
			last = i + 1
		}
	}
	for i, s := range e.Jobs {
		j := f.jobs.byUUID[s.UUID]
		if j == nil || f.at.covers(e.Seq, i+1) {
			continue
		}
		prior := j.status
		j.status = s
		f.changed(ctx, j, prior, JobChanged{Seq: e.Seq, Part: i + 1, Last: i+1 == last, At: e.At})
	}
}

// progressEvery is how often a job's progress is told at most.
const progressEvery = time.Second

// tellProgress tells how far jobs are, as far as it is time to: the latest is told in the end, whatever is left out before.
func (f *follower) tellProgress(now time.Time) {
	for j := range f.news {
		switch {
		case j.status.State != conveyor.StateRunning:
			delete(f.news, j)
		case now.Sub(j.progressAt) >= progressEvery:
			delete(f.news, j)
			j.progressAt = now
			f.mail.post(JobProgress{Addr: j.addr, UUID: j.status.UUID, Progress: j.progress})
		}
	}
}

// healGap goes on from new statuses: the event log is bounded and this reader fell behind its tail, or it is the log of a server that
// never got what was read before.
func (f *follower) healGap(ctx context.Context) error {
	uuids := f.jobs.uuids()
	statuses, seq, err := f.client.StatusesAt(ctx, uuids)
	if err != nil {
		return err
	}
	told, err := f.client.Told(ctx, seq)
	if err != nil {
		return err
	}
	if f.unsure || seq < f.at.Seq && !f.told.IsZero() {
		f.mail.post(Warning{Summary: "The store has lost its latest changes",
			Detail: "The server that answers now never got them: it has taken over from one that died. How the jobs stand there is told instead, " +
				"and applying again adds what is missing."})
	} else {
		f.mail.post(Warning{Summary: "Changes of jobs are not in the event log any more",
			Detail: fmt.Sprintf("What happened from event %d up to event %d was not read in time. How the jobs stand now is told instead.", f.at.Seq+1, seq)})
	}
	f.at, f.told, f.unsure = Position{Seq: seq}, told, false
	for i, id := range uuids {
		j := f.jobs.byUUID[id]
		prior := j.status
		if j.status, j.failures = statuses[i], failuresOf(statuses[i]); prior != j.status {
			f.changed(ctx, j, prior, JobChanged{Seq: seq})
		}
	}
	return nil
}

// changed tells about a recorded job's new status, with the failure when an attempt has just failed.
func (f *follower) changed(ctx context.Context, j *watchedJob, prior conveyor.Status, e JobChanged) {
	if !j.recorded() {
		return
	}
	e.Addr, e.Status, e.Upstream = j.addr, j.status, f.jobs.upstream(j.status)
	if e.At.IsZero() {
		e.At = time.Now().Add(f.ahead)
	}
	if failures := failuresOf(j.status); failures > j.told {
		j.told = failures
		e.Failure, e.LogTail = f.failure(ctx, j, prior)
	}
	if j.status.State == conveyor.StateRunning && prior.Fence != j.status.Fence {
		j.stillAt = time.Now()
	}
	f.mail.post(e)
}

// turns does what is due by the clock.
func (f *follower) turns(ctx context.Context) error {
	now := time.Now()
	if now.Sub(f.turnedAt) < turnEvery {
		return nil
	}
	f.turnedAt = now
	f.tellProgress(now)
	for _, j := range f.jobs.order {
		if j.status.State != conveyor.StateRunning {
			continue
		}
		if j.stillAt.IsZero() {
			j.stillAt = now
		}
		if now.Sub(j.stillAt) >= stillEvery {
			j.stillAt = now
			f.mail.post(StillRunning{Addr: j.addr, Elapsed: now.Add(f.ahead).Sub(j.status.Started)})
		}
	}
	if now.Sub(f.upkeepAt) < upkeepEvery {
		return nil
	}
	f.upkeepAt = now
	serial, err := readSerial(ctx, f.client, f.workflow)
	if err != nil {
		return err
	}
	if serial != f.snap.meta.serial {
		return f.load(ctx) // another apply has written
	}
	if now.Sub(f.began) < unservedGrace {
		return nil
	}
	return f.warn(ctx)
}

// result sums up where the jobs stand.
func (f *follower) result() Result {
	r := Result{Outputs: f.snap.state.Outputs}
	for _, j := range f.jobs.order {
		if j.record.Deposed {
			continue
		}
		switch j.status.State {
		case conveyor.StateScheduled:
			r.Scheduled++
		case conveyor.StateFailed, conveyor.StateCancelled, conveyor.StateExpired, conveyor.StateOnHold, conveyor.StateUnknown:
			r.Bad = append(r.Bad, j.followed())
		}
	}
	return r
}
