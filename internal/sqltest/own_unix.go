//go:build unix

package sqltest

import (
	"os/exec"
	"syscall"
)

func (o *owner) own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: o.uid, Gid: o.gid}}
}
