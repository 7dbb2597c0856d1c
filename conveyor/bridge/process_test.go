//go:build unix

package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/conveyorstand"
)

// envProcess makes the test binary a process of its own instead: a role as JSON.
const envProcess = "WAYBILL_BRIDGE_TEST_PROCESS"

// ranList of the server names each job whose handler has ended, wherever it ran: the newest left.
const ranList = "test:ran"

// role is what such a process does until SIGTERM.
type role struct {
	Name      string // "bridge"; "theirs": a worker of the fleet; "ours": a worker of the engine
	URL       string
	Namespace string
	ID        string
	Life      int // of a worker of theirs: the run of a handler in which it kills itself; 0: none
}

func init() { processMain = processRole }

func processRole() (code int, ok bool) {
	text := os.Getenv(envProcess)
	if text == "" {
		return 0, false
	}
	if err := runRole(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

func runRole(text string) error {
	var p role
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	options, err := redis.ParseURL(p.URL)
	if err != nil {
		return err
	}
	options.MaxRetries = -1
	rdb := redis.NewClient(options)
	defer rdb.Close() //nolint:errcheck // the process ends
	client, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: p.Namespace})
	if err != nil {
		return err
	}
	switch p.Name {
	case "bridge":
		b, err := New(client, Options{Queues: []string{queue}, Fleet: rdb, ID: holderPrefix + p.ID, FromClients: true, Capacity: 20,
			Look: 50 * time.Millisecond, Lease: time.Second, Absence: time.Second})
		if err != nil {
			return err
		}
		return b.Run(ctx)
	case "theirs":
		fleet := &conveyorstand.Fleet{Redis: rdb, Quiet: 3 * time.Second}
		runs := 0
		w := &conveyorstand.Worker{Fleet: fleet, ID: p.ID, Queues: []string{queue}, Handle: func(ctx context.Context, job *wire.Job) error {
			if runs++; runs == p.Life {
				return errors.Join(syscall.Kill(os.Getpid(), syscall.SIGKILL), waited(ctx))
			}
			return errors.Join(makeInside(ctx, fleet, job), rdb.LPush(ctx, ranList, job.GetUuid()).Err())
		}}
		return w.Run(ctx, 100*time.Millisecond)
	default:
		w, err := conveyor.NewWorker(client, conveyor.WorkerOptions{ID: p.ID, Queues: []conveyor.QueueShare{{Name: queue}}, Concurrency: 1})
		if err != nil {
			return err
		}
		w.HandleRaw(queue, func(ctx context.Context, job *wire.Job) error {
			return errors.Join(makeInside(ctx, &conveyorstand.Fleet{Redis: rdb}, job), rdb.LPush(ctx, ranList, job.GetUuid()).Err())
		})
		return w.Run(ctx)
	}
}

// waited waits for what does not come: the process was killed.
func waited(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// makeInside adds, with a client of the fleet, the jobs that the handler of a job makes: its payload names the job for which it does.
func makeInside(ctx context.Context, fleet *conveyorstand.Fleet, job *wire.Job) error {
	if string(job.GetPayload()) != makesMore {
		return nil
	}
	made := theirs(job.GetUuid()+"-made", childOf(job.GetUuid()))
	heir := theirs(job.GetUuid()+"-made-heir", heirOf(job.GetUuid()))
	return errors.Join(fleet.Add(ctx, heir, false), fleet.Add(ctx, made, false))
}

// makesMore is the payload of jobs whose handler makes a child and an heir.
const makesMore = "makes more"

// process is one that a test started.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has
	err   error         // how it ended, after that
}

// begin starts a process, which ends with the test at the latest.
func begin(tb testing.TB, p role) *process {
	tb.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envProcess+"="+string(text))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	started := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		started.err = cmd.Wait()
		close(started.ended)
	}()
	tb.Cleanup(started.kill)
	return started
}

// kill ends it as a crash would. A dead one is no error.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// stop ends it in order. One that has only just been started may not listen to signals yet, and ends by this one.
func (p *process) stop(tb testing.TB) {
	tb.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		tb.Error(err)
	}
	<-p.ended
	early, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if p.err != nil && early.Signal() != syscall.SIGTERM {
		tb.Errorf("%s ended with %v", p.cmd.Env[len(p.cmd.Env)-1], p.err)
	}
}
