package bridge

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
)

// holderPrefix begins the holder of every reservation that a bridge makes.
const holderPrefix = "bridge-"

// Bounds of the pause after a round that failed.
const (
	leastPause = 100 * time.Millisecond
	mostPause  = 5 * time.Second
)

// idlePause is how often a bridge with free capacity asks for jobs when nothing else happens.
const idlePause = 200 * time.Millisecond

// closeTimeout bounds the last calls of a bridge.
const closeTimeout = 5 * time.Second

// Bridge hands jobs of the engine to a fleet. One goroutine does the rounds, another listens to the fleet's events.
type Bridge struct {
	// Immutable.
	client  *conveyor.Client
	o       Options
	keys    keys
	started time.Time     // when it was made
	heard   chan struct{} // 1 slot: something was heard

	// Owned by the goroutine of Run, or of the test that calls round.
	calls    caller
	reserved []conveyor.Reservation // not handed over so far
	refused  []conveyor.Ack         // of reservations that cannot be handed over
	mine     map[string]bool        // reserved by this bridge and not known to be settled
	beaten   time.Time              // when it registered last
	closing  map[string]bool        // with the fleet, but only their children still run; they take up no capacity
	looked   time.Time              // when the fleet's structures were read last
	searched time.Time              // when children were searched for in them last
	scanned  uint64                 // how far the set of clients' jobs was looked through
	step     func() error           // of tests: called before each call of a store; an error ends the round there

	mu      sync.Mutex
	news    map[string]bool // uuids that an event told an outcome of
	contact time.Time       // end of the latest round that did not fail
	phase   phase
	held    int            // jobs that this bridge reserved and the fleet has, after the latest round
	counts  map[Kind]int64 // of events
}

// New returns a bridge from the client's namespace to a fleet.
func New(client *conveyor.Client, o Options) (*Bridge, error) {
	o = o.withDefaults()
	err := o.validate()
	if client == nil {
		err = errors.Join(errors.New("no client"), err)
	}
	if err != nil {
		return nil, fmt.Errorf("bridge options: %w", err)
	}
	return &Bridge{
		client: client, o: o, keys: newKeys(client.Namespace()), heard: make(chan struct{}, 1), calls: caller{id: o.ID + "-" + randomText(8)},
		started: time.Now(), mine: map[string]bool{}, news: map[string]bool{}, counts: map[Kind]int64{}, step: func() error { return nil },
	}, nil
}

func randomText(n int) string { return strings.ToLower(rand.Text())[:n] }

// ID is whom its reservations are for.
func (b *Bridge) ID() string { return b.o.ID }

// Run works until ctx ends, then takes out of the fleet's queues what no worker of theirs has popped and gives it back to its place. What
// the fleet runs stays reserved for Options.Lease: another bridge, or the next, goes on with it. Stores that do not answer are waited for.
func (b *Bridge) Run(ctx context.Context) error {
	if err := b.client.CheckStore(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("start the bridge: %w", err)
	}
	if err := b.o.Fleet.Ping(ctx).Err(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("start the bridge: the fleet's store: %w", err)
	}
	listening, end := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer end()
	beside.Go(func() { b.listen(listening) })

	b.enter(phaseWorking)
	pause := leastPause
	for ctx.Err() == nil {
		more, err := b.round(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			b.o.Logger.Warn("the round is repeated", "bridge", b.o.ID, "error", err)
			b.wait(ctx, pause)
			pause = min(2*pause, mostPause)
		default:
			pause = leastPause
			b.mu.Lock()
			b.contact, b.held = time.Now(), len(b.mine)
			b.mu.Unlock()
			if !more {
				b.wait(ctx, idlePause)
			}
		}
	}
	b.enter(phaseEnding)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if err := b.giveBack(last); err != nil {
		return fmt.Errorf("end of the bridge: what it had not finished is reserved for %s more: %w", b.o.Lease, err)
	}
	if err := b.client.Leave(last, b.o.ID); err != nil {
		return fmt.Errorf("end of the bridge: it is shown until it is found dead: %w", err)
	}
	return nil
}

// wait pauses until something is heard or d is over.
func (b *Bridge) wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-b.heard:
	case <-t.C:
	}
}

// round does what there is to do once: it settles what was heard of, every Look all that the fleet has, takes up what clients enqueued, and
// hands over what is ready.
// More tells that another round would find something at once.
func (b *Bridge) round(ctx context.Context) (more bool, err error) {
	if err := b.beat(ctx); err != nil {
		return false, err
	}
	if err := b.handAll(ctx); err != nil {
		return false, err
	}
	if err := b.settle(ctx, b.take()); err != nil {
		return false, err
	}
	due := time.Since(b.looked) >= b.o.Look
	if due {
		if err := b.upkeep(ctx); err != nil {
			return false, err
		}
		b.looked = time.Now()
	}
	taken, err := b.takeUp(ctx, due)
	if err != nil {
		return false, err
	}
	if b.o.TakeOnly {
		return taken, nil
	}
	more, err = b.reserve(ctx)
	return more || taken, err
}

// upkeep looks after all jobs that the fleet has, whichever bridge handed them over, and after the namespace: there need be no worker
// of ours that does.
func (b *Bridge) upkeep(ctx context.Context) error {
	if err := b.step(); err != nil {
		return err
	}
	handed, err := b.o.Fleet.SMembers(ctx, b.keys.handed()).Result()
	if err != nil {
		return fmt.Errorf("read %s: %w", b.keys.handed(), err)
	}
	has := make(map[string]bool, len(handed))
	for _, uuid := range handed {
		has[uuid] = true
	}
	for uuid := range b.mine { // others settled it
		if !has[uuid] {
			delete(b.mine, uuid)
		}
	}
	closing, err := b.look(ctx, handed)
	if err != nil {
		return err
	}
	if err := b.close(ctx, closing); err != nil {
		return err
	}
	if err := b.settle(ctx, handed); err != nil {
		return err
	}
	if err := b.finishAll(ctx); err != nil {
		return err
	}
	if err := b.step(); err != nil {
		return err
	}
	_, err = b.client.Tick(ctx)
	return err
}
