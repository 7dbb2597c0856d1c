//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// onSuspend calls pause before the process is stopped by Ctrl-Z or by SIGTSTP, and what it returns once the process goes on. It
// ends with the returned function.
func onSuspend(pause func() (resume func())) (end func()) {
	stops, goes := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(stops, syscall.SIGTSTP)
	signal.Notify(goes, syscall.SIGCONT)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stops:
				resume := pause()
				select {
				case <-goes: // of an earlier stop
				default:
				}
				syscall.Kill(os.Getpid(), syscall.SIGSTOP) //nolint:errcheck // a process may stop itself
				select {
				case <-goes:
				case <-quit:
				}
				resume()
			case <-quit:
				return
			}
		}
	}()
	return func() {
		signal.Stop(stops)
		signal.Stop(goes)
		close(quit)
		<-done
	}
}

// suspendSelf does what Ctrl-Z does on a terminal that no view has.
func suspendSelf() { syscall.Kill(0, syscall.SIGTSTP) } //nolint:errcheck // a process may signal its own group
