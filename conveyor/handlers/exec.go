package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Exec is the payload of an exec job: a program with its arguments, or a text for /bin/sh.
type Exec struct {
	Command []string          `json:"command,omitempty"`
	Shell   string            `json:"shell,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Stdin   string            `json:"stdin,omitempty"`
	Dir     string            `json:"dir,omitempty"`    // relative to the worker's directory
	Inputs  json.RawMessage   `json:"inputs,omitempty"` // files the work depends on; for planners, not for workers
}

// drainTimeout is how long output may still come after a process group is gone: only processes that left the group can
// hold its pipe open, and they must not hold the job.
const drainTimeout = time.Second

// buffers are for output on its way to the log.
var buffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// executor runs exec jobs.
type executor struct {
	o    Options
	host string
	reap *reaper
	dirs *scratch
}

func newExecutor(o Options) *executor {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	e := &executor{o: o, host: host, reap: newReaper(o.Logger), dirs: &scratch{parent: os.TempDir()}}
	if n := e.dirs.sweep(); n > 0 {
		o.Logger.Info("scratch directories of killed workers were removed", "in", e.dirs.parent, "count", n)
	}
	return e
}

func (e *executor) close() {
	e.reap.close()
	e.dirs.close()
}

// run runs the process in a group of its own until it ends or ctx does. Then SIGTERM, the grace time and SIGKILL go to the
// whole group; a superseded attempt gets SIGKILL at once, since another worker may already run the job. What is left of
// the group when the process itself has ended is killed: a job leaves nothing running.
func (e *executor) run(ctx context.Context, job *wire.Job, p Exec, a attempt) error {
	scratch, err := e.dirs.attempt()
	if err != nil {
		return fmt.Errorf("make a scratch directory on host %s: %w", e.host, err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	files := exchanged{scratch}
	if err := writeSync(files.sync(), a.Sync()); err != nil {
		return fmt.Errorf("write WAYBILL_SYNC on host %s: %w", e.host, err)
	}

	cmd, err := e.command(job, p, a.Fence(), files)
	if err != nil {
		return err
	}
	stdin, err := stdinFile(scratch, p.Stdin)
	if err != nil {
		return fmt.Errorf("write stdin on host %s: %w", e.host, err)
	}
	defer func() { _ = stdin.Close() }()
	out, in, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("open a pipe on host %s: %w", e.host, err)
	}
	defer func() { _ = out.Close() }()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, in, in // one pipe keeps the order of the two

	process, err := e.reap.start(cmd, filepath.Base(scratch), func() { _ = out.SetReadDeadline(time.Now().Add(drainTimeout)) })
	_ = in.Close()
	if err != nil {
		return fmt.Errorf("start %s on host %s: %w", cmd.Path, e.host, reason(err))
	}
	stopped := make(chan struct{})
	running := context.AfterFunc(ctx, func() {
		defer close(stopped)
		e.stop(context.Cause(ctx), process)
	})
	buffer := buffers.Get().(*[]byte)
	_, _ = io.CopyBuffer(struct{ io.Writer }{a.Output()}, struct{ io.Reader }{out}, *buffer) // ends with the last writer, or at the deadline
	buffers.Put(buffer)
	<-process.ended
	if !running() {
		<-stopped
		return context.Cause(ctx)
	}
	if err := exitError(process.err); err != nil {
		return err
	}
	return files.store(a)
}

// exchanged are the files that a process shares with its worker, in the scratch directory of the attempt.
type exchanged struct{ dir string }

func (f exchanged) output() string   { return filepath.Join(f.dir, "output") }
func (f exchanged) sync() string     { return filepath.Join(f.dir, "sync") }
func (f exchanged) deferral() string { return filepath.Join(f.dir, "defer") }

// store takes over what a process that succeeded has left.
func (f exchanged) store(a attempt) error {
	if err := storeResult(f.output(), a); err != nil {
		return err
	}
	if err := storeSync(f.sync(), a); err != nil {
		return err
	}
	return storeDefer(f.deferral(), a)
}

// stop brings about the end of a process: of an attempt that is superseded at once, else after the grace time.
func (e *executor) stop(cause error, p *process) {
	if !errors.Is(cause, conveyor.ErrOutdated) {
		p.terminate()
		grace := time.NewTimer(e.o.Grace)
		defer grace.Stop()
		select {
		case <-p.ended:
			return
		case <-grace.C:
		}
	}
	p.kill()
}

// stdinFile is what the process reads: a file, which unlike a pipe needs nobody to fill it.
func stdinFile(scratch, content string) (*os.File, error) {
	if content == "" {
		return os.Open(os.DevNull)
	}
	name := filepath.Join(scratch, "stdin")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		return nil, err
	}
	return os.Open(name)
}

// exitError says how a process ended when it did not succeed.
func exitError(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if name, killed := signalOf(exit.ProcessState); killed {
		return fmt.Errorf("killed by signal %s", name)
	}
	return fmt.Errorf("exit status %d", exit.ExitCode())
}

// reason takes the parts off an error that the caller says itself.
func reason(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
