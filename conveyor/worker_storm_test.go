package conveyor_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// storm is a namespace under load: clients that add, workers that run, and something that goes wrong again and again.
type storm struct {
	*workers
	jobs    int
	ran     []atomic.Int32
	done    atomic.Int32
	every   int32 // so many jobs after the last time things go wrong
	reached chan struct{}
}

// TestStorms breaks the server under load. Whatever was acknowledged as added runs, exactly once as long as the server stays
// up, and no retry is spent.
func TestStorms(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		args   []string
		times  int
		exact  bool // no lease can be lost, as one is when a server takes long to come back
		breaks func(s *storm, server *redistest.Server, admin *redis.Client)
	}{
		{name: "SCRIPT FLUSH", times: 10, exact: true, breaks: func(s *storm, _ *redistest.Server, admin *redis.Client) {
			s.ok(admin.ScriptFlush(s.Context()).Err())
		}},
		{name: "FUNCTION FLUSH", times: 10, exact: true, breaks: func(s *storm, _ *redistest.Server, admin *redis.Client) {
			s.ok(admin.FunctionFlush(s.Context()).Err())
		}},
		{name: "CLIENT KILL", times: 10, exact: true, breaks: func(s *storm, _ *redistest.Server, admin *redis.Client) {
			s.ok(admin.Do(s.Context(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err())
		}},
		{name: "kill -9 with an append-only file", args: []string{"--appendonly", "yes", "--appendfsync", "always"}, times: 3,
			breaks: func(s *storm, server *redistest.Server, _ *redis.Client) {
				server.Kill()
				server.Restart(s.T)
			}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, row.args...)
			o := server.Options()
			o.MaxRetries = -1
			rdb := redis.NewClient(o)
			t.Cleanup(func() { _ = rdb.Close() })
			const jobs = 1200
			s := &storm{workers: newWorkers(t, rdb), jobs: jobs, ran: make([]atomic.Int32, jobs), every: jobs / int32(row.times+1), reached: make(chan struct{}, jobs)}
			admin := server.Client(t)
			s.play(func() { row.breaks(s, server, admin) }, row.times, row.exact)
		})
	}
}

func (s *storm) play(breaks func(), times int, exact bool) {
	stops := []func(){s.start(), s.start()}
	var adding sync.WaitGroup
	for part := range 4 {
		adding.Go(func() { s.add(part, 4) })
	}
	for range times {
		<-s.reached
		breaks()
	}
	adding.Wait()
	uuids := make([]string, s.jobs)
	for i := range uuids {
		uuids[i] = strconv.Itoa(i)
	}
	for _, st := range s.outlasted(uuids) {
		if st.State != conveyor.StateCompleted || st.Attempts != 0 || exact && st.Lost != 0 {
			s.Errorf("job %+v, want it completed with nothing spent", st)
		}
	}
	for _, stop := range stops {
		stop()
	}
	for i := range s.ran {
		if n := s.ran[i].Load(); n < 1 || exact && n > 1 {
			s.Errorf("job %d ran %d times", i, n)
		}
	}
	s.sound()
}

// start runs a worker that counts.
func (s *storm) start() (stop func()) {
	w := s.worker(conveyor.WorkerOptions{Concurrency: 5})
	conveyor.HandleJSON(w, "t", func(ctx context.Context, i int) error {
		s.ran[i].Add(1)
		if i%10 == 0 {
			conveyor.FromContext(ctx).Log("ran")
		}
		if s.done.Add(1)%s.every == 0 {
			s.reached <- struct{}{}
		}
		return nil
	})
	return s.run(w)
}

// add adds every n-th job, in twos that wait for each other, and adds again what was not acknowledged.
func (s *storm) add(from, every int) {
	for i := from; i < s.jobs; i += 2 * every {
		jobs := []*wire.Job{s.job(i)}
		if second := i + every; second < s.jobs {
			jobs = []*wire.Job{s.job(second, after(0, strconv.Itoa(i))), s.job(i)}
		}
		for {
			err := s.AddMany(s.Context(), jobs)
			if err == nil {
				break
			}
			if !errors.Is(err, conveyor.ErrUnavailable) {
				s.Error(err)
				return
			}
		}
	}
}

func (s *storm) job(i int, change ...func(*wire.Job)) *wire.Job {
	j := &wire.Job{Uuid: strconv.Itoa(i), Type: "t", Queue: "q", Payload: fmt.Append(nil, i)}
	for _, f := range change {
		f(j)
	}
	return j
}

// outlasted waits until all jobs are over, through outages.
func (s *storm) outlasted(uuids []string) []conveyor.Status {
	s.Helper()
	for {
		statuses, err := s.Wait(s.Context(), uuids...)
		if err == nil {
			return statuses
		}
		if !errors.Is(err, conveyor.ErrUnavailable) {
			s.Fatal(err)
		}
	}
}
