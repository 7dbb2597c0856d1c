// Package testserver runs the programs that tests need beside them, such as database servers. None of them outlives the test
// binary, however that ends.
package testserver

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// endTimeout is how long a process may take over the signal that is to end it before it gets SIGKILL.
const endTimeout = 10 * time.Second

// Process is one run of a program.
type Process struct {
	cmd    *exec.Cmd
	out    lockedBuffer
	exited chan struct{} // closed after the process has been waited for
	err    error         // how it ended; of who has seen exited closed
}

// Run starts a program. When the test binary dies without a cleanup, as it does on a test timeout, the kernel sends the process
// the signal farewell; only Linux does.
//
// The goroutine that waits for the process keeps the thread that started it: Linux sends that signal when the thread ends.
func Run(cmd *exec.Cmd, farewell syscall.Signal) (*Process, error) {
	p := &Process{cmd: cmd, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.out, &p.out
	bind(cmd, farewell)
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("run %s: %w", cmd.Path, err)
	}
	return p, nil
}

// Output is what the process wrote so far to its stdout and stderr.
func (p *Process) Output() string { return p.out.String() }

// Pid is the process's number.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Wait returns once the process has ended, and how: nil for exit status 0.
func (p *Process) Wait() error {
	<-p.exited
	return p.err
}

// Signal sends a signal. An ended process gets none, which is what most callers want anyway.
func (p *Process) Signal(sig syscall.Signal) { _ = p.cmd.Process.Signal(sig) }

// End sends the signal that ends the process and waits until it is gone. One that takes ten seconds over it is killed.
func (p *Process) End(sig syscall.Signal) {
	p.Signal(sig)
	select {
	case <-p.exited:
	case <-time.After(endTimeout):
		p.Signal(syscall.SIGKILL)
		<-p.exited
	}
}

// Await asks in growing intervals, from a millisecond to a tenth of a second, until ask returns no error: servers have no common
// way to announce that they are ready. One that exited is noticed at once.
func (p *Process) Await(timeout time.Duration, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("it exited at once\n%s", p.Output())
		case <-ctx.Done():
			return fmt.Errorf("it does not answer within %s: %w\n%s", timeout, err, p.Output())
		case <-time.After(pause):
		}
	}
}

// lockedBuffer collects output that one goroutine writes and another one reads.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
