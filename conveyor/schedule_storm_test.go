package conveyor_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestThousandTicks has five workers, all of which tick, die again and again: requests and replies of theirs are lost, and of
// what they reserve they often never speak again. A thousand ticks make a thousand occurrences, each with one heir, and all
// of them complete.
func TestThousandTicks(t *testing.T) {
	t.Parallel()
	const ticks, workers = 1000, 5
	server := redistest.Shared(t)
	e := newEngine(t, server.Client(t))
	often := func(j *wire.Job) { most := int32(1000); j.RetryPolicy = &wire.RetryPolicy{MaxLost: &most} }
	e.add(job("h", downstream, after(0, "r"), often), job("r", every("minute"), catchup(wire.Schedule_ALL), often))
	e.ticks()
	var crew [workers]*mortal
	for i := range crew {
		crew[i] = newMortal(e, server, i)
	}
	const atOnce = 4
	for range ticks / atOnce {
		e.pass(atOnce * time.Minute)
		all(workers, func(i int) { crew[i].work() })
	}
	e.ticks()
	e.ok(e.PauseTemplate(e.Context(), "r"))
	for round, left := 0, true; left; round++ {
		if round == 100 {
			t.Fatal("jobs are left that nobody gets")
		}
		left = false
		e.pass(conveyor.DeadAfter + time.Second)
		e.ticks()
		for _, template := range []string{"r", "h"} {
			for _, r := range e.reserve(100) {
				e.end(r, conveyor.VerdictDone)
				left = true
			}
			if template == "h" {
				left = left || len(e.template1("r").Live) > 0
			}
		}
	}
	states := map[string]int{}
	for i := 1; i <= ticks; i++ {
		tick := time.UnixMilli(start).Add(time.Duration(i) * time.Minute)
		for _, template := range []string{"r", "h"} {
			states[template+" "+e.status(conveyor.OccurrenceUUID(template, "r", tick)).State.String()]++
		}
	}
	if states["r completed"] != ticks || states["h completed"] != ticks {
		t.Errorf("got %v", states)
	}
	entries, err := e.rdb.HLen(e.Context(), e.key("status")).Result()
	e.ok(err)
	if got := e.template1("r"); entries != 2*ticks+2 || got.Cycles != ticks {
		t.Errorf("%d jobs and %d cycles, want %d and %d", entries, got.Cycles, 2*ticks+2, ticks)
	}
	e.sound()
}

// mortal is a worker that often dies; another with a new name takes its place.
type mortal struct {
	e      *engine
	c      *conveyor.Client
	random *rand.Rand
	seat   int
	life   int
	number int64
	held   []conveyor.Ack
}

func newMortal(e *engine, server *redistest.Server, seat int) *mortal {
	e.Helper()
	proxy := server.Proxy(e.tb.(*testing.T))
	proxy.Plan(func(n int) redistest.Fault { return drawn(n*8+seat, 32) })
	rdb := redis.NewClient(proxy.Options())
	e.Cleanup(func() { _ = rdb.Close() })
	c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: e.Namespace()})
	e.ok(err)
	return &mortal{e: e, c: c, random: rand.New(rand.NewPCG(uint64(seat), 1)), seat: seat}
}

func (m *mortal) die() { m.life, m.number, m.held = m.life+1, 0, nil }

// work ticks, reserves what is ready and ends it, unless it dies on the way.
func (m *mortal) work() {
	if _, err := m.c.Tick(m.e.Context()); m.broke(err) || m.random.IntN(20) == 0 {
		m.die()
		return
	}
	for _, want := range []int{2, 2, 0} {
		m.number++
		reply, err := m.c.Exchange(m.e.Context(), conveyor.ExchangeRequest{
			Worker: fmt.Sprint("mortal-", m.seat, "-", m.life), Number: m.number, Queues: []string{"q"}, Want: want, Done: m.held,
		})
		if m.held = nil; m.broke(err) || m.random.IntN(10) == 0 {
			m.die()
			return
		}
		for _, r := range reply.Reserved {
			m.held = append(m.held, ack(r, conveyor.VerdictDone))
		}
	}
}

// broke tells whether the call was given up; any other error is one of the engine.
func (m *mortal) broke(err error) bool {
	if err != nil && !errors.Is(err, conveyor.ErrUnavailable) {
		m.e.Error(err)
	}
	return err != nil
}

// TestMonthOfMinutes lets a month pass in steps of an hour: each minute of it has one occurrence, and of those that retention has
// taken nothing is left.
func TestMonthOfMinutes(t *testing.T) {
	t.Parallel()
	const hours = 31 * 24
	e := newEngine(t, redistest.Shared(t).Client(t))
	e.add(job("r", every("minute"), catchup(wire.Schedule_ALL)))
	e.ticks()
	last := start
	for range hours {
		e.pass(time.Hour)
		e.ticks()
		rs := e.reserve(100)
		if len(rs) != 60 {
			t.Fatalf("%d occurrences in an hour", len(rs))
		}
		var done []conveyor.Ack
		for _, r := range rs {
			last += time.Minute.Milliseconds()
			if r.Job.Tick != fmt.Sprint(last) {
				t.Fatalf("tick %s, want %d", r.Job.Tick, last)
			}
			done = append(done, ack(r, conveyor.VerdictDone))
		}
		e.exchange(0, done...)
	}
	if got := e.template1("r"); got.Cycles != hours*60 || len(got.Live) > 0 || !got.Since.Equal(time.UnixMilli(e.now)) {
		t.Errorf("got %+v", got)
	}
	week := int64(conveyor.Retention / time.Minute)
	entries, err := e.rdb.HLen(e.Context(), e.key("status")).Result()
	e.ok(err)
	if entries < week || entries > week+121 {
		t.Errorf("%d jobs are kept of a week of %d", entries, week)
	}
	e.sound()
}

// TestOutage is what becomes of the three ticks that pass while no process is there.
func TestOutage(t *testing.T) {
	for _, row := range []struct {
		catchup wire.Schedule_Catchup
		overlap wire.Schedule_Overlap
		late    time.Duration // behind the third tick
		emits   []string
		history []string
	}{
		{catchup: wire.Schedule_LAST, emits: []string{"r+4h0m0s"}, history: []string{"completed+4h0m0s", "missed+3h0m0s*2"}},
		{catchup: wire.Schedule_LAST, late: 59 * time.Minute, emits: []string{"r+4h0m0s"}, history: []string{"completed+4h0m0s", "missed+3h0m0s*2"}},
		{catchup: wire.Schedule_NONE, late: time.Minute, emits: []string{"r+4h0m0s"}, history: []string{"completed+4h0m0s", "missed+3h0m0s*2"}},
		{catchup: wire.Schedule_NONE, late: 2 * time.Minute, history: []string{"missed+4h0m0s*3"}},
		{catchup: wire.Schedule_ALL, emits: []string{"r+2h0m0s", "r+3h0m0s", "r+4h0m0s"},
			history: []string{"completed+4h0m0s", "completed+3h0m0s", "completed+2h0m0s"}},
		{catchup: wire.Schedule_ALL, overlap: wire.Schedule_SKIP, emits: []string{"r+2h0m0s"},
			history: []string{"completed+2h0m0s", "skipped+4h0m0s", "skipped+3h0m0s"}},
		{catchup: wire.Schedule_ALL, overlap: wire.Schedule_REPLACE, emits: []string{"r+4h0m0s"},
			history: []string{"completed+4h0m0s", "replaced+3h0m0s", "replaced+2h0m0s"}},
	} {
		name := fmt.Sprintf("%s %s %s late", row.catchup, row.overlap, row.late)
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(e *engine) {
				e.add(job("r", every("hour"), catchup(row.catchup), overlap(row.overlap)))
				e.ticks()
				e.from(time.Hour)
				e.emits("r+1h0m0s")
				e.from(4*time.Hour + row.late)
				e.emits(row.emits...)
				e.ticks()
				e.history("r", append(row.history, "completed+1h0m0s")...)
			})
		})
	}
}
