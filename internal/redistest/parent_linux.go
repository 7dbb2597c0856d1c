package redistest

import "syscall"

// dieWithParent has the kernel kill the server when the test binary dies without a cleanup, as it does on a
// test timeout.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
