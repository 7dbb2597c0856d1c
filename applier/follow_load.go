package applier

import (
	"context"
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
)

// load reads state and statuses and starts over with them, telling what comes after f.at.
//
// Statuses are read at one moment of the event log, and what the log has between f.at and that moment is the backlog. A job in it
// begins as it was told before, else without a status; the others begin as they stand.
func (f *follower) load(ctx context.Context) error {
	current, err := f.client.LastEvent(ctx)
	if err != nil {
		return err
	}
	snap, err := readSnapshot(ctx, f.client, f.workflow)
	if err != nil {
		return err
	}
	jobs := watchRecords(snap.state)
	uuids := jobs.uuids()
	statuses, head, err := f.client.StatusesAt(ctx, uuids)
	if err != nil {
		return err
	}
	now, err := f.client.Now(ctx)
	if err != nil {
		return err
	}
	at, wanted := f.start(snap.meta)
	var backlog []conveyor.Event
	if wanted {
		var reached bool
		if backlog, reached, err = f.eventsUpTo(ctx, at, head); err != nil {
			return err
		}
		if !reached {
			f.lost(at, head)
			wanted = false
		}
	}
	if !wanted {
		at = Position{Seq: head}
	}
	told, err := f.client.Told(ctx, at.Seq)
	if err != nil {
		return err
	}
	prior := f.jobs
	f.told, f.unsure = told, false
	f.ahead, f.current = time.Until(now), current
	f.snap, f.jobs, f.at, f.backlog, f.news = snap, jobs, at, backlog, map[*watchedJob]bool{}
	if prior != nil {
		f.jobs.keepTold(prior)
	}
	for i, id := range uuids {
		j := f.jobs.byUUID[id]
		j.status, j.failures = statuses[i], failuresOf(statuses[i])
	}
	if wanted {
		f.rewind(prior)
	}
	f.mail.post(f.jobs.following(f.at))
	for _, j := range f.jobs.order {
		if j.status.State == conveyor.StateFailed {
			f.changed(ctx, j, conveyor.Status{}, JobChanged{Seq: f.at.Seq})
		}
	}
	f.readProgress(ctx)
	return nil
}

// readProgress tells how far the jobs are that run already.
func (f *follower) readProgress(ctx context.Context) {
	var running []*watchedJob
	for _, j := range f.jobs.order {
		if j.status.State == conveyor.StateRunning {
			running = append(running, j)
		}
	}
	for _, j := range progressOf(ctx, f.client, running) {
		f.news[j] = true
	}
	f.tellProgress(time.Now())
}

// start is the position to tell from; false for none but now.
func (f *follower) start(m meta) (Position, bool) {
	switch {
	case f.jobs != nil:
		return f.at, true
	case f.first > 0:
		return Position{Seq: f.first - 1}, true
	case f.o.After != nil:
		return *f.o.After, true
	case f.o.Latest && m.told > 0:
		return Position{Seq: m.told - 1}, true // told counts from 1, so that none differs from the beginning of the log
	}
	return Position{}, false
}

// lost says that the log does not reach back to a position.
func (f *follower) lost(at Position, head int64) {
	switch {
	case f.first > 0 && f.jobs == nil:
		f.mail.post(Warning{Summary: "Changes of jobs are not in the event log any more",
			Detail: fmt.Sprintf("The log does not reach back to the beginning of this apply. How the jobs stand now, at event %d, is told instead.", head)})
	case f.jobs != nil || f.o.After != nil:
		f.mail.post(Warning{Summary: "Changes of jobs are not in the event log any more",
			Detail: fmt.Sprintf("The log does not reach back to %s. How the jobs stand now, at event %d, is told instead.", at, head)})
	default:
		f.mail.post(Warning{Summary: "The event log does not reach back to the last apply",
			Detail: fmt.Sprintf("How the jobs stand now, at event %d, is told instead of how they came there.", head)})
	}
}

// eventsUpTo reads what came after a position up to an event; false when some of it is gone.
func (f *follower) eventsUpTo(ctx context.Context, at Position, head int64) ([]conveyor.Event, bool, error) {
	if at.Seq > head {
		return nil, false, nil // of a log that was emptied
	}
	var events []conveyor.Event
	for seq := at.before(); seq < head; {
		batch, err := f.client.Events(ctx, seq, 0)
		if err != nil {
			return nil, false, err
		}
		if batch.Gap || len(batch.Events) == 0 {
			return nil, false, nil
		}
		events = append(events, batch.Events...)
		seq = batch.Seq
	}
	return events, true, nil
}

// rewind takes the status from jobs that the backlog is about, and gives all those back that were told before theirs.
func (f *follower) rewind(prior *watchedJobs) {
	for _, e := range f.backlog {
		if e.Progress != nil {
			continue
		}
		for i, s := range e.Jobs {
			if j := f.jobs.byUUID[s.UUID]; j != nil && !f.at.covers(e.Seq, i+1) {
				j.status = conveyor.Status{UUID: s.UUID}
			}
		}
	}
	if prior == nil {
		return
	}
	for id, j := range f.jobs.byUUID {
		if old := prior.byUUID[id]; old != nil {
			j.status = old.status
		}
	}
}
