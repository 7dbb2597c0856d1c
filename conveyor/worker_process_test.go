//go:build unix

package conveyor_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// The environment that makes the test binary a worker of its own.
const (
	processAddr      = "CONVEYOR_TEST_REDIS"
	processNamespace = "CONVEYOR_TEST_NAMESPACE"
	processSlots     = "CONVEYOR_TEST_SLOTS"
)

// TestWorkerProcess is not a test of its own: startProcess runs it in another process. It is a worker of queue q that
// reports what its handlers see: "block" runs until it is told to stop, "late" ends as if it had not been told, and "quick" ends
// at once; "noop" says nothing. SIGTERM, or the end of its standard input, stops the worker.
func TestWorkerProcess(t *testing.T) {
	addr := os.Getenv(processAddr)
	if addr == "" {
		return
	}
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: addr, MaxRetries: -1})
	defer func() { _ = rdb.Close() }()
	c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: os.Getenv(processNamespace)})
	if err != nil {
		t.Fatal(err)
	}
	slots, err := strconv.Atoi(os.Getenv(processSlots))
	if err != nil {
		t.Fatal(err)
	}
	w, err := conveyor.NewWorker(c, conveyor.WorkerOptions{
		Queues: []conveyor.QueueShare{{Name: "q"}}, ID: fmt.Sprintf("process-%d", os.Getpid()), Concurrency: slots, ShutdownTimeout: -1})
	if err != nil {
		t.Fatal(err)
	}
	w.HandleRaw("late", func(ctx context.Context, j *wire.Job) error {
		fmt.Printf("started %s %d\n", j.GetUuid(), conveyor.FromContext(ctx).Fence())
		<-ctx.Done()
		conveyor.FromContext(ctx).Log("late")
		return conveyor.FromContext(ctx).SetResult([]byte("late"))
	})
	w.HandleRaw("quick", func(ctx context.Context, j *wire.Job) error {
		fmt.Printf("started %s %d\n", j.GetUuid(), conveyor.FromContext(ctx).Fence())
		return nil
	})
	w.HandleRaw("noop", func(ctx context.Context, j *wire.Job) error {
		return conveyor.FromContext(ctx).SetResult([]byte(j.GetTick()))
	})
	w.HandleRaw("block", func(ctx context.Context, j *wire.Job) error {
		fmt.Printf("started %s %d\n", j.GetUuid(), conveyor.FromContext(ctx).Fence())
		<-ctx.Done()
		fmt.Printf("stopped %s: %v\n", j.GetUuid(), context.Cause(ctx))
		return ctx.Err()
	})
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	if err := w.Run(ctx); err != nil {
		t.Fatal(err)
	}
	fmt.Println("left")
}

// process is a worker in another process.
type process struct {
	*exec.Cmd
	t     *testing.T
	lines *bufio.Scanner
	stdin io.Closer // its end stops the worker in order
}

func startProcess(s *workers, server *redistest.Server) *process {
	s.Helper()
	return startProcessWith(s, server, 1)
}

// startProcessWith starts one that runs so many jobs at a time.
func startProcessWith(s *workers, server *redistest.Server, slots int) *process {
	s.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestWorkerProcess$", "-test.v=false")
	cmd.Env = append(os.Environ(), processAddr+"="+server.Options().Addr, processNamespace+"="+s.Namespace(), fmt.Sprintf("%s=%d", processSlots, slots))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe() // closed by the death of this process too
	s.ok(err)
	stdout, err := cmd.StdoutPipe()
	s.ok(err)
	s.ok(cmd.Start())
	s.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill() // dead already, as a rule
		_ = cmd.Wait()
	})
	return &process{cmd, s.T, bufio.NewScanner(stdout), stdin}
}

// says reads the next line.
func (p *process) says(want string) {
	p.t.Helper()
	if !p.lines.Scan() {
		p.t.Fatalf("the worker process ended instead of saying %q: %v", want, p.lines.Err())
	}
	if got := p.lines.Text(); got != want {
		p.t.Fatalf("the worker process says %q, want %q", got, want)
	}
}

func (p *process) signal(sig syscall.Signal) {
	p.t.Helper()
	if err := p.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
}

// survivor is a worker in this process that takes jobs one by one and reports them; each waits to be let go.
func survivor(s *workers) (took <-chan string, next chan<- struct{}, stop func()) {
	w := s.worker(conveyor.WorkerOptions{Concurrency: 1})
	report, let := make(chan string), make(chan struct{})
	w.HandleRaw("block", func(ctx context.Context, j *wire.Job) error {
		report <- fmt.Sprintf("%s %d", j.GetUuid(), conveyor.FromContext(ctx).Fence())
		<-let
		return nil
	})
	return report, let, s.run(w)
}

// TestWorkerKilled kills a worker that runs a job, as a crash would. The job runs elsewhere in under ten seconds by the store's
// clock, in front of what was behind it, with no retry spent.
func TestWorkerKilled(t *testing.T) {
	t.Parallel()
	server := redistest.Shared(t)
	s := newWorkers(t, server.Client(t))
	for _, uuid := range []string{"a", "b", "c"} {
		s.ok(s.Add(s.Context(), &wire.Job{Uuid: uuid, Type: "block", Queue: "q"}))
	}
	p := startProcess(s, server)
	p.says("started a 1")
	took, next, stop := survivor(s)
	if got := <-took; got != "b 1" {
		t.Errorf("the other worker takes %q, want b", got)
	}
	p.signal(syscall.SIGKILL)
	killed, err := s.Now(s.Context())
	s.ok(err)
	_ = p.Wait() // killed

	back := s.await(func(st conveyor.Status) bool { return st.State == conveyor.StateQueued }, "a")[0]
	if diff := cmp.Diff([3]int{0, 1, 1}, [3]int{back.Attempts, back.Lost, int(back.Fence)}); diff != "" {
		t.Errorf("attempts, lost, fence (-want +got):\n%s", diff)
	}
	next <- struct{}{}
	for _, want := range []string{"a 2", "c 1"} {
		if got := <-took; got != want {
			t.Errorf("the other worker takes %q, want %q", got, want)
		}
		next <- struct{}{}
	}
	statuses := s.await(ended, "a", "b", "c")
	stop()
	for _, st := range statuses {
		if st.State != conveyor.StateCompleted || st.Attempts != 0 {
			t.Errorf("job %+v, want it completed with no retry spent", st)
		}
	}
	if took := statuses[0].Started.Sub(killed); took >= 10*time.Second {
		t.Errorf("it ran again %s after the kill", took)
	}
	s.sound()
}

// TestWorkerFrozen stops a worker's process for longer than its lease. What it ran runs elsewhere, and when it goes on it
// learns that, changes nothing, and serves again.
func TestWorkerFrozen(t *testing.T) {
	t.Parallel()
	server := redistest.Shared(t)
	s := newWorkers(t, server.Client(t))
	s.ok(s.Add(s.Context(), &wire.Job{Uuid: "a", Type: "block", Queue: "q"}))
	p := startProcess(s, server)
	p.says("started a 1")
	p.signal(syscall.SIGSTOP)
	took, next, stop := survivor(s)
	if got := <-took; got != "a 2" {
		t.Errorf("the other worker takes %q, want a", got)
	}
	p.signal(syscall.SIGCONT)
	p.says("stopped a: " + conveyor.ErrOutdated.Error())
	if st := s.await(func(st conveyor.Status) bool { return st.State == conveyor.StateRunning }, "a")[0]; st.Fence != 2 || st.Lost != 1 {
		t.Errorf("job %+v, want fence 2 and one lost lease", st)
	}
	s.ok(s.Add(s.Context(), &wire.Job{Uuid: "b", Type: "block", Queue: "q"}))
	p.says("started b 1") // the only free slot
	next <- struct{}{}
	if st := s.await(ended, "a")[0]; st.State != conveyor.StateCompleted || st.Fence != 2 {
		t.Errorf("job %+v, want it completed by the second attempt", st)
	}
	p.signal(syscall.SIGTERM)
	p.says("stopped b: " + conveyor.ErrShutdown.Error())
	p.says("left")
	if got := <-took; got != "b 2" {
		t.Errorf("the other worker takes %q, want b", got)
	}
	next <- struct{}{}
	if st := s.await(ended, "b")[0]; st.State != conveyor.StateCompleted || st.Attempts != 0 || st.Lost != 0 {
		t.Errorf("job %+v, want it completed with nothing spent", st)
	}
	stop()
	s.sound()
}

// TestWorkerOutage restarts the server under a worker: nothing is lost, and the worker goes on by itself.
func TestWorkerOutage(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	o := server.Options()
	o.MaxRetries = -1
	rdb := redis.NewClient(o)
	t.Cleanup(func() { _ = rdb.Close() })
	s := newWorkers(t, rdb)
	const jobs = 300
	uuids := make([]string, jobs)
	for i := range uuids {
		uuids[i] = fmt.Sprintf("u%d", i)
		s.ok(s.Add(s.Context(), &wire.Job{Uuid: uuids[i], Type: "t", Queue: "q"}))
	}
	w := s.worker(conveyor.WorkerOptions{Concurrency: 3})
	var count atomic.Int32
	reached := make(chan struct{}, 2)
	w.HandleRaw("t", func(ctx context.Context, _ *wire.Job) error {
		conveyor.FromContext(ctx).Log("ran")
		if n := count.Add(1); n == 50 || n == 150 {
			reached <- struct{}{}
		}
		return nil
	})
	stop := s.run(w)
	for range 2 {
		<-reached
		server.Kill()
		server.Restart(t)
	}
	for { // the following client meets the outage too
		statuses, err := s.Statuses(s.Context(), uuids[jobs-1:])
		if err == nil && len(statuses) == 1 {
			break
		}
	}
	for _, st := range s.await(ended, uuids...) {
		if st.State != conveyor.StateCompleted {
			t.Errorf("job %+v, want it completed", st)
		}
	}
	stop()
	s.sound()
}
