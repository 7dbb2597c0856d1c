package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Wake calls woken whenever there may be new rows, and returns when ctx ends; see package pgnotify. Woken never blocks, and calling it
// too often does no harm.
type Wake func(ctx context.Context, woken func()) error

// RelayObserver is told what a Relay does, for metrics. It is called by one goroutine and has to return at once.
type RelayObserver interface {
	// Relayed tells of a round that has ended, also of one that found nothing.
	Relayed(Round)
}

// RelayOptions configures a Relay. The zero value works.
type RelayOptions struct {
	// Leeway is how old a row has to be before an unwoken relay takes it, so that whoever wrote it can push it first. Default: 5 s.
	// Negative: none.
	Leeway time.Duration
	// Interval is how long a relay rests that found no more rows. Default: 1 s; at least 10 ms.
	Interval time.Duration
	// Batch is how many rows one round takes at most. Default: 500; at most 10,000.
	Batch int
	// PushTimeout bounds how long rows are held while the queue takes their jobs, and so the transaction in which they are
	// locked. What was not acknowledged by then is given back. Default: 5 s; at least 100 ms.
	PushTimeout time.Duration
	// MinBackoff and MaxBackoff bound the pause after a round that failed; it doubles with each failure in a row and is spread at
	// random over half of itself. Defaults: 100 ms and 30 s.
	MinBackoff, MaxBackoff time.Duration
	// Wake tells of new rows. A woken relay takes them at once, whatever their age. Default: none, the interval has to do.
	Wake Wake
	// Logger is told of dead letters, outages and their ends. The default discards.
	Logger *slog.Logger
	// Observer is told of each round. Default: none.
	Observer RelayObserver
}

// Bounds of RelayOptions.
const (
	leastInterval    = 10 * time.Millisecond
	leastPushTimeout = 100 * time.Millisecond
	maxRelayBatch    = 10_000
)

func (o RelayOptions) withDefaults() RelayOptions {
	fill := func(d *time.Duration, standard time.Duration) {
		if *d == 0 {
			*d = standard
		}
	}
	fill(&o.Leeway, 5*time.Second)
	o.Leeway = max(o.Leeway, 0)
	fill(&o.Interval, time.Second)
	fill(&o.PushTimeout, 5*time.Second)
	fill(&o.MinBackoff, 100*time.Millisecond)
	fill(&o.MaxBackoff, max(30*time.Second, o.MinBackoff))
	if o.Batch == 0 {
		o.Batch = 500
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o RelayOptions) validate() error {
	var problems []error
	if o.Interval < leastInterval {
		problems = append(problems, fmt.Errorf("field Interval: %s is less than %s", o.Interval, leastInterval))
	}
	if o.Batch < 1 || o.Batch > maxRelayBatch {
		problems = append(problems, fmt.Errorf("field Batch: %d is not of 1 to %d", o.Batch, maxRelayBatch))
	}
	if o.PushTimeout < leastPushTimeout {
		problems = append(problems, fmt.Errorf("field PushTimeout: %s is less than %s", o.PushTimeout, leastPushTimeout))
	}
	if o.MinBackoff < time.Millisecond || o.MaxBackoff < o.MinBackoff {
		problems = append(problems, fmt.Errorf("fields MinBackoff and MaxBackoff: %s and %s: they are at least 1ms, and the second is not less than the first",
			o.MinBackoff, o.MaxBackoff))
	}
	return errors.Join(problems...)
}
