package conveyor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestWithdrawn counts failed children of a parent while some are withdrawn or run again.
func TestWithdrawn(t *testing.T) {
	withdraw := func(e *engine, uuid string) {
		e.Helper()
		e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeCancel, UUID: uuid, Withdraw: true}}}))
		e.sound()
	}
	count := func(e *engine, want int) {
		e.Helper()
		if got := e.status("p").FailedChildren; got != want {
			e.Errorf("%d children of p count as failed, want %d", got, want)
		}
	}
	// family is a closing parent with two children that failed, one that is done and one that runs.
	family := func(e *engine) (open conveyor.Reservation) {
		e.Helper()
		e.add(job("p"), job("f1", under("p")), job("f2", under("p")), job("done", under("p")), job("open", under("p")))
		e.run("p", conveyor.VerdictDone)
		rs := e.reserves("f1", "f2", "done", "open")
		e.end(rs[0], conveyor.VerdictFailed)
		e.end(rs[1], conveyor.VerdictFailed)
		e.end(rs[2], conveyor.VerdictDone)
		count(e, 2)
		return rs[3]
	}
	onBoth(t, func(e *engine) {
		e.Behaviour("a failure is taken back once", func(e *engine) {
			family(e)
			withdraw(e, "f1")
			withdraw(e, "f1")
			count(e, 1)
			e.ok(e.Retry(e.Context(), "f1"))
			count(e, 1)
			e.run("f1", conveyor.VerdictFailed)
			count(e, 1)
		})
		e.Behaviour("a success takes none back", func(e *engine) {
			family(e)
			withdraw(e, "done")
			count(e, 2)
		})
		e.Behaviour("nor does a failure when the parent is over, or gone", func(e *engine) {
			e.end(family(e), conveyor.VerdictDone)
			e.states("p failed(child)")
			withdraw(e, "f1")
			count(e, 2)
			e.ok(e.Remove(e.Context(), "p"))
			withdraw(e, "f2")
			e.states("p unknown, f2 failed")
		})
		e.Behaviour("a child of a dead parent that is gone leaves it", func(e *engine) {
			e.ok(e.Add(e.Context(), job("c", under("gone")), conveyor.ParentDead()))
			withdraw(e, "c")
			e.states("c cancelled")
			e.wantKeys()
		})
		e.Behaviour("a job withdrawn before it is replaced hands its unique key on", func(e *engine) {
			e.add(job("old", unique("k")))
			r := e.take("old")
			withdraw(e, "old")
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeAdd, Job: job("new", unique("k")), Replaces: "old"}}}))
			e.holders("noop:k new")
			if got := e.status("old").Unique; got != "" {
				e.Errorf("old has the key %q still", got)
			}
			e.end(r, conveyor.VerdictDone)
			e.run("new", conveyor.VerdictDone)
		})
		e.Behaviour("removing a job that waited for one that has not come leaves nothing", func(e *engine) {
			e.add(job("c", under("late"), after(0, "later")))
			e.ok(e.Cancel(e.Context(), "c"))
			e.ok(e.Remove(e.Context(), "c"))
			e.wantKeys()
		})
	})
}

func TestRetryOf(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("a job that its workers' deaths failed starts from nothing", func(e *engine) {
			e.add(job("r", lostTo(1, false)))
			e.take("r")
			e.die()
			e.states("r failed")
			e.ok(e.Retry(e.Context(), "r"))
			if s := e.status("r"); s.Lost != 0 || s.Attempts != 0 || !s.Ended.IsZero() || s.State != conveyor.StateQueued {
				e.Errorf("%+v", s)
			}
			if n := e.rdb.HLen(e.Context(), e.key("failed")).Val(); n != 0 {
				e.Errorf("the bytes of %d failed jobs are kept", n)
			}
			e.run("r", conveyor.VerdictDone)
			e.wantKeys()
		})
		e.Behaviour("a child holds the parent that is still open, though it has a predecessor too", func(e *engine) {
			e.add(job("first"), job("p"), job("c", under("p"), after(0, "first")), job("open", under("p")))
			rs := e.reserves("first", "p")
			e.end(rs[0], conveyor.VerdictDone)
			e.end(rs[1], conveyor.VerdictDone)
			rs = e.reserves("c", "open")
			e.end(rs[0], conveyor.VerdictFailed)
			e.ok(e.Retry(e.Context(), "c"))
			e.end(rs[1], conveyor.VerdictDone)
			e.states("p closing, c queued")
			e.run("c", conveyor.VerdictDone)
			e.states("p completed")
			e.wantKeys()
		})
		e.Behaviour("a child leaves a parent alone that is over", func(e *engine) {
			e.add(job("p"), job("c", under("p")))
			e.run("p", conveyor.VerdictDone)
			e.run("c", conveyor.VerdictFailed)
			e.ok(e.Retry(e.Context(), "c"))
			e.states("p failed(child), c queued")
			e.wantKeys("jobs:c", "queue:q")
			e.run("c", conveyor.VerdictDone)
		})
		e.Behaviour("a job whose earlier opening had children by the dead parent's step does not wait for these", func(e *engine) {
			e.add(job("r"))
			e.run("r", conveyor.VerdictFailed)
			e.ok(e.Add(e.Context(), job("dead", under("r")), conveyor.ParentDead()))
			e.ok(e.Retry(e.Context(), "r"))
			e.add(job("kid", edge(&wire.Edge{Uuid: "r", Opening: 2})))
			rs := e.reserves("dead", "r")
			e.end(rs[1], conveyor.VerdictDone)
			e.run("kid", conveyor.VerdictDone)
			e.states("r completed, dead running")
			e.end(rs[0], conveyor.VerdictDone)
			e.wantKeys()
		})
		e.Behaviour("a job whose bytes are lost is refused", func(e *engine) {
			e.add(job("r"))
			e.run("r", conveyor.VerdictFailed)
			e.ok(e.rdb.HDel(e.Context(), e.key("failed"), "r").Err())
			e.refused(e.Retry(e.Context(), "r"), conveyor.ErrState)
			e.states("r failed")
		})
	})
}

// TestRetryOfRefused retries jobs that were stored as failed since another one had their unique key.
func TestRetryOfRefused(t *testing.T) {
	onBoth(t, func(e *engine) {
		free := func(e *engine) {
			e.Helper()
			e.ok(e.Cancel(e.Context(), "holder"))
		}
		e.Behaviour("its delay counts from the retry", func(e *engine) {
			e.add(job("holder", unique("k")))
			e.add(job("h", after(0, "r")))
			e.add(job("r", unique("k"), delayed(time.Minute)))
			e.states("r failed")
			free(e)
			e.pass(time.Second)
			e.ok(e.Retry(e.Context(), "r"))
			e.states("r scheduled")
			if got := e.status("r").DueAt; got.UnixMilli() != e.now+60_000 {
				e.Errorf("due at %v", got)
			}
		})
		e.Behaviour("it waits once in the list of a parent that it waited for already", func(e *engine) {
			e.add(job("holder", unique("k")), job("p"))
			e.add(job("r", unique("k"), under("p")))
			free(e)
			e.ok(e.Retry(e.Context(), "r"))
			e.states("r held")
			if got := e.list("jobs:p:children"); len(got) != 1 || !proto.Equal(got[0], &wire.Job{Uuid: "r"}) {
				e.Errorf("it waits as %v", got)
			}
			e.run("p", conveyor.VerdictDone)
			e.run("r", conveyor.VerdictDone)
			e.states("p completed")
		})
		e.Behaviour("edges decided meanwhile exclude it", func(e *engine) {
			e.add(job("holder", unique("k")), job("f"))
			e.add(job("r", unique("k"), after(0, "f")), job("r2", unique("k"), after(wire.Edge_FAILURE, "f")))
			e.states("r failed, r2 failed")
			free(e)
			e.run("f", conveyor.VerdictFailed)
			e.ok(e.Retry(e.Context(), "r"))
			e.ok(e.Retry(e.Context(), "r2"))
			e.states("r skipped, r2 queued")
		})
		e.Behaviour("what excludes it as well is no cause of the failure", func(e *engine) {
			e.add(job("holder", unique("k")), job("f"), job("w"))
			rs := e.reserves("holder", "f", "w")
			e.end(rs[1], conveyor.VerdictFailed)
			e.add(job("r", unique("k"), after(0, "f"), after(0, "w")))
			if s := e.status("r"); s.State != conveyor.StateFailed || s.Cause != "" {
				e.Errorf("%+v", s)
			}
		})
	})
}

// TestApplyOnce makes changes to what a batch, or an attempt, changed before.
func TestApplyOnce(t *testing.T) {
	onBoth(t, func(e *engine) {
		unchanged := func(e *engine, call func() error) {
			e.Helper()
			before := dump(e)
			e.ok(call())
			if diff := cmp.Diff(before, dump(e)); diff != "" {
				e.Errorf("changed (-before +after):\n%s", diff)
			}
		}
		e.Behaviour("a job added again with a record has that record from then on", func(e *engine) {
			e.add(job("a"))
			again := conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeAdd, Job: job("a"), Attach: &conveyor.Attach{Key: "state:w", Field: "a", Value: []byte("1 x")}}}}
			e.ok(e.Apply(e.Context(), again))
			if !e.status("a").Recorded {
				e.Error("it has none")
			}
			unchanged(e, func() error { return e.Apply(e.Context(), again) })
		})
		e.Behaviour("a record that is to be absent is no reason to leave its job alone", func(e *engine) {
			e.add(job("a"))
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeCancel, UUID: "a", Attach: &conveyor.Attach{Key: "state:w", Field: "a"}}}}))
			e.states("a cancelled")
		})
		e.Behaviour("a field that would be left in two ways is refused", func(e *engine) {
			write := func(version int64, value string) conveyor.Change {
				a := &conveyor.Attach{Key: "state:w", Field: "a", Version: version, Value: []byte(value)}
				if value == "" {
					a.Value = nil
				}
				return conveyor.Change{Kind: conveyor.ChangeAttach, Attach: a}
			}
			for _, row := range []struct {
				name          string
				first, second conveyor.Change
				want          error
			}{
				{"the same, whatever is there", write(-1, "1 x"), write(-1, "1 x"), nil},
				{"one after the other", write(0, "1 x"), write(1, "2 x"), conveyor.ErrFieldTwice},
				{"the same, when it fits", write(1, "2 x"), write(1, "2 x"), conveyor.ErrFieldTwice},
				{"another, whatever is there", write(-1, "1 x"), write(-1, "1 y"), conveyor.ErrFieldTwice},
				{"written and removed", write(-1, ""), write(-1, "1 x"), conveyor.ErrFieldTwice},
			} {
				err := e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{row.first}, Companions: []conveyor.Attach{*row.second.Attach}})
				if row.want == nil {
					e.ok(err)
				} else {
					e.refused(err, row.want)
				}
			}
		})
		e.Behaviour("a child that a running attempt made stays as it was made", func(e *engine) {
			e.add(job("p"))
			e.run("p", conveyor.VerdictBack)
			r := e.take("p") // the second start: an edge without a maker is not of this one
			made := edge(&wire.Edge{Uuid: "p", MadeBy: r.Fence})
			e.add(job("c", made))
			unchanged(e, func() error { return e.Add(e.Context(), job("c", made, lane(2))) })
			unchanged(e, func() error { return e.Add(e.Context(), job("c", under("p"), lane(2))) })
			e.end(r, conveyor.VerdictDone)
			e.run("c", conveyor.VerdictDone)
			e.states("p completed")
		})
		e.Behaviour("one key for two jobs of a batch", func(e *engine) {
			e.heldBy(e.AddMany(e.Context(), []*wire.Job{job("a", unique("k")), job("b", unique("k"))}), "noop:k", "b", "a")
			e.states("a unknown, b unknown")
			e.holders()
		})
		e.Behaviour("keys change hands in a batch", func(e *engine) {
			e.add(job("a", unique("k")), job("b", unique("l")))
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeUpdate, Job: job("a", unique("m"))}, {Kind: conveyor.ChangeUpdate, Job: job("b", unique("k"))},
			}}))
			e.holders("noop:k b", "noop:m a")
			e.sound()
		})
		e.Behaviour("a child that is added and cancelled at once is no child when its parent ends", func(e *engine) {
			e.add(job("p"), job("open", under("p")))
			e.run("p", conveyor.VerdictDone)
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeAdd, Job: job("c", edge(&wire.Edge{Uuid: "p", IgnoreFailure: true}))}, {Kind: conveyor.ChangeCancel, UUID: "c"},
				{Kind: conveyor.ChangeCancel, UUID: "open"},
			}}))
			e.states("p failed(child), c cancelled, open cancelled")
			e.wantKeys()
		})
	})
}
