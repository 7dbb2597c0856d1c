//go:build !unix

package sqltest

import "os/exec"

// own does nothing here: nobody is root.
func (o *owner) own(*exec.Cmd) {}
