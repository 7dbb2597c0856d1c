package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// Store is an opened store. Closing it is the Loop's.
type Store struct {
	Client *conveyor.Client
	Name   string // for people; without passwords
	Close  func() error
}

// Options make a Loop. Source, Load and Open are required.
type Options struct {
	Source Source
	// Load reads and evaluates the configuration in a directory, with all variables. The workflow serves for its Sources alone where
	// the diagnostics hold errors.
	Load func(dir string) (*config.Workflow, hcl.Diagnostics)
	// Settings reads the workflow block alone, of a configuration that Load found mistakes in, so that a controller which starts on one
	// knows the store. Recall evaluates an archived configuration in place of that of the directory. Nil for either: nothing is
	// healed that this Loop has not applied itself.
	Settings func(dir string) (*config.Workflow, hcl.Diagnostics)
	Recall   func(archive *config.Archive, dir string) (*config.Workflow, hcl.Diagnostics)
	// Open opens the store of a workflow. It is opened again when another revision names another one.
	Open func(ctx context.Context, w *config.Workflow) (*Store, error)
	// Check judges a plan besides; errors reject it. Files are those that they are about, besides the configuration's own. Nil for
	// nothing to judge by.
	Check func(p *planner.Plan) (diags hcl.Diagnostics, files map[string]*hcl.File)

	Plan    planner.Options   // with what sensitive values are digested by; KeepEnded and Retry are the Loop's
	Keyring *conveyor.Keyring // signs jobs and seals what is sensitive
	Who     string            // for whoever asks who leads; default user@host

	Interval    time.Duration // between rounds in which nothing is noticed otherwise; default 30 s, at least 1 s
	MaxDestroy  Limit         // jobs that a plan may destroy without consent
	RetryFailed bool          // jobs that ended badly run again, later each time

	// Observe gets what happens, from one goroutine; nil for nobody.
	Observe func(Event)
}

// DefaultInterval is the time between rounds in which nothing is noticed otherwise.
const DefaultInterval = 30 * time.Second

func (o Options) withDefaults() Options {
	if o.Interval == 0 {
		o.Interval = DefaultInterval
	}
	if o.Observe == nil {
		o.Observe = func(Event) {}
	}
	return o
}

func (o Options) validate() error {
	var problems []error
	if o.Source == nil || o.Load == nil || o.Open == nil {
		problems = append(problems, errors.New("options Source, Load and Open are required"))
	}
	if o.Interval < time.Second {
		problems = append(problems, fmt.Errorf("option Interval is %s, and has to be at least 1s", o.Interval))
	}
	if o.MaxDestroy.N < 0 {
		problems = append(problems, fmt.Errorf("option MaxDestroy is %s, and cannot be negative", o.MaxDestroy))
	}
	return errors.Join(problems...)
}

// Pauses of a Loop besides its interval.
const (
	standbyPause = time.Second     // how often a standby asks for the lead
	consentPause = 2 * time.Second // how often the leader looks for a consent that it waits for
	stopWithin   = 10 * time.Second
)

// Loop keeps one workflow equal to its configuration. Run and Once belong to one goroutine; the other methods are safe to call from
// any.
type Loop struct {
	o       Options
	figures figures
	asked   chan struct{}

	newest   *reading // what the source shows; nil before it was read
	good     *reading // the last one that was applied, or of a standby the last one but the newest that is valid; nil for none
	recalled *reading // what the history has as applied last, if that is healed in place of good; nil for nothing
	applied  string   // the revision that this replica last made the store equal to
	site     *site    // the store that is open; nil for none
	lease    *applier.Lease

	read, round time.Time // when the next ones are due
	failures    int       // in a row
	waiting     string    // name of the plan that waits for consent
	begun       begun     // what was consented to and is not done
	inSync      bool      // told that nothing differs
	said        map[Kind]string
	warned      map[string]bool   // what was warned of, of this revision
	kept        map[string]string // by address: the bad end that was told, up to the round before
	keeping     map[string]string // likewise, in this round: of the newest revision and of the last good one
}

// site is a store together with what it is open for.
type site struct {
	*Store
	workflow  string
	of        string // names the store, the namespace and the workflow
	candidate *applier.Candidate
	leader    string // token of the other one that leads, as told
}

// New makes a Loop. Run or Once closes its source.
func New(o Options) (*Loop, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("controller: %w", err)
	}
	l := &Loop{o: o, asked: make(chan struct{}, 1), said: map[Kind]string{}, warned: map[string]bool{}, kept: map[string]string{}}
	l.figures.reached(time.Now())
	return l, nil
}

// Ask makes the Loop look at once.
func (l *Loop) Ask() {
	select {
	case l.asked <- struct{}{}:
	default:
	}
}

// Run goes on until ctx ends. Then it ends the submission in hand, if that takes no longer than ten seconds, gives up the lead and
// returns. What goes wrong meanwhile is told and tried again.
func (l *Loop) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		l.wait(ctx, l.turn(ctx))
	}
	return l.close(ctx)
}

// Once does one round, and fails where the newest revision was not applied. It waits within patience for another controller to give up
// the lead.
func (l *Loop) Once(ctx context.Context, patience time.Duration) (err error) {
	defer func() { err = errors.Join(err, l.close(ctx)) }()
	l.look(ctx)
	w := l.current()
	if w == nil {
		return ErrNotApplied
	}
	if err := l.open(ctx, w); err != nil {
		return err
	}
	for until := time.Now().Add(patience); ; {
		leads, err := l.lead(ctx)
		if err != nil {
			return err
		}
		if leads {
			break
		}
		if time.Now().After(until) {
			return fmt.Errorf("another controller leads workflow %q, and does what there is to do; nothing was done here", l.site.workflow)
		}
		l.wait(ctx, min(standbyPause, patience))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err := l.turnRound(ctx); err != nil {
		return err
	}
	if l.good != l.newest {
		return ErrNotApplied
	}
	return nil
}

// ErrNotApplied is why Once fails where the newest revision cannot be applied. What there is to say about it has been told.
var ErrNotApplied = errors.New("the newest revision was not applied")

// errNothing says that no revision could be applied so far.
var errNothing = errors.New("there is no configuration that can be applied")

// turn does what is due, and says how long nothing will be.
func (l *Loop) turn(ctx context.Context) time.Duration {
	if !time.Now().Before(l.read) {
		l.look(ctx)
		l.read = time.Now().Add(l.o.Interval)
		if l.failures == 0 {
			l.round = time.Time{}
		}
	}
	w := l.current()
	if w == nil {
		l.figures.failed(errNothing)
		return time.Until(l.read)
	}
	if l.site == nil && l.failures > 0 && time.Now().Before(l.round) {
		return min(time.Until(l.round), time.Until(l.read)) // the store could not be opened
	}
	if err := l.open(ctx, w); err != nil {
		l.fail(ctx, err)
		return min(time.Until(l.round), time.Until(l.read))
	}
	led := l.lease != nil
	leads, err := l.lead(ctx)
	switch {
	case err != nil:
		l.figures.failed(err)
		if ctx.Err() == nil {
			l.once(KindFailed, Event{Text: fmt.Sprintf("%v; asked again each second", err)}, "lead")
		}
		return standbyPause
	case !leads:
		return min(standbyPause, time.Until(l.read))
	case !led:
		l.round = time.Time{}
	}
	if l.waiting != "" && l.consented(ctx) {
		l.round = time.Time{}
	}
	if !time.Now().Before(l.round) {
		if err := l.turnRound(ctx); err != nil {
			l.fail(ctx, err)
		} else {
			l.round = l.read
		}
	}
	pause := min(time.Until(l.round), time.Until(l.read))
	if l.waiting != "" {
		pause = min(pause, consentPause)
	}
	return pause
}

// fail takes note of a round that could not be ended.
func (l *Loop) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	var locked *applier.LockedError
	if errors.As(err, &locked) {
		l.round = time.Now().Add(roundPauseMin)
		l.once(KindWaiting, Event{Text: fmt.Sprintf("the workflow is locked by %s, for %s; it is applied when the lock is free", locked.Holder.Who, locked.Holder.Operation)},
			locked.Holder.Token)
		return
	}
	if errors.Is(err, applier.ErrLeaseLost) {
		l.round = time.Time{}
		return // told by lead
	}
	pause := roundPause(l.failures)
	l.failures++
	l.round = time.Now().Add(pause)
	l.inSync = false
	l.figures.failed(err)
	l.tell(Event{Kind: KindFailed, Text: fmt.Sprintf("%v; tried again in %s", err, pause.Round(100*time.Millisecond))})
}

// wait waits until a pause is over or something is to be looked at.
func (l *Loop) wait(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(max(0, pause))
	defer timer.Stop()
	var lost <-chan struct{}
	if l.lease != nil {
		lost = l.lease.Held().Done()
	}
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-lost:
	case <-l.o.Source.Changed():
		l.read, l.round = time.Time{}, time.Time{}
	case <-l.asked:
		l.read, l.round = time.Time{}, time.Time{}
	}
}

// close gives up the lead, the store and the source.
func (l *Loop) close(ctx context.Context) error {
	return errors.Join(l.leave(ctx), l.o.Source.Close())
}

// tell tells an event.
func (l *Loop) tell(e Event) {
	if r := l.newest; r != nil {
		if e.Revision.Revision == "" {
			e.Revision = r.source()
		}
		if e.Dir == "" {
			e.Dir = r.dir
		}
	}
	if l.site != nil && e.Workflow == "" {
		e.Workflow = l.site.workflow
	}
	l.o.Observe(e)
}

// once tells an event unless the same was the last of its kind, until that is over.
func (l *Loop) once(kind Kind, e Event, same string) {
	if l.said[kind] == same {
		return
	}
	l.said[kind] = same
	e.Kind = kind
	l.tell(e)
}

// maxWarned bounds what is remembered of warnings; after it they are told again.
const maxWarned = 1000

// warn tells a warning once for each revision that the source shows.
func (l *Loop) warn(e Event, same string) {
	if l.warned[same] {
		return
	}
	if len(l.warned) >= maxWarned {
		clear(l.warned)
	}
	l.warned[same] = true
	e.Kind = KindWarning
	l.tell(e)
}

// over says that what was told once is so no more.
func (l *Loop) over(kinds ...Kind) {
	for _, k := range kinds {
		delete(l.said, k)
	}
}
