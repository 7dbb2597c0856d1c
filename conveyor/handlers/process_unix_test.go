//go:build unix

package handlers

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// workerVariable makes the test binary a process that runs one shell text as a job's.
const workerVariable = "HANDLERS_TEST_SHELL"

func TestMain(m *testing.M) {
	if script := os.Getenv(workerVariable); script != "" {
		o := Options{}.withDefaults()
		if err := o.validate(); err != nil {
			panic(err)
		}
		err := newExecutor(o).run(context.Background(), &wire.Job{}, Exec{Shell: script}, newRecorder())
		_, _ = os.Stderr.WriteString("the job ended before the worker was killed: " + err.Error() + "\n")
		os.Exit(1)
	}
	code := redistest.Run(m)
	if err := goleak.Find(); err != nil && code == 0 {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		code = 1
	}
	os.Exit(code)
}

// fifo is a pipe with a name. Whoever has it open for writing is alive: its end is the end of them all.
type fifo struct {
	name string
	r    *bufio.Reader
}

func newFIFO(t *testing.T) *fifo {
	t.Helper()
	name := filepath.Join(t.TempDir(), "alive")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return &fifo{name: name}
}

// await opens the pipe, which waits for a writer, and reads as many lines.
func (f *fifo) await(t *testing.T, lines int) {
	t.Helper()
	file, err := os.Open(f.name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	f.r = bufio.NewReader(file)
	for range lines {
		if _, err := f.r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
}

// end returns when no process has the pipe open for writing.
func (f *fifo) end(t *testing.T) {
	t.Helper()
	if _, err := io.Copy(io.Discard, f.r); err != nil {
		t.Fatal(err)
	}
}

// TestExecDiesWithWorker kills a worker as a crash would and waits for the end of all processes of its job.
func TestExecDiesWithWorker(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script string
		lines  int
	}{
		{name: "the process", script: `echo x >&9; exec sleep 1000`, lines: 1},
		{name: "its children", script: `(echo x >&9; exec sleep 1000) & (trap "" TERM HUP; echo x >&9; sleep 1000; true) & echo x >&9; wait`, lines: 3},
		{name: "orphans in its group", script: `sh -c '(echo x >&9; exec sleep 1000) &'; echo x >&9; sleep 1000`, lines: 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			alive := newFIFO(t)
			worker := exec.Command(os.Args[0])
			worker.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), workerVariable+"=exec 9>"+alive.name+"; "+tt.script)
			worker.Stderr = os.Stderr
			if err := worker.Start(); err != nil {
				t.Fatal(err)
			}
			alive.await(t, tt.lines)
			if err := worker.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = worker.Wait() // killed
			alive.end(t)
		})
	}
}

// TestExecLeavesNothing: what a process started in its group ends with it.
func TestExecLeavesNothing(t *testing.T) {
	t.Parallel()
	alive := newFIFO(t)
	e := newTestExecutor(t, Options{})
	done := make(chan error, 1)
	go func() {
		done <- e.run(t.Context(), &wire.Job{}, Exec{Shell: "exec 9>" + alive.name + "; (echo x >&9; trap '' TERM; sleep 1000) & echo started"}, newRecorder())
	}()
	alive.await(t, 0)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	alive.end(t)
}

// TestExecDaemonDoesNotHoldJob: a process that left the group keeps the output open, and the job ends all the same.
func TestExecDaemonDoesNotHoldJob(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Fatal("this test needs setsid (util-linux)")
	}
	e := newTestExecutor(t, Options{})
	a := newRecorder()
	pid := filepath.Join(t.TempDir(), "pid")
	if err := e.run(t.Context(), &wire.Job{}, Exec{Shell: "setsid sh -c 'echo $$ > " + pid + "; echo up; exec sleep 1000' & until test -s " + pid + "; do sleep 0.01; done"}, a); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("kill", "-KILL", strings.TrimSpace(string(data))).Run(); err != nil {
		t.Errorf("the daemon should still run: %v", err)
	}
}

// TestGuardIsReplaced: a guard that died is started again with the next process, and knows of all.
func TestGuardIsReplaced(t *testing.T) {
	t.Parallel()
	alive := newFIFO(t)
	g := &guard{logger: slog.New(slog.DiscardHandler)}
	start := func() {
		cmd := exec.Command("sh", "-c", "exec 9>"+alive.name+"; echo x >&9; exec sleep 1000")
		cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Wait() })
		g.add(cmd.Process.Pid)
	}
	g.expect("first")
	start()
	if err := g.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := g.cmd.Process.Wait(); err != nil { // so that the next write meets no reader
		t.Fatal(err)
	}
	start()
	alive.await(t, 2)
	g.stop() // as the worker's death does: the end of the input with groups alive
	alive.end(t)
}

func BenchmarkExec(b *testing.B) {
	o := Options{Dir: b.TempDir()}.withDefaults()
	e := newExecutor(o)
	defer e.close()
	a := newRecorder()
	b.ReportAllocs()
	for b.Loop() {
		if err := e.run(b.Context(), &wire.Job{Uuid: "u"}, Exec{Command: []string{"true"}}, a); err != nil {
			b.Fatal(err)
		}
	}
}
