package applier

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
)

// How long a call is repeated while the store, which was reached before, cannot be: long enough for a Sentinel failover, or for another
// process to take over the embedded store. All calls that are repeated read, or are idempotent by a token.
const (
	outagePatience = 15 * time.Second
	outagePause    = 50 * time.Millisecond
	outagePauseMax = time.Second
)

// enduring makes a call, and makes it again while the store cannot be reached.
func enduring(ctx context.Context, call func(context.Context) error) error {
	var since time.Time
	for pause := outagePause; ; pause = min(2*pause, outagePauseMax) {
		err := call(ctx)
		if err == nil || !unreachable(err) || ctx.Err() != nil {
			return err
		}
		if since.IsZero() {
			since = time.Now()
		}
		if time.Since(since) > outagePatience {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// unreachable tells a broken way to the store, and a store that says it cannot serve now, from all other errors.
func unreachable(err error) bool {
	var timeout net.Error
	return errors.Is(err, conveyor.ErrUnavailable) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.As(err, &timeout) ||
		redis.HasErrorPrefix(err, "LOADING") || redis.HasErrorPrefix(err, "READONLY") ||
		redis.HasErrorPrefix(err, "MASTERDOWN") || redis.HasErrorPrefix(err, "CLUSTERDOWN") || redis.HasErrorPrefix(err, "TRYAGAIN")
}
