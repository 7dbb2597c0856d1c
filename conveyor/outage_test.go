package conveyor_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// memory sets the server's maxmemory, in bytes; 1 is less than any server uses, 0 is no bound.
func memory(e *engine, bytes int) {
	e.Helper()
	e.ok(e.rdb.ConfigSet(e.Context(), "maxmemory", fmt.Sprint(bytes)).Err())
}

// TestFullStore: in a store whose maxmemory is reached nothing is added, and the refusal changes nothing; what runs goes on to
// its end, and everything that makes room works as it does otherwise.
func TestFullStore(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t).Client(t)
	full, roomy := newEngine(t, rdb), newEngine(t, rdb)
	for _, e := range []*engine{full, roomy} {
		beforeFull(e)
	}
	memory(full, 1)
	before := dump(full)
	for name, call := range map[string]func() error{
		"add":            func() error { return full.Add(t.Context(), job("x")) },
		"add a graph":    func() error { return full.AddMany(t.Context(), chain("y")) },
		"update":         func() error { return full.Update(t.Context(), job("queued", lane(2))) },
		"queue settings": func() error { return full.SetQueue(t.Context(), "q", conveyor.QueueSettings{Concurrency: 1}) },
		"log":            func() error { return full.AppendLog(t.Context(), "done", 1, 1, []byte("text")) },
	} {
		err := call()
		if !errors.Is(err, conveyor.ErrFull) || !errors.Is(err, conveyor.ErrUnavailable) {
			t.Errorf("%s: got %v, want %v, which is recoverable", name, err, conveyor.ErrFull)
		} else if !strings.HasSuffix(err.Error(), ": redis is out of memory: its maxmemory is reached; nothing was changed") {
			t.Errorf("%s: it says %q", name, err)
		}
	}
	if diff := cmp.Diff(before, dump(full)); diff != "" {
		t.Errorf("refused calls changed something:\n%s", diff)
	}
	whenFull(full, func(d time.Duration) {
		memory(full, 0) // for the key of the clock
		full.pass(d)
		memory(full, 1)
	})
	memory(full, 0)
	whenFull(roomy, roomy.pass)
	if diff := cmp.Diff(entries(roomy), entries(full)); diff != "" {
		t.Errorf("the stores (-with room +full):\n%s", diff)
	}
	full.add(job("x"))
	full.run("x", conveyor.VerdictDone)
	full.sound()
	roomy.sound()
}

// beforeFull is what a namespace holds when its memory ends.
func beforeFull(e *engine) {
	e.Helper()
	e.add(job("done"), job("retried"), job("failed"), job("back"), job("dead"))
	e.beat("w")
	e.reserves("done", "retried", "failed", "back", "dead")
	e.add(job("child", under("done")), job("heir", after(0, "done")), job("queued"), job("unwanted"), job("purged", queue("p")), job("later", delayed(time.Second)))
}

// whenFull is what goes on without room.
func whenFull(e *engine, pass func(time.Duration)) {
	e.Helper()
	e.beat("w")
	e.beat("other")
	e.exchangeAs("w", 0, conveyor.Ack{UUID: "done", Fence: 1, Result: []byte("result")},
		conveyor.Ack{UUID: "retried", Fence: 1, Verdict: conveyor.VerdictRetry, Failure: "failure", Delay: time.Second},
		conveyor.Ack{UUID: "failed", Fence: 1, Verdict: conveyor.VerdictFailed, Failure: "failure"},
		conveyor.Ack{UUID: "back", Fence: 1, Verdict: conveyor.VerdictBack})
	e.ok(e.Cancel(e.Context(), "unwanted"))
	_, err := e.PurgeQueue(e.Context(), "p")
	e.ok(err)
	e.ok(e.Leave(e.Context(), "other"))
	e.states("done closing, retried scheduled, failed failed, back queued, dead running, child queued, heir held, queued queued, unwanted cancelled, purged cancelled")
	pass(conveyor.DeadAfter + time.Second)
	e.tick()
	for range 4 {
		for _, r := range e.reserve(10) {
			e.end(r, conveyor.VerdictDone)
		}
	}
	e.states("done completed, retried completed, back completed, dead completed, child completed, heir completed, queued completed, later completed")
	pass(2 * time.Hour) // when the numbers of callers, which are random, are forgotten
	e.tick()
}

// TestFullStoreWorker: a worker whose store fills up while its jobs run ends them, without their logs, and goes on to the rest.
func TestFullStoreWorker(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t).Client(t)
	s := newWorkers(t, rdb)
	w := s.worker(conveyor.WorkerOptions{Concurrency: 2})
	started, proceed := make(chan struct{}), make(chan struct{})
	w.HandleRaw("t", logging(started, proceed))
	stop := s.run(w)
	const jobs = 20
	var uuids []string
	for i := range jobs {
		uuids = append(uuids, fmt.Sprintf("u%d", i))
		s.ok(s.Add(s.Context(), &wire.Job{Uuid: uuids[i], Type: "t", Queue: "q"}))
	}
	<-started
	<-started
	s.ok(rdb.ConfigSet(s.Context(), "maxmemory", "1").Err())
	close(proceed)
	for range jobs - 2 {
		<-started
	}
	for _, st := range s.await(ended, uuids...) {
		if st.State != conveyor.StateCompleted || st.Attempts != 0 || st.Lost != 0 {
			t.Errorf("job %+v, want it completed with nothing spent", st)
		}
	}
	stop()
	s.ok(rdb.ConfigSet(s.Context(), "maxmemory", "0").Err()) // Verify uses transactions, which a full store refuses
	s.sound()
}

// TestUnwritableStore: every reason for which Redis does not write is one sentence, changes nothing, and ends with its cause.
func TestUnwritableStore(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name       string
		start      func(t *testing.T) *redistest.Server
		spoil, end func(e *engine)
		sentinel   error
		text       string
	}{
		{
			name: "it cannot save", start: func(t *testing.T) *redistest.Server {
				return redistest.StartTCP(t, "--dir", t.TempDir(), "--save", "3600 1")
			},
			spoil: func(e *engine) {
				dir, err := e.rdb.ConfigGet(e.Context(), "dir").Result()
				e.ok(err)
				e.ok(os.RemoveAll(dir["dir"]))
				e.ok(e.rdb.BgSave(e.Context()).Err())
				for !strings.Contains(e.rdb.Info(e.Context(), "persistence").Val(), "rdb_last_bgsave_status:err") {
					e.ok(e.Context().Err())
				}
			},
			end:      func(e *engine) { e.ok(e.rdb.ConfigSet(e.Context(), "save", "").Err()) },
			sentinel: conveyor.ErrUnsaved, text: "the store refuses to write, since it cannot save to its disk; nothing was changed",
		},
		{
			name:     "it is a replica",
			start:    func(t *testing.T) *redistest.Server { return redistest.Start(t) },
			spoil:    func(e *engine) { e.ok(e.rdb.Do(e.Context(), "REPLICAOF", "192.0.2.1", "6379").Err()) },
			end:      func(e *engine) { e.ok(e.rdb.Do(e.Context(), "REPLICAOF", "NO", "ONE").Err()) },
			sentinel: conveyor.ErrReadOnly, text: "redis is a read-only replica, and writes go to its primary; nothing was changed",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, row.start(t).Client(t))
			e.add(job("a"))
			r := e.take("a")
			row.spoil(e)
			before := dump(e)
			err := e.Add(t.Context(), job("b"))
			if !errors.Is(err, row.sentinel) || !errors.Is(err, conveyor.ErrUnavailable) || !strings.HasSuffix(err.Error(), ": "+row.text) {
				t.Errorf("got %q, want %q", err, row.text)
			}
			if diff := cmp.Diff(before, dump(e)); diff != "" {
				t.Errorf("a refused call changed something:\n%s", diff)
			}
			row.end(e)
			e.end(r, conveyor.VerdictDone)
			e.add(job("b"))
			e.run("b", conveyor.VerdictDone)
			e.sound()
		})
	}
}

// logging is a handler that says when it started, waits to be let go, and tells of itself.
func logging(started, proceed chan struct{}) conveyor.Handler {
	return func(ctx context.Context, _ *wire.Job) error {
		a := conveyor.FromContext(ctx)
		started <- struct{}{}
		<-proceed
		a.Log("a line")
		a.Progress(conveyor.Progress{Done: 1})
		return a.SetResult([]byte("result"))
	}
}
