package conveyor

import (
	"context"
	"sync"
	"time"
)

const (
	// thawGrace is what a worker that was frozen (stopped, suspended) gets to learn from the store whether its jobs are
	// still its own, before it gives them up.
	thawGrace = time.Second
	// beatTimeout bounds one call: a lost one must leave time for others within a lease.
	beatTimeout = 2 * time.Second
	beatRetry   = 250 * time.Millisecond
)

// lease is until when the worker may run what it has reserved, by its own clock: DeadAfter from the moment before the
// latest beat that was answered, which is never later than the store thinks.
type lease struct {
	mu      sync.Mutex
	until   time.Time
	renewed chan struct{} // closed by the next renewal
}

func (l *lease) renew(sent time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if until := sent.Add(DeadAfter); until.After(l.until) {
		l.until = until
	}
	if l.renewed != nil {
		close(l.renewed)
		l.renewed = nil
	}
}

// left is how long the lease lasts. Both clocks must agree: the monotonic one stands still while a machine sleeps, and the
// other may be set.
func (l *lease) left() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	return min(l.until.Sub(now), l.until.Round(0).Sub(now.Round(0)))
}

// await returns when the lease is valid; false means that ctx ended first.
func (l *lease) await(ctx context.Context, beatHint chan<- struct{}) bool {
	for l.left() <= 0 {
		l.mu.Lock()
		if l.renewed == nil {
			l.renewed = make(chan struct{})
		}
		renewed := l.renewed
		l.mu.Unlock()
		hint(beatHint)
		select {
		case <-renewed:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// beats renews the lease every BeatEvery until ctx ends. When it cannot, all attempts are told to stop at the lease's end:
// from then on another worker may run their jobs.
func (w *Worker) beats(ctx context.Context) {
	type answer struct {
		sent  time.Time
		held  map[string]*Attempt
		reply BeatReply
		err   error
	}
	answers := make(chan answer, 1)
	inFlight, thawing := false, false
	wanted := false // a hint came while a beat was in flight, which may not say what the hint is about
	next := time.NewTimer(BeatEvery)
	lapse := time.NewTimer(w.lease.left())
	defer next.Stop()
	defer lapse.Stop()
	beat := func() {
		if inFlight {
			return
		}
		inFlight = true
		held, running := w.holdings()
		info := w.info(running)
		go func() {
			sent := time.Now()
			call, cancel := context.WithTimeout(ctx, beatTimeout)
			defer cancel()
			reply, err := w.engine.Beat(call, info)
			answers <- answer{sent, held, reply, err}
		}()
	}
	for {
		select {
		case <-ctx.Done():
			if inFlight {
				<-answers
			}
			return
		case <-next.C:
			beat()
		case <-w.beatHint:
			wanted = inFlight
			beat()
		case a := <-answers:
			inFlight = false
			if wanted {
				wanted = false
				hint(w.beatHint)
			}
			if a.err != nil {
				if ctx.Err() == nil {
					w.o.Logger.Warn("beat failed", "worker", w.o.ID, "error", a.err)
				}
				next.Reset(beatRetry)
				continue
			}
			for _, uuid := range a.reply.Outdated {
				a.held[uuid].end(ErrOutdated)
			}
			for _, uuid := range a.reply.Cancel {
				a.held[uuid].end(ErrCancelled)
			}
			w.missed(a.reply.Unknown)
			w.lease.renew(a.sent)
			if left := w.lease.left(); left > 0 {
				thawing = false
				lapse.Reset(left)
				next.Reset(max(BeatEvery-time.Since(a.sent), 0))
			} else { // the answer waited while the worker was frozen
				next.Reset(0)
			}
		case <-lapse.C:
			left := w.lease.left()
			switch {
			case left > 0:
				lapse.Reset(left)
			case left < -thawGrace && !thawing:
				thawing = true
				lapse.Reset(thawGrace)
				beat()
			default:
				w.o.Logger.Warn("lease lost: attempts are stopped", "worker", w.o.ID)
				w.cancelAll(ErrOutdated)
				lapse.Reset(BeatEvery) // for what is reserved by a call that was on its way
			}
		}
	}
}
