package conveyor_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// broken makes a string of a key while something is done; what stood there comes back.
func (e *engine) broken(key string, do func()) {
	e.Helper()
	kept := e.rdb.Rename(e.Context(), e.key(key), e.key("kept")).Err() == nil
	e.ok(e.rdb.Set(e.Context(), e.key(key), "x", 0).Err())
	do()
	e.ok(e.rdb.Del(e.Context(), e.key(key)).Err())
	if kept {
		e.ok(e.rdb.Rename(e.Context(), e.key("kept"), e.key(key)).Err())
	}
}

// TestRefusedChanges meets a key of the wrong type with a change that needs it: it is named, and nothing is changed.
func TestRefusedChanges(t *testing.T) {
	apply := func(changes ...conveyor.Change) func(e *engine) error {
		return func(e *engine) error { return e.Apply(e.Context(), conveyor.Batch{Changes: changes}) }
	}
	onBoth(t, func(e *engine) {
		e.add(job("done"), job("failed"), job("open"), job("kid", under("open")), job("a"), job("b"))
		rs := e.reserves("done", "failed", "open", "a", "b")
		for i, verdict := range []conveyor.Verdict{conveyor.VerdictDone, conveyor.VerdictFailed, conveyor.VerdictDone} {
			e.end(rs[i], verdict)
		}
		for _, row := range []struct {
			name, key string
			call      func(e *engine) error
		}{
			{"a reopening, the active set", "jobs:done:active", apply(conveyor.Change{Kind: conveyor.ChangeReopen, UUID: "done", Opening: 2})},
			{"a retry, the active set", "jobs:failed:active", func(e *engine) error { return e.Retry(e.Context(), "failed") }},
			{"a child of an open parent, the active set", "jobs:open:active", func(e *engine) error { return e.Add(e.Context(), job("new", under("open"))) }},
			{"an heir of two, its edges", "jobs:new:edges", func(e *engine) error { return e.Add(e.Context(), job("new", after(0, "a", "b"))) }},
		} {
			e.Run(row.name, func(e *engine) {
				e.broken(row.key, func() {
					before := dump(e)
					err := row.call(e)
					e.refused(err, conveyor.ErrCorrupt)
					if err == nil || !strings.Contains(err.Error(), e.key(row.key)) {
						e.Errorf("got %v, want it to name %s", err, e.key(row.key))
					}
					if diff := cmp.Diff(before, dump(e)); diff != "" {
						e.Errorf("changed (-before +after):\n%s", diff)
					}
				})
			})
		}
	})
}

// TestEndsBesideDamage ends a job while a key of the wrong type is met on the way: the job ends, the key is named, and
// none is when all are well.
func TestEndsBesideDamage(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, row := range []struct {
			name, key string
			job       *wire.Job
		}{
			{"the active set of its parent", "jobs:p:active", job("j", under("p"))},
			{"the holders of unique keys", "unique", job("j", unique("k"))},
			{"the labels", "labels", job("j", labelled("x=1"))},
			{"those that have a label", "label:x=1", job("j", labelled("x=1"))},
		} {
			e.Run(row.name, func(e *engine) {
				alone := newEngine(e.tb, e.rdb)
				alone.add(job("p"), job("open", under("p")), row.job)
				alone.run("p", conveyor.VerdictDone)
				rs := alone.reserve(2)
				i := slices.IndexFunc(rs, func(r conveyor.Reservation) bool { return r.Job.Uuid == "j" })
				alone.broken(row.key, func() {
					reply := alone.exchange(0, ack(rs[i], conveyor.VerdictDone))
					if !slices.Equal(reply.Damaged, []string{alone.key(row.key)}) {
						alone.Errorf("damaged %v", reply.Damaged)
					}
					alone.states("j completed, p closing")
				})
			})
		}
		e.Behaviour("none", func(e *engine) {
			e.add(job("p"), job("j", under("p"), unique("k"), labelled("x=1")))
			e.run("p", conveyor.VerdictDone)
			reply := e.exchange(0, ack(e.take("j"), conveyor.VerdictDone))
			if len(reply.Damaged) > 0 {
				e.Errorf("damaged %v", reply.Damaged)
			}
		})
		e.Behaviour("a parent whose waiting children cannot be read waits for one that comes", func(e *engine) {
			e.add(job("p"), job("over", under("p")))
			e.ok(e.Cancel(e.Context(), "over"))
			e.broken("jobs:p:children", func() {
				e.run("p", conveyor.VerdictDone)
				e.add(job("c", under("p")))
			})
			e.pass(time.Minute)
			e.tick()
			e.states("p closing, c queued")
			e.run("c", conveyor.VerdictDone)
			e.states("p failed(child)")
			e.wantKeys()
		})
		e.Behaviour("what is set aside when that cannot be kept", func(e *engine) {
			e.ok(e.rdb.LPush(e.Context(), e.key("queue:q"), "junk").Err())
			e.add(job("j"))
			e.broken("setaside", func() { e.run("j", conveyor.VerdictDone) })
		})
		e.Behaviour("a holder of a unique key that cannot be read keeps it", func(e *engine) {
			e.add(job("j", unique("k")))
			entry := e.entry("j")
			e.ok(e.rdb.HSet(e.Context(), e.key("status"), "j", "???").Err())
			e.heldBy(e.Add(e.Context(), job("new", unique("k"))), "noop:k", "new", "j")
			e.ok(e.rdb.HSet(e.Context(), e.key("status"), "j", entry).Err())
		})
		e.Behaviour("an edge that cannot be read is replaced by an update", func(e *engine) {
			e.add(job("w"), job("j", after(0, "w")))
			entry := strings.Replace(e.entry("j"), "?s:w", "junk", 1)
			e.ok(e.rdb.HSet(e.Context(), e.key("status"), "j", entry).Err())
			e.ok(e.Update(e.Context(), job("j", after(0, "w"))))
			e.run("w", conveyor.VerdictDone)
			e.run("j", conveyor.VerdictDone)
		})
	})
}
