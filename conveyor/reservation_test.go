package conveyor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestReservation: what one call takes, who counts as idle after it, and whom it wakes.
func TestReservation(t *testing.T) {
	call := func(e *engine, r conveyor.ExchangeRequest) conveyor.ExchangeReply {
		e.Helper()
		r.Number = e.number.Add(1)
		reply, err := e.Exchange(e.Context(), r)
		e.ok(err)
		return reply
	}
	idle := func(e *engine, want ...string) {
		e.Helper()
		got := []string{}
		for id := range e.scores("idle:q") {
			got = append(got, id)
		}
		slices.Sort(got)
		if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
			e.Errorf("idle (-want +got):\n%s", diff)
		}
	}
	// woken tells whether a worker was woken since it was asked last.
	woken := func(e *engine, id string) bool {
		e.Helper()
		n, err := e.rdb.Del(e.Context(), e.key("wake:"+id)).Result()
		e.ok(err)
		return n == 1
	}
	fill := func(e *engine, n int) {
		e.Helper()
		var jobs []*wire.Job
		for i := range n {
			jobs = append(jobs, job(fmt.Sprintf("j%03d", i)))
		}
		e.add(jobs...)
	}
	rows := []struct {
		name string
		test func(e *engine)
	}{
		{"a limited queue that is named twice keeps its limit", func(e *engine) {
			e.ok(e.SetQueue(e.Context(), "q", conveyor.QueueSettings{Concurrency: 2}))
			fill(e, 5)
			if got := call(e, conveyor.ExchangeRequest{Worker: "w", Queues: []string{"q", "q"}, Want: 5}).Reserved; len(got) != 2 {
				e.Errorf("reserved %v", names(got))
			}
		}},
		{"a call that names no queue takes nothing", func(e *engine) {
			fill(e, 1)
			if reply := call(e, conveyor.ExchangeRequest{Worker: "w", Want: 5}); len(reply.Reserved) != 0 || reply.More {
				e.Errorf("reserved %v, more %t", names(reply.Reserved), reply.More)
			}
		}},
		{"a worker that took all it wanted is not idle, one that found less is", func(e *engine) {
			fill(e, 3)
			e.exchange(1)
			idle(e)
			e.exchange(5)
			idle(e, "w")
		}},
		{"a worker that wants nothing any more is not idle", func(e *engine) {
			e.exchange(1)
			idle(e, "w")
			e.exchange(0)
			idle(e)
		}},
		{"nor is one that is to call again at once", func(e *engine) {
			fill(e, 150)
			var done []conveyor.Ack
			for _, r := range e.reserve(150) {
				done = append(done, ack(r, conveyor.VerdictDone))
			}
			if reply := e.exchange(100, done...); !reply.More {
				e.Error("it is not told to call again")
			}
			idle(e)
		}},
		{"who has no name is not idle", func(e *engine) {
			call(e, conveyor.ExchangeRequest{Caller: "me", Lease: time.Minute, Queues: []string{"q"}, Want: 1})
			idle(e)
			e.ok(e.rdb.Set(e.Context(), e.key("idle:q"), "x", 0).Err())
			call(e, conveyor.ExchangeRequest{Caller: "me", Lease: time.Minute, Queues: []string{"q"}, Want: 1})
			e.exchange(1)
			e.ok(e.rdb.Del(e.Context(), e.key("idle:q")).Err())
		}},
		{"a call of a worker is kept with the worker", func(e *engine) {
			call(e, conveyor.ExchangeRequest{Caller: "w", Worker: "w", Queues: []string{"q"}, Want: 1})
			if got := e.scores("callers"); len(got) > 0 {
				e.Errorf("callers %v", got)
			}
		}},
		{"a wake-up that nobody hears goes by itself", func(e *engine) {
			e.exchange(1)
			fill(e, 1)
			if ttl := e.rdb.PTTL(e.Context(), e.key("wake:w")).Val(); ttl <= 0 || ttl > 10*time.Second {
				e.Errorf("it is kept for %s", ttl)
			}
		}},
		{"a slot that is freed wakes nobody where there is no limit", func(e *engine) {
			fill(e, 1)
			r := e.reserve(1)[0]
			e.exchangeAs("w2", 1)
			e.exchange(0, ack(r, conveyor.VerdictDone))
			if woken(e, "w2") {
				e.Error("w2 is woken")
			}
		}},
		{"nor where other things are set", func(e *engine) {
			e.ok(e.SetQueue(e.Context(), "q", conveyor.QueueSettings{KeepFor: time.Hour}))
			fill(e, 1)
			r := e.reserve(1)[0]
			e.exchangeAs("w2", 1)
			e.exchange(0, ack(r, conveyor.VerdictDone))
			if woken(e, "w2") {
				e.Error("w2 is woken")
			}
		}},
		{"a call that takes one of two that are due wakes another for the second", func(e *engine) {
			e.ok(e.SetQueue(e.Context(), "q", conveyor.QueueSettings{Concurrency: 5}))
			due := runAt(e.now + 1000)
			e.add(job("a", due), job("b", due))
			e.exchangeAs("w2", 1)
			woken(e, "w2")
			e.pass(time.Second)
			e.take("a")
			if !woken(e, "w2") {
				e.Error("w2 sleeps")
			}
		}},
		{"a job whose bytes are gone counts for no wake-up, and is named", func(e *engine) {
			e.add(job("lost"), job("c"))
			rs := e.reserves("lost", "c")
			e.end(rs[0], conveyor.VerdictBack)
			e.ok(e.rdb.Del(e.Context(), e.key("jobs:lost")).Err())
			e.exchangeAs("w2", 0)
			e.ok(e.rdb.ZAdd(e.Context(), e.key("idle:q"), redisZ(float64(e.now), "w2")).Err())
			reply := e.exchange(1, ack(rs[1], conveyor.VerdictRetry))
			if len(reply.Reserved) > 0 || len(reply.Broken) > 0 || !slices.Equal(reply.Damaged, []string{e.key("jobs:lost")}) {
				e.Errorf("reserved %v, broken %v, damaged %v", names(reply.Reserved), reply.Broken, reply.Damaged)
			}
			if !woken(e, "w2") {
				e.Error("w2 sleeps")
			}
			e.states("lost failed, c queued")
		}},
		{"another worker that hands a job back and takes it is its owner", func(e *engine) {
			e.add(job("a"))
			r := e.take("a")
			if got := e.exchangeAs("w2", 1, ack(r, conveyor.VerdictBack)).Reserved; len(got) != 1 {
				e.Fatalf("reserved %v", names(got))
			}
			if got := e.scores("worker:w:jobs"); len(got) > 0 {
				e.Errorf("w has %v", got)
			}
		}},
		{"an attempt that follows in the same call counts its messages anew", func(e *engine) {
			e.add(job("a"))
			say := func(fence int) {
				e.Helper()
				told, err := conveyor.RunScript(e.Context(), e.Client, "emit", "a", fence, 1, "b", "said", "", "")
				e.ok(err)
				if told != int64(1) {
					e.Errorf("attempt %d: told %v", fence, told)
				}
			}
			r := e.take("a")
			say(1)
			e.exchange(1, ack(r, conveyor.VerdictBack))
			say(2)
		}},
		{"progress leaves the number of the last message", func(e *engine) {
			e.add(job("a"))
			e.take("a")
			for i, want := range []int64{1, 0} {
				told, err := conveyor.RunScript(e.Context(), e.Client, "emit", "a", 1, 1, "b", "said", "", "")
				e.ok(err)
				if told != want {
					e.Errorf("call %d: told %v", i, told)
				}
				_, err = conveyor.RunScript(e.Context(), e.Client, "progress", "a", 1, 1, 2, "half")
				e.ok(err)
			}
		}},
		{"a call that gets to a job with its last look is done", func(e *engine) {
			e.add(job("a"))
			ghosts := make([]any, 3700)
			for i := range ghosts {
				ghosts[i] = "\n\x05ghost\x12\x04noop"
			}
			e.ok(e.rdb.RPush(e.Context(), e.key("queue:q"), ghosts...).Err())
			if reply := e.exchange(1); len(reply.Reserved) != 1 || reply.More {
				e.Errorf("reserved %v, more %t", names(reply.Reserved), reply.More)
			}
		}},
	}
	onBoth(t, func(e *engine) {
		for _, row := range rows {
			e.Behaviour(row.name, row.test)
		}
	})
}

// TestEntriesOfTheEnded: what is written of jobs that are over, once.
func TestEntriesOfTheEnded(t *testing.T) {
	onBoth(t, func(e *engine) {
		listed := func(e *engine, want int64) {
			e.Helper()
			if n := e.rdb.LLen(e.Context(), e.key("ended:q")).Val(); n != want {
				e.Errorf("%d are listed as ended, want %d", n, want)
			}
		}
		e.Behaviour("one that is withdrawn afterwards is not listed again", func(e *engine) {
			e.add(job("a"))
			e.run("a", conveyor.VerdictDone)
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeCancel, UUID: "a", Withdraw: true}}}))
			listed(e, 1)
		})
		e.Behaviour("one that loses its record twice in a call is gone, not listed again", func(e *engine) {
			attach := func(version int64, value string) *conveyor.Attach {
				a := &conveyor.Attach{Key: "state:w", Field: "a", Version: version}
				if value != "" {
					a.Value = []byte(value)
				}
				return a
			}
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeAdd, Job: job("a"), Attach: attach(0, "1 a")}}}))
			e.run("a", conveyor.VerdictDone)
			listed(e, 1)
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeCancel, UUID: "a", Attach: attach(1, "")}, {Kind: conveyor.ChangeRelease, UUID: "a"},
			}}))
			e.states("a unknown")
			listed(e, 1)
		})
		e.Behaviour("a reservation marks no ticket as left behind", func(e *engine) {
			e.add(job("a"))
			r := e.take("a")
			if flags, _, _ := strings.Cut(e.entry("a"), "|"); strings.Contains(flags, "d") {
				e.Errorf("its entry is %q", e.entry("a"))
			}
			e.end(r, conveyor.VerdictDone)
		})
		e.Behaviour("one that succeeded keeps neither its bytes nor the number of its messages", func(e *engine) {
			e.add(job("a"))
			r := e.take("a")
			_, err := conveyor.RunScript(e.Context(), e.Client, "emit", "a", 1, 7, "b", "said", "", "")
			e.ok(err)
			e.end(r, conveyor.VerdictDone)
			if n, kept := tagsOf(e.entry("a"))["j"]; kept {
				e.Errorf("message %s in its entry %q", n, e.entry("a"))
			}
			if e.rdb.HExists(e.Context(), e.key("failed"), "a").Val() {
				e.Error("its bytes are kept as those of a failed job")
			}
		})
		e.Behaviour("one that had predecessors keeps nothing of them", func(e *engine) {
			e.add(job("u1"), job("u2"), job("a", after(0, "u1", "u2")))
			for _, uuid := range []string{"u1", "u2", "a"} {
				e.run(uuid, conveyor.VerdictDone)
			}
			if flags, _, _ := strings.Cut(e.entry("a"), "|"); strings.Contains(flags, "m") {
				e.Errorf("its entry is %q", e.entry("a"))
			}
			e.wantKeys()
		})
		e.Behaviour("bytes that were left behind go with the job", func(e *engine) {
			e.add(job("a"))
			e.run("a", conveyor.VerdictDone)
			e.ok(e.rdb.HSet(e.Context(), e.key("status"), "a", strings.Replace(e.entry("a"), "|", "b|", 1)).Err())
			e.ok(e.rdb.Set(e.Context(), e.key("jobs:a"), "x", 0).Err())
			e.ok(e.Remove(e.Context(), "a"))
			e.wantKeys()
		})
	})
}
