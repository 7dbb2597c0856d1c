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
//   - where the kernel can (process_linux.go), it kills the leader when the thread that started it ends. So a process is started by a
//     thread of the reaper, which waits for its end and then serves the next one: the thread of a plain goroutine may end at any time.
//
// A process that makes itself a session leader leaves the group, and with it the reach of all this.
type reaper struct {
	guard    *guard
	starting sync.Mutex // the guard hears of one start at a time
	starts   chan *startRequest
}

type startRequest struct {
	process *process
	name    string
	after   func()
	started chan error
}

func newReaper(l *slog.Logger) *reaper {
	return &reaper{guard: &guard{logger: l}, starts: make(chan *startRequest)}
}

// close ends threads and guard; no process may run any more, and none is started.
func (r *reaper) close() {
	close(r.starts)
	r.guard.close()
}

// start starts a process in a group of its own, by a thread that has nothing to do or a new one. name is one word that its environment
// has with a slash behind it, and no other's has. after is called when the process has ended and what was left of its group is
// killed, before ended is closed.
func (r *reaper) start(cmd *exec.Cmd, name string, after func()) (*process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithThread(cmd.SysProcAttr)
	request := &startRequest{&process{cmd: cmd, guard: r.guard, ended: make(chan struct{})}, name, after, make(chan error, 1)}
	select {
	case r.starts <- request:
	default:
		go r.serve(request)
	}
	if err := <-request.started; err != nil {
		return nil, err
	}
	return request.process, nil
}

// serve is a thread that starts processes and waits for them, one after the other.
func (r *reaper) serve(request *startRequest) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for ok := true; ok; request, ok = <-r.starts {
		p := request.process
		err := r.launch(p, request.name)
		request.started <- err
		if err == nil {
			p.err = p.wait()
			request.after()
			close(p.ended)
		}
	}
}

// launch starts a process, announced to the guard.
func (r *reaper) launch(p *process, name string) error {
	r.starting.Lock()
	defer r.starting.Unlock()
	r.guard.expect(name)
	err := p.cmd.Start()
	if err == nil {
		r.guard.add(p.cmd.Process.Pid)
	}
	return err
}

// process is a started process and its group.
type process struct {
	cmd   *exec.Cmd
	guard *guard
	ended chan struct{} // closed when the process has ended
	err   error         // of its end; to be read then

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
