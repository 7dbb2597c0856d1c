package conveyor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// fleet is several namespaces of one store.
type fleet []*workers

func newFleet(t *testing.T, rdb redis.UniversalClient, n int) fleet {
	t.Helper()
	f := make(fleet, n)
	for i := range f {
		f[i] = newWorkers(t, rdb)
	}
	return f
}

func (f fleet) clients() []*conveyor.Client {
	list := make([]*conveyor.Client, len(f))
	for i, s := range f {
		list[i] = s.Client
	}
	return list
}

// run runs a group whose only handler is of type t, and returns how to stop it in order.
func (f fleet) run(t *testing.T, concurrency int, call conveyor.Handler) (g *conveyor.WorkerGroup, stop func()) {
	t.Helper()
	g, err := conveyor.NewWorkerGroup(f.clients(), conveyor.WorkerGroupOptions{
		Concurrency: concurrency, Worker: conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: "q"}}},
		Setup: func(w *conveyor.Worker) error { w.HandleRaw("t", call); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return g, stop
}

// add adds n jobs and returns their uuids.
func (s *workers) add(prefix string, n int) []string {
	s.Helper()
	jobs, uuids := make([]*wire.Job, n), make([]string, n)
	for i := range jobs {
		uuids[i] = fmt.Sprintf("%s-%d", prefix, i)
		jobs[i] = &wire.Job{Uuid: uuids[i], Queue: "q", Type: "t"}
	}
	s.ok(s.AddMany(s.Context(), jobs))
	return uuids
}

// TestTwelveNamespaces: one group works off twelve namespaces, with never more attempts than its limit, and signs off from all of them. In
// the Cluster they are on different nodes, and on one of them by the same client.
func TestTwelveNamespaces(t *testing.T) {
	t.Parallel()
	for _, store := range append(stores[:len(stores):len(stores)], others[0]) {
		t.Run(store.name, func(t *testing.T) {
			t.Parallel()
			const limit = 5
			f := newFleet(t, store.open(t), 12)
			var running, most, ran atomic.Int32
			uuids := make([][]string, len(f))
			for i, s := range f[:6] {
				uuids[i] = s.add("before", 30)
			}
			g, stop := f.run(t, limit, func(context.Context, *wire.Job) error {
				now := running.Add(1)
				for {
					was := most.Load()
					if now <= was || most.CompareAndSwap(was, now) {
						break
					}
				}
				ran.Add(1)
				running.Add(-1)
				return nil
			})
			for i, s := range f {
				uuids[i] = append(uuids[i], s.add("after", 30)...)
			}
			for i, s := range f {
				for _, st := range s.await(ended, uuids[i]...) {
					if st.State != conveyor.StateCompleted {
						t.Errorf("%s is %v", st.UUID, st.State)
					}
				}
			}
			if err := g.Ready(time.Minute); err != nil || len(g.Troubles(time.Minute)) > 0 {
				t.Errorf("ready: %v, troubles: %v", err, g.Troubles(time.Minute))
			}
			stop()
			if got := ran.Load(); got != 18*30 {
				t.Errorf("%d attempts, want %d", got, 18*30)
			}
			if got := most.Load(); got > limit {
				t.Errorf("%d attempts at a time, the limit is %d", got, limit)
			}
			for _, s := range f {
				s.sound()
			}
			if err := g.Ready(time.Minute); err == nil || !strings.Contains(err.Error(), "has ended") {
				t.Errorf("ready after its end: %v", err)
			}
			if err := g.Run(t.Context()); err == nil {
				t.Error("a group ran twice")
			}
		})
	}
}

// TestNoNamespaceStarves: jobs of one namespace start while another has many more ready than there are slots for.
func TestNoNamespaceStarves(t *testing.T) {
	t.Parallel()
	for _, store := range stores {
		t.Run(store.name, func(t *testing.T) {
			t.Parallel()
			const many, few, limit = 200, 5, 3
			f := newFleet(t, store.open(t), 2)
			big, small := f[0], f[1]
			began, goOn := make(chan string, many+few), make(chan struct{})
			uuids := big.add("big", many)
			_, stop := f.run(t, limit, func(_ context.Context, job *wire.Job) error {
				began <- job.GetUuid()
				<-goOn
				return nil
			})
			for range limit {
				<-began
			}
			late, bigs, smalls := small.add("small", few), limit, 0
			for smalls < few {
				goOn <- struct{}{}
				if uuid := <-began; strings.HasPrefix(uuid, "small") {
					smalls++
				} else {
					bigs++
				}
				if bigs == many {
					t.Fatal("the other namespace had nothing before the first one had all")
				}
			}
			close(goOn)
			small.await(ended, late...)
			big.await(ended, uuids...)
			stop()
			small.sound()
			big.sound()
		})
	}
}

// failuresSeen is an Observer that passes on that a Worker failed.
type failuresSeen chan struct{}

func (failuresSeen) Called(string, time.Duration, error)               {}
func (failuresSeen) Attempted(string, conveyor.Outcome, time.Duration) {}
func (f failuresSeen) Happened(what conveyor.Incident, _ int) {
	if what == conveyor.WorkerFailed {
		f <- struct{}{}
	}
}

// TestNamespaceFails: a namespace with a damaged key is told of and tried again; the others go on meanwhile, and it does when it is mended.
func TestNamespaceFails(t *testing.T) {
	t.Parallel()
	for _, store := range stores {
		t.Run(store.name, func(t *testing.T) {
			t.Parallel()
			rdb := store.open(t)
			f := newFleet(t, rdb, 3)
			failures := make(failuresSeen, 100)
			var err error
			f[0].Client, err = conveyor.NewClient(rdb, conveyor.Options{Namespace: f[0].Namespace(), Observer: failures})
			bad, good := f[0], f[1]
			bad.ok(err)
			damaged := bad.Prefix() + "status"
			bad.ok(rdb.RPush(t.Context(), damaged, "not a hash").Err())
			g, stop := f.run(t, 2, func(context.Context, *wire.Job) error { return nil })
			<-failures
			good.await(ended, good.add("good", 20)...)
			<-failures
			if err := g.Live(time.Minute); err != nil {
				t.Errorf("the group counts as dead: %v", err)
			}
			bad.ok(rdb.Del(t.Context(), damaged).Err())
			bad.await(ended, bad.add("bad", 20)...)
			stop()
			for _, s := range f {
				s.sound()
			}
		})
	}
}

// TestNamespacesNodeIsDown: in a Cluster without the node of one namespace, those of other nodes go on; it does when the node is back.
func TestNamespacesNodeIsDown(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{Args: []string{"--cluster-require-full-coverage", "no", "--appendonly", "yes"}})
	f := newFleet(t, c.Client(t), 12)
	down, up := f[0], fleet{}
	owner := c.Owner(t, down.Prefix())
	for _, s := range f {
		if c.Owner(t, s.Prefix()) != owner {
			up = append(up, s)
		}
	}
	_, stop := f.run(t, 4, func(context.Context, *wire.Job) error { return nil })
	for _, s := range f {
		s.await(ended, s.add("before", 5)...)
	}
	owner.Kill()
	for _, s := range up {
		s.await(ended, s.add("without", 5)...)
	}
	_, leave := up.run(t, 4, func(context.Context, *wire.Job) error { return nil }) // one that starts meanwhile
	for _, s := range up {
		for registered := 0; registered < 2; {
			workers, err := s.Workers(t.Context())
			s.ok(err)
			registered = len(workers)
		}
		server, err := s.Server(t.Context())
		s.ok(err)
		if server.Address != c.Owner(t, s.Prefix()).Options().Addr || !strings.HasPrefix(server.Version, "Redis ") {
			t.Errorf("the server is %+v, want the one at %s", server, c.Owner(t, s.Prefix()).Options().Addr)
		}
	}
	leave()
	owner.Restart(t)
	for add := func() error {
		return down.AddMany(t.Context(), []*wire.Job{{Uuid: "again", Queue: "q", Type: "t"}})
	}; ; {
		err := add()
		if err == nil {
			break
		}
		if !errors.Is(err, conveyor.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	down.await(ended, "again")
	stop()
	for _, s := range f {
		s.sound()
	}
}

// TestWorkerGroupOptions: all that is wrong is told at once.
func TestWorkerGroupOptions(t *testing.T) {
	t.Parallel()
	s := newWorkers(t, redistest.Miniredis(t))
	_, err := conveyor.NewWorkerGroup([]*conveyor.Client{s.Client, s.Client, nil}, conveyor.WorkerGroupOptions{Concurrency: -1})
	for _, want := range []string{"is given twice", "client 2 is nil", "Concurrency: -1", "field Setup", "field Queues"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	_, err = conveyor.NewWorkerGroup([]*conveyor.Client{s.Client}, conveyor.WorkerGroupOptions{
		Worker: conveyor.WorkerOptions{Queues: []conveyor.QueueShare{}}, Setup: func(*conveyor.Worker) error { return errors.New("no key") }})
	if err == nil || !strings.Contains(err.Error(), "no key") {
		t.Errorf("the error of Setup: %v", err)
	}
}
