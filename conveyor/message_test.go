package conveyor_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

func TestMessages(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Run("what cannot be sent is refused with all that is wrong", func(e *engine) {
			err := e.Broadcast(e.Context(), "a b", "c d", make([]byte, conveyor.MaxMessage+1))
			for _, want := range []error{conveyor.ErrUUID, conveyor.ErrEventName, conveyor.ErrTooLarge} {
				e.refused(err, want)
			}
			e.add(job("a"))
			e.refused(e.Broadcast(e.Context(), "a", conveyor.EventSuccess, nil), conveyor.ErrEventName)
			e.refused(e.Broadcast(e.Context(), "never", "x", nil), conveyor.ErrNotFound)
			_, err = e.On(e.Context(), "a b", "", 7, nil)
			for _, want := range []error{conveyor.ErrUUID, conveyor.ErrEventName} {
				e.refused(err, want)
			}
		})
		e.Run("data is bytes, and the log keeps fewer events with much of it", func(e *engine) {
			data := slices.Repeat([]byte("\x00\xff\r\n"), conveyor.MaxMessage/4)
			h := e.listen(e.Client, "a", "x", conveyor.Global)
			for range 600 {
				e.ok(e.Broadcast(e.Context(), "a", "x", data))
			}
			for range 600 {
				if m := h.next(); string(m.Data) != string(data) && !m.Missed {
					e.Fatalf("%d bytes", len(m.Data))
				}
			}
			if n := e.rdb.XLen(e.Context(), e.key("events")).Val(); n > 400 {
				e.Errorf("%d events are kept", n)
			}
		})
		e.Run("the number of an attempt's messages goes with the attempt", func(e *engine) {
			stop := e.work(e.Client, "numbered", func(ctx context.Context, j *wire.Job) error {
				if err := attempt(ctx).Emit(ctx, "x", nil); err != nil {
					return err
				}
				entry, err := e.rdb.HGet(ctx, e.key("status"), j.Uuid).Result()
				if !strings.HasSuffix(entry, "|j1") {
					return fmt.Errorf("entry %s, %w", entry, err)
				}
				if attempt(ctx).Fence() == 1 {
					return conveyor.RetryAfter(fmt.Errorf("again"), 0)
				}
				return nil
			})
			e.add(job("b", queue("numbered")))
			got, err := e.Wait(e.Context(), "b")
			e.ok(err)
			stop()
			if got[0].State != conveyor.StateCompleted || got[0].Attempts != 1 {
				failure, _ := e.Failure(e.Context(), "b")
				e.Errorf("%+v %s", got[0], failure)
			}
			if entry := e.rdb.HGet(e.Context(), e.key("status"), "b").Val(); strings.Contains(entry, "|j") {
				e.Errorf("left in %s", entry)
			}
		})
	})
}

// TestEmissions looks at the single calls by which messages are sent.
func TestEmissions(t *testing.T) {
	onBoth(t, func(e *engine) {
		type told struct {
			Name, Data string
			Fence      int64
			Broadcast  bool
		}
		messages := func(e *engine, want ...told) {
			e.Helper()
			batch, err := e.Events(e.Context(), 0, 0)
			e.ok(err)
			var got []told
			for _, ev := range batch.Events {
				if m := ev.Message; m != nil {
					got = append(got, told{m.Name, string(m.Data), m.Fence, m.Broadcast})
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				e.Errorf("told (-want +got):\n%s", diff)
			}
		}
		emit := func(e *engine, want any, args ...any) {
			e.Helper()
			got, err := conveyor.RunScript(e.Context(), e.Client, "emit", args...)
			if sentinel, ok := want.(error); ok {
				e.refused(err, sentinel)
				return
			}
			e.ok(err)
			if got != want {
				e.Errorf("replied %v, want %v", got, want)
			}
		}
		const one, zero = int64(1), int64(0)
		e.alone("of a client: told once, in order, whoever else sends", func(e *engine) {
			e.add(job("a"))
			emit(e, one, "a", 0, 1, "b", "x", "1", "me")
			before := dump(e)
			emit(e, zero, "a", 0, 1, "b", "x", "1", "me")
			emit(e, conveyor.ErrNotFound, "never", 0, 2, "b", "x", "", "me")
			if diff := cmp.Diff(before, dump(e)); diff != "" {
				e.Errorf("something is changed (-before +after):\n%s", diff)
			}
			emit(e, one, "a", 0, 3, "e", "x", "3", "me")
			emit(e, conveyor.ErrOutdated, "a", 0, 2, "b", "x", "2", "me")
			emit(e, one, "a", 0, 1, "b", "y", "1", "you")
			messages(e, told{"x", "1", 0, true}, told{"x", "3", 0, false}, told{"y", "1", 0, true})
		})
		e.alone("a client's number is forgotten some time after its last message", func(e *engine) {
			e.add(job("a"))
			emit(e, one, "a", 0, 1, "b", "x", "", "me")
			e.pass(59 * time.Minute)
			emit(e, one, "a", 0, 2, "b", "x", "", "me")
			e.pass(59 * time.Minute)
			e.tick()
			if e.rdb.Exists(e.Context(), e.key("call:me"), e.key("callers")).Val() != 2 {
				e.Error("it is forgotten already")
			}
			e.pass(time.Minute)
			e.tick()
			if e.rdb.Exists(e.Context(), e.key("call:me"), e.key("callers")).Val() != 0 {
				e.Error("it is not")
			}
		})
		e.alone("of an attempt: told once, while it runs", func(e *engine) {
			e.add(job("a"))
			r := e.take("a")
			emit(e, one, "a", 1, 1, "e", "x", "1", "")
			emit(e, zero, "a", 1, 1, "e", "x", "1", "")
			emit(e, one, "a", 1, 3, "b", "x", "3", "")
			emit(e, zero, "a", 1, 2, "e", "x", "2", "")
			emit(e, conveyor.ErrOutdated, "never", 1, 1, "e", "x", "", "")
			e.end(r, conveyor.VerdictBack)
			emit(e, conveyor.ErrOutdated, "a", 1, 4, "e", "x", "4", "")
			e.take("a")
			emit(e, conveyor.ErrOutdated, "a", 1, 4, "e", "x", "4", "")
			emit(e, one, "a", 2, 1, "e", "x", "again", "")
			messages(e, told{"x", "1", 1, false}, told{"x", "3", 1, true}, told{"x", "again", 2, false})
			e.ok(e.Leave(e.Context(), "w"))
		})
		e.alone("the log keeps fewer events with much data", func(e *engine) {
			e.add(job("a"))
			data := strings.Repeat("x", conveyor.MaxMessage)
			for n := range 320 {
				emit(e, one, "a", 0, n+1, "b", "x", data, "me")
			}
			if n := e.rdb.XLen(e.Context(), e.key("events")).Val(); n > 300 {
				e.Errorf("%d events are kept", n)
			}
		})
	})
}

// TestMessagesAreToldOnce loses the reply or the request of every second call: a message is told once all the same, in order.
func TestMessagesAreToldOnce(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := server.Proxy(t)
	rdb := redis.NewClient(proxy.Options())
	t.Cleanup(func() { _ = rdb.Close() })
	c, err := conveyor.NewClient(rdb, conveyor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	clear, err := conveyor.NewClient(server.Client(t), conveyor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := conveyor.NewWorker(c, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: "q"}}})
	if err != nil {
		t.Fatal(err)
	}
	const each = 5
	w.HandleRaw("noop", func(ctx context.Context, _ *wire.Job) error {
		proxy.Plan(func(n int) redistest.Fault {
			return map[int]redistest.Fault{1: redistest.LoseReply, 3: redistest.LoseRequest}[n%4]
		})
		defer proxy.Plan(nil)
		for i := range each {
			a := attempt(ctx)
			if err := a.Emit(ctx, "one", fmt.Append(nil, i)); err != nil {
				return err
			}
			if err := a.Broadcast(ctx, "two", fmt.Append(nil, i)); err != nil {
				return err
			}
			if err := c.Broadcast(ctx, "a", "three", fmt.Append(nil, i)); err != nil {
				return err
			}
		}
		return nil
	})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := w.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	if err := clear.Add(t.Context(), job("a")); err != nil {
		t.Fatal(err)
	}
	statuses, err := clear.Wait(t.Context(), "a")
	stop()
	running.Wait()
	if err != nil || statuses[0].State != conveyor.StateCompleted || proxy.Hits() < each {
		failure, _ := clear.Failure(t.Context(), "a")
		t.Fatalf("%+v %v, %d faults: %s", statuses, err, proxy.Hits(), failure)
	}
	var got, want []string
	batch, err := clear.Events(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range batch.Events {
		if m := e.Message; m != nil {
			got = append(got, fmt.Sprintf("%s %s %v", m.Name, m.Data, m.Broadcast))
		}
	}
	for i := range each {
		want = append(want, fmt.Sprintf("one %d false", i), fmt.Sprintf("two %d true", i), fmt.Sprintf("three %d true", i))
	}
	if !slices.Equal(got, want) {
		t.Errorf("told %q", got)
	}
}
