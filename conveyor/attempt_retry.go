package conveyor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Defaults of a retry policy; the bounds of their values are those of wire.RetryPolicy.
const (
	DefaultMaxAttempts = 3
	defaultRetryMin    = time.Second
	defaultRetryMax    = time.Hour
	defaultJitter      = 0.2
)

// maxAttempts is how many executions may end in error before the job fails; 0 is no limit. The specification's max_retries
// counts executions too, and serves when there is no policy.
func maxAttempts(job *wire.Job) int {
	switch p := job.GetRetryPolicy(); {
	case p != nil && p.MaxAttempts != nil:
		return max(int(p.GetMaxAttempts()), 0)
	case job.GetMaxRetries() > 0:
		return int(job.GetMaxRetries())
	}
	return DefaultMaxAttempts
}

// backoff is the delay before the next attempt after the n-th failed one, n from 1. The jitter spreads it evenly over
// (1-jitter)..(1+jitter) of itself, by a random number in [0,1); no delay is longer than max.
func backoff(p *wire.RetryPolicy, n int, random float64) time.Duration {
	least, most, jitter := defaultRetryMin, defaultRetryMax, defaultJitter
	if p.GetMin() != nil {
		least = max(p.GetMin().AsDuration(), 0)
	}
	if p.GetMax() != nil {
		most = max(p.GetMax().AsDuration(), 0)
	}
	if p != nil && p.Jitter != nil && !math.IsNaN(p.GetJitter()) {
		jitter = min(max(p.GetJitter(), 0), 1)
	}
	n = max(n, 1)

	delay := float64(least)
	switch p.GetBackoff() {
	case wire.RetryPolicy_EXPONENTIAL:
		delay *= math.Pow(2, float64(n-1))
	case wire.RetryPolicy_LINEAR:
		delay *= float64(n)
	case wire.RetryPolicy_CONSTANT:
	}
	delay = min(delay, float64(most)) // also takes +Inf down
	delay = min(delay*(1+jitter*(2*random-1)), float64(most))
	return time.Duration(delay)
}

// verdict turns how a handler ended into an Ack. failed is the number of attempts that ended in error before this one.
func (a *Attempt) verdict(ctx context.Context, err error, random func() float64) Ack {
	ack := Ack{UUID: a.job.GetUuid(), Fence: a.fence}
	if err == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.deferred != nil {
			ack.Verdict, ack.Delay, ack.Sync = VerdictDefer, *a.deferred, a.carried()
			return ack
		}
		ack.Verdict, ack.Result, ack.Sync = VerdictDone, a.result, a.carried()
		return ack
	}

	policy := a.job.GetRetryPolicy()
	exhausted := VerdictFailed
	if policy.GetHoldOnExhausted() {
		exhausted = VerdictHold
	}
	switch cause := causeOf(ctx); {
	case errors.Is(cause, ErrShutdown), errors.Is(cause, ErrCancelled), errors.Is(cause, ErrOutdated):
		// The store ends a job that was cancelled instead of queueing it. With a lost lease it refuses this, unless nobody
		// has noticed; then it is right.
		ack.Verdict = VerdictBack
		return ack
	case errors.Is(cause, ErrTimeout):
		timeout := fmt.Errorf("%w after %s", ErrTimeout, a.job.GetTimeout().AsDuration())
		if errors.Is(err, ErrTimeout) || err == ctx.Err() {
			err = timeout
		} else {
			err = fmt.Errorf("%w: %w", timeout, err)
		}
	}
	ack.Failure = failureText(a.Mask(err.Error()))
	var permanent *permanentError
	var after *retryAfterError
	most := maxAttempts(a.job)
	switch {
	case errors.As(err, &permanent), most > 0 && a.failed+1 >= most:
		ack.Verdict = exhausted
	case errors.As(err, &after):
		ack.Verdict, ack.Delay = VerdictRetry, after.delay
	default:
		ack.Verdict, ack.Delay = VerdictRetry, backoff(policy, a.failed+1, random())
	}
	return ack
}
