package conveyor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// lostTo limits how many workers a job may take with it, and says what it is then.
func lostTo(limit int32, hold bool) func(*wire.Job) {
	return func(j *wire.Job) { j.RetryPolicy = &wire.RetryPolicy{MaxLost: &limit, HoldOnExhausted: hold} }
}

// die lets the worker that holds jobs die.
func (e *engine) die() {
	e.Helper()
	e.pass(conveyor.DeadAfter)
	e.tick()
}

func TestUpdateWhen(t *testing.T) {
	onBoth(t, func(e *engine) {
		update := func(e *engine, j *wire.Job) {
			e.Helper()
			e.ok(e.Update(e.Context(), j))
			e.sound()
		}
		due := func(e *engine, uuid string, want time.Duration) {
			e.Helper()
			if got := e.status(uuid).DueAt; got.UnixMilli() != e.now+want.Milliseconds() {
				e.Errorf("%s is due at %v, want %v after %v", uuid, got, want, time.UnixMilli(e.now))
			}
		}
		e.Run("a delay given to a queued job counts from the update, the one it had is over", func(e *engine) {
			e.add(job("d1", delayed(time.Second)))
			e.pass(time.Second)
			e.tick()
			update(e, job("d1", delayed(time.Second)))
			e.states("d1 queued")
			update(e, job("d1", delayed(time.Minute)))
			e.states("d1 scheduled")
			due(e, "d1", time.Minute)
			e.ok(e.Cancel(e.Context(), "d1"))
		})
		e.Run("none is waited for by a job that was started before", func(e *engine) {
			e.add(job("d2"))
			e.run("d2", conveyor.VerdictBack)
			update(e, job("d2", delayed(time.Minute)))
			e.run("d2", conveyor.VerdictDone)
		})
		e.Run("a delay given to a scheduled job counts from the update", func(e *engine) {
			e.add(job("d3", runAt(e.now+1000)))
			update(e, job("d3", delayed(time.Minute)))
			due(e, "d3", time.Minute)
			e.ok(e.Cancel(e.Context(), "d3"))
		})
		e.Run("a backoff does not end before a time ahead", func(e *engine) {
			e.add(job("d4"))
			r := e.take("d4")
			e.exchange(0, conveyor.Ack{UUID: "d4", Fence: r.Fence, Verdict: conveyor.VerdictRetry, Delay: time.Second})
			update(e, job("d4", runAt(e.now+60_000)))
			due(e, "d4", time.Minute)
			e.ok(e.Cancel(e.Context(), "d4"))
		})
		e.Run("a held job waits its delay from when it is let go", func(e *engine) {
			e.add(job("w5"), job("d5", after(0, "w5")))
			update(e, job("d5", after(0, "w5"), delayed(time.Minute)))
			if s := e.status("d5"); !s.DueAt.IsZero() {
				e.Errorf("held, and due at %v", s.DueAt)
			}
			e.pass(time.Second)
			e.run("w5", conveyor.VerdictDone)
			due(e, "d5", time.Minute)
			e.ok(e.Cancel(e.Context(), "d5"))
		})
		e.Run("a held job that has nothing to wait for and no time any more is ready", func(e *engine) {
			e.add(job("w6"), job("d6", after(0, "w6"), runAt(e.now+60_000)))
			update(e, job("d6"))
			for _, r := range e.reserves("w6", "d6") {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Run("a scheduled job that is to wait for another keeps its backoff and loses its time", func(e *engine) {
			e.add(job("b7"))
			r := e.take("b7")
			e.exchange(0, conveyor.Ack{UUID: "b7", Fence: r.Fence, Verdict: conveyor.VerdictRetry, Delay: time.Minute})
			e.add(job("w7"), job("d7", runAt(e.now+60_000)))
			update(e, job("b7", after(0, "w7")))
			update(e, job("d7", after(0, "w7")))
			e.states("b7 held, d7 held")
			e.run("w7", conveyor.VerdictDone)
			e.states("b7 scheduled, d7 queued")
			due(e, "b7", time.Minute)
			e.run("d7", conveyor.VerdictDone)
			e.ok(e.Cancel(e.Context(), "b7"))
		})
		e.Run("what waited again goes behind what became due before", func(e *engine) {
			at := runAt(e.now + 1000)
			e.add(job("s1", at), job("s2", at), job("w8"))
			update(e, job("s1", at, after(0, "w8")))
			e.run("w8", conveyor.VerdictDone)
			e.pass(time.Second)
			for _, r := range e.reserves("s2", "s1") {
				e.end(r, conveyor.VerdictDone)
			}
			e.wantKeys()
		})
	})
}

func TestUpdateWhat(t *testing.T) {
	onBoth(t, func(e *engine) {
		update := func(e *engine, j *wire.Job) {
			e.Helper()
			e.ok(e.Update(e.Context(), j))
			e.sound()
		}
		e.Run("the queue", func(e *engine) {
			e.add(job("q1"), job("q2"))
			update(e, job("q1", queue("other")))
			e.run("q2", conveyor.VerdictDone)
			e.nothing()
			r := e.take2("other", "q1")
			update(e, job("q1"))
			e.end(r, conveyor.VerdictBack)
			e.run("q1", conveyor.VerdictDone)
		})
		e.Run("the lane of a running job's next attempt", func(e *engine) {
			e.add(job("l1"))
			r := e.take("l1")
			update(e, job("l1", lane(2)))
			e.add(job("l2", lane(2)))
			e.end(r, conveyor.VerdictDefer)
			for _, r := range e.reserves("l2", "l1") {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Run("how many workers it may take with it, and what it is then", func(e *engine) {
			for _, row := range []struct {
				name     string
				old, new *wire.Job
				want     string
			}{
				{"more", job("m1", lostTo(1, false)), job("m1", lostTo(2, false)), "m1 queued"},
				{"fewer", job("m2"), job("m2", lostTo(1, false)), "m2 failed"},
				{"held then", job("m3", lostTo(1, false)), job("m3", lostTo(1, true)), "m3 on hold"},
				{"held no more", job("m4", lostTo(1, true)), job("m4", lostTo(1, false)), "m4 failed"},
			} {
				e.add(row.old)
				update(e, row.new)
				e.take(row.old.Uuid)
				e.die()
				e.states(row.want)
				e.ok(e.Cancel(e.Context(), row.old.Uuid))
			}
		})
		e.Run("how long it is reserved without a worker", func(e *engine) {
			lease := func(d time.Duration) func(*wire.Job) {
				return func(j *wire.Job) { j.ReserveFor = durationpb.New(d) }
			}
			for _, row := range []struct {
				name string
				jobs []*wire.Job
			}{
				{"as added", []*wire.Job{job("r1", lease(time.Minute))}},
				{"as updated", []*wire.Job{job("r2", lease(time.Hour)), job("r2", lease(time.Minute))}},
			} {
				e.add(row.jobs[0])
				if len(row.jobs) > 1 {
					update(e, row.jobs[1])
				}
				uuid := row.jobs[0].Uuid
				reply, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{Caller: "me", Lease: time.Second, Number: e.number.Add(1), Queues: []string{"q"}, Want: 1})
				e.ok(err)
				if diff := cmp.Diff([]string{uuid}, names(reply.Reserved)); diff != "" {
					e.Fatalf("%s: %s", row.name, diff)
				}
				e.pass(time.Minute - time.Millisecond)
				e.tick()
				e.states(uuid + " running")
				e.pass(time.Millisecond)
				e.tick()
				e.states(uuid + " queued")
				e.ok(e.Cancel(e.Context(), uuid))
			}
		})
		e.Run("edges that exclude it", func(e *engine) {
			e.add(job("f"), job("c"), job("x1"), job("x2"))
			rs := e.reserves("f", "c", "x1", "x2")
			e.end(rs[0], conveyor.VerdictFailed)
			e.end(rs[1], conveyor.VerdictDone)
			e.end(rs[2], conveyor.VerdictBack)
			e.end(rs[3], conveyor.VerdictBack)
			update(e, job("x1", after(wire.Edge_SUCCESS, "f")))
			update(e, job("x2", after(wire.Edge_FAILURE, "c")))
			e.states("x1 skipped, x2 skipped")
			if a, b := e.status("x1"), e.status("x2"); a.Success || !b.Success || a.Cause != "f" || b.Cause != "c" {
				e.Errorf("skipped as %+v and %+v", a, b)
			}
		})
		e.Run("edges that exclude it no more", func(e *engine) {
			e.add(job("e1"), job("eh", after(wire.Edge_SUCCESS, "f"), after(wire.Edge_SUCCESS, "e1")))
			e.states("eh held")
			update(e, job("eh", after(wire.Edge_SUCCESS, "e1")))
			e.run("e1", conveyor.VerdictDone)
			e.states("eh queued")
			if s := e.status("eh"); s.Cause != "" {
				e.Errorf("caused by %q", s.Cause)
			}
			e.run("eh", conveyor.VerdictDone)
			e.wantKeys()
		})
		e.Run("fewer predecessors", func(e *engine) {
			e.add(job("p1"), job("p2"), job("ph", after(0, "p1", "p2")))
			update(e, job("ph", after(0, "p1")))
			e.wantKeys("jobs:ph", "jobs:p1:onComplete", "jobs:p2:onComplete", "queue:q")
			for _, r := range e.reserves("p1", "p2") {
				e.end(r, conveyor.VerdictDone)
			}
			e.run("ph", conveyor.VerdictDone)
			e.wantKeys()
		})
		e.Run("the same edges to jobs that have not come", func(e *engine) {
			e.add(job("oc", under("late")), job("oh", after(0, "late")))
			e.ok(e.Update(e.Context(), job("oc", under("late"))))
			e.ok(e.Update(e.Context(), job("oh", after(0, "late"))))
			e.add(job("late"))
			e.run("late", conveyor.VerdictDone)
			e.run("oc", conveyor.VerdictDone)
			e.run("oh", conveyor.VerdictDone)
		})
		e.Run("an edge that was cut off counts again", func(e *engine) {
			e.add(job("cp"), job("ch", after(0, "cp")))
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeCancel, UUID: "cp", Withdraw: true}}}))
			e.states("cp cancelled, ch held")
			update(e, job("ch", after(0, "cp")))
			e.states("ch skipped")
		})
		e.Run("of one that is over nothing", func(e *engine) {
			e.add(job("op"), job("oc2", under("op")))
			e.run("op", conveyor.VerdictDone)
			e.run("oc2", conveyor.VerdictDone)
			before := dump(e)
			e.ok(e.Update(e.Context(), job("oc2", lane(2), queue("other"))))
			if diff := cmp.Diff(before, dump(e)); diff != "" {
				e.Errorf("changed (-before +after):\n%s", diff)
			}
		})
	})
}

// take2 takes a job of another queue.
func (e *engine) take2(queue, uuid string) conveyor.Reservation {
	e.Helper()
	reply, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{Worker: "w", Number: e.number.Add(1), Queues: []string{queue}, Want: 1})
	e.ok(err)
	if diff := cmp.Diff([]string{uuid}, names(reply.Reserved)); diff != "" {
		e.Fatalf("reserved of %s (-want +got):\n%s", queue, diff)
	}
	return reply.Reserved[0]
}

// TestUpdateStarted updates children that have started, under a parent that another child keeps open.
func TestUpdateStarted(t *testing.T) {
	ignoring := func(parent string) func(*wire.Job) { return edge(&wire.Edge{Uuid: parent, IgnoreFailure: true}) }
	onBoth(t, func(e *engine) {
		// Each child has a predecessor of its own, and is brought into a state; then it is updated and fails.
		for _, state := range []string{"running", "on hold", "closing"} {
			for _, row := range []struct {
				name string
				was  func(parent string) func(*wire.Job)
				next func(parent string) func(*wire.Job)
				want string // of the parent
				in   bool   // its active set, after the update
			}{
				{"still its child", func(p string) func(*wire.Job) { return under(p) }, func(p string) func(*wire.Job) { return under(p) }, "failed(child)", true},
				{"its child no more", func(p string) func(*wire.Job) { return under(p) }, nil, "completed", false},
				{"its failure does not count any more", func(p string) func(*wire.Job) { return under(p) }, ignoring, "completed", true},
				{"its failure counts from now on", ignoring, func(p string) func(*wire.Job) { return under(p) }, "failed(child)", true},
			} {
				if state == "closing" && row.in && row.name != "still its child" {
					continue // its own work is done: it keeps how it counts
				}
				alone := func(e *engine) {
					wait := after(wire.Edge_ALWAYS, "first")
					e.add(job("first"), job("p"), job("open", under("p")), job("c", row.was("p"), wait), job("cc", under("c")))
					rs := e.reserves("first", "p")
					e.end(rs[0], conveyor.VerdictDone)
					e.end(rs[1], conveyor.VerdictDone)
					rs = e.reserves("open", "c")
					open, c := rs[0], rs[1]
					switch state {
					case "on hold":
						e.end(c, conveyor.VerdictHold)
					case "closing":
						e.end(c, conveyor.VerdictDone)
					}
					e.states("p closing, c " + state)
					next := job("c", wait)
					if row.next != nil {
						next = job("c", row.next("p"), wait)
					}
					e.ok(e.Update(e.Context(), next))
					e.sound()
					if got := e.active("p", "c"); got != row.in {
						e.Errorf("in the active set of p: %t, want %t", got, row.in)
					}
					before := dumpJobs(e)
					e.ok(e.Update(e.Context(), next))
					if diff := cmp.Diff(before, dumpJobs(e)); diff != "" {
						e.Errorf("a repeated update changed something:\n%s", diff)
					}
					switch state {
					case "running":
						e.end(c, conveyor.VerdictFailed)
					case "on hold":
						e.ok(e.Release(e.Context(), "c"))
						e.run("c", conveyor.VerdictFailed)
					case "closing":
						e.run("cc", conveyor.VerdictFailed)
					}
					e.end(open, conveyor.VerdictDone)
					e.states("p " + row.want)
					e.wantKeys()
				}
				e.Behaviour(state+": "+row.name, alone)
			}
		}
	})
}

// TestUpdateClosing gives one new thing to a job that waits for its children.
func TestUpdateClosing(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, row := range []struct {
			name   string
			change func(*wire.Job)
			want   conveyor.Status
		}{
			{"a unique key", unique("k"), conveyor.Status{Unique: "noop:k"}},
			{"how long it is kept", func(j *wire.Job) { j.RemoveAfter = durationpb.New(time.Hour) }, conveyor.Status{RemoveAfter: time.Hour}},
		} {
			e.Run(row.name, func(e *engine) {
				p := strings.ReplaceAll(row.name, " ", "-")
				e.add(job(p), job(p+"-c", under(p)))
				e.run(p, conveyor.VerdictDone)
				e.ok(e.Update(e.Context(), job(p, row.change)))
				e.sound()
				s := e.status(p)
				if got := (conveyor.Status{Unique: s.Unique, RemoveAfter: s.RemoveAfter}); !cmp.Equal(got, row.want) {
					e.Errorf("%+v, want %+v", got, row.want)
				}
				e.run(p+"-c", conveyor.VerdictDone)
				e.states(p + " completed")
			})
		}
	})
}
