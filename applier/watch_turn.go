package applier

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
)

// turn does what is due by the clock.
func (w *watcher) turn(ctx context.Context) error {
	now := time.Now()
	if now.Sub(w.turnedAt) < w.every {
		return nil
	}
	w.turnedAt = now
	for j := range w.runs {
		if now.Sub(j.stillAt) >= stillEvery {
			first := j.stillAt.IsZero()
			j.stillAt = now
			if !first && w.shows(j.flow) {
				w.post(j.flow, StillRunning{Addr: j.addr, Elapsed: w.now().Sub(j.status.Started)})
			}
		}
	}
	w.tellProgress(now)
	if w.busy || w.due || now.Sub(w.lookedAt) >= idleTurns*w.every {
		w.busy, w.lookedAt = false, now
		if err := w.look(ctx); err != nil {
			return err
		}
	}
	w.tellSeen(false)
	if jobs, total, changed := w.loose.newest(w.jobs); changed && w.only == "" {
		w.mail.post(LooseSeen{At: w.now(), Jobs: jobs, Names: w.namesOf(ctx, jobs), Total: total})
	}
	return nil
}

// look reads what no event announces: states, and with one round trip locks, settings of queues and beats of workers.
func (w *watcher) look(ctx context.Context) error {
	if err := w.readFlows(ctx, false); err != nil || w.survey == nil {
		return err
	}
	pipe := w.client.Redis().Pipeline()
	locks, queues, beats := w.locksIn(ctx, pipe), w.client.QueuesIn(ctx, pipe), w.client.BeatsIn(ctx, pipe)
	_, _ = pipe.Exec(ctx) // each command is asked for its own error
	if err := w.seeLocks(locks); err != nil {
		return err
	}
	if err := w.seeQueues(queues()); err != nil {
		return err
	}
	if err := w.seeCrew(ctx, beats); err != nil {
		return err
	}
	if err := w.seeSchedules(ctx); err != nil {
		return err
	}
	w.tellSeen(false) // warnings are of workflows that were told
	w.warnUnserved()
	return nil
}

// fleet is what a watcher knows of queues and workers.
type fleet struct {
	queues   []conveyor.QueueInfo
	workers  []conveyor.WorkerInfo
	moved    bool // workers came or went
	readAt   time.Time
	problems map[string]bool // that were told

	toldQueues    []QueueSeen
	toldWorkers   []conveyor.WorkerInfo
	queuesToldAt  time.Time
	workersToldAt time.Time
}

// damaged tells whether an error is of data that cannot be read, and says so once.
func (w *watcher) damaged(what string, err error) bool {
	if !errors.Is(err, conveyor.ErrCorrupt) {
		return false
	}
	if !w.fleet.problems[err.Error()] {
		if w.fleet.problems == nil {
			w.fleet.problems = map[string]bool{}
		}
		w.fleet.problems[err.Error()] = true
		w.warn(Warning{Summary: what + " cannot be read", Detail: err.Error() + ". They are shown as they were; `waybill doctor` says more."})
	}
	return true
}

// seeQueues tells the queues as they were read.
func (w *watcher) seeQueues(queues []conveyor.QueueInfo, err error) error {
	switch {
	case err == nil:
		w.fleet.queues = queues
	case !w.damaged("Queues", err):
		return err
	}
	byName := map[string]QueueSeen{}
	for name, c := range w.counts { // a queue that was drained since is one still
		byName[name] = QueueSeen{Info: conveyor.QueueInfo{Name: name}, Started: c.started, Ended: c.ended}
	}
	for _, info := range w.fleet.queues {
		q := byName[info.Name]
		q.Info = info
		byName[info.Name] = q
	}
	list := make([]QueueSeen, 0, len(byName))
	for _, name := range sortedKeys(byName) {
		list = append(list, byName[name])
	}
	f := &w.fleet
	if time.Since(f.queuesToldAt) < againEvery && slices.EqualFunc(list, f.toldQueues, sameQueueSeen) {
		return nil
	}
	f.toldQueues, f.queuesToldAt = list, time.Now()
	w.mail.post(QueuesSeen{At: w.now(), Queues: slices.Clone(list)})
	return nil
}

func sameQueueSeen(a, b QueueSeen) bool {
	return a.Started == b.Started && a.Ended == b.Ended && a.Info.Name == b.Info.Name && a.Info.Depth == b.Info.Depth &&
		a.Info.Running == b.Info.Running && a.Info.Settings == b.Info.Settings && a.Info.ByHand == b.Info.ByHand &&
		slices.Equal(a.Info.DeclaredBy, b.Info.DeclaredBy)
}

// seeCrew tells the workers, whose beats were read. What they say of themselves is read when one came or went, and now and then.
func (w *watcher) seeCrew(ctx context.Context, read func() (map[string]time.Time, time.Time, error)) error {
	f := &w.fleet
	beats, now, err := read()
	if err == nil && (f.moved || time.Since(f.readAt) >= crewEvery || len(beats) != len(f.workers) || !known(f.workers, beats)) {
		var workers []conveyor.WorkerInfo
		if workers, err = w.client.Workers(ctx); err == nil {
			f.workers, f.moved, f.readAt = workers, false, time.Now()
		}
	}
	switch {
	case err == nil:
		for i := range f.workers {
			x := &f.workers[i]
			x.Load = w.loads[x.ID]
			if last, there := beats[x.ID]; there {
				x.Seen(last, now)
			}
		}
	case !w.damaged("Workers", err):
		return err
	}
	if time.Since(f.workersToldAt) < againEvery && slices.EqualFunc(f.workers, f.toldWorkers, sameWorkerSeen) {
		return nil
	}
	f.toldWorkers, f.workersToldAt = slices.Clone(f.workers), time.Now()
	w.mail.post(WorkersSeen{At: w.now(), Workers: slices.Clone(f.workers)})
	return nil
}

func known(workers []conveyor.WorkerInfo, beats map[string]time.Time) bool {
	return !slices.ContainsFunc(workers, func(w conveyor.WorkerInfo) bool { return beats[w.ID].IsZero() })
}

func sameWorkerSeen(a, b conveyor.WorkerInfo) bool {
	return a.ID == b.ID && a.Load == b.Load && a.Alive == b.Alive && a.LastBeat.Equal(b.LastBeat) && a.Capacity == b.Capacity && a.Bridge == b.Bridge &&
		a.Started.Equal(b.Started) && slices.Equal(a.Queues, b.Queues) && slices.Equal(a.Types, b.Types) && slices.Equal(a.KeyIDs, b.KeyIDs) && slices.Equal(a.Secrets, b.Secrets)
}

// warnUnserved tells, once for each workflow as long as it lasts, what keeps jobs waiting that could run now.
func (w *watcher) warnUnserved() {
	if time.Since(w.began) < unservedGrace {
		return
	}
	for _, seen := range w.seen.list {
		f := w.flows[seen.Name]
		if f == nil {
			continue // the jobs of no workflow
		}
		waiting := f.counts[conveyor.StateQueued] + f.counts[conveyor.StateScheduled] + f.occurrences[conveyor.StateQueued]
		if !w.shows(f) || waiting == 0 {
			f.warned = retold(f.warned, nil, func(e Event) { w.post(f, e) })
			continue
		}
		needs := map[Need]bool{}
		for _, j := range f.order() {
			m := w.cycles.made[j.status.UUID]
			if j.waits() || m != nil && m.counts[conveyor.StateQueued] > 0 {
				for _, n := range (Need{Queue: j.record.Queue, Type: j.record.Type, KeyID: j.record.KeyID}).with(j.record.Secrets()) {
					needs[n] = true
				}
			}
		}
		warnings := unserved(slices.Collect(maps.Keys(needs)), w.fleet.workers, w.fleet.queues)
		f.warned = retold(f.warned, warnings, func(e Event) { w.post(f, e) })
	}
}
