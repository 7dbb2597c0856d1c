//go:build !linux

package redistest

import "syscall"

// dieWithParent asks for nothing here: only Linux ties a child's life to its parent's.
func dieWithParent() *syscall.SysProcAttr { return nil }
