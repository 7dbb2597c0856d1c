//go:build !unix

package cli

// onSuspend does nothing where processes are not stopped from the keyboard.
func onSuspend(func() (resume func())) (end func()) { return func() {} }

// suspendSelf does nothing there either.
func suspendSelf() {}
