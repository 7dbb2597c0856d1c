//go:build !linux

package testserver

import (
	"os/exec"
	"syscall"
)

// bind does nothing here: only Linux ties a child's life to its parent's.
func bind(*exec.Cmd, syscall.Signal) {}
