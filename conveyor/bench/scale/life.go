package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// life is one workflow, the Redis it is in and the program that it is told to.
type life struct {
	n, concurrency int
	waybill        string

	dir    string // of everything, gone at the end
	server *exec.Cmd
	rdb    *redis.Client
}

// step is what one command took.
type step struct {
	Name   string
	Took   time.Duration
	CPU    time.Duration // of the command's own process
	Memory int64         // the most that the command had at once, bytes; 0: not told
	Used   int64         // by Redis after it, bytes
	Peak   int64         // the most that Redis has used so far, bytes
}

// open builds waybill, starts a Redis that keeps nothing on disk, and writes the files.
func (l *life) open(ctx context.Context) (err error) {
	if l.dir, err = os.MkdirTemp("", "wbs"); err != nil {
		return err
	}
	if l.waybill == "" {
		l.waybill = filepath.Join(l.dir, "waybill")
		cmd := exec.CommandContext(ctx, "go", "build", "-o", l.waybill, "github.com/waybill-dev/waybill")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build waybill: %w\n%s", err, out)
		}
	}
	socket := filepath.Join(l.dir, "s")
	l.server = exec.Command("redis-server", "--port", "0", "--unixsocket", socket, "--dir", l.dir, "--save", "", "--appendonly", "no", "--loglevel", "warning")
	if err := l.server.Start(); err != nil {
		l.server = nil
		return err
	}
	l.rdb = redis.NewClient(&redis.Options{Network: "unix", Addr: socket, DialTimeout: time.Minute, DialerRetries: 100, DialerRetryTimeout: 50 * time.Millisecond})
	if err := l.rdb.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("redis-server does not answer: %w", err)
	}
	return l.write()
}

func (l *life) close() {
	if l.rdb != nil {
		_ = l.rdb.Close() // it wrote nothing
	}
	if l.server != nil {
		_ = l.server.Process.Kill() // it holds nothing of worth
		_ = l.server.Wait()
	}
	_ = os.RemoveAll(l.dir)
}

// write makes the files of the workflow: a job for each of n/2 keys, and one that waits for each of these.
func (l *life) write() error {
	var keys strings.Builder
	for i := range l.n / 2 {
		fmt.Fprintf(&keys, "key-%06d\n", i)
	}
	files := map[string]string{"keys.txt": strings.TrimSpace(keys.String()), "main.hcl": `workflow "scale" {}

job "load" {
  for_each = toset(split("\n", file("keys.txt")))
  queue    = "scale"
  type     = "noop"
  triggers = { key = each.key }
}

job "check" {
  for_each = job.load
  queue    = "scale"
  type     = "noop"
  triggers = { key = each.key }
  predecessor { job = each.value }
}
`}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// live does one step after the other, and gives those that were done.
func (l *life) live(ctx context.Context) (done []step, err error) {
	total := fmt.Sprint(l.n)
	for _, s := range []struct {
		name string
		run  func(context.Context) ([]step, error)
	}{
		{"plan", l.command("Plan: "+total+" to add, 0 to change, 0 to destroy.", "plan")},
		{"apply -detach", l.command("Jobs: "+total+" added, 0 changed, 0 destroyed.", "apply", "-auto-approve", "-detach")},
		{"run", l.work},
		{"plan, nothing to do", l.command("No changes.", "plan", "-detailed-exitcode")},
		{"destroy", l.command("Jobs: "+total+" destroyed.", "destroy", "-auto-approve")},
	} {
		fmt.Fprintf(os.Stderr, "%s: ", s.name)
		steps, err := s.run(ctx)
		if err != nil {
			fmt.Fprintln(os.Stderr)
			return done, fmt.Errorf("%s: %w", s.name, err)
		}
		used, peak, err := l.memory(ctx)
		if err != nil {
			return done, err
		}
		for i := range steps {
			if steps[i].Name == "" {
				steps[i].Name = s.name
			}
			steps[i].Used, steps[i].Peak = used, peak
		}
		fmt.Fprintln(os.Stderr, steps[0].Took.Round(100*time.Millisecond))
		done = append(done, steps...)
	}
	return done, nil
}

// start begins a command whose output goes to out.
func (l *life) start(ctx context.Context, out *tail, args ...string) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, l.waybill, append(args, "-redis", "unix://"+filepath.Join(l.dir, "s"), l.dir)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.dir, "XDG_CONFIG_HOME=" + filepath.Join(l.dir, "config"), "TMPDIR=" + os.TempDir(), "CI=1"}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Minute
	return cmd, cmd.Start()
}

// ended waits for a command.
func ended(cmd *exec.Cmd, out *tail, begun time.Time) (step, error) {
	err := cmd.Wait()
	if err != nil {
		return step{}, fmt.Errorf("%v: %w\n%s", cmd.Args, err, out.text())
	}
	s := step{Took: time.Since(begun), CPU: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.Memory = usage.Maxrss << 10 // kilobytes on Linux
	}
	return s, nil
}

// command is a step of one command, at whose end these words have to stand.
func (l *life) command(says string, args ...string) func(context.Context) ([]step, error) {
	return func(ctx context.Context) ([]step, error) {
		out, begun := &tail{}, time.Now()
		cmd, err := l.start(ctx, out, args...)
		if err != nil {
			return nil, err
		}
		s, err := ended(cmd, out, begun)
		if err == nil && !bytes.Contains(out.b.Bytes(), []byte(says)) {
			err = fmt.Errorf("%v did not say %q but:\n%s", cmd.Args, says, out.text())
		}
		return []step{s}, err
	}
}

// work runs all jobs with one worker, while "waybill wait" waits for them.
func (l *life) work(ctx context.Context) ([]step, error) {
	begun, heard, logged := time.Now(), &tail{}, &tail{}
	worker, err := l.start(ctx, logged, "worker", "-concurrency", strconv.Itoa(l.concurrency))
	if err != nil {
		return nil, err
	}
	waiting, err := l.start(ctx, heard, "wait")
	if err != nil {
		return nil, errors.Join(err, worker.Process.Kill(), worker.Wait())
	}
	wait, err := ended(waiting, heard, begun)
	if interrupted := worker.Process.Signal(os.Interrupt); interrupted != nil {
		return nil, errors.Join(err, interrupted)
	}
	ran, problem := ended(worker, logged, begun)
	if err := errors.Join(err, problem); err != nil {
		return nil, err
	}
	ran.Took = wait.Took
	ran.Name, wait.Name = "run: worker", "run: wait"
	return []step{ran, wait}, nil
}

// memory is what Redis uses, and the most it has used.
func (l *life) memory(ctx context.Context) (used, peak int64, err error) {
	text, err := l.rdb.Info(ctx, "memory").Result()
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "used_memory":
			used, err = strconv.ParseInt(value, 10, 64)
		case "used_memory_peak":
			peak, err = strconv.ParseInt(value, 10, 64)
		}
		if err != nil {
			return 0, 0, fmt.Errorf("INFO memory: %w", err)
		}
	}
	return used, peak, nil
}

// tail keeps the end of what a command writes.
type tail struct{ b bytes.Buffer }

const tailSize = 64 << 10

// Write is part of io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if t.b.Write(p); t.b.Len() > 2*tailSize {
		t.b.Next(t.b.Len() - tailSize)
	}
	return n, nil
}

func (t *tail) text() string { return string(t.b.Bytes()[max(0, t.b.Len()-4000):]) }
