package conveyor_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

func unique(key string) func(*wire.Job) { return func(j *wire.Job) { j.Unique = key } }

func typed(name string) func(*wire.Job) { return func(j *wire.Job) { j.Type = name } }

// heldBy wants an error that names the holder of a key.
func (e *engine) heldBy(err error, key, uuid, holder string) {
	e.Helper()
	var held *conveyor.UniqueError
	if !errors.As(err, &held) || !errors.Is(err, conveyor.ErrUnique) {
		e.Fatalf("got %v, want a UniqueError", err)
	}
	if diff := cmp.Diff(conveyor.UniqueError{Key: key, UUID: uuid, Holder: holder}, *held); diff != "" {
		e.Fatalf("refused (-want +got):\n%s", diff)
	}
}

// holders wants the hash of unique keys to hold exactly these, as "key holder".
func (e *engine) holders(want ...string) {
	e.Helper()
	got, err := e.rdb.HGetAll(e.Context(), e.key("unique")).Result()
	e.ok(err)
	all := map[string]string{}
	for _, w := range want {
		key, holder, _ := strings.Cut(w, " ")
		all[key] = holder
	}
	if diff := cmp.Diff(all, got); diff != "" {
		e.Fatalf("holders (-want +got):\n%s", diff)
	}
}

func TestUnique(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("D2a a second add is refused and names the holder", func(e *engine) {
			e.add(job("a", unique("k")))
			for range 2 {
				e.heldBy(e.Add(e.Context(), job("b", unique("k"))), "noop:k", "b", "a")
			}
			err := e.AddMany(e.Context(), []*wire.Job{job("other"), job("b", unique("k"))})
			e.heldBy(err, "noop:k", "b", "a")
			e.states("a queued, b unknown, other unknown")
			e.add(job("a", unique("k"))) // the same one again
			e.add(job("b2", unique("k"), typed("another type")))
			e.holders("noop:k a", "another%20type:k b2")
			e.ok(e.Cancel(e.Context(), "b2"))
		})
		e.Behaviour("D2b held through retries", func(e *engine) {
			e.add(job("a", unique("k")))
			e.run("a", conveyor.VerdictRetry)
			e.heldBy(e.Add(e.Context(), job("b", unique("k"))), "noop:k", "b", "a")
			r := e.take("a")
			e.heldBy(e.Add(e.Context(), job("b", unique("k"))), "noop:k", "b", "a")
			e.end(r, conveyor.VerdictBack)
			e.run("a", conveyor.VerdictHold)
			e.heldBy(e.Add(e.Context(), job("b", unique("k"))), "noop:k", "b", "a")
			e.ok(e.Release(e.Context(), "a"))
			e.take("a")
			e.pass(time.Minute) // its worker dies
			e.tick()
			e.heldBy(e.Add(e.Context(), job("b", unique("k"))), "noop:k", "b", "a")
			e.holders("noop:k a")
		})
		e.Behaviour("D2c freed at the end", func(e *engine) {
			e.add(job("a", unique("k")))
			e.run("a", conveyor.VerdictDone)
			e.holders()
			e.add(job("b", unique("k")))
			e.holders("noop:k b")
			e.run("b", conveyor.VerdictFailed)
			e.holders()
			e.add(job("c", unique("k")))
			e.ok(e.Cancel(e.Context(), "c"))
			e.holders()
			e.add(job("skipped", unique("k"), after(wire.Edge_FAILURE, "a")))
			e.states("skipped skipped")
			e.holders()
		})
	})
}

func TestUniqueHolder(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("D2d freed only by its holder", func(e *engine) {
			e.add(job("a", unique("k")))
			r := e.take("a")
			next := conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("b", unique("k")), Replaces: "a"}
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{next}}))
			e.holders("noop:k b")
			e.end(r, conveyor.VerdictDone) // it had the key before
			e.holders("noop:k b")
			e.exchange(0, ack(r, conveyor.VerdictDone)) // late
			e.holders("noop:k b")
			e.run("b", conveyor.VerdictDone)
			e.holders()
		})
		e.Behaviour("D2g a newer generation inherits the key", func(e *engine) {
			e.add(job("g1", unique("k")))
			r := e.take("g1")
			second := conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("g2", unique("k"), after(wire.Edge_ALWAYS, "g1")), Replaces: "g1"}
			for range 2 {
				e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{second}}))
				e.holders("noop:k g2")
			}
			if got := e.status("g1").Unique; got != "" {
				e.Errorf("g1 has the key %q still", got)
			}
			e.end(r, conveyor.VerdictDone)
			e.states("g1 completed, g2 queued")
			third := conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("g3", unique("k")), Replaces: "g2", CancelReplaced: true}
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{third}}))
			e.states("g2 cancelled, g3 queued")
			e.holders("noop:k g3")
			e.run("g3", conveyor.VerdictDone)
		})
		e.Run("one batch cancels the holder and adds the next", func(e *engine) {
			e.add(job("old", unique("k")))
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeCancel, UUID: "old"}, {Kind: conveyor.ChangeAdd, Job: job("new", unique("k"))},
			}}))
			e.states("old cancelled, new queued")
			e.holders("noop:k new")
			e.run("new", conveyor.VerdictDone)
		})
		e.Run("an update moves to another key or is refused", func(e *engine) {
			e.add(job("u", unique("k")), job("v", unique("l")))
			e.heldBy(e.Update(e.Context(), job("u", unique("l"))), "noop:l", "u", "v")
			e.holders("noop:k u", "noop:l v")
			for range 2 {
				e.ok(e.Update(e.Context(), job("u", unique("m"))))
				e.holders("noop:m u", "noop:l v")
			}
			e.ok(e.Update(e.Context(), job("v")))
			e.holders("noop:m u")
			e.run("u", conveyor.VerdictDone)
			e.run("v", conveyor.VerdictDone)
			e.holders()
		})
	})
}

func TestUniqueAtOnce(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("D2e two adders at once: one wins", func(e *engine) {
			for round := range 10 {
				key, results := fmt.Sprint("k", round), make([]error, 4)
				var wg sync.WaitGroup
				for i := range results {
					wg.Go(func() { results[i] = e.Add(e.Context(), job(fmt.Sprintf("r%d-%d", round, i), unique(key))) })
				}
				wg.Wait()
				winner := -1
				for i, err := range results {
					if err == nil && winner >= 0 {
						e.Fatalf("%d and %d both have the key", winner, i)
					}
					if err == nil {
						winner = i
					}
				}
				for i, err := range results {
					if i != winner {
						e.heldBy(err, "noop:"+key, fmt.Sprintf("r%d-%d", round, i), fmt.Sprintf("r%d-%d", round, winner))
					}
				}
			}
		})
	})
}

func TestUniqueInGraph(t *testing.T) {
	graph := func(e *engine) {
		e.Helper()
		e.add(job("holder", unique("k")))
		e.add(job("heir", after(wire.Edge_SUCCESS, "second")), job("cleanup", after(wire.Edge_FAILURE, "second")),
			job("second", unique("k"), under("parent"), after(wire.Edge_SUCCESS, "first")), job("first"), job("parent"))
	}
	onBoth(t, func(e *engine) {
		e.Behaviour("D2f inside a graph the refused job is stored as failed and its edges are decided", func(e *engine) {
			graph(e)
			e.states("second failed, heir skipped, cleanup queued, first queued, parent queued")
			failure, err := e.Failure(e.Context(), "second")
			e.ok(err)
			if want := "unique key noop:k is held by holder"; failure != want {
				e.Errorf("failure %q, want %q", failure, want)
			}
			e.reserves("holder", "first", "parent", "cleanup")
			e.heldBy(e.Retry(e.Context(), "second"), "noop:k", "second", "holder")
			attached := conveyor.Change{Kind: conveyor.ChangeAdd, Job: job("recorded", unique("k")),
				Attach: &conveyor.Attach{Key: "state", Field: "recorded", Value: []byte("1 x")}}
			for range 2 {
				e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{attached}}))
				e.states("recorded failed")
			}
		})
		graph(e)
		e.reserves("holder", "first", "parent", "cleanup")
		e.Run("its failure fails the parent that waits for it", func(e *engine) {
			e.exchange(0, conveyor.Ack{UUID: "parent", Fence: 1})
			e.states("parent failed(child)")
		})
		e.Run("retried, it waits for what it was declared to wait for", func(e *engine) {
			e.exchange(0, conveyor.Ack{UUID: "holder", Fence: 1})
			e.holders()
			for range 2 {
				e.ok(e.Retry(e.Context(), "second"))
			}
			e.holders("noop:k second")
			e.states("second held, first running")
			e.exchange(0, conveyor.Ack{UUID: "first", Fence: 1}, conveyor.Ack{UUID: "cleanup", Fence: 1})
			e.run("second", conveyor.VerdictDone)
			e.states("second completed")
			e.holders()
		})
		e.Run("retried, it is not early", func(e *engine) {
			e.add(job("k", unique("l")))
			e.add(job("h", after(wire.Edge_SUCCESS, "timed")))
			e.add(job("timed", unique("l"), runAt(e.now+5000)))
			e.states("timed failed, h skipped")
			e.run("k", conveyor.VerdictDone)
			e.ok(e.Retry(e.Context(), "timed"))
			e.states("timed scheduled")
			e.nothing()
			e.pass(5 * time.Second)
			e.run("timed", conveyor.VerdictDone)
		})
	})
}

func TestUniqueAgain(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("D2h retry and reopen take it again or are refused", func(e *engine) {
			e.add(job("a", unique("k")))
			e.run("a", conveyor.VerdictFailed)
			e.add(job("b", unique("k")))
			e.heldBy(e.Retry(e.Context(), "a"), "noop:k", "a", "b")
			e.states("a failed")
			e.run("b", conveyor.VerdictDone)
			for range 2 {
				e.ok(e.Retry(e.Context(), "a"))
			}
			e.holders("noop:k a")
			reopen := conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeAdd, Job: job("child", edge(&wire.Edge{Uuid: "b", Opening: 2}))},
				{Kind: conveyor.ChangeReopen, UUID: "b", Opening: 2},
			}}
			e.heldBy(e.Apply(e.Context(), reopen), "noop:k", "b", "a")
			e.states("b completed, child unknown")
			e.run("a", conveyor.VerdictDone)
			for range 2 {
				e.ok(e.Apply(e.Context(), reopen))
				e.holders("noop:k b")
			}
			e.heldBy(e.Add(e.Context(), job("c", unique("k"))), "noop:k", "c", "b")
			e.run("child", conveyor.VerdictDone)
			e.states("b completed")
			e.holders()
		})
	})
}

// Keys are anything; what means something to the store does not mix them up.
func TestUniqueNames(t *testing.T) {
	onBoth(t, func(e *engine) {
		names := []string{"a b", "a,b", "a|b", "a\nb", "a%20b", "a:b", "ä", "{x}", strings.Repeat("k", conveyor.MaxUnique-4)}
		for i, name := range names {
			uuid := fmt.Sprint("n", i)
			e.add(job(uuid, unique(name)))
			if got := e.status(uuid).Unique; got != "noop:"+name {
				e.Errorf("key %q is stored as %q", name, got)
			}
			e.heldBy(e.Add(e.Context(), job("again", unique(name))), "noop:"+name, "again", uuid)
		}
		e.add(job("t1", typed("a:b"), unique("c")), job("t2", typed("a"), unique("b:c")))
		e.refused(e.Add(e.Context(), job("long", unique(strings.Repeat("k", conveyor.MaxUnique)))), conveyor.ErrTooLarge)
		if n := e.rdb.HLen(e.Context(), e.key("unique")).Val(); n != int64(len(names)+2) {
			e.Errorf("%d keys are held", n)
		}
	})
}

// A hash of the wrong type refuses what would take a key, and does not harm what would not.
func TestUniqueDamaged(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.ok(e.rdb.LPush(e.Context(), e.key("unique"), "x").Err())
		e.refused(e.Add(e.Context(), job("a", unique("k"))), conveyor.ErrCorrupt)
		e.add(job("b"))
		e.run("b", conveyor.VerdictDone)
		e.states("a unknown, b completed")
		e.ok(e.rdb.Del(e.Context(), e.key("unique")).Err())
	})
}
