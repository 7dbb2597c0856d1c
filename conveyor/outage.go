package conveyor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Reasons for which a store that answers does not write. Each is ErrUnavailable too: nothing was changed, and the call may be
// repeated once somebody has mended the cause.
var (
	// ErrFull: workers go on all the same, so that what runs can end; what adds jobs has to wait.
	ErrFull     = errors.New("redis is out of memory: its maxmemory is reached")
	ErrUnsaved  = errors.New("the store refuses to write, since it cannot save to its disk")
	ErrReadOnly = errors.New("redis is a read-only replica, and writes go to its primary")
)

// outage is an error reply by which a store refuses to write, in words for people.
type outage struct {
	reason, reply error
	detail        string
}

func (o *outage) Error() string { return o.reason.Error() + o.detail + "; nothing was changed" }

func (o *outage) Unwrap() []error { return []error{ErrUnavailable, o.reason, o.reply} }

// unavailable marks errors of the connection, and those by which Redis says that it cannot serve now.
func unavailable(err error) error {
	var timeout net.Error
	switch {
	case err == nil:
		return nil
	case redis.HasErrorPrefix(err, "OOM"):
		return &outage{reason: ErrFull, reply: err}
	case redis.HasErrorPrefix(err, "READONLY"):
		return &outage{reason: ErrReadOnly, reply: err}
	case redis.HasErrorPrefix(err, "MISCONF"):
		o := &outage{reason: ErrUnsaved, reply: err}
		if _, why, ok := strings.Cut(err.Error(), "the embedded store changed nothing"); ok {
			o.detail = why
		}
		return o
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.As(err, &timeout),
		errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrPoolExhausted),
		redis.HasErrorPrefix(err, "LOADING"), redis.HasErrorPrefix(err, "MASTERDOWN"), redis.HasErrorPrefix(err, "NOREPLICAS"),
		redis.HasErrorPrefix(err, "CLUSTERDOWN"), redis.HasErrorPrefix(err, "TRYAGAIN"), redis.HasErrorPrefix(err, "BUSY"),
		// A slot that moves, on the way and faster than the client follows, and a blocked call whose server became a replica.
		redis.HasErrorPrefix(err, "MOVED"), redis.HasErrorPrefix(err, "ASK"), redis.HasErrorPrefix(err, "EXECABORT"), redis.HasErrorPrefix(err, "UNBLOCKED"):
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// transact reads at one moment: it executes what a MULTI holds. A server that refuses to queue a command, as one that is full does with
// every command, gives the reason with the command, and of the whole says only that it was discarded.
func transact(ctx context.Context, pipe redis.Pipeliner) error {
	cmds, err := pipe.Exec(ctx)
	if !redis.HasErrorPrefix(err, "EXECABORT") {
		return err
	}
	for _, cmd := range cmds {
		if reason := cmd.Err(); reason != nil && !redis.HasErrorPrefix(reason, "EXECABORT") {
			return reason
		}
	}
	return err
}
