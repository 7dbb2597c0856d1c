package conveyor_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestLostReplies repeats every request, as a client does that got no reply, and wants the same reply and no change.
func TestLostReplies(t *testing.T) {
	onBoth(t, func(e *engine) {
		ctx := e.Context()
		again := func(name string, call func() (any, error)) {
			e.Helper()
			first, err := call()
			if err != nil {
				e.Fatalf("%s: %v", name, err)
			}
			before := dump(e)
			second, err := call()
			if err != nil {
				e.Fatalf("%s repeated: %v", name, err)
			}
			if diff := cmp.Diff(first, second, protocmp.Transform()); diff != "" {
				e.Errorf("%s: another reply:\n%s", name, diff)
			}
			if diff := cmp.Diff(before, dump(e)); diff != "" {
				e.Errorf("%s: a repeated request changed something:\n%s", name, diff)
			}
		}
		none := func(err error) (any, error) { return nil, err }
		exchange := func(r conveyor.ExchangeRequest) func() (any, error) {
			r.Number = e.number.Add(1)
			if r.Worker == "" {
				r.Caller, r.Lease = "caller", time.Second
			}
			r.Queues = []string{"q"}
			return func() (any, error) { return e.Exchange(ctx, r) }
		}
		graph := []*wire.Job{
			job("h", after(0, "p", "x")), job("c2", under("p"), runAt(e.now+500)), job("c1", under("p")), job("p"), job("x"), job("y"), job("z"),
		}
		again("add", func() (any, error) { return none(e.AddMany(ctx, graph)) })
		again("update", func() (any, error) { return none(e.Update(ctx, job("c1", under("p"), lane(2)))) })
		again("cancel", func() (any, error) { return none(e.Cancel(ctx, "z")) })
		again("beat", func() (any, error) { return e.beat("w"), nil })
		again("reserve", exchange(conveyor.ExchangeRequest{Worker: "w", Want: 2}))
		again("log", func() (any, error) { return none(e.AppendLog(ctx, "p", 1, 1, []byte("text"))) })
		again("acknowledge and reserve", exchange(conveyor.ExchangeRequest{Worker: "w", Want: 2, Done: []conveyor.Ack{
			{UUID: "p", Fence: 1, Result: []byte("r")}, {UUID: "x", Fence: 1, Verdict: conveyor.VerdictRetry, Failure: "f", Delay: time.Second}, {UUID: "never", Fence: 9},
		}}))
		again("with a lease", exchange(conveyor.ExchangeRequest{Want: 1}))
		again("fail, hold, hand back", exchange(conveyor.ExchangeRequest{Worker: "w", Done: []conveyor.Ack{
			{UUID: "c1", Fence: 1, Verdict: conveyor.VerdictFailed}, {UUID: "y", Fence: 1, Verdict: conveyor.VerdictHold},
		}}))
		again("retry", func() (any, error) { return none(e.Retry(ctx, "c1")) })
		again("release", func() (any, error) { return none(e.Release(ctx, "y")) })
		e.pass(2 * time.Second)
		again("reserve what is due", exchange(conveyor.ExchangeRequest{Worker: "w", Want: 5}))
		e.pass(conveyor.DeadAfter)
		e.tick()
		again("tick", func() (any, error) { return e.Tick(ctx) })
		again("leave", func() (any, error) { return none(e.Leave(ctx, "w")) })
		again("queue settings", func() (any, error) { return none(e.SetQueue(ctx, "q", conveyor.QueueSettings{Concurrency: 3})) })
		again("pause", func() (any, error) { return none(e.PauseQueue(ctx, "q")) })
		again("resume", func() (any, error) { return none(e.ResumeQueue(ctx, "q")) })
		e.ok(e.DeleteQueueSettings(ctx, "q"))
		for range 20 {
			for _, r := range e.reserve(5) {
				e.end(r, conveyor.VerdictDone)
			}
		}
		e.states("h completed, c1 completed, c2 completed, p completed, x completed, y completed, z cancelled")
		e.wantKeys("jobs:p:log")
	})
}

func TestCallNumbers(t *testing.T) {
	onBoth(t, func(e *engine) {
		call := func(caller string, number int64) (conveyor.ExchangeReply, error) {
			return e.Exchange(e.Context(), conveyor.ExchangeRequest{Caller: caller, Number: number, Lease: time.Second, Queues: []string{"q"}, Want: 1})
		}
		e.add(job("a"), job("b"), job("c"))
		e.Run("a lower number is refused", func(e *engine) {
			_, err := call("x", 5)
			e.ok(err)
			_, err = call("x", 4)
			e.refused(err, conveyor.ErrOutdated)
		})
		e.Run("callers do not share numbers", func(e *engine) {
			reply, err := call("y", 1)
			e.ok(err)
			if diff := cmp.Diff([]string{"b"}, names(reply.Reserved)); diff != "" {
				e.Error(diff)
			}
		})
		e.Run("a repeated reply leaves out what is not held any more", func(e *engine) {
			e.pass(time.Second)
			e.tick()
			reply, err := call("x", 5)
			e.ok(err)
			if len(reply.Reserved) != 0 {
				e.Errorf("reserved %v", names(reply.Reserved))
			}
		})
		e.Run("invalid requests are refused with all that is wrong", func(e *engine) {
			_, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{Caller: "a b", Want: 201, Queues: []string{"a:b"}, Done: []conveyor.Ack{{}}})
			for _, want := range []error{conveyor.ErrUUID, conveyor.ErrTooLarge, conveyor.ErrQueueName} {
				e.refused(err, want)
			}
		})
		e.Run("numbers of callers that are no workers are forgotten", func(e *engine) {
			e.pass(2 * time.Hour)
			e.tick()
			if n := e.rdb.Exists(e.Context(), e.key("call:x"), e.key("call:y"), e.key("callers")).Val(); n != 0 {
				e.Errorf("%d keys left", n)
			}
		})
	})
}

func TestBudget(t *testing.T) {
	onBoth(t, func(e *engine) {
		var jobs []*wire.Job
		for i := range 400 {
			jobs = append(jobs, job(fmt.Sprintf("j%03d", i)))
		}
		e.add(jobs...)
		first := e.exchange(200)
		var acks []conveyor.Ack
		for _, r := range first.Reserved {
			acks = append(acks, ack(r, conveyor.VerdictDone))
		}
		reply := e.exchange(200, acks...)
		if len(first.Reserved) != 200 || len(reply.Reserved) != 0 || !reply.More {
			e.Errorf("%d reserved, then %d, more %v", len(first.Reserved), len(reply.Reserved), reply.More)
		}
		if n := len(e.reserve(200)); n != 200 {
			e.Errorf("%d reserved", n)
		}
		e.bounded()
	})
}

// TestAnswers tells the errors of Redis apart.
func TestAnswers(t *testing.T) {
	t.Parallel()
	t.Run("A2d an answer that repeating does not mend is fatal", func(t *testing.T) {
		t.Parallel()
		m := miniredis.RunT(t)
		rdb := redis.NewClient(&redis.Options{Addr: m.Addr(), MaxRetries: -1})
		defer func() { _ = rdb.Close() }()
		c, err := conveyor.NewClient(rdb, conveyor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for answer, recoverable := range map[string]bool{
			"LOADING it reads its data": true, "READONLY it is a replica": true, "OOM no memory is left": true, "BUSY with a script": true,
			"NOAUTH no password": false, "NOPERM not this user": false, "ERR something else": false,
		} {
			m.SetError(answer)
			if err := c.Add(t.Context(), job("a")); err == nil || errors.Is(err, conveyor.ErrUnavailable) != recoverable {
				t.Errorf("%s: got %v, recoverable %v", answer, err, recoverable)
			}
		}
		m.SetError("")
		if err := c.Add(t.Context(), job("a")); err != nil {
			t.Error(err)
		}
	})
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	open := func() *conveyor.Client {
		o := server.Options()
		o.MaxRetries, o.DialerRetries = -1, 1
		rdb := redis.NewClient(o)
		t.Cleanup(func() { _ = rdb.Close() })
		c, err := conveyor.NewClient(rdb, conveyor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := open()
	if err := c.Add(t.Context(), job("a")); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	t.Run("A2e a failure of Redis is told apart as recoverable", func(t *testing.T) {
		if err := c.Add(t.Context(), job("b")); !errors.Is(err, conveyor.ErrUnavailable) || errors.Is(err, conveyor.ErrCorrupt) {
			t.Errorf("got %v", err)
		}
	})
	if _, err := c.Statuses(t.Context(), []string{"a"}); !errors.Is(err, conveyor.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	server.Restart(t)
	if err := open().Add(t.Context(), job("c")); err != nil {
		t.Errorf("after the restart: %v", err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	rdb := redistest.Miniredis(t)
	for _, row := range []struct {
		name    string
		options conveyor.Options
		prefix  string
		ok      bool
	}{
		{"default", conveyor.Options{}, "{waybill}:", true},
		{"named", conveyor.Options{Namespace: "shop"}, "{shop}:", true},
		{"empty", conveyor.Options{EmptyNamespace: true}, "", true},
		{"both", conveyor.Options{Namespace: "a", EmptyNamespace: true}, "", false},
		{"braces", conveyor.Options{Namespace: "{a}"}, "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c, err := conveyor.NewClient(rdb, row.options)
			if row.ok != (err == nil) || row.ok && c.Prefix() != row.prefix {
				t.Errorf("prefix %v, error %v", c, err)
			}
		})
	}
}
