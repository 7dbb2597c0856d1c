package conveyor_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// told is what the event log says of workers.
func (e *engine) told() []string {
	e.Helper()
	batch, err := e.Events(e.Context(), 0, 0)
	e.ok(err)
	lines := []string{}
	for _, ev := range batch.Events {
		for _, w := range ev.Workers {
			lines = append(lines, string(w.Change)+" "+w.ID)
		}
	}
	return lines
}

func (e *engine) tells(want ...string) {
	e.Helper()
	if diff := cmp.Diff(want, e.told()); diff != "" {
		e.Errorf("told of workers (-want +got):\n%s", diff)
	}
}

// reject ends an attempt with an error.
func (e *engine) reject(r conveyor.Reservation, verdict conveyor.Verdict, delay time.Duration) {
	e.Helper()
	a := ack(r, verdict)
	a.Failure, a.Delay = "broken", delay
	e.exchange(0, a)
}

func TestAnnouncements(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("D3a success is announced, the key freed, the record kept", func(e *engine) {
			h := e.listen(e.Client, "a", conveyor.AnyEvent, conveyor.Global)
			e.add(job("a", unique("k")))
			r := e.take("a")
			e.exchange(0, conveyor.Ack{UUID: "a", Fence: r.Fence, Result: []byte("result")})
			h.hears("a", "started", "success")
			e.holders()
			e.add(job("b", unique("k")))
			e.states("a completed, b queued")
			if result, err := e.Result(e.Context(), "a"); string(result) != "result" || err != nil {
				e.Error(result, err)
			}
		})
		e.Behaviour("D3b failure without attempts left: announced, error stored, freed", func(e *engine) {
			h := e.listen(e.Client, "a", conveyor.AnyEvent, conveyor.Global)
			e.add(job("a", unique("k")))
			e.reject(e.take("a"), conveyor.VerdictFailed, 0)
			h.hears("a", "started", "failure")
			e.holders()
			if text, err := e.Failure(e.Context(), "a"); text != "broken" || err != nil {
				e.Error(text, err)
			}
			e.states("a failed")
		})
		e.Behaviour("D3c with attempts left: announced as retry, back after its backoff, key still held", func(e *engine) {
			h := e.listen(e.Client, "a", conveyor.AnyEvent, conveyor.Global)
			e.add(job("a", unique("k")))
			e.reject(e.take("a"), conveyor.VerdictRetry, 3*time.Second)
			for _, want := range []string{"started", "retry"} {
				if m := h.next(); m.Name != want || m.Status.UUID != "a" {
					e.Errorf("heard %+v, want %s", m, want)
				}
			}
			e.holders("noop:k a")
			e.heldBy(e.Add(e.Context(), job("b", unique("k"))), "noop:k", "b", "a")
			e.pass(3*time.Second - time.Millisecond)
			e.nothing()
			e.pass(time.Millisecond)
			e.run("a", conveyor.VerdictDone)
			e.holders()
		})
		e.Behaviour("D5c silent: any live worker announces it lost and returns its jobs", func(e *engine) {
			e.beat("dead")
			e.add(job("a"), job("b"), job("c"))
			e.exchangeAs("dead", 2)
			e.pass(conveyor.DeadAfter - conveyor.BeatEvery)
			e.beat("live")
			e.tick()
			e.tells("joined dead", "joined live")
			e.pass(conveyor.BeatEvery)
			e.tick() // by whoever
			e.tells("joined dead", "joined live", "lost dead")
			e.reserves("a", "b", "c")
			e.beat("dead") // it was only frozen
			e.tells("joined dead", "joined live", "lost dead", "joined w", "joined dead")
		})
		e.Behaviour("D5d destroyed: drained, handed back, deregistered, announced", func(e *engine) {
			w, err := conveyor.NewWorker(e.Client, conveyor.WorkerOptions{
				ID: "w1", Queues: []conveyor.QueueShare{{Name: "q"}}, Concurrency: 2, ShutdownTimeout: -1,
			})
			e.ok(err)
			cause := make(chan error, 1)
			started := make(chan struct{})
			w.HandleRaw("noop", func(ctx context.Context, j *wire.Job) error {
				if j.Uuid == "quick" {
					return nil
				}
				close(started)
				<-ctx.Done()
				cause <- context.Cause(ctx)
				return ctx.Err()
			})
			ctx, destroy := context.WithCancel(e.Context())
			done := make(chan error, 1)
			e.add(job("quick"), job("slow"))
			go func() { done <- w.Run(ctx) }()
			<-started
			_, err = e.Wait(e.Context(), "quick")
			e.ok(err)
			destroy()
			e.ok(<-done)
			e.refused(<-cause, conveyor.ErrShutdown)
			e.states("quick completed, slow queued")
			e.tells("joined w1", "left w1")
			e.ok(e.Leave(e.Context(), "w1")) // repeated: told once
			e.tells("joined w1", "left w1")
			workers, err := e.Workers(e.Context())
			if len(workers) != 0 || err != nil {
				e.Errorf("workers %v, %v", workers, err)
			}
			e.run("slow", conveyor.VerdictDone)
		})
		e.Behaviour("D5f monitored by lease, timeout and age of progress", func(e *engine) {
			e.beat("w")
			e.add(job("a"))
			r := e.take("a")
			e.ok(e.SetProgress(e.Context(), "a", r.Fence, conveyor.Progress{Done: 1, Total: 9}))
			for range 5 { // the lease holds, and the progress gets old
				e.pass(conveyor.BeatEvery)
				e.beat("w", conveyor.Holding{UUID: "a", Fence: r.Fence})
				e.ok(e.SetProgress(e.Context(), "a", r.Fence, conveyor.Progress{Done: 1, Total: 9}))
				e.tick()
			}
			p, err := e.ProgressOf(e.Context(), "a")
			now, err2 := e.Now(e.Context())
			if age := now.Sub(p.At); age != 5*conveyor.BeatEvery || err != nil || err2 != nil {
				e.Errorf("progress %+v of age %s, %v, %v", p, age, err, err2)
			}
			e.states("a running")
			e.pass(conveyor.DeadAfter)
			e.tick()
			if s := e.status("a"); s.State != conveyor.StateQueued || s.Lost != 1 {
				e.Errorf("without a beat: %+v", s)
			}
			e.run("a", conveyor.VerdictDone)

			stop := e.work(e.Client, "q", func(ctx context.Context, _ *wire.Job) error { <-ctx.Done(); return ctx.Err() })
			e.add(job("slow", attempts(1), func(j *wire.Job) { j.Timeout = durationpb.New(time.Millisecond) }))
			_, err = e.Wait(e.Context(), "slow")
			e.ok(err)
			stop()
			if text, err := e.Failure(e.Context(), "slow"); text != "timeout after 1ms" || err != nil {
				e.Error(text, err)
			}
		})
	})
}
