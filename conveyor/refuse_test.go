package conveyor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
)

// TestRefusals breaks each key that a script reads or writes whatever it finds: the call must name it and change nothing.
func TestRefusals(t *testing.T) {
	jobs := []string{"status", "depth", "slots", "results", "failures", "failed", "progress", "scheduled", "todo", "leases", "events",
		"events:seq", "seq"}
	onBoth(t, func(e *engine) {
		refuses := func(e *engine, call func(e *engine) error, keys ...string) {
			e.Helper()
			e.add(job("a"), job("b"))
			e.beat("w")
			if got := e.exchangeAs("w", 1).Reserved; len(got) != 1 {
				e.Fatalf("reserved %v", names(got))
			}
			for _, key := range keys {
				kept := e.rdb.Rename(e.Context(), e.key(key), e.key("kept")).Err() == nil
				wrong := e.rdb.SetBit(e.Context(), e.key(key), 1, 1).Err() // a string
				if strings.HasPrefix(key, "call:") || strings.HasSuffix(key, "seq") {
					e.ok(e.rdb.Del(e.Context(), e.key(key)).Err())
					wrong = e.rdb.RPush(e.Context(), e.key(key), "x").Err()
				}
				e.ok(wrong)
				before := dump(e)
				err := call(e)
				e.refused(err, conveyor.ErrCorrupt)
				if err != nil && !strings.Contains(err.Error(), e.key(key)) {
					e.Errorf("%v does not name %s", err, e.key(key))
				}
				if diff := cmp.Diff(before, dump(e)); diff != "" {
					e.Errorf("%s: something is changed (-before +after):\n%s", key, diff)
				}
				e.ok(e.rdb.Del(e.Context(), e.key(key)).Err())
				if kept {
					e.ok(e.rdb.Rename(e.Context(), e.key("kept"), e.key(key)).Err())
				}
			}
			e.ok(call(e))
		}
		exchange := func(worker, caller string) func(e *engine) error {
			return func(e *engine) error {
				_, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{
					Worker: worker, Caller: caller, Lease: time.Minute, Number: e.number.Add(1), Queues: []string{"q"}, Want: 1,
				})
				return err
			}
		}
		e.Behaviour("A7s an acknowledgement and reservation names a key of the wrong type, and changes nothing", func(e *engine) {
			refuses(e, exchange("w", ""), append(slices.Clone(jobs), "call:w", "workers", "queues", "worker:w:jobs", "worker:w")...)
		})
		e.Behaviour("A7t so does one of a caller that is no worker", func(e *engine) {
			refuses(e, exchange("", "me"), "call:me", "callers")
		})
		e.Behaviour("A7u so does a beat", func(e *engine) {
			refuses(e, func(e *engine) error {
				_, err := e.Beat(e.Context(), conveyor.WorkerInfo{ID: "w"})
				return err
			}, "status", "worker:w", "workers", "worker:w:jobs")
			newcomers := 0
			refuses(e, func(e *engine) error { // a worker that is known keeps its lease whatever became of the log
				e.beat("w")
				newcomers++
				_, err := e.Beat(e.Context(), conveyor.WorkerInfo{ID: fmt.Sprint("new", newcomers)})
				return err
			}, "events", "events:seq")
		})
		e.Behaviour("A7v so does a leave", func(e *engine) {
			refuses(e, func(e *engine) error { return e.Leave(e.Context(), "w") }, append(slices.Clone(jobs), "workers", "worker:w:jobs")...)
		})
		e.Behaviour("A7w so does a piece of a log", func(e *engine) {
			refuses(e, func(e *engine) error { return e.AppendLog(e.Context(), "a", 1, 1, []byte("x")) }, "status", "jobs:a:log")
		})
		e.Behaviour("A7x so does progress", func(e *engine) {
			refuses(e, func(e *engine) error { return e.SetProgress(e.Context(), "a", 1, conveyor.Progress{Done: 1}) }, jobs...)
		})
		e.Behaviour("A7y so do queue settings, and a guard", func(e *engine) {
			refuses(e, func(e *engine) error { return e.PauseQueue(e.Context(), "r") }, "queues")
			e.ok(e.rdb.HSet(e.Context(), e.key("lock"), "f", "1").Err())
			guarded := conveyor.Batch{
				Guard:   &conveyor.Guard{Key: "lock", Field: "f", Want: "1"},
				Changes: []conveyor.Change{{Kind: conveyor.ChangeAdd, Job: job("g")}},
			}
			e.ok(e.rdb.Rename(e.Context(), e.key("lock"), e.key("kept")).Err())
			e.ok(e.rdb.Set(e.Context(), e.key("lock"), "x", 0).Err())
			err := e.Apply(e.Context(), guarded)
			e.refused(err, conveyor.ErrCorrupt)
			if err == nil || !strings.Contains(err.Error(), e.key("lock")) {
				e.Errorf("got %v", err)
			}
			e.ok(e.rdb.Rename(e.Context(), e.key("kept"), e.key("lock")).Err())
			e.ok(e.Apply(e.Context(), guarded))
			e.ok(e.rdb.Rename(e.Context(), e.key("lock"), e.key("kept")).Err())
			e.ok(e.rdb.Set(e.Context(), e.key("lock"), "x", 0).Err())
			err = e.SetQueue(e.Context(), "r", conveyor.QueueSettings{}, conveyor.GuardedBy(*guarded.Guard))
			e.refused(err, conveyor.ErrCorrupt)
			if err == nil || !strings.Contains(err.Error(), e.key("lock")) {
				e.Errorf("got %v", err)
			}
		})
		e.Run("so does a purge", func(e *engine) {
			e = &engine{e.tb, newEngine(e, e.rdb).world}
			refuses(e, func(e *engine) error {
				_, err := conveyor.RunScript(e.Context(), e.Client, "purge", "me", e.number.Add(1), "q", "")
				return err
			}, append(slices.Clone(jobs), "call:me", "callers")...)
		})
		e.Run("so does a message", func(e *engine) {
			e = &engine{e.tb, newEngine(e, e.rdb).world}
			refuses(e, func(e *engine) error {
				_, err := conveyor.RunScript(e.Context(), e.Client, "emit", "b", 0, e.number.Add(1), "b", "x", "", "me")
				return err
			}, "status", "callers", "call:me", "events", "events:seq")
		})
		e.Behaviour("A7z so does a tick", func(e *engine) {
			refuses(e, func(e *engine) error { _, err := e.Tick(e.Context()); return err }, append(slices.Clone(jobs), "workers", "callers", "sweeps", "removals", "expiry")...)
		})
	})
}
