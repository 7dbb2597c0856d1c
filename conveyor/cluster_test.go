package conveyor_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestSlotMoves moves the namespace's slot around a Cluster while clients add and workers run: every job runs, exactly once, and
// nothing is spent.
func TestSlotMoves(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{})
	o := c.Options()
	o.MaxRetries = -1
	rdb := redis.NewClusterClient(o)
	t.Cleanup(func() { _ = rdb.Close() })
	const jobs, times = 1200, 3
	s := &storm{workers: newWorkers(t, rdb), jobs: jobs, ran: make([]atomic.Int32, jobs), every: jobs / (times + 1), reached: make(chan struct{}, jobs)}
	s.play(func() {
		from := c.Owner(t, s.Prefix())
		to := c.Nodes()[0]
		if to == from {
			to = c.Nodes()[1]
		}
		m := c.Migrate(t, s.Prefix(), to)
		for m.Keys(t, 10) { // as it is moved by hand, with the slot in two halves meanwhile
		}
		m.Settle(t)
	}, times, false)
}

// TestFailover kills a primary under load, whose replica has everything up to some moment and not much after it. What was done
// before that moment stays done, once; of what was acknowledged after it, some may be gone, or run again, as asynchronous
// replication has it. Whoever adds again what is gone has everything done, and all followers hear of it.
func TestFailover(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T) (rdb redis.UniversalClient, kill func(key string)){
		"sentinel": func(t *testing.T) (redis.UniversalClient, func(string)) {
			s := redistest.StartSentinels(t, redistest.SentinelOptions{})
			o := s.Options()
			o.MaxRetries = -1
			return redis.NewFailoverClient(o), func(string) {
				kill(t, s.Primary())
				s.Suspect(t, time.Second)
			}
		},
		"cluster": func(t *testing.T) (redis.UniversalClient, func(string)) {
			c := redistest.StartCluster(t, redistest.ClusterOptions{Replicas: 1, NodeTimeout: time.Second})
			o := c.Options()
			o.MaxRetries = -1
			return redis.NewClusterClient(o), func(key string) { kill(t, c.Owner(t, key)) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rdb, kill := start(t)
			t.Cleanup(func() { _ = rdb.Close() })
			const jobs = 2000
			f := &failover{
				storm: storm{workers: newWorkers(t, rdb), jobs: jobs, ran: make([]atomic.Int32, jobs), every: jobs / 2, reached: make(chan struct{}, jobs)},
				added: make([]atomic.Bool, jobs),
			}
			f.play(func() { kill(f.Prefix()) })
		})
	}
}

// kill ends a primary whose replica has what it was told until now.
func kill(t *testing.T, primary *redistest.Server) {
	if err := primary.AwaitReplicas(1); err != nil {
		t.Error(err)
	}
	primary.Kill()
}

// failover is a storm that notes what was acknowledged.
type failover struct {
	storm
	added []atomic.Bool
}

func (f *failover) play(kill func()) {
	stops := []func(){f.start(), f.start()}
	adding := make(chan struct{})
	go func() {
		defer close(adding)
		for i := range f.jobs {
			if f.put(i) {
				f.added[i].Store(true)
			}
		}
	}()
	<-f.reached
	sure, once := make([]bool, f.jobs), make([]bool, f.jobs)
	for i := range sure {
		sure[i], once[i] = f.added[i].Load(), f.completed(i)
	}
	kill()
	<-adding
	uuids, lost := make([]string, f.jobs), 0
	for i := range uuids {
		uuids[i] = strconv.Itoa(i)
	}
	for i, st := range f.statusesOf(uuids) {
		if st.State != conveyor.StateUnknown {
			continue
		}
		lost++
		if sure[i] {
			f.Errorf("job %d was lost, which the replica had", i)
		}
		f.put(i)
	}
	for _, st := range f.outlasted(uuids) {
		if st.State != conveyor.StateCompleted || st.Attempts != 0 {
			f.Errorf("job %+v, want it completed with nothing spent", st)
		}
	}
	for _, stop := range stops {
		stop()
	}
	again := 0
	for i := range f.ran {
		n := f.ran[i].Load()
		if n < 1 || once[i] && n > 1 {
			f.Errorf("job %d ran %d times", i, n)
		}
		again += int(max(n-1, 0))
	}
	f.Logf("%d of %d acknowledged jobs were lost, %d ran again", lost, f.jobs, again)
	f.sound()
}

// completed tells whether a job's end is stored.
func (f *failover) completed(i int) bool {
	f.Helper()
	s, err := f.Statuses(f.Context(), []string{strconv.Itoa(i)})
	f.ok(err)
	return s[0].State == conveyor.StateCompleted
}

// put adds a job, until that is acknowledged.
func (f *failover) put(i int) bool {
	for {
		err := f.Add(f.Context(), f.job(i))
		if err == nil {
			return true
		}
		if !errors.Is(err, conveyor.ErrUnavailable) {
			f.Error(err)
			return false
		}
	}
}

// statusesOf reads statuses, through an outage.
func (f *failover) statusesOf(uuids []string) []conveyor.Status {
	f.Helper()
	for {
		statuses, err := f.Statuses(f.Context(), uuids)
		if err == nil {
			return statuses
		}
		if !errors.Is(err, conveyor.ErrUnavailable) {
			f.Fatal(err)
		}
	}
}

// TestLogOfAnotherServer: a replica that never got the last events takes over and gives their numbers to others. Whoever followed
// the primary is told how the jobs stand there, and hears what comes.
func TestLogOfAnotherServer(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinels(t, redistest.SentinelOptions{})
	rdb := s.Client(t)
	e := newWorkers(t, rdb) // with the real clock, which tells the two logs apart
	e.ok(e.AddMany(e.Context(), []*wire.Job{job("a")}))
	e.ok(s.Primary().AwaitReplicas(1))
	s.Primary().Isolate(t, s.Replica())
	isolated := time.Now()
	for i := range 5 {
		e.ok(e.Add(e.Context(), job(fmt.Sprint("lost", i)))) // whom nobody else will ever know
	}
	survey, err := e.Survey(e.Context())
	e.ok(err)
	seen := make(chan conveyor.Observation, 100)
	ctx, cancel := context.WithCancel(e.Context())
	defer cancel()
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		for ctx.Err() == nil {
			for o, err := range e.Subscribe(ctx, conveyor.SubscribeOptions{}) {
				if err != nil {
					break
				}
				seen <- o
			}
		}
	}()
	if o := <-seen; !o.Snapshot || len(o.Jobs) != 6 {
		t.Fatalf("the snapshot before has %d jobs", len(o.Jobs))
	}
	s.Primary().Kill()
	s.Suspect(t, max(time.Second, time.Since(isolated)/5))
	for i := 0; i < 10; { // more events than were lost
		err := e.Add(e.Context(), job(fmt.Sprint("new", i)))
		if err == nil {
			i++
		} else if !errors.Is(err, conveyor.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	for gap := false; !gap; {
		batch, err := survey.Next(e.Context(), 0)
		if err != nil && !errors.Is(err, conveyor.ErrUnavailable) {
			t.Fatal(err)
		}
		if len(batch.Events) > 0 && !batch.Gap {
			t.Fatalf("events of another log are told as if they followed: %+v", batch.Events[0])
		}
		gap = batch.Gap
	}
	known := map[string]bool{}
	for len(known) < 11 {
		o := <-seen
		for _, j := range o.Jobs {
			known[j.UUID] = true
		}
	}
	for uuid := range known {
		if uuid[:1] == "l" {
			t.Errorf("%s is told, which nobody knows any more", uuid)
		}
	}
	cancel()
	<-followed
	e.sound()
}
