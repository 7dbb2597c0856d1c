//go:build unix

package conveyor_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestTicksThroughKills has five processes with a worker each, and nobody else, do all there is to do for a schedule, while one or
// another of them is killed by SIGKILL and started again: each tick has one occurrence, which has one heir, and each of them
// completes. A thousand ticks come with -long, and otherwise some. The store's clock runs, and is put forward to the next ticks: so
// whoever has not checked in again since then counts as dead too, and what it runs as lost.
func TestTicksThroughKills(t *testing.T) {
	t.Parallel()
	ticks, processes := 24, 5
	if *long {
		ticks = 1000
	}
	server := redistest.Shared(t)
	rdb := server.Client(t)
	s := newWorkers(t, rdb)
	k := &killing{workers: s, rdb: rdb, server: server, random: rand.New(rand.NewPCG(5, 1))}
	k.crew = make([]*process, processes)
	for i := range k.crew {
		k.crew[i] = startProcessWith(s, server, 2)
	}
	often := func(j *wire.Job) { most := int32(1000); j.RetryPolicy = &wire.RetryPolicy{MaxLost: &most} }
	s.ok(s.AddMany(s.Context(), []*wire.Job{job("h", downstream, after(0, "r"), often), job("r", every("minute"), catchup(wire.Schedule_ALL), often)}))
	first := k.until(func(r conveyor.Template) bool { return !r.Next.IsZero() }).Since
	for came := 0; came < ticks; {
		n := min(1+k.random.IntN(3), ticks-came)
		came += n
		k.forward(time.Duration(n) * time.Minute)
		if k.random.IntN(2) == 0 { // before they have noticed, as a rule
			k.kill()
		}
		k.until(func(r conveyor.Template) bool { return r.Cycles >= came })
		if k.random.IntN(2) == 0 { // in the midst of what came of it
			k.kill()
		}
	}
	s.ok(s.PauseTemplate(s.Context(), "r"))
	last := k.until(func(r conveyor.Template) bool { return len(r.Live) == 0 })
	var uuids []string
	tick := first.Truncate(time.Minute).Add(time.Minute)
	for ; !tick.After(last.Since); tick = tick.Add(time.Minute) {
		uuids = append(uuids, conveyor.OccurrenceUUID("r", "r", tick), conveyor.OccurrenceUUID("h", "r", tick))
	}
	if len(uuids) < 2*ticks || last.Cycles != len(uuids)/2 {
		t.Errorf("%d ticks came and %d cycles, of at least %d", len(uuids)/2, last.Cycles, ticks)
	}
	lost := 0
	for part := range slices.Chunk(uuids, 200) {
		statuses, err := s.Statuses(s.Context(), part)
		s.ok(err)
		for _, st := range statuses {
			if st.State != conveyor.StateCompleted || st.Attempts > 0 {
				t.Errorf("occurrence %+v, want it completed with no retry spent", st)
			}
			lost += st.Lost
		}
	}
	if entries := rdb.HLen(s.Context(), s.Prefix()+"status").Val(); int(entries) != len(uuids)+2 {
		t.Errorf("%d jobs, want %d occurrences and two templates", entries, len(uuids))
	}
	t.Logf("%d ticks, %d kills, %d leases lost", len(uuids)/2, k.kills, lost)
	k.end()
}

// killing is a crew of processes that die.
type killing struct {
	*workers
	rdb    *redis.Client
	server *redistest.Server
	random *rand.Rand
	crew   []*process
	ahead  time.Duration // of the real clock
	kills  int
}

// forward puts the store's clock forward.
func (k *killing) forward(d time.Duration) {
	k.Helper()
	k.ahead += d
	k.ok(k.rdb.Set(k.Context(), k.Prefix()+"clock", fmt.Sprintf("+%d", k.ahead.Milliseconds()), 0).Err())
}

// kill kills a process and starts another in its place.
func (k *killing) kill() {
	k.Helper()
	i := k.random.IntN(len(k.crew))
	k.crew[i].signal(syscall.SIGKILL)
	_ = k.crew[i].Wait() // killed
	k.crew[i] = startProcessWith(k.workers, k.server, 2)
	k.kills++
}

// until follows events until the template is as wanted.
func (k *killing) until(wanted func(conveyor.Template) bool) conveyor.Template {
	k.Helper()
	after, err := k.LastEvent(k.Context())
	k.ok(err)
	for {
		found, err := k.Templates(k.Context(), []string{"r"})
		k.ok(err)
		if len(found) == 1 && wanted(found[0]) {
			return found[0]
		}
		batch, err := k.Events(k.Context(), after, time.Second)
		k.ok(err)
		after = batch.Seq
	}
}

// end stops the processes, and wants nothing to be left of those that were killed.
func (k *killing) end() {
	k.Helper()
	for _, p := range k.crew {
		k.ok(p.stdin.Close())
		_ = p.Wait() // its output is not read
	}
	k.forward(conveyor.DeadAfter)
	for more := true; more; {
		reply, err := k.Tick(k.Context())
		k.ok(err)
		more = reply.More
	}
	k.sound()
}
