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

// Position is a place in the event stream: after the change that it names. The zero value is where following begins.
type Position struct {
	Seq  int64 // of the engine's event log
	Part int   // which of the event's jobs, from 1
}

// FollowOptions say what Follow tells. The zero value is all that happens from now on.
type FollowOptions struct {
	// After is the last change that was told before, by this process or another: what came after it is told.
	After Position
}

// Follow tells about a workflow's jobs until all are settled or wait for their time, whoever submitted them. It writes
// nothing. When ctx ends first, the Result says Interrupted and the error is nil: the jobs go on.
func Follow(ctx context.Context, c *conveyor.Client, workflow string, o FollowOptions, observer Observer) (Result, error) {
	mail := newMailbox(observer)
	defer mail.close()
	f := &follower{client: c, workflow: workflow, mail: mail}
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

	snap     *snapshot
	jobs     *watchedJobs
	seq      int64         // of the last event seen
	ahead    time.Duration // of the store's clock before this machine's
	warned   map[Warning]bool
	turnedAt time.Time
	upkeepAt time.Time
	began    time.Time
}

func (f *follower) run(ctx context.Context) (Result, error) {
	f.began, f.warned = time.Now(), map[Warning]bool{}
	patient := endurance{post: f.mail.post, then: thenFollowed}
	err := patient.call(ctx, f.load)
	for err == nil && !f.jobs.settled() {
		err = patient.call(ctx, f.step)
	}
	if err == nil && ctx.Err() != nil || endedBy(ctx, err) {
		if f.jobs == nil {
			return Result{Interrupted: true}, nil
		}
		r := f.result()
		r.Interrupted = !f.jobs.settled()
		return r, nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("follow workflow %q: %w. The jobs go on; apply again to follow them", f.workflow, err)
	}
	return f.result(), nil
}

// load reads state and statuses and starts over with them. The event number is taken first, so that nothing falls
// between the statuses and the first event.
func (f *follower) load(ctx context.Context) error {
	seq, err := f.client.LastEvent(ctx)
	if err != nil {
		return err
	}
	snap, err := readSnapshot(ctx, f.client, f.workflow)
	if err != nil {
		return err
	}
	now, err := f.client.Now(ctx)
	if err != nil {
		return err
	}
	f.ahead = time.Until(now)
	prior := f.jobs
	f.snap, f.jobs, f.seq = snap, watchRecords(snap.state), seq
	if prior != nil {
		f.jobs.keepTold(prior)
	}
	if err := f.readStatuses(ctx, nil); err != nil {
		return err
	}
	following := Following{Jobs: make([]Followed, len(f.jobs.order))}
	for i, j := range f.jobs.order {
		following.Jobs[i] = j.followed()
		following.Jobs[i].Above = j.above
	}
	f.mail.post(following)
	for _, j := range f.jobs.order {
		if j.status.State == conveyor.StateFailed {
			f.changed(ctx, j, conveyor.Status{}, Position{Seq: f.seq}, time.Time{})
		}
	}
	return nil
}

// readStatuses reads every job's status and hands those that differ to changed.
func (f *follower) readStatuses(ctx context.Context, changed func(*watchedJob, conveyor.Status)) error {
	uuids := f.jobs.uuids()
	statuses, err := statusesOf(ctx, f.client, uuids)
	if err != nil {
		return err
	}
	for i, id := range uuids {
		j := f.jobs.byUUID[id]
		prior := j.status
		if j.status = statuses[i]; changed != nil && prior != j.status {
			changed(j, prior)
		}
	}
	return nil
}

// step waits for the next events and takes them in, and looks at what no event announces when its turn has come.
func (f *follower) step(ctx context.Context) error {
	batch, err := f.client.Events(ctx, f.seq, eventBlock)
	if err != nil {
		return err
	}
	if batch.Gap {
		return f.healGap(ctx)
	}
	f.seq = batch.Seq
	for _, e := range batch.Events {
		for i, s := range e.Jobs {
			j := f.jobs.byUUID[s.UUID]
			if j == nil || j.status == s {
				continue
			}
			prior := j.status
			j.status = s
			f.changed(ctx, j, prior, Position{Seq: e.Seq, Part: i + 1}, e.At)
		}
	}
	return f.turns(ctx)
}

// healGap goes on from new statuses: the event log is bounded and this reader fell behind its tail.
func (f *follower) healGap(ctx context.Context) error {
	seq, err := f.client.LastEvent(ctx)
	if err != nil {
		return err
	}
	f.seq = seq
	return f.readStatuses(ctx, func(j *watchedJob, prior conveyor.Status) { f.changed(ctx, j, prior, Position{Seq: seq}, time.Time{}) })
}

// changed tells about a recorded job's new status, with the failure when an attempt has just failed.
func (f *follower) changed(ctx context.Context, j *watchedJob, prior conveyor.Status, p Position, at time.Time) {
	if !j.recorded() {
		return
	}
	e := JobChanged{Addr: j.addr, Status: j.status, Seq: p.Seq, Part: p.Part, At: at}
	if e.At.IsZero() {
		e.At = time.Now().Add(f.ahead)
	}
	if failures := failuresOf(j.status); failures > j.told {
		j.told = failures
		e.Failure, e.LogTail = f.failure(ctx, j.status)
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
		case conveyor.StateFailed, conveyor.StateCancelled, conveyor.StateExpired, conveyor.StateOnHold, conveyor.StateUnknown:
			r.Bad = append(r.Bad, j.followed())
		}
	}
	return r
}
