package conveyor

import (
	"context"
	"time"
)

// Event is one script call that changed jobs, with the whole status of each job after it. Seq has no gaps.
type Event struct {
	Seq  int64
	At   time.Time // the store's clock
	Kind string    // the script: "apply", "exchange", "tick", "beat", "leave", "progress"
	Jobs []Status
}

// EventBatch is what Events found.
type EventBatch struct {
	Events []Event
	Seq    int64 // pass it as after next time
	Gap    bool  // events between after and the first one are gone: read statuses anew, then go on
}

// Events returns what happened after event number after, waiting up to block for the first one; block 0 never waits.
// Together with LastEvent and Statuses it gives a view that loses nothing: take LastEvent, read the statuses, then
// follow from there.
func (c *Client) Events(ctx context.Context, after int64, block time.Duration) (EventBatch, error) {
	return EventBatch{}, errUnbuilt
}

// LastEvent is the number of the latest event, 0 before the first.
func (c *Client) LastEvent(ctx context.Context) (int64, error) { return 0, errUnbuilt }
