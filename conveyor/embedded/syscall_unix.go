//go:build unix

package embedded

import (
	"errors"
	"syscall"
)

// isRefused reports a socket that nobody listens on.
func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// isBroken reports a connection whose other end has gone.
func isBroken(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}
