package conveyor_test

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// wait starts waiting and returns how to learn what came of it.
func (e *engine) wait(uuids ...string) (result func() ([]conveyor.Status, error)) {
	type outcome struct {
		statuses []conveyor.Status
		err      error
	}
	done := make(chan outcome, 1)
	go func() {
		statuses, err := e.Wait(e.Context(), uuids...)
		done <- outcome{statuses, err}
	}()
	return func() ([]conveyor.Status, error) {
		o := <-done
		return o.statuses, o.err
	}
}

// waits wants a wait to end with these states.
func (e *engine) waits(result func() ([]conveyor.Status, error), want ...conveyor.State) {
	e.Helper()
	statuses, err := result()
	e.ok(err)
	if len(statuses) != len(want) {
		e.Fatalf("%d statuses", len(statuses))
	}
	for i, s := range statuses {
		if s.State != want[i] {
			e.Errorf("job %s is %s, want %s", s.UUID, s.State, want[i])
		}
	}
}

func TestWait(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("it returns when all are over", func(e *engine) {
			e.waits(e.wait())
			e.add(job("a"), job("b"), job("c"))
			e.run("a", conveyor.VerdictDone)
			result := e.wait("a", "b", "c", "a")
			e.run("b", conveyor.VerdictFailed)
			e.ok(e.Cancel(e.Context(), "c"))
			e.waits(result, conveyor.StateCompleted, conveyor.StateFailed, conveyor.StateCancelled, conveyor.StateCompleted)
			e.waits(e.wait("c"), conveyor.StateCancelled) // over already
		})
		e.Behaviour("an unknown job is not found at once", func(e *engine) {
			e.add(job("a"))
			_, err := e.Wait(e.Context(), "a", "never")
			e.refused(err, conveyor.ErrNotFound)
			_, err = e.Wait(e.Context(), "a b")
			e.refused(err, conveyor.ErrUUID)
		})
		e.Behaviour("what ended and is removed counts as it ended", func(e *engine) {
			e.add(job("a"), job("b"))
			v := e.subscribe(e.Context(), conveyor.SubscribeOptions{UUIDs: []string{"a", "b"}})
			v.see()
			result := e.waiting("a", "b")
			e.run("a", conveyor.VerdictDone)
			e.ok(e.Remove(e.Context(), "a"))
			e.ok(e.Cancel(e.Context(), "b"))
			e.waits(result, conveyor.StateCompleted, conveyor.StateCancelled)
		})
		e.Behaviour("a gap in the log is no matter", func(e *engine) {
			e.add(job("a"), job("b"))
			result := e.waiting("a", "b")
			pipe := e.rdb.TxPipeline() // the reader finds the log cut, whenever it looks
			pipe.XTrimMaxLen(e.Context(), e.key("events"), 0)
			pipe.IncrBy(e.Context(), e.key("events:seq"), 10)
			_, err := pipe.Exec(e.Context())
			e.ok(err)
			e.run("a", conveyor.VerdictDone)
			e.ok(e.Cancel(e.Context(), "b"))
			e.waits(result, conveyor.StateCompleted, conveyor.StateCancelled)
		})
		e.Behaviour("an emptied namespace ends it", func(e *engine) {
			e.add(job("a"))
			result := e.waiting("a")
			e.empty()
			e.at(start + 1)
			for _, uuid := range []string{"x", "y", "z"} {
				e.add(job(uuid))
			}
			_, err := result()
			e.refused(err, conveyor.ErrNotFound)
		})
		e.Run("its context ends it", func(e *engine) {
			e.add(job("a"))
			ctx, cancel := context.WithCancelCause(e.Context())
			why := errors.New("enough")
			cancel(why)
			_, err := e.Wait(ctx, "a")
			e.refused(err, why)
		})
	})
}

// waiting is wait once it has surely begun.
func (e *engine) waiting(uuids ...string) (result func() ([]conveyor.Status, error)) {
	e.Helper()
	h := &watchedReads{read: make(chan struct{}, 1000)}
	rdb := e.another()
	e.Cleanup(func() { _ = rdb.Close() })
	rdb.AddHook(h)
	c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: e.Namespace()})
	e.ok(err)
	result = (&engine{e.tb, &world{Client: c, rdb: rdb}}).wait(uuids...)
	<-h.read
	return result
}

// watchedReads tells when the event log is read.
type watchedReads struct{ read chan struct{} }

func (*watchedReads) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h *watchedReads) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "xread" {
			h.read <- struct{}{}
		}
		return next(ctx, cmd)
	}
}
func (*watchedReads) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestWaitSurvivesCuts: connections are cut and the server restarts while somebody waits.
func TestWaitSurvivesCuts(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	e := newEngine(t, server.Client(t))
	e.add(job("a"), job("b"))
	result := e.waiting("a", "b")
	e.ok(e.rdb.Do(e.Context(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err())
	e.run("a", conveyor.VerdictDone)
	server.Kill()
	server.Restart(t)
	e.ok(e.Cancel(e.Context(), "b"))
	e.waits(result, conveyor.StateCompleted, conveyor.StateCancelled)
}
