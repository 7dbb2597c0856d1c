package conveyor_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
)

func TestDiagnose(t *testing.T) {
	onBoth(t, func(e *engine) {
		ctx := e.Context()
		e.Run("orphans by their age", func(e *engine) {
			e.add(job("o1", under("later")), job("o2", after(0, "later", "never")), job("fine"), job("h", after(0, "fine")))
			orphans := func(olderThan time.Duration) []string {
				e.Helper()
				found, err := e.Orphans(ctx, olderThan)
				e.ok(err)
				out := []string{}
				for _, o := range found {
					out = append(out, fmt.Sprint(o.UUID, " ", o.Unseen, o.Cut))
				}
				return out
			}
			all := []string{"o1 [later] []", "o2 [later never] []"}
			if diff := cmp.Diff(all, orphans(0)); diff != "" {
				e.Error(diff)
			}
			if diff := cmp.Diff([]string{}, orphans(conveyor.OrphanAge)); diff != "" {
				e.Error(diff)
			}
			e.pass(conveyor.OrphanAge + time.Minute)
			if diff := cmp.Diff(all, orphans(conveyor.OrphanAge)); diff != "" {
				e.Error(diff)
			}
			e.add(job("later"))
			if diff := cmp.Diff([]string{"o2 [never] []"}, orphans(0)); diff != "" {
				e.Error(diff)
			}
			e.ok(e.Cancel(ctx, "o2"))
			if diff := cmp.Diff([]string{}, orphans(0)); diff != "" {
				e.Error(diff)
			}
		})
		e.Behaviour("E6c what was set aside is listed, put back or dropped", func(e *engine) {
			e.add(job("good", queue("other")))
			text := e.rdb.RPop(ctx, e.key("queue:other")).Val()
			e.ok(e.rdb.LPush(ctx, e.key("queue:other"), "junk").Err())
			e.ok(e.rdb.LPush(ctx, e.key("setaside"), e.key("jobs:good")+" "+text).Err())
			e.repaired() // sets the junk aside, and ends the job without bytes
			e.states("good failed")
			e.ok(e.Remove(ctx, "good"))
			aside, err := e.SetAside(ctx)
			e.ok(err)
			if len(aside) != 2 {
				e.Fatalf("set aside: %+v", aside)
			}
			e.refused(e.PutBack(ctx, aside[0]), conveyor.ErrNoJob)
			e.ok(e.DropSetAside(ctx, aside[0]))
			e.refused(e.DropSetAside(ctx, aside[0]), conveyor.ErrNotFound)
			if aside[1].Job.GetUuid() != "good" {
				e.Fatalf("%+v", aside[1])
			}
			e.ok(e.PutBack(ctx, aside[1]))
			e.refused(e.PutBack(ctx, aside[1]), conveyor.ErrNotFound)
			e.states("good queued")
		})
		e.add(job("good", queue("other")))
		e.Run("damaged and strange keys, silent workers, queues that nobody serves", func(e *engine) {
			e.beat("w")
			e.ok(e.rdb.Set(ctx, e.key("todo"), "x", 0).Err())
			e.ok(e.rdb.Set(ctx, e.key("queue:a{b}"), "x", 0).Err())
			e.ok(e.rdb.Set(ctx, e.key("jobs:a:b"), "x", 0).Err())
			e.ok(e.rdb.Set(ctx, e.key("state:mine"), "x", 0).Err())
			e.pass(conveyor.DeadAfter + time.Second)
			found, err := e.Diagnose(ctx, conveyor.OrphanAge)
			e.ok(err)
			_, err = e.Repair(ctx, found.Violations)
			e.ok(err)
			if found, err = e.Diagnose(ctx, conveyor.OrphanAge); err != nil {
				e.Fatal(err)
			}
			got := fmt.Sprint(found.Violations, found.Damaged, found.Strange, len(found.Silent), len(found.Unserved))
			if want := "[] [damaged:todo] [jobs:a:b queue:a{b}] 1 2"; got != want {
				e.Errorf("got %s, want %s", got, want)
			}
			e.refused(e.DropDamaged(ctx, "todo"), conveyor.ErrNotDamaged)
			e.ok(e.DropDamaged(ctx, "damaged:todo"))
			e.refused(e.DropDamaged(ctx, "damaged:todo"), conveyor.ErrNotFound)
			e.ok(e.rdb.Del(ctx, e.key("queue:a{b}"), e.key("jobs:a:b")).Err())
		})
	})
}

// TestDiagnoseInnocent wants names that people choose, and keys that only few namespaces have, to be nothing that needs a hand.
func TestDiagnoseInnocent(t *testing.T) {
	onBoth(t, func(e *engine) {
		innocent := func(e *engine) {
			e.Helper()
			found, err := e.Diagnose(e.Context(), conveyor.OrphanAge)
			e.ok(err)
			if len(found.Violations)+len(found.Strange)+len(found.Damaged) > 0 {
				e.Errorf("%v, strange: %v, damaged: %v", found.Violations, found.Strange, found.Damaged)
			}
		}
		e.Run("a queue named live, with idle workers", func(e *engine) {
			e.beat("w")
			_, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{Worker: "w", Number: e.number.Add(1), Queues: []string{"live"}, Want: 1})
			e.ok(err)
			innocent(e)
			e.add(job("a", queue("live")))
			innocent(e)
		})
		e.Run("labels that end as lists of occurrences do", func(e *engine) {
			e.add(job("g", gated("live", "data:live")))
			innocent(e)
		})
		e.Run("the ended jobs of an inbox", func(e *engine) {
			e.beat("w")
			e.add(job("one", toWorker("w")))
			e.doneAs("w", e.getsAs("w", "one")...)
			innocent(e)
		})
	})
}

// TestRepairTells wants the event log to say what was repaired.
func TestRepairTells(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("a"), job("b"))
		for _, r := range e.reserve(2) {
			e.end(r, conveyor.VerdictBack)
		}
		e.ok(e.rdb.Del(e.Context(), e.key("queue:q")).Err())
		last, err := e.LastEvent(e.Context())
		e.ok(err)
		e.repaired()
		batch, err := e.Events(e.Context(), last, 0)
		e.ok(err)
		if len(batch.Events) != 1 || batch.Gap {
			e.Fatalf("%+v", batch)
		}
		got := batch.Events[0]
		want := []string{"put a ticket of a back at its place in queue:q", "put a ticket of b back at its place in queue:q"}
		if diff := cmp.Diff(want, got.Repairs); diff != "" || got.Kind != "repair" || len(got.Jobs) != 2 {
			e.Errorf("%s %+v", diff, got)
		}
		e.reserves("a", "b")
	})
}
