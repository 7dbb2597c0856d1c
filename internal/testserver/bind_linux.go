package testserver

import (
	"os/exec"
	"syscall"
)

// bind ties the life of a process to that of the thread that starts it.
func bind(cmd *exec.Cmd, farewell syscall.Signal) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = farewell
}
