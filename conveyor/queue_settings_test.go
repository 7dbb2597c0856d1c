package conveyor_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
)

// info is one queue as Queues lists it; the zero value with its name when it is not listed.
func (e *engine) info(name string) conveyor.QueueInfo {
	e.Helper()
	all, err := e.Queues(e.Context())
	e.ok(err)
	for _, q := range all {
		if q.Name == name {
			return q
		}
	}
	return conveyor.QueueInfo{Name: name}
}

func TestQueueByHand(t *testing.T) {
	onBoth(t, func(e *engine) {
		ctx := e.Context()
		wants := func(e *engine, want conveyor.QueueInfo) {
			e.Helper()
			if diff := cmp.Diff(want, e.info("q")); diff != "" {
				e.Fatalf("queue (-want +got):\n%s", diff)
			}
		}
		set := conveyor.QueueSettings{Concurrency: 2, Weight: 3, Fair: true, KeepFor: 90 * time.Minute, KeepCount: 7}
		e.Run("a queue without settings is paused and resumed", func(e *engine) {
			e.ok(e.PauseQueue(ctx, "q"))
			e.ok(e.PauseQueue(ctx, "q"))
			wants(e, conveyor.QueueInfo{Name: "q", ByHand: true})
			e.add(job("a"))
			e.nothing()
			e.ok(e.ResumeQueue(ctx, "q"))
			e.ok(e.ResumeQueue(ctx, "q"))
			e.run("a", conveyor.VerdictDone)
			wants(e, conveyor.QueueInfo{Name: "q"})
		})
		e.Run("running jobs go on while their queue is paused", func(e *engine) {
			e.add(job("b"), job("c"))
			r := e.take("b")
			e.ok(e.PauseQueue(ctx, "q"))
			e.end(r, conveyor.VerdictDone)
			e.states("b completed, c queued")
			e.nothing()
			e.ok(e.ResumeQueue(ctx, "q"))
			e.run("c", conveyor.VerdictDone)
		})
		e.Run("settings come and go without resuming what was paused by hand", func(e *engine) {
			e.ok(e.PauseQueue(ctx, "q"))
			e.ok(e.SetQueue(ctx, "q", set))
			wants(e, conveyor.QueueInfo{Name: "q", Settings: set, ByHand: true})
			e.ok(e.DeleteQueueSettings(ctx, "q"))
			wants(e, conveyor.QueueInfo{Name: "q", ByHand: true})
			e.ok(e.SetQueue(ctx, "q", set))
			e.ok(e.ResumeQueue(ctx, "q"))
			wants(e, conveyor.QueueInfo{Name: "q", Settings: set})
		})
		e.Run("a queue that is declared paused is not resumed by hand", func(e *engine) {
			set := conveyor.QueueSettings{Paused: true}
			e.ok(e.SetQueue(ctx, "q", set, conveyor.DeclaredBy("sales")))
			e.ok(e.PauseQueue(ctx, "q"))
			err := e.ResumeQueue(ctx, "q")
			e.refused(err, conveyor.ErrQueueDeclaredPaused)
			if !strings.Contains(fmt.Sprint(err), "by sales") {
				e.Errorf("%v does not name who declares it", err)
			}
			wants(e, conveyor.QueueInfo{Name: "q", Settings: set, ByHand: true, DeclaredBy: []string{"sales"}})
			e.ok(e.SetQueue(ctx, "q", conveyor.QueueSettings{}, conveyor.DeclaredBy("sales")))
			e.ok(e.ResumeQueue(ctx, "q"))
			wants(e, conveyor.QueueInfo{Name: "q", DeclaredBy: []string{"sales"}})
			e.ok(e.DeleteQueueSettings(ctx, "q"))
			wants(e, conveyor.QueueInfo{Name: "q"})
		})
		e.Run("settings stay until the last owner gives them up", func(e *engine) {
			e.ok(e.SetQueue(ctx, "q", set, conveyor.DeclaredBy("one")))
			e.ok(e.SetQueue(ctx, "q", set, conveyor.DeclaredBy("two")))
			e.ok(e.SetQueue(ctx, "q", set, conveyor.DeclaredBy("one")))
			wants(e, conveyor.QueueInfo{Name: "q", Settings: set, DeclaredBy: []string{"one", "two"}})
			e.ok(e.DeleteQueueSettings(ctx, "q", conveyor.DeclaredBy("one")))
			e.ok(e.DeleteQueueSettings(ctx, "q", conveyor.DeclaredBy("stranger")))
			wants(e, conveyor.QueueInfo{Name: "q", Settings: set, DeclaredBy: []string{"two"}})
			e.ok(e.DeleteQueueSettings(ctx, "q", conveyor.DeclaredBy("two")))
			wants(e, conveyor.QueueInfo{Name: "q"})
			if e.rdb.Exists(ctx, e.key("queues")).Val() != 0 {
				e.Error("something is left in queues")
			}
		})
		e.Run("a guard that does not hold changes nothing", func(e *engine) {
			lock := conveyor.Guard{Key: "lock:w", Field: "fence", Want: "1"}
			e.refused(e.SetQueue(ctx, "q", set, conveyor.GuardedBy(lock)), conveyor.ErrGuard)
			wants(e, conveyor.QueueInfo{Name: "q"})
			e.ok(e.rdb.HSet(ctx, e.key("lock:w"), "fence", "1").Err())
			e.ok(e.SetQueue(ctx, "q", set, conveyor.GuardedBy(lock)))
			lock.Want = "2"
			e.refused(e.DeleteQueueSettings(ctx, "q", conveyor.GuardedBy(lock)), conveyor.ErrGuard)
			wants(e, conveyor.QueueInfo{Name: "q", Settings: set})
			e.refused(e.DeleteQueueSettings(ctx, "q", conveyor.GuardedBy(conveyor.Guard{Key: "status"})), conveyor.ErrKey)
			e.ok(e.DeleteQueueSettings(ctx, "q"))
			e.ok(e.rdb.Del(ctx, e.key("lock:w")).Err())
		})
		e.Run("settings that an earlier version stored are read and kept", func(e *engine) {
			e.ok(e.rdb.HSet(ctx, e.key("queues"), "q", "1:4:0").Err())
			old := conveyor.QueueSettings{Concurrency: 1, Weight: 4}
			wants(e, conveyor.QueueInfo{Name: "q", Settings: old})
			e.add(job("d"), job("e"))
			r := e.take("d")
			e.nothing()
			e.ok(e.PauseQueue(ctx, "q"))
			wants(e, conveyor.QueueInfo{Name: "q", Depth: [3]int64{0, 1, 0}, Running: 1, Settings: old, ByHand: true})
			e.end(r, conveyor.VerdictDone)
			e.nothing()
			e.ok(e.ResumeQueue(ctx, "q"))
			e.run("e", conveyor.VerdictDone)
			e.ok(e.DeleteQueueSettings(ctx, "q"))
		})
		e.Run("names that are none are refused", func(e *engine) {
			for _, err := range []error{e.PauseQueue(ctx, ""), e.ResumeQueue(ctx, "a b"), e.DeleteQueueSettings(ctx, "{q}"), e.SetQueue(ctx, "a:b", set)} {
				e.refused(err, conveyor.ErrQueueName)
			}
			if err := e.SetQueue(ctx, "q", set, conveyor.DeclaredBy("a,b")); err == nil {
				e.Error("an owner with a comma was accepted")
			}
			if err := e.SetQueue(ctx, "q", conveyor.QueueSettings{KeepCount: -1}); err == nil {
				e.Error("a negative count was accepted")
			}
		})
		e.ok(e.Leave(ctx, "w"))
	})
}

func TestPurgeQueue(t *testing.T) {
	onBoth(t, func(e *engine) {
		ctx := e.Context()
		purge := func(e *engine, want int) {
			e.Helper()
			n, err := e.PurgeQueue(ctx, "q")
			e.ok(err)
			if n != want {
				e.Errorf("purged %d, want %d", n, want)
			}
		}
		e.Run("what is queued is cancelled, in all lanes, and nothing else", func(e *engine) {
			e.add(job("running", lane(2)))
			r := e.take("running")
			e.add(job("due", runAt(e.now+1000)), job("other", queue("other")), job("held", after(0, "due")), job("gone"))
			e.ok(e.Cancel(ctx, "gone"))
			e.add(job("low", lane(0)), job("normal"), job("high", lane(2)), job("heir", after(0, "normal")), job("always", after(2, "normal")))
			purge(e, 3)
			e.states("running running, due scheduled, other queued, held held, low cancelled, normal cancelled, high cancelled, " +
				"heir skipped, always queued")
			e.end(r, conveyor.VerdictDone)
			e.run("always", conveyor.VerdictDone)
			purge(e, 0)
		})
		e.Run("however many", func(e *engine) {
			for i := range 730 {
				e.add(job(fmt.Sprintf("n%d", i), lane(int32(i%3))))
			}
			purge(e, 730)
			e.nothing()
			if q := e.info("q"); q.Depth != [3]int64{} {
				e.Errorf("%v", q.Depth)
			}
		})
		e.Run("entries that cannot be read are set aside", func(e *engine) {
			e.add(job("x"))
			e.ok(e.rdb.RPush(ctx, e.key("queue:q"), "poison").Err())
			purge(e, 1)
			if got := e.rdb.LRange(ctx, e.key("setaside"), 0, -1).Val(); len(got) != 1 || !strings.HasSuffix(got[0], "poison") {
				e.Errorf("set aside: %q", got)
			}
		})
		e.ok(e.Leave(ctx, "w"))
		_, err := e.PurgeQueue(ctx, "a b")
		e.refused(err, conveyor.ErrQueueName)
	})
}
