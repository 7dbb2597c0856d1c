package conveyor_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestDecidedEnd meets a job whose end is decided while more jobs wait for it than one script lets go.
func TestDecidedEnd(t *testing.T) {
	waiting := func(e *engine) {
		e.Helper()
		var heirs []*wire.Job
		for i := range 450 {
			heirs = append(heirs, job(fmt.Sprint("h", i), queue("heirs"), after(wire.Edge_ALWAYS, "p")))
		}
		e.add(heirs...)
	}
	withdraw := func(e *engine, uuid string) {
		e.Helper()
		e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeCancel, UUID: uuid, Withdraw: true}}}))
	}
	// half brings p to an end that is not reached yet.
	half := func(e *engine, verdict conveyor.Verdict, change ...func(*wire.Job)) {
		e.Helper()
		e.add(job("p", change...))
		waiting(e)
		e.run("p", verdict)
		e.states("p closing")
	}
	rest := func(e *engine, want string) {
		e.Helper()
		for e.tick().More {
		}
		e.states(want)
		e.sound()
	}
	onBoth(t, func(e *engine) {
		e.Behaviour("it is neither cancelled nor updated any more", func(e *engine) {
			half(e, conveyor.VerdictDone)
			before := dumpJobs(e)
			e.ok(e.Cancel(e.Context(), "p"))
			e.ok(e.Update(e.Context(), job("p", unique("k"), labelled("x=1"))))
			if before != dumpJobs(e) {
				e.Error("something is changed")
			}
			rest(e, "p completed")
		})
		e.Behaviour("who comes under it then is ready, and no child of it", func(e *engine) {
			half(e, conveyor.VerdictDone)
			e.add(job("c", under("p")))
			e.states("p closing, c queued")
			if e.active("p", "c") {
				e.Error("c is in the active set of p")
			}
			rest(e, "p completed")
			e.run("c", conveyor.VerdictDone)
		})
		e.Behaviour("a failed child neither takes its failure back nor comes back", func(e *engine) {
			e.add(job("p"), job("c", under("p")))
			waiting(e)
			e.run("p", conveyor.VerdictDone)
			e.run("c", conveyor.VerdictFailed)
			e.states("p closing, c failed")
			e.ok(e.Retry(e.Context(), "c"))
			if n := e.status("p").FailedChildren; n != 1 || e.active("p", "c") {
				e.Errorf("%d failed children, back: %t", n, e.active("p", "c"))
			}
			rest(e, "p failed(child), c queued")
		})
		e.Behaviour("a child that reopens waits for its next opening", func(e *engine) {
			e.add(job("p"), job("c", under("p")))
			waiting(e)
			e.run("p", conveyor.VerdictDone)
			e.run("c", conveyor.VerdictDone)
			e.states("p closing, c completed")
			child := conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("cc", edge(&wire.Edge{Uuid: "c", Opening: 2}))}
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{child, {Kind: conveyor.ChangeReopen, UUID: "c", Opening: 2}}}))
			rest(e, "p completed, c closing")
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeReopen, UUID: "p", Opening: 2}}}))
			e.states("p closing, c closing, cc queued")
			e.run("cc", conveyor.VerdictDone)
			e.states("p completed, c completed")
		})
		for _, row := range []struct {
			name string
			end  func(e *engine)
			held bool
		}{
			{"it completes", func(e *engine) { half(e, conveyor.VerdictDone, unique("k")) }, true},
			{"it fails", func(e *engine) { half(e, conveyor.VerdictFailed, unique("k")) }, true},
			{"a child fails it", func(e *engine) {
				e.add(job("p", unique("k")), job("c", under("p")))
				waiting(e)
				e.run("p", conveyor.VerdictDone)
				e.run("c", conveyor.VerdictFailed)
			}, true},
			{"it is cancelled", func(e *engine) {
				e.add(job("p", unique("k")))
				waiting(e)
				e.ok(e.Cancel(e.Context(), "p"))
			}, false},
		} {
			e.Behaviour("its unique key: "+row.name, func(e *engine) {
				row.end(e)
				e.states("p closing")
				err := e.Add(e.Context(), job("new", unique("k")))
				if row.held {
					e.heldBy(err, "noop:k", "new", "p")
				} else {
					e.ok(err)
				}
			})
		}
		e.Behaviour("a withdrawn job that is running lets go who came for it afterwards", func(e *engine) {
			e.add(job("p"), job("h1", after(0, "p")))
			r := e.take("p")
			withdraw(e, "p")
			e.add(job("h2", after(0, "p")))
			e.end(r, conveyor.VerdictFailed)
			e.states("h1 held, h2 skipped")
		})
	})
}

// TestMadeAgain adds children that attempts made, from attempts that are over and others.
func TestMadeAgain(t *testing.T) {
	made := func(parent string, fence int64) func(*wire.Job) {
		return edge(&wire.Edge{Uuid: parent, MadeBy: fence})
	}
	onBoth(t, func(e *engine) {
		unchanged := func(e *engine, change *wire.Job) {
			e.Helper()
			before := dump(e)
			e.ok(e.Add(e.Context(), change))
			if diff := cmp.Diff(before, dump(e)); diff != "" {
				e.Errorf("changed (-before +after):\n%s", diff)
			}
		}
		second := func(e *engine, uuid string) conveyor.Reservation {
			e.Helper()
			e.add(job(uuid))
			e.run(uuid, conveyor.VerdictBack)
			return e.take(uuid)
		}
		e.Behaviour("an attempt that is over makes nothing of what a later one made again", func(e *engine) {
			e.add(job("p"))
			r := e.take("p")
			e.add(job("c", made("p", 1)))
			e.end(r, conveyor.VerdictBack)
			r = e.take("p")
			e.add(job("c", made("p", 2)))
			unchanged(e, job("c", made("p", 1)))
			e.end(r, conveyor.VerdictDone)
			e.run("c", conveyor.VerdictDone)
		})
		e.Behaviour("nor does the last one, when it is over", func(e *engine) {
			e.add(job("p"))
			r := e.take("p")
			e.add(job("c", made("p", 1)))
			e.end(r, conveyor.VerdictBack)
			e.end(e.take("p"), conveyor.VerdictHold)
			unchanged(e, job("c", made("p", 2)))
		})
		e.Behaviour("a declared child stays as it was declared", func(e *engine) {
			e.add(job("c", under("p")))
			second(e, "p")
			unchanged(e, job("c", made("p", 2), lane(2)))
		})
		e.Behaviour("a child of two attempts is made by both", func(e *engine) {
			second(e, "p")
			e.add(job("z"))
			e.run("z", conveyor.VerdictBack)
			e.run("z", conveyor.VerdictBack)
			e.take("z")
			e.add(job("c", made("p", 2), made("z", 3)))
			unchanged(e, job("c", made("p", 2), made("z", 3), lane(2)))
		})
		e.Behaviour("an update needs no attempt that is over, an add one that runs", func(e *engine) {
			e.add(job("p"))
			r := e.take("p")
			e.add(job("c", made("p", 1)))
			e.end(r, conveyor.VerdictBack)
			e.take("p")
			e.ok(e.Update(e.Context(), job("c", made("p", 1), lane(2))))
			e.refused(e.Add(e.Context(), job("late", made("p", 1))), conveyor.ErrOutdated)
			e.refused(e.Add(e.Context(), job("late", made("nobody", 1))), conveyor.ErrOutdated)
			e.refused(e.Add(e.Context(), job("late", made("p", 1), after(0, "w"))), conveyor.ErrOutdated)
			e.refused(e.Remove(e.Context(), "p"), conveyor.ErrState)
			e.states("late unknown, p running, c held")
		})
	})
}
