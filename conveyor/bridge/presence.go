package bridge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
)

// fleetName is what observers are shown as running the jobs of a bridge.
const fleetName = "a fleet of the conveyor library"

// phase is where Run is.
type phase uint8

const (
	phaseNew phase = iota
	phaseWorking
	phaseEnding
)

func (b *Bridge) enter(p phase) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.phase = p
}

// beat registers the bridge among the workers of its namespace, so that its queues count as served. It holds no lease.
func (b *Bridge) beat(ctx context.Context) error {
	if time.Since(b.beaten) < conveyor.BeatEvery {
		return nil
	}
	if err := b.step(); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	info := conveyor.WorkerInfo{ID: b.o.ID, Host: host, PID: os.Getpid(), Queues: b.o.Queues, Types: b.o.Queues, // of one name in a fleet
		KeyIDs: b.o.Keyring.IDs(), Started: b.started, Bridge: fleetName}
	if b.o.TakeOnly {
		info.Queues, info.Types = nil, nil
	}
	if _, err := b.client.Beat(ctx, info); err != nil {
		return err
	}
	b.beaten = time.Now()
	return nil
}

// Live tells why the bridge has to be taken for dead: no round of it succeeded within this time. One that works does one several times a
// second. nil: it is alive; one that was made a moment ago is, too.
func (b *Bridge) Live(within time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	last, what := b.contact, "it last did a round"
	if last.IsZero() {
		last, what = b.started, "it has done no round since it was made"
	}
	if age := time.Since(last); age > within {
		return fmt.Errorf("bridge %s: %s %s ago, the limit is %s", b.o.ID, what, age.Round(time.Millisecond), within)
	}
	return nil
}

// Ready tells why the bridge hands over no jobs: it has not begun, it ends, or it is not Live.
func (b *Bridge) Ready(within time.Duration) error {
	b.mu.Lock()
	at, began := b.phase, !b.contact.IsZero()
	b.mu.Unlock()
	switch {
	case at == phaseEnding:
		return errors.New("bridge " + b.o.ID + " ends")
	case at == phaseNew || !began:
		return errors.New("bridge " + b.o.ID + " has done no round yet")
	}
	return b.Live(within)
}
