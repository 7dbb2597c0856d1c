//go:build !unix

package cli

import "github.com/waybill-dev/waybill/conveyor/embedded"

// suspendWith does nothing where processes are not stopped from the keyboard.
func suspendWith(*embedded.Store) (end func()) { return func() {} }
