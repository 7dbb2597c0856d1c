package cli

import (
	"errors"
	"io"
	"sync/atomic"
	"syscall"

	"github.com/waybill-dev/waybill/applier"
)

// exitClosed is the exit code of a command whose stdout was closed before it was done: what shells report of any program that a
// closed pipe ends (128 and SIGPIPE).
const exitClosed = 141

// outlet is stdout where it is no terminal. It notices that nobody reads it any more, as after "| head".
type outlet struct {
	io.Writer
	closed atomic.Bool
}

func (o *outlet) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		o.closed.Store(true)
	}
	return n, err
}

// unread is an observer that ends following when nobody reads what it tells. Submitting is not ended: what was approved is done,
// and only then left alone.
type unread struct {
	applier.Observer
	a         *app
	following bool
}

func (u *unread) Observe(e applier.Event) {
	u.Observer.Observe(e)
	if _, ok := e.(applier.Following); ok {
		u.following = true
	}
	if u.following && u.a.outClosed() {
		u.a.stops.leave(errUnread)
	}
}

// errUnread is why a command's context ends when its output is closed.
var errUnread = errors.New("the output was closed")

// outClosed tells whether somebody has stopped reading stdout.
func (a *app) outClosed() bool {
	o, ok := a.p.Stdout.(*outlet)
	return ok && o.closed.Load()
}
