package conveyor_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// view is what a subscriber makes of what it is told.
type view struct {
	*engine
	next func() (conveyor.Observation, error, bool)
	seq  int64
	jobs map[string]conveyor.Status
}

func (e *engine) subscribe(ctx context.Context, o conveyor.SubscribeOptions) *view {
	e.Helper()
	next, stop := iter.Pull2(e.Subscribe(ctx, o))
	e.Cleanup(stop)
	return &view{engine: e, next: next, jobs: map[string]conveyor.Status{}}
}

// see takes one observation in.
func (v *view) see() conveyor.Observation {
	v.Helper()
	o, err, ok := v.next()
	if err != nil || !ok {
		v.Fatal(err, ok)
	}
	if o.Snapshot {
		clear(v.jobs)
	}
	for _, s := range o.Jobs {
		v.jobs[s.UUID] = s
	}
	v.seq = o.Seq
	return o
}

// sees wants the next observation to be this: its kind, "snapshot" for one, and the jobs with their states.
func (v *view) sees(want string) {
	v.Helper()
	o := v.see()
	got := o.Kind
	if o.Snapshot {
		got = "snapshot"
	}
	for _, s := range o.Jobs {
		got += fmt.Sprintf(" %s=%s", s.UUID, s.State)
	}
	for _, w := range o.Workers {
		got += fmt.Sprintf(" %s %s", w.ID, w.Change)
	}
	if o.Message != nil {
		got += fmt.Sprintf(" %s to %s", o.Message.Name, o.Message.UUID)
	}
	if got != want {
		v.Errorf("seen %q, want %q", got, want)
	}
}

func TestSubscribe(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("all: a snapshot, then everything", func(e *engine) {
			e.add(job("a"), job("b"))
			e.run("a", conveyor.VerdictDone)
			v := e.subscribe(e.Context(), conveyor.SubscribeOptions{})
			v.sees("snapshot a=completed b=queued")
			e.add(job("c"))
			v.sees("add c=queued")
			e.beat("w2")
			v.sees("beat w2 joined")
			e.ok(e.Broadcast(e.Context(), "c", "hello", nil))
			v.sees("emit hello to c")
			e.ok(e.Remove(e.Context(), "a"))
			v.sees("remove a=unknown")
		})
		e.Behaviour("chosen jobs, known or not", func(e *engine) {
			e.add(job("a"), job("b"))
			v := e.subscribe(e.Context(), conveyor.SubscribeOptions{UUIDs: []string{"later", "a"}})
			v.sees("snapshot later=unknown a=queued")
			e.add(job("c"), job("later"))
			v.sees("add later=queued")
			e.ok(e.Broadcast(e.Context(), "b", "hello", nil))
			e.beat("w2")
			e.ok(e.Cancel(e.Context(), "b"))
			e.ok(e.Broadcast(e.Context(), "a", "hello", nil))
			v.sees("emit hello to a")
		})
		e.Behaviour("a queue: jobs that come, leave it and end", func(e *engine) {
			e.add(job("a"), job("b", queue("other")))
			v := e.subscribe(e.Context(), conveyor.SubscribeOptions{Queue: "q"})
			v.sees("snapshot a=queued")
			e.ok(e.Update(e.Context(), job("b")))
			v.sees("update b=queued")
			e.ok(e.Update(e.Context(), job("a", queue("other"))))
			v.sees("update a=queued") // the last of it here
			e.ok(e.Cancel(e.Context(), "a"))
			e.ok(e.Cancel(e.Context(), "b"))
			v.sees("cancel b=cancelled")
			e.ok(e.Remove(e.Context(), "a"))
			e.ok(e.Remove(e.Context(), "b"))
			v.sees("remove b=unknown")
		})
		e.Behaviour("labels: jobs that carry them, as long as they do", func(e *engine) {
			labels := func(pairs map[string]string) func(*wire.Job) { return func(j *wire.Job) { j.Labels = pairs } }
			e.add(job("a", labels(map[string]string{"color": "red"})), job("b", labels(map[string]string{"color": "blue"})), job("c"))
			v := e.subscribe(e.Context(), conveyor.SubscribeOptions{Labels: map[string]string{"color": "red"}})
			v.sees("snapshot a=queued")
			e.add(job("d", labels(map[string]string{"color": "red", "size": "big"})), job("f"))
			v.sees("add d=queued")
			e.ok(e.Update(e.Context(), job("b", labels(map[string]string{"color": "red"}))))
			v.sees("update b=queued")
			e.ok(e.Update(e.Context(), job("a")))
			v.sees("update a=queued") // the last of it here
			e.ok(e.Cancel(e.Context(), "a"))
			e.ok(e.Cancel(e.Context(), "b"))
			v.sees("cancel b=cancelled")
			_, err, _ := e.subscribe(e.Context(), conveyor.SubscribeOptions{Labels: map[string]string{"": "x"}}).next()
			e.refused(err, conveyor.ErrLabel)
		})
		e.Behaviour("behind the bounded log a new snapshot follows", func(e *engine) {
			e.add(job("a"))
			v := e.subscribe(e.Context(), conveyor.SubscribeOptions{UUIDs: []string{"a"}})
			v.sees("snapshot a=queued")
			e.run("a", conveyor.VerdictDone)
			e.ok(e.rdb.XTrimMaxLen(e.Context(), e.key("events"), 0).Err())
			v.sees("snapshot a=completed")
		})
		e.Behaviour("an emptied namespace is another life, also when its numbers are the same", func(e *engine) {
			e.add(job("a"))
			e.add(job("b"))
			v := e.subscribe(e.Context(), conveyor.SubscribeOptions{})
			v.sees("snapshot a=queued b=queued")
			e.empty()
			e.at(start + 1000)
			for i := range 3 {
				e.add(job(fmt.Sprint("n", i)))
			}
			for o := v.see(); !o.Snapshot; o = v.see() { // events of the other life may come first
			}
			if len(v.jobs) != 3 {
				e.Errorf("%v", v.jobs)
			}
		})
		e.Run("a context that ends is the last that is told", func(e *engine) {
			ctx, cancel := context.WithCancelCause(e.Context())
			v := e.subscribe(ctx, conveyor.SubscribeOptions{})
			v.see()
			why := errors.New("enough")
			cancel(why)
			_, err, _ := v.next()
			e.refused(err, why)
			if _, _, more := v.next(); more {
				e.Error("and more")
			}
		})
		e.Run("invalid names are refused", func(e *engine) {
			_, err, _ := e.subscribe(e.Context(), conveyor.SubscribeOptions{UUIDs: []string{"a b"}, Queue: "c d"}).next()
			e.refused(err, conveyor.ErrUUID)
			e.refused(err, conveyor.ErrQueueName)
		})
	})
}

// empty removes the whole namespace, as FLUSHDB does.
func (e *engine) empty() {
	e.Helper()
	var keys []string
	for _, name := range e.scan() {
		keys = append(keys, e.key(name))
	}
	e.ok(e.rdb.Del(e.Context(), keys...).Err())
}

// TestStatusesAt reads where jobs stand with the place in the event log that this belongs to: what comes behind it happened later.
func TestStatusesAt(t *testing.T) {
	onBoth(t, func(e *engine) {
		if found, seq, err := e.StatusesAt(e.Context(), []string{"a"}); err != nil || seq != 0 || found[0].State != conveyor.StateUnknown {
			e.Errorf("of nothing: %v, event %d, %v", found, seq, err)
		}
		e.add(job("a"), job("b"))
		found, seq, err := e.StatusesAt(e.Context(), []string{"b", "later", "a"})
		e.ok(err)
		var got []string
		for _, s := range found {
			got = append(got, s.UUID+"="+s.State.String())
		}
		if diff := cmp.Diff([]string{"b=queued", "later=unknown", "a=queued"}, got); diff != "" {
			e.Errorf("statuses (-want +got):\n%s", diff)
		}
		e.ok(e.Cancel(e.Context(), "b"))
		batch, err := e.Events(e.Context(), seq, 0)
		e.ok(err)
		if len(batch.Events) != 1 || batch.Gap || batch.Events[0].Jobs[0].State != conveyor.StateCancelled {
			e.Errorf("after event %d came %+v, want the cancellation alone", seq, batch)
		}
	})
}

// TestLogUnderWriters: many writers, a bounded log, and readers of different speed: each sees every number once and in order,
// or a new snapshot, and all end with the same view.
func TestLogUnderWriters(t *testing.T) {
	onBoth(t, func(e *engine) {
		const writers, each = 4, 60
		readers := []*view{}
		for range 3 {
			v := e.subscribe(e.Context(), conveyor.SubscribeOptions{})
			v.see()
			readers = append(readers, v)
		}
		var running sync.WaitGroup
		for w := range writers {
			running.Go(func() {
				for i := range each {
					uuid := fmt.Sprintf("j%d-%d", w, i)
					if err := errors.Join(e.Add(e.Context(), job(uuid)), e.Cancel(e.Context(), uuid)); err != nil {
						e.Error(err)
					}
					if w == 0 && i == each/2 { // far more than the log is bounded to
						if err := e.rdb.XTrimMaxLen(e.Context(), e.key("events"), 3).Err(); err != nil {
							e.Error(err)
						}
					}
				}
			})
		}
		snapshots := make([]int, len(readers))
		read := func(i int, enough func(*view) bool) {
			v := readers[i]
			for !enough(v) {
				before := v.seq
				o := v.see()
				switch {
				case o.Snapshot:
					snapshots[i]++
				case o.Seq != before+1:
					e.Errorf("reader %d: event %d follows %d", i, o.Seq, before)
				}
			}
		}
		all := func(v *view) bool { // how many events that are depends on what went together
			cancelled := 0
			for _, s := range v.jobs {
				if s.State == conveyor.StateCancelled {
					cancelled++
				}
			}
			return cancelled == writers*each
		}
		running.Go(func() { read(0, all) }) // as fast as it can
		running.Wait()
		read(1, func(v *view) bool { return snapshots[1] > 0 || all(v) }) // only after all was written
		read(1, all)
		e.ok(e.rdb.XTrimMaxLen(e.Context(), e.key("events"), 1).Err())
		read(2, all)
		if snapshots[1] != 1 || snapshots[2] != 1 {
			e.Errorf("%v snapshots besides the first", snapshots)
		}
		last, err := e.LastEvent(e.Context())
		e.ok(err)
		for i, v := range readers {
			if v.seq != last {
				e.Errorf("reader %d ends at %d of %d", i, v.seq, last)
			}
			if diff := cmp.Diff(readers[0].jobs, v.jobs); diff != "" || len(v.jobs) != writers*each {
				e.Errorf("reader %d sees %d jobs:\n%s", i, len(v.jobs), diff)
			}
		}
	})
}
