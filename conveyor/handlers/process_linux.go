package handlers

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithThread has the kernel kill the process when the thread that started it ends.
func dieWithThread(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// wait returns when the process has ended, after killing what is left of its group: while the leader is not reaped, the
// number of the group is certainly its own.
func (p *process) wait() error {
	for unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signal(unix.SIGKILL)
	err := p.cmd.Wait()
	p.reaped = true
	p.guard.remove(p.cmd.Process.Pid)
	return err
}
