package outbox

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
)

// What a relay met, for errors.Is. Neither costs a job: its row stays, and the next round tries again.
var (
	ErrDatabase = errors.New("the outbox's database failed")
	ErrQueue    = errors.New("the queue did not take the jobs")
)

// ErrRunning means that a relay was told to run while it runs.
var ErrRunning = errors.New("the relay is running")

// Relay pushes the jobs whose rows were left in an outbox: by processes that died between their commit and their push, by those
// that leave pushing to a relay, and by programs in other languages. It removes a row only after the queue has acknowledged
// its job. What cannot be a job becomes a dead letter and keeps nothing else from going on; what fails in any other way
// is tried again, for as long as it takes.
//
// Any number of relays share a table, each taking rows that no other has in hand. A row may be pushed twice, when a relay dies or
// stands still at the wrong moment; the queue knows the job by its uuid then, and it runs once.
type Relay struct {
	// Immutable.
	db     *sql.DB
	client *conveyor.Client
	sql    *relayStatements
	o      RelayOptions
	name   string // what its claims are marked with

	running sync.Mutex     // held by Run and Once
	pushing sync.WaitGroup // the push in hand, also one that outlasts its round

	// Owned by whoever runs.
	limit    int  // rows of the next round: less than Batch while jobs are large, or queue or database slow
	doubtful bool // the queue failed in the latest round

	mu   sync.Mutex
	life life
}

// NewRelay returns a Relay of a table in db. Both stay the caller's to close. It asks neither of them anything yet. The Redis client
// behind c should heed contexts (ContextTimeoutEnabled), so that a silent server is left after PushTimeout.
func NewRelay(db *sql.DB, t Table, c *conveyor.Client, o RelayOptions) (*Relay, error) {
	o = o.withDefaults()
	problems := []error{o.validate()}
	if db == nil {
		problems = append(problems, errNoDB)
	}
	if c == nil {
		problems = append(problems, errors.New("the client is nil"))
	}
	s, err := t.statements()
	if err := errors.Join(append(problems, err)...); err != nil {
		return nil, fmt.Errorf("outbox relay: %w", err)
	}
	r := &Relay{db: db, client: c, o: o, name: rand.Text(), limit: o.Batch}
	r.sql = s.relay(r.o)
	return r, nil
}

// Run relays until ctx ends, finishes the batch in hand and returns nil. Outages of the queue and of the database do not end it.
func (r *Relay) Run(ctx context.Context) error {
	if !r.running.TryLock() {
		return ErrRunning
	}
	defer r.running.Unlock()
	defer r.begins(ctx)()
	woken, asleep := r.wakes(ctx)
	defer asleep()
	defer r.pushing.Wait()
	back := backoff{least: r.o.MinBackoff, most: r.o.MaxBackoff}
	for early := false; ; {
		leeway := r.o.Leeway
		if early {
			leeway = 0
		}
		_, err := r.pass(ctx, leeway)
		if ctx.Err() != nil {
			return nil
		}
		rest, hear := spread(r.o.Interval, r.o.Interval/8), woken
		if err != nil {
			rest, hear = back.next(), nil // a wake-up tells of rows, and would mend nothing
			r.o.Logger.Warn("the outbox was not relayed", "error", err, "again_in", rest)
		} else if back.reset() {
			r.o.Logger.Info("the outbox is relayed again")
		}
		r.rests(rest)
		if early = sleep(ctx, rest, hear); !early {
			early = sleep(ctx, 0, woken) // one that came during the backoff
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// sleep waits for a time, the end of ctx or a wake-up, and reports whether it was the latter.
func sleep(ctx context.Context, d time.Duration, woken <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-woken:
		return true
	default:
	}
	select {
	case <-ctx.Done():
	case <-woken:
		return true
	case <-t.C:
	}
	return false
}

// Relayed is what became of rows.
type Relayed struct {
	Pushed int // acknowledged by the queue and removed
	Dead   int // made dead letters
}

// Once relays what is there, the rows younger than Leeway excepted, and returns at the first failure. It is for cron jobs and
// tests.
func (r *Relay) Once(ctx context.Context) (Relayed, error) {
	if !r.running.TryLock() {
		return Relayed{}, ErrRunning
	}
	defer r.running.Unlock()
	defer r.pushing.Wait()
	sum, err := r.pass(ctx, r.o.Leeway)
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("outbox relay: %w", context.Cause(ctx))
	}
	return sum, err
}

// pass does rounds while they find as much as they may take.
func (r *Relay) pass(ctx context.Context, leeway time.Duration) (Relayed, error) {
	var sum Relayed
	for more := true; more && ctx.Err() == nil; {
		began := time.Now()
		var done Relayed
		var err error
		done, more, err = r.round(ctx, leeway)
		sum.Pushed += done.Pushed
		sum.Dead += done.Dead
		if err != nil && ctx.Err() != nil && done == (Relayed{}) {
			return sum, nil // it was interrupted before it had taken anything
		}
		r.told(Round{Relayed: done, Took: time.Since(began), Err: err})
		if err != nil {
			return sum, fmt.Errorf("outbox relay: %w", err)
		}
	}
	return sum, nil
}

// wakes has the Wake of the options call woken, until the returned function is called.
func (r *Relay) wakes(ctx context.Context) (woken <-chan struct{}, end func()) {
	calls := make(chan struct{}, 1)
	if r.o.Wake == nil {
		return calls, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var listening sync.WaitGroup
	listening.Go(func() {
		back := backoff{least: r.o.MinBackoff, most: r.o.MaxBackoff}
		for ctx.Err() == nil {
			err := r.o.Wake(ctx, func() {
				select {
				case calls <- struct{}{}:
				default: // one is enough
				}
			})
			if ctx.Err() != nil {
				return
			}
			r.o.Logger.Warn("nobody tells of new rows: they come at the interval", "error", err)
			sleep(ctx, back.next(), nil)
		}
	})
	return calls, func() { cancel(); listening.Wait() }
}
