//go:build unix && !linux

package handlers

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithThread does nothing: the guard alone watches over processes here.
func dieWithThread(*syscall.SysProcAttr) {}

// wait returns when the process has ended, after killing what is left of its group. The leader is reaped by then; a group
// with members keeps its number, and an empty one has had no time to give it to another.
func (p *process) wait() error {
	err := p.cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signal(unix.SIGKILL)
	p.reaped = true
	p.guard.remove(p.cmd.Process.Pid)
	return err
}
