package applier

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
)

// How long a call is repeated while the store, which was reached before, cannot be: long enough for a Sentinel failover, or for another
// process to take over the embedded store. All calls that are repeated read, or are idempotent by a token or by companion writes.
const (
	outagePatience = 15 * time.Second
	outagePause    = 50 * time.Millisecond
	outagePauseMax = time.Second
	outageTold     = 2 * time.Second // after so long without an answer people are told
	outageToldMore = 5 * time.Second // and told again
	outageLastTry  = time.Second     // what the last call gets at least
)

// endurance makes calls, and makes them again while the store cannot be reached. It tells about that, if post is set.
type endurance struct {
	post    func(Event)
	then    string // what becomes of everything when patience ends, in a sentence
	endless bool   // patience has no end; each call gets as long as it had of patience

	// silence is how long a call may take until people are told that there is no answer; 0: as long as it likes. A process
	// that was stopped, or a network that drops everything, breaks no connection.
	silence time.Duration
}

// errSilent is the reason of an outage in which no call has failed yet.
var errSilent = errors.New("there is no answer")

// What becomes of an apply whose store stays away.
const (
	thenUnsubmitted = "Otherwise this ends here: what was submitted stands, and applying again submits the rest."
	thenFollowed    = "Otherwise this ends here: the jobs go on, and applying again follows them."
	thenWatched     = "The jobs go on; they are shown again when it answers."
)

func (n endurance) call(ctx context.Context, call func(context.Context) error) error {
	began := time.Now()
	var o *outage
	if n.silence > 0 {
		o = &outage{endurance: n, began: began, err: errSilent}
		o.schedule(n.silence)
	}
	for pause := outagePause; ; pause = min(2*pause, outagePauseMax) {
		err := o.bounded(ctx, call)
		if err == nil || !unreachable(err) || ctx.Err() != nil {
			o.over(err == nil)
			return err
		}
		if o == nil {
			o = &outage{endurance: n, began: began}
		}
		if !o.failed {
			o.failed = true
			o.schedule(max(outageTold-time.Since(began), 0))
		}
		left, last := o.met(err)
		if left <= 0 {
			o.over(false)
			return last
		}
		select {
		case <-ctx.Done():
			o.over(false)
			return last
		case <-time.After(pause):
		}
	}
}

// outage is the time from a first failed call, or from one that takes too long, to the next answer. Telling about it must not wait for a call that hangs, so it is
// done by a timer.
type outage struct {
	endurance
	began  time.Time
	failed bool // a call has; before, one takes long

	mu    sync.Mutex
	err   error // the latest that is no deadline of our own
	timer *time.Timer
	told  bool
	ended bool
}

// bounded makes the call; after one that failed it gets no more time than is left. A nil outage is none.
func (o *outage) bounded(ctx context.Context, call func(context.Context) error) error {
	if o == nil || !o.failed {
		return call(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, max(o.left(), outageLastTry))
	defer cancel()
	return call(ctx)
}

// left is how much patience is left.
func (o *outage) left() time.Duration {
	if o.endless {
		return outagePatience
	}
	return max(outagePatience-time.Since(o.began), 0)
}

// met notes why the latest call failed, and returns how much patience is left, and what to report in the end.
func (o *outage) met(err error) (left time.Duration, last error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil || !errors.Is(err, context.DeadlineExceeded) {
		o.err = err
	}
	return o.left(), o.err
}

func (o *outage) schedule(after time.Duration) {
	if o.post == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.timer == nil:
		o.timer = time.AfterFunc(after, o.tell)
	case !o.told:
		o.timer.Reset(after)
	}
}

// tell says that the store is still away, and will again.
func (o *outage) tell() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	o.told = true
	away := StoreAway{For: time.Since(o.began), Reason: o.err.Error(), Then: o.then}
	if !o.endless {
		away.Left = o.left()
	}
	o.post(away)
	o.timer.Reset(outageToldMore)
}

// over ends the outage, with an answer or without.
func (o *outage) over(answered bool) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	if o.timer != nil {
		o.timer.Stop()
	}
	if o.told && answered {
		o.post(StoreBack{After: time.Since(o.began)})
	}
}

// unreachable tells a broken way to the store, and a store that says it cannot serve now, from all other errors. What only
// a person can mend is not waited for.
func unreachable(err error) bool {
	if errors.Is(err, conveyor.ErrFull) || errors.Is(err, conveyor.ErrUnsaved) {
		return false
	}
	var timeout net.Error
	return errors.Is(err, conveyor.ErrUnavailable) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.As(err, &timeout) ||
		redis.HasErrorPrefix(err, "LOADING") || redis.HasErrorPrefix(err, "READONLY") ||
		redis.HasErrorPrefix(err, "MASTERDOWN") || redis.HasErrorPrefix(err, "CLUSTERDOWN") || redis.HasErrorPrefix(err, "TRYAGAIN")
}
