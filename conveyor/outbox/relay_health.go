package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// RelayStats is what a relay has done so far.
type RelayStats struct {
	Rounds, Failures int64 // rounds that ended, and those of them that ended in an error
	Pushed, Dead     int64 // rows
	// LastSuccess is when a round last did all it set out to do; zero: never.
	LastSuccess time.Time
}

// phase is what becomes of a relay.
type phase uint8

const (
	phaseNew phase = iota
	phaseRunning
	phaseStopping
	phaseEnded
)

// life is how a relay stands, for those who supervise it.
type life struct {
	phase   phase
	contact time.Time // when it last began, ended a round, or planned to begin the next one
	failing error     // of the latest round
	stats   RelayStats
}

// Stats tells what the relay has done so far.
func (r *Relay) Stats() RelayStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.life.stats
}

// Live tells why the relay has to be taken for dead: it neither ended a round nor rested within this time. One that waits for
// a queue or a database that is away is alive, since starting it anew would mend nothing: see Ready.
func (r *Relay) Live(within time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.life.phase == phaseNew:
		return errors.New("the relay was not started yet")
	case r.life.phase == phaseEnded:
		return errors.New("the relay has ended")
	}
	if age := time.Since(r.life.contact); age > within {
		return fmt.Errorf("the relay hangs: its round has taken %s, the limit is %s", age.Round(time.Millisecond), within)
	}
	return nil
}

// Ready tells why the relay pushes nothing: it is not Live, it stops, or its latest round failed and none succeeded within this
// time.
func (r *Relay) Ready(within time.Duration) error {
	if err := r.Live(within); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.life.phase == phaseStopping:
		return errors.New("the relay stops")
	case r.life.stats.LastSuccess.IsZero() && r.life.failing == nil:
		return errors.New("the relay has not ended its first round yet")
	case r.life.failing != nil && time.Since(r.life.stats.LastSuccess) > within:
		return fmt.Errorf("nothing is relayed: %w", r.life.failing)
	}
	return nil
}

// begins notes that the relay runs, and has stopping noted when ctx ends. The returned function notes its end.
func (r *Relay) begins(ctx context.Context) (ended func()) {
	r.enter(phaseRunning)
	forget := context.AfterFunc(ctx, func() { r.enter(phaseStopping) })
	return func() {
		forget()
		r.enter(phaseEnded)
	}
}

func (r *Relay) enter(p phase) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p != phaseStopping || r.life.phase == phaseRunning {
		r.life.phase, r.life.contact = p, time.Now()
	}
}

// told notes a round that has ended.
func (r *Relay) told(round Round) {
	r.mu.Lock()
	s := &r.life.stats
	s.Rounds++
	s.Pushed += int64(round.Pushed)
	s.Dead += int64(round.Dead)
	r.life.contact, r.life.failing = time.Now(), round.Err
	if round.Err != nil {
		s.Failures++
	} else {
		s.LastSuccess = r.life.contact
	}
	r.mu.Unlock()
	if r.o.Observer != nil {
		r.o.Observer.Relayed(round)
	}
}

// rests notes that the next round is planned for later.
func (r *Relay) rests(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.life.contact = time.Now().Add(d)
}
