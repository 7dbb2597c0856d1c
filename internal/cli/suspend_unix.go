//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/waybill-dev/waybill/conveyor/embedded"
)

// suspendWith hands the embedded store over to other processes while this one is stopped by Ctrl-Z: a stopped host
// would freeze everybody. It ends with the returned function.
func suspendWith(st *embedded.Store) (end func()) {
	stops, goes := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(stops, syscall.SIGTSTP)
	signal.Notify(goes, syscall.SIGCONT)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stops:
				st.Suspend()
				select {
				case <-goes: // of an earlier stop
				default:
				}
				syscall.Kill(os.Getpid(), syscall.SIGSTOP) //nolint:errcheck // a process may stop itself
				select {
				case <-goes:
				case <-quit:
				}
				st.Resume()
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
