//go:build !unix

package cli

import "errors"

// hideTyping fails where there is no terminal of Unix.
func hideTyping(uintptr) (show func(), err error) {
	return nil, errors.New("what is typed cannot be hidden on this system; give it with -var or in the environment")
}
