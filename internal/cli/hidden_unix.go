//go:build unix

package cli

import (
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// hideTyping keeps a terminal from showing what is typed, until show is called.
func hideTyping(fd uintptr) (show func(), err error) {
	before, err := term.GetState(fd)
	if err != nil {
		return nil, err
	}
	hidden := *before
	hidden.Lflag &^= unix.ECHO
	if err := term.SetState(fd, &hidden); err != nil {
		return nil, err
	}
	return func() { term.Restore(fd, before) }, nil //nolint:errcheck // the terminal is gone then
}
