//go:build unix

package handlers

import (
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// reaper starts the processes of jobs so that none outlives the worker, however it dies. Three things work together:
//
//   - each process leads a group of its own, which is killed as a whole;
//   - a guard (guard_unix.go), told before and after each start, holds a pipe from the worker and kills all groups when the pipe closes, which it does on any
//     death of the worker;
//   - where the kernel can (process_linux.go), it kills the leader when the thread that started it ends. All are started by
//     one thread that lives as long as the reaper, since that of a plain goroutine may end at any time.
//
// A process that makes itself a session leader leaves the group, and with it the reach of all this.
type reaper struct {
	guard *guard

	once   sync.Once
	starts chan startRequest
}

type startRequest struct {
	cmd  *exec.Cmd
	name string
	done chan error
}

func newReaper(l *slog.Logger) *reaper {
	return &reaper{guard: &guard{logger: l}, starts: make(chan startRequest)}
}

// close ends thread and guard; no process may run any more.
func (r *reaper) close() {
	r.once.Do(func() {}) // a start after close would wait for ever: there is none
	close(r.starts)
	r.guard.close()
}

// start starts a process in a group of its own. name is one word that its environment has with a
// slash behind it, and no other's has.
func (r *reaper) start(cmd *exec.Cmd, name string) (*process, error) {
	r.once.Do(func() { go r.serve() })
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithThread(cmd.SysProcAttr)
	request := startRequest{cmd, name, make(chan error, 1)}
	r.starts <- request
	if err := <-request.done; err != nil {
		return nil, err
	}
	return &process{cmd: cmd, guard: r.guard}, nil
}

// serve is the thread that starts all processes.
func (r *reaper) serve() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for request := range r.starts {
		r.guard.expect(request.name)
		err := request.cmd.Start()
		if err == nil {
			r.guard.add(request.cmd.Process.Pid)
		}
		request.done <- err
	}
}

// process is a started process and its group.
type process struct {
	cmd   *exec.Cmd
	guard *guard

	mu     sync.Mutex
	reaped bool // its number may be another's
}

// terminate asks the group to end.
func (p *process) terminate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signal(unix.SIGTERM)
	p.signal(unix.SIGCONT) // a stopped process hears nothing else
}

// kill ends the group.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signal(unix.SIGKILL)
}

func (p *process) signal(s unix.Signal) {
	if !p.reaped {
		_ = unix.Kill(-p.cmd.Process.Pid, s) // fails when the group is gone, as wanted
	}
}

// signalOf names the signal that killed a process.
func signalOf(s *os.ProcessState) (string, bool) {
	status, ok := s.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return "", false
	}
	if name := unix.SignalName(status.Signal()); name != "" {
		return name, true
	}
	return status.Signal().String(), true
}
