package conveyor_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// everyPlace puts a job into every state and every place, named after them.
func everyPlace(e *engine) {
	e.Helper()
	e.beat("w")
	e.add(job("done"), job("closing"), job("running"), job("leased"))
	e.run("done", conveyor.VerdictDone)
	e.add(job("child", under("closing"), runAt(e.now+1000)))
	e.run("closing", conveyor.VerdictDone)
	e.take("running")
	_, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{Caller: "c", Number: 1, Lease: time.Minute, Queues: []string{"q"}, Want: 1})
	e.ok(err)
	e.add(job("queued"), job("queued2"), job("heir", after(0, "queued")), job("orphan", under("later")), job("both", under("queued"), after(0, "queued2", "later")))
	e.add(job("scheduled", runAt(e.now+5000)), job("onhold", lane(2)))
	e.run("onhold", conveyor.VerdictHold)
	e.add(job("brief", lane(2), func(j *wire.Job) { j.RemoveAfter = durationpb.New(time.Hour) }, labelled("region=eu")))
	e.run("brief", conveyor.VerdictDone)
	e.add(job("back", lane(2)))
	e.end(e.take("back"), conveyor.VerdictBack) // its bytes are in jobs:back
	e.add(job("keyed", lane(0), func(j *wire.Job) { j.Unique = "key" }, labelled("region=eu", "day=2")))
	e.add(job("limited", runAt(e.now+60_000), func(j *wire.Job) { j.Retention = durationpb.New(2 * time.Hour) }, dropIf("gone=1")))
	e.states("done completed, closing closing, child scheduled, running running, leased running, queued queued, heir held, orphan held, " +
		"both held, scheduled scheduled, onhold on hold, back queued, keyed queued, limited scheduled, brief completed")
}

// TestVerifyWhileWorking wants Verify to be silent while jobs move.
func TestVerifyWhileWorking(t *testing.T) {
	onBoth(t, func(e *engine) {
		ctx, stop := e.Context(), make(chan struct{})
		gone := make(chan struct{})
		var moved atomic.Int64
		go func() {
			defer close(gone)
			for n := 0; ; n++ {
				moved.Store(int64(n))
				select {
				case <-stop:
					return
				default:
				}
				u := fmt.Sprintf("m%d", n)
				if err := e.AddMany(ctx, chain(u)); err != nil {
					e.Error(err)
					return
				}
				for range 3 {
					reply, err := e.Exchange(ctx, conveyor.ExchangeRequest{Worker: "w", Number: e.number.Add(1), Queues: []string{"q"}, Want: 5})
					if err != nil {
						e.Error(err)
						return
					}
					var done []conveyor.Ack
					for _, r := range reply.Reserved {
						done = append(done, ack(r, conveyor.VerdictDone))
					}
					if _, err := e.Exchange(ctx, conveyor.ExchangeRequest{Worker: "w", Number: e.number.Add(1), Done: done}); err != nil {
						e.Error(err)
						return
					}
				}
			}
		}()
		for n := 0; (n < 20 || moved.Load() < 20) && !e.Failed(); n++ {
			e.sound()
		}
		close(stop)
		<-gone
	})
}

// TestVerifyNewNamespace: the first jobs come while Verify lists the keys, which may then find any of them.
func TestVerifyNewNamespace(t *testing.T) {
	onBoth(t, func(e *engine) {
		rdb := e.another()
		defer rdb.Close() //nolint:errcheck // ends what is left behind
		listed := &whenListed{func() []string {
			e.add(job("a"), job("b"), job("heir", after(0, "a")))
			return []string{e.key("status")}
		}}
		if cluster, ok := rdb.(*redis.ClusterClient); ok { // where the node that has the keys lists them
			cluster.OnNewNode(func(node *redis.Client) { node.AddHook(listed) })
		} else {
			rdb.AddHook(listed)
		}
		c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: e.Namespace()})
		e.ok(err)
		found, err := c.Verify(e.Context())
		e.ok(err)
		for _, v := range found {
			e.Errorf("nobody did this: %s", v)
		}
	})
}

// TestVerifyNewTemplates: templates come while Verify lists the keys, which then finds their statuses and any one key besides. What it
// looks at once more it has to know anew: the labels of a gate, and what a template emits.
func TestVerifyNewTemplates(t *testing.T) {
	onBoth(t, func(e *engine) {
		recurs := func(j *wire.Job) { j.Template = true }
		templates := func(e *engine) {
			e.add(job("gate", gated("x", "y")), job("heir", after(0, "gate"), recurs),
				job("root", scheduled(&wire.Schedule{Every: "1 hour"})), job("child", under("root"), recurs))
		}
		for _, name := range []string{"status", "jobs:gate", "jobs:root", "template:gate", "template:gate:gate", "template:root", "template:heir",
			"emits:gate:heirs", "emits:root:children", "gate:x", "gate:y", "ticks", "seq", "events"} {
			e := newEngine(e, e.rdb)
			rdb := e.another()
			listed := &whenListed{func() []string {
				templates(e)
				return []string{e.key("status"), e.key(name)}
			}}
			if cluster, ok := rdb.(*redis.ClusterClient); ok {
				cluster.OnNewNode(func(node *redis.Client) { node.AddHook(listed) })
			} else {
				rdb.AddHook(listed)
			}
			c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: e.Namespace()})
			e.ok(err)
			found, err := c.Verify(e.Context())
			e.ok(err)
			for _, v := range found {
				e.Errorf("with %s: nobody did this: %s", name, v)
			}
			e.ok(rdb.Close())
		}
	})
}

// whenListed calls a function when keys are listed, and gives what that returns as the keys that were found.
type whenListed struct{ call func() []string }

func (*whenListed) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h *whenListed) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if listing, ok := cmd.(*redis.ScanCmd); ok && cmd.Name() == "scan" {
			listing.SetVal(h.call(), 0)
		}
		return err
	}
}
func (*whenListed) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestRepairWhileWorking damages counters and a queue while jobs move: only that is named and repaired, and no job is harmed.
func TestRepairWhileWorking(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.beat("w")
		ctx, stop, gone := e.Context(), make(chan struct{}), make(chan struct{})
		var added atomic.Int64
		go func() {
			defer close(gone)
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := e.AddMany(ctx, chain(fmt.Sprintf("m%d", added.Add(1)))); err != nil {
					e.Error(err)
					return
				}
				reply, err := e.Exchange(ctx, conveyor.ExchangeRequest{Worker: "w", Number: e.number.Add(1), Queues: []string{"q"}, Want: 5})
				if err != nil {
					e.Error(err)
					return
				}
				var done []conveyor.Ack
				for _, r := range reply.Reserved {
					done = append(done, ack(r, conveyor.VerdictDone))
				}
				if _, err := e.Exchange(ctx, conveyor.ExchangeRequest{Worker: "w", Number: e.number.Add(1), Done: done}); err != nil {
					e.Error(err)
					return
				}
			}
		}()
		for range 5 {
			e.ok(e.rdb.HIncrBy(ctx, e.key("depth"), "q:1", 3).Err())
			e.ok(e.rdb.LPush(ctx, e.key("queue:q"), "junk").Err())
			for range 3 {
				found, err := e.Verify(ctx)
				e.ok(err)
				for _, v := range found {
					if v.Key != e.key("depth") && v.Key != e.key("queue:q") || v.UUID != "" {
						e.Errorf("nobody did this: %s", v)
					}
				}
				_, err = e.Repair(ctx, found)
				e.ok(err)
			}
		}
		close(stop)
		<-gone
		e.repaired()
		for range 2 * added.Load() {
			reply := e.exchange(50)
			if len(reply.Reserved) == 0 {
				break
			}
			for _, r := range reply.Reserved {
				e.end(r, conveyor.VerdictDone)
			}
		}
		for n := range added.Load() {
			p := fmt.Sprintf("m%d", n+1)
			e.states(p + "p completed, " + p + "c completed, " + p + "h completed")
		}
	})
}
