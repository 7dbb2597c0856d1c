package conveyor

import (
	"errors"
	"fmt"
	"strings"
)

// Sentinel errors, to be told apart with errors.Is.
var (
	ErrNilJob          = errors.New("job is nil")
	ErrQueueName       = errors.New("queue is empty or not of [A-Za-z0-9._-]{1,128}")
	ErrTypeName        = errors.New("type is empty")
	ErrUUID            = errors.New("uuid is not of [A-Za-z0-9._-]{1,128}")
	ErrPriority        = errors.New("priority is not 0, 1 or 2")
	ErrEdge            = errors.New("invalid edge")
	ErrTooLarge        = errors.New("too large")
	ErrMarshal         = errors.New("marshalling failed")
	ErrUnknownUpstream = errors.New("upstream job is unknown")
	ErrGuard           = errors.New("guard does not hold: the lock was lost")
	ErrOutdated        = errors.New("outdated: the attempt or call number was superseded")
	ErrNotFound        = errors.New("not found")
	ErrState           = errors.New("not possible in the job's state")
	// ErrCorrupt means a key of the wrong type or an undecodable entry; the message names the key. Nothing was changed.
	ErrCorrupt = errors.New("corrupt data")
	// ErrUnavailable wraps failures of Redis or of the way to it. The call may be repeated; all others are fatal.
	ErrUnavailable = errors.New("redis unavailable")
)

func (e *ConflictError) Error() string {
	var b strings.Builder
	b.WriteString("refused, nothing changed:")
	for i, c := range e.Conflicts {
		if i > 0 {
			b.WriteByte(';')
		}
		if c.Stale {
			fmt.Fprintf(&b, " change %d met version %d", c.Index, c.Version)
		} else {
			fmt.Fprintf(&b, " change %d met state %s", c.Index, c.State)
		}
	}
	return b.String()
}
