package embedded

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isRefused reports a socket that nobody listens on.
func isRefused(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }

// isBroken reports a connection whose other end has gone.
func isBroken(err error) bool {
	return errors.Is(err, windows.WSAECONNRESET) || errors.Is(err, windows.WSAECONNABORTED) || errors.Is(err, windows.WSAESHUTDOWN)
}
