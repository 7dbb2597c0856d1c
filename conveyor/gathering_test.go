package conveyor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// slowStore is a client whose calls are answered by the test: each is a list of uuids.
type slowStore struct {
	*Client
	t     *testing.T
	calls chan *heldCall
}

type heldCall struct {
	uuids []string
	ctx   context.Context // of the call
	reply chan error
}

type answering struct{ calls chan *heldCall }

func (a answering) DialHook(redis.DialHook) redis.DialHook {
	return func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("nothing is dialled here")
	}
}

func (a answering) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		h := &heldCall{ctx: ctx, reply: make(chan error)}
		for i, arg := range cmd.Args() {
			if arg == "A" {
				h.uuids = append(h.uuids, fmt.Sprint(cmd.Args()[i+1]))
			}
		}
		a.calls <- h
		err := <-h.reply
		if err == nil {
			cmd.(*redis.Cmd).SetVal([]any{"0"})
		}
		cmd.SetErr(err)
		return err
	}
}

func (a answering) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func newSlowStore(t *testing.T, rdb *redis.Client) *slowStore {
	t.Helper()
	calls := make(chan *heldCall)
	rdb.AddHook(answering{calls})
	c, err := NewClient(rdb, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &slowStore{Client: c, t: t, calls: calls}
}

// add adds a job and returns when it is on its way or waits for that.
func (s *slowStore) add(ctx context.Context, uuid string) chan error {
	outcome := make(chan error, 1)
	go func() { outcome <- s.Add(ctx, &wire.Job{Uuid: uuid, Type: "t", Queue: "q"}) }()
	synctest.Wait()
	return outcome
}

// call is the next call, which must be for these jobs.
func (s *slowStore) call(uuids string) *heldCall {
	s.t.Helper()
	h := <-s.calls
	if got := strings.Join(h.uuids, " "); got != uuids {
		s.t.Errorf("a call adds %q, not %q", got, uuids)
	}
	return h
}

func (s *slowStore) expect(want error, outcomes ...chan error) {
	s.t.Helper()
	for _, o := range outcomes {
		if err := <-o; !errors.Is(err, want) {
			s.t.Errorf("got %v, want %v", err, want)
		}
	}
}

// TestGathering: what comes while a call is on its way goes together in the next.
func TestGathering(t *testing.T) {
	t.Parallel()
	run := func(name string, f func(t *testing.T, s *slowStore)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: "none", MaxRetries: -1}) // outside of the bubble: it looks the name up
			defer rdb.Close()                                                                     //nolint:errcheck // it never dialled
			synctest.Test(t, func(t *testing.T) { f(t, newSlowStore(t, rdb)) })
		})
	}
	run("together", func(t *testing.T, s *slowStore) {
		a := s.add(t.Context(), "a")
		first := s.call("a")
		b, c := s.add(t.Context(), "b"), s.add(t.Context(), "c")
		first.reply <- nil
		s.expect(nil, a)
		second := s.call("b c")
		d := s.add(t.Context(), "d")
		second.reply <- nil
		s.expect(nil, b, c)
		s.call("d").reply <- nil
		s.expect(nil, d)
		synctest.Wait()
		e := s.add(t.Context(), "e")
		s.call("e").reply <- nil
		s.expect(nil, e)
	})
	run("refused together, each has its own refusal", func(t *testing.T, s *slowStore) {
		a := s.add(t.Context(), "a")
		first := s.call("a")
		b, c := s.add(t.Context(), "b"), s.add(t.Context(), "c")
		first.reply <- errors.New("UNKNOWN u") // the first one's own
		s.expect(ErrUnknownUpstream, a)
		s.call("b c").reply <- errors.New("UNIQUE t:k other c")
		for range 2 {
			h := <-s.calls
			if slices.Equal(h.uuids, []string{"c"}) {
				h.reply <- errors.New("UNIQUE t:k other c")
			} else {
				h.reply <- nil
			}
		}
		s.expect(nil, b)
		s.expect(ErrUnique, c)
	})
	run("unreachable", func(t *testing.T, s *slowStore) {
		a := s.add(t.Context(), "a")
		first := s.call("a")
		b, c := s.add(t.Context(), "b"), s.add(t.Context(), "c")
		first.reply <- nil
		for range callTries {
			s.call("b c").reply <- io.EOF
		}
		s.expect(nil, a)
		s.expect(ErrUnavailable, b, c)
	})
	run("a reply that is lost", func(t *testing.T, s *slowStore) {
		a := s.add(t.Context(), "a")
		first := s.call("a")
		b, c := s.add(t.Context(), "b"), s.add(t.Context(), "c")
		first.reply <- nil
		s.call("b c").reply <- io.EOF
		s.call("b c").reply <- nil
		s.expect(nil, a, b, c)
	})
	run("one goes before it is sent", func(t *testing.T, s *slowStore) {
		a := s.add(t.Context(), "a")
		first := s.call("a")
		ctx, leave := context.WithCancelCause(t.Context())
		b, c := s.add(ctx, "b"), s.add(t.Context(), "c")
		leave(io.ErrClosedPipe)
		s.expect(io.ErrClosedPipe, b)
		first.reply <- nil
		s.call("c").reply <- nil
		s.expect(nil, a, c)
	})
	run("all go before it is sent", func(t *testing.T, s *slowStore) {
		a := s.add(t.Context(), "a")
		first := s.call("a")
		ctx, leave := context.WithCancelCause(t.Context())
		b := s.add(ctx, "b")
		leave(io.ErrClosedPipe)
		s.expect(io.ErrClosedPipe, b)
		first.reply <- nil
		s.expect(nil, a)
		synctest.Wait()
		c := s.add(t.Context(), "c")
		s.call("c").reply <- nil
		s.expect(nil, c)
	})
	run("they go while it is on its way", func(t *testing.T, s *slowStore) {
		a := s.add(t.Context(), "a")
		first := s.call("a")
		ctx, leave := context.WithCancelCause(t.Context())
		other, leaveLast := context.WithCancelCause(t.Context())
		b, c := s.add(ctx, "b"), s.add(other, "c")
		first.reply <- nil
		s.expect(nil, a)
		second := s.call("b c")
		leave(io.ErrClosedPipe)
		s.expect(io.ErrClosedPipe, b)
		if second.ctx.Err() != nil {
			t.Error("the call ended with the first who left")
		}
		leaveLast(io.ErrNoProgress)
		<-second.ctx.Done()
		synctest.Wait()
		select {
		case err := <-c:
			t.Errorf("the last left before its call had ended: %v", err)
		default:
		}
		second.reply <- context.Canceled
		s.expect(io.ErrNoProgress, c)
	})
	run("no more than a call takes", func(t *testing.T, s *slowStore) {
		a := s.add(t.Context(), "a")
		first := s.call("a")
		var outcomes []chan error
		for i := range MaxBatch + 1 {
			outcomes = append(outcomes, s.add(t.Context(), fmt.Sprint("j", i)))
		}
		first.reply <- nil
		for _, want := range []int{MaxBatch, 1} {
			h := <-s.calls
			if len(h.uuids) != want {
				t.Errorf("a call adds %d jobs, not %d", len(h.uuids), want)
			}
			h.reply <- nil
		}
		s.expect(nil, append(outcomes, a)...)
	})
	run("many jobs go by themselves", func(t *testing.T, s *slowStore) {
		a := s.add(t.Context(), "a")
		first := s.call("a")
		var jobs []*wire.Job
		for i := range gatheredJobs + 1 {
			jobs = append(jobs, &wire.Job{Uuid: fmt.Sprint("j", i), Type: "t", Queue: "q"})
		}
		many := make(chan error, 1)
		go func() { many <- s.AddMany(t.Context(), jobs) }()
		h := <-s.calls
		if len(h.uuids) != len(jobs) {
			t.Errorf("a call adds %v", h.uuids)
		}
		h.reply <- nil
		first.reply <- nil
		s.expect(nil, a, many)
	})
}

// TestGatheringInStore: goroutines that add at the same time each have their own outcome, whatever went in one call.
func TestGatheringInStore(t *testing.T) {
	t.Parallel()
	c, err := NewClient(redistest.Start(t).Client(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	const goroutines, each = 16, 50
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				job := &wire.Job{Uuid: fmt.Sprintf("g%d-%d", g, i), Type: "t", Queue: "q"}
				if i%10 == 9 {
					job.Unique = fmt.Sprint(i) // of all goroutines only one gets it
				}
				if err := c.Add(t.Context(), job); err != nil && (job.Unique == "" || !errors.Is(err, ErrUnique)) {
					t.Errorf("%s: %v", job.Uuid, err)
				}
			}
		})
	}
	wg.Wait()
	depth, err := c.rdb.HGet(t.Context(), c.keys.depth(), "q:1").Int()
	if want := goroutines*each*9/10 + each/10; err != nil || depth != want {
		t.Errorf("%d jobs are queued, not %d: %v", depth, want, err)
	}
	if found, err := c.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}
