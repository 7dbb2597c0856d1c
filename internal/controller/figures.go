package controller

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/planner"
)

// figures are what a Loop counts, and how it stands. They are safe for concurrent use.
type figures struct {
	mu       sync.Mutex
	workflow string
	alive    time.Time // when it last did what it is there for
	leading  bool
	stands   bool // by, for another one that leads
	lease    *applier.Lease

	reading bool  // the source could be read the last time
	problem error // of the last round; nil for none
	began   bool  // a round, or standing by

	rounds, failures, healed, retried, added, changed, destroyed int64
	success                                                      time.Time // of a round
	took                                                         time.Duration
	newest, current                                              string // revisions: shown by the source; in the store
	isRejected, waiting                                          bool
	serves                                                       bool // there is a configuration that is healed
	kept                                                         int
	jobs                                                         map[string]int
}

func (f *figures) do(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *figures) opened(workflow string) { f.do(func() { f.workflow = workflow }) }
func (f *figures) reached(at time.Time) {
	f.do(func() {
		if at.After(f.alive) {
			f.alive = at
		}
	})
}
func (f *figures) leads(is bool)     { f.do(func() { f.leading, f.stands, f.jobs = is, false, nil }) }
func (f *figures) standsBy()         { f.do(func() { f.began, f.stands, f.problem = true, true, nil }) }
func (f *figures) unread()           { f.do(func() { f.reading = false }) }
func (f *figures) shown(r *reading)  { f.do(func() { f.reading, f.newest = true, r.id }) }
func (f *figures) waits(is bool)     { f.do(func() { f.waiting = is }) }
func (f *figures) keeps(n int)       { f.do(func() { f.kept = n }) }
func (f *figures) accepted()         { f.do(func() { f.isRejected, f.serves = false, true }) }
func (f *figures) heals(is bool)     { f.do(func() { f.serves = is }) }
func (f *figures) validated()        { f.do(func() { f.isRejected = false }) }
func (f *figures) rejected(has bool) { f.do(func() { f.isRejected, f.serves = true, has }) }

// holds tells whose renewals count as signs of life; nil for nobody's.
func (f *figures) holds(l *applier.Lease) { f.do(func() { f.lease = l }) }

// failed takes note of something that keeps rounds from being done.
func (f *figures) failed(err error) {
	f.do(func() {
		f.problem, f.began = err, true
		if errors.Is(err, errNothing) {
			f.alive = time.Now() // another process would fare no better
		}
	})
}

// round takes note of the end of a round.
func (f *figures) round(took time.Duration, err error) {
	f.do(func() {
		f.rounds++
		f.took, f.problem, f.began = took, err, true
		if err != nil {
			f.failures++
			return
		}
		f.success = time.Now()
		f.alive = f.success
	})
}

// applied takes note of the revision that the store is equal to.
func (f *figures) applied(r *reading) { f.do(func() { f.current = r.id }) }

// submitted counts what was submitted.
func (f *figures) submitted(kind Kind, r applier.Result, retried int) {
	f.do(func() {
		f.added += int64(r.Added)
		f.changed += int64(r.Changed)
		f.destroyed += int64(r.Destroyed)
		f.retried += int64(retried)
		if kind == KindHealed {
			f.healed += int64(r.Added + r.Changed + r.Destroyed)
		}
	})
}

// saw counts the recorded jobs by how they stand.
func (f *figures) saw(s *planner.State) {
	jobs := map[string]int{}
	for address := range s.Records {
		jobs[s.Live[address].Status.String()]++
	}
	f.do(func() { f.jobs = jobs })
}

// Live tells why the Loop counts as dead, nil when it is alive: a round, a renewal of its lease or a question for the lead has
// succeeded within a time.
func (l *Loop) Live(within time.Duration) error {
	f := &l.figures
	f.mu.Lock()
	defer f.mu.Unlock()
	alive := f.alive
	if f.lease != nil && f.lease.Renewed().After(alive) {
		alive = f.lease.Renewed()
	}
	if ago := time.Since(alive); ago > within {
		return fmt.Errorf("%sno round and no renewal of the lease has succeeded within %s%s", f.name(), within, f.why())
	}
	return nil
}

// Ready tells why the Loop is not ready, nil when it is: it leads and its last round succeeded, or it stands by; and the source can be
// read. A leader that goes on with the last good revision is ready.
func (l *Loop) Ready(within time.Duration) error {
	if err := l.Live(within); err != nil {
		return err
	}
	f := &l.figures
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !f.began:
		return fmt.Errorf("%sno round was done yet", f.name())
	case !f.reading:
		return fmt.Errorf("%sthe source cannot be read", f.name())
	case f.problem != nil:
		return fmt.Errorf("%sthe last round failed: %w", f.name(), f.problem)
	case f.isRejected && !f.serves && !f.stands:
		return fmt.Errorf("%srevision %s is rejected, and there is none before it that can be healed", f.name(), f.newest)
	}
	return nil
}

func (f *figures) name() string {
	if f.workflow == "" {
		return ""
	}
	return fmt.Sprintf("workflow %q: ", f.workflow)
}

func (f *figures) why() string {
	if f.problem == nil {
		return ""
	}
	return ": " + f.problem.Error()
}
