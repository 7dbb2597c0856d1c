package applier

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// flow is one workflow as a watcher knows it.
type flow struct {
	name     string
	former   string // the name that it had
	unlisted bool   // found by its key alone
	serial   int64
	lock     *Holder
	problem  string       // why its state could not be read
	jobs     *watchedJobs // nil: not read
	counts   StateCounts
	told     bool // its list of jobs was

	occurrences StateCounts // of its templates
	madeTold    bool        // some were told
	gone        bool        // nothing is left of it
	readAt      time.Time
	took        time.Duration // to read it
	warned      map[Warning]bool
}

// flow is the workflow of that name.
func (w *watcher) flow(name string) *flow {
	f := w.flows[name]
	if f == nil {
		f = &flow{name: name, told: true, warned: map[Warning]bool{}}
		w.flows[name] = f
		w.locks.add(name)
	}
	f.gone = false
	return f
}

// order are its recorded jobs in start order.
func (f *flow) order() []*watchedJob {
	if f.jobs == nil {
		return nil
	}
	return f.jobs.order
}

// readFlow reads a workflow's state. One that cannot be read is told as such, and is in nobody's way.
func (w *watcher) readFlow(ctx context.Context, f *flow, serial int64) error {
	began := time.Now()
	pipe := w.client.Redis().Pipeline()
	records := pipe.HGetAll(ctx, w.client.Prefix()+stateKey(f.name))
	fields := pipe.HGetAll(ctx, w.client.Prefix()+metaKey(f.name))
	lock := pipe.HMGet(ctx, w.client.Prefix()+lockKey(f.name), holderFields...)
	_, _ = pipe.Exec(ctx) // each command is asked for its own error
	for key, cmd := range map[string]redis.Cmder{stateKey(f.name): records, metaKey(f.name): fields} {
		if err := storeError(cmd.Err(), key); err != nil {
			return w.unread(f, serial, err)
		}
	}
	snap, err := decodeState(f.name, records.Val(), fields.Val())
	if err != nil {
		return w.unread(f, serial, err)
	}
	if lock.Err() == nil {
		f.lock = w.holder(lock.Val())
	}
	jobs := watchRecords(snap.state)
	f.serial, f.problem, f.readAt, f.former = serial, "", began, snap.meta.former
	empty := len(f.order()) == 0 && len(jobs.order) == 0
	w.release(f, jobs)
	w.adopt(f, jobs)
	f.told = f.told && empty
	f.took = time.Since(began)
	return nil
}

// unread notes why a state cannot be read; a store that is away is no such reason.
func (w *watcher) unread(f *flow, serial int64, err error) error {
	if unreachable(err) || errors.Is(err, context.Canceled) {
		return err
	}
	w.release(f, nil)
	f.serial, f.problem, f.readAt = serial, err.Error(), time.Now()
	return nil
}

// adopt makes jobs a workflow's, each with what is known of it.
func (w *watcher) adopt(f *flow, jobs *watchedJobs) {
	f.jobs = jobs
	for _, j := range jobs.order {
		id := j.record.UUID.String()
		j.flow, j.status = f, conveyor.Status{UUID: id}
		if old := w.jobs[id]; old != nil {
			w.tally(old, -1)
			j.status, j.told, j.stillAt, j.progress, j.progressAt = old.status, old.told, old.stillAt, old.progress, old.progressAt
			if w.news[old] {
				w.news[j] = true
			}
			delete(w.runs, old)
			delete(w.news, old)
			delete(w.early, old)
			w.loose.forget(old)
		}
		j.told = max(j.told, failuresOf(j.status))
		w.jobs[id] = j
		w.tally(j, 1)
		w.rehome(id)
		w.running(j, j.status)
		j.record = w.brief(j.record)
	}
	jobs.byUUID, jobs.children = nil, nil // w.jobs has them
}

// brief is what a watch needs of a record, without the text that it was read from: a namespace has many.
func (w *watcher) brief(r *planner.Record) *planner.Record {
	return &planner.Record{UUID: r.UUID, Queue: w.word(r.Queue), Type: w.word(r.Type), KeyID: w.word(r.NeedsKey()), Deposed: r.Deposed}
}

// word is a string that is kept once, however many records have it.
func (w *watcher) word(s string) string {
	kept, ok := w.words[s]
	if !ok {
		kept = strings.Clone(s)
		w.words[kept] = kept
	}
	return kept
}

// release makes those jobs of a workflow that are not among next nobody's.
func (w *watcher) release(f *flow, next *watchedJobs) {
	for _, j := range f.order() {
		if next != nil {
			if n := next.byUUID[j.record.UUID.String()]; n != nil && n.recorded() {
				continue
			}
		}
		w.tally(j, -1)
		w.noteCalled(j)
		j.flow, j.record, j.above = nil, nil, nil
		w.running(j, j.status)
		w.rehome(j.status.UUID)
		if j.status.State == conveyor.StateUnknown {
			delete(w.jobs, j.status.UUID)
			continue
		}
		w.tally(j, 1)
		w.loose.changed(j)
	}
	f.told = f.told && len(f.order()) == 0
	f.jobs = nil
}

// holder is who holds a lock with these fields now.
func (w *watcher) holder(fields []any) *Holder {
	h := holderIn(fields)
	if h == nil || !h.Expires.After(w.now()) {
		return nil
	}
	return h
}

// locksIn reads who applies as part of a pipeline, by workflow: the locks that were held, and in turn some others.
func (w *watcher) locksIn(ctx context.Context, pipe redis.Pipeliner) map[string]*redis.SliceCmd {
	names := w.locks.next(locksInTurn)
	for name, f := range w.flows {
		if f.lock != nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	locks := make(map[string]*redis.SliceCmd, len(names))
	for _, name := range names {
		locks[name] = pipe.HMGet(ctx, w.client.Prefix()+lockKey(name), holderFields...)
	}
	return locks
}

// seeLocks notes the locks as they were read.
func (w *watcher) seeLocks(locks map[string]*redis.SliceCmd) error {
	for name, cmd := range locks {
		f := w.flows[name]
		if f == nil {
			continue
		}
		if err := cmd.Err(); err != nil {
			if unreachable(err) {
				return err
			}
			continue // something else has that name; the next apply says so
		}
		f.lock = w.holder(cmd.Val())
	}
	return nil
}

// rota gives out names by turns.
type rota struct {
	names []string
	at    int
}

func (r *rota) add(name string) { r.names = append(r.names, name) }

func (r *rota) drop(name string) {
	r.names = slices.DeleteFunc(r.names, func(n string) bool { return n == name })
}

// next are up to n names whose turn it is.
func (r *rota) next(n int) []string {
	n = min(n, len(r.names))
	out := make([]string, 0, n)
	for range n {
		r.at = (r.at + 1) % len(r.names)
		out = append(out, r.names[r.at])
	}
	return out
}

// seenFlows is the list of workflows that was told last.
type seenFlows struct {
	list []WorkflowSeen
	at   time.Time
}

// tellSeen tells the list of workflows if it has changed: names at once, the rest once a second.
func (w *watcher) tellSeen(now bool) {
	var list []WorkflowSeen
	if n := w.loose.total(); n > 0 && w.only == "" {
		list = append(list, WorkflowSeen{Jobs: n, Counts: w.loose.counts})
	}
	for _, name := range sortedKeys(w.flows) {
		f := w.flows[name]
		if n := len(f.order()); w.shows(f) && !f.gone && (n > 0 || f.lock != nil || f.problem != "") {
			list = append(list, WorkflowSeen{Name: name, Former: f.former, Jobs: n, Counts: f.counts, Occurrences: f.occurrences, Serial: f.serial, Lock: f.lock, Problem: f.problem})
		}
	}
	sameNames := slices.EqualFunc(list, w.seen.list, func(a, b WorkflowSeen) bool { return a.Name == b.Name })
	if !w.seen.at.IsZero() && (slices.EqualFunc(list, w.seen.list, sameSeen) || sameNames && !now && time.Since(w.seen.at) < w.every) {
		return
	}
	w.seen = seenFlows{list, time.Now()}
	w.mail.post(WorkflowsSeen{At: w.now(), Workflows: slices.Clone(list)})
}

func sameSeen(a, b WorkflowSeen) bool {
	if (a.Lock == nil) != (b.Lock == nil) || a.Lock != nil && *a.Lock != *b.Lock {
		return false
	}
	a.Lock, b.Lock = nil, nil
	return a == b
}
