package sqltest

import (
	"fmt"
	"os/exec"
	"strings"
)

// command is a program of the owner's, with messages in English and times in UTC.
func (o *owner) command(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Env = append(cmd.Environ(), "LC_ALL=C", "TZ=UTC")
	if o != nil {
		o.own(cmd)
	}
	return cmd
}

// run runs a program to its end.
func (o *owner) run(path string, args ...string) error {
	cmd := o.command(path, args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}
