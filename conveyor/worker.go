package conveyor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// ErrWorkerID says that another live worker has this worker's id.
var ErrWorkerID = errors.New("a live worker has this id")

// leaveTimeout bounds the last calls of a worker, which hand back what it has and sign it off.
const leaveTimeout = 5 * time.Second

// Worker takes jobs from queues and runs their handlers. One goroutine acknowledges what ended and reserves the next, never
// more than there are free slots; one renews the lease of all that runs; one does the upkeep of the namespace; one waits
// for wake-ups; and each attempt has its own.
type Worker struct {
	// Immutable.
	engine     engine
	observer   Observer                    // nil for none
	check      func(context.Context) error // of the store, before the first call
	namespace  string
	o          WorkerOptions
	idGiven    bool
	host       string
	startedAt  time.Time
	endedHint  chan struct{} // 1 slot: something is in acks
	readyHint  chan struct{} // 1 slot: something may be ready, or the queues changed
	beatHint   chan struct{} // 1 slot: the next beat is wanted now
	quietHint  chan struct{} // 1 slot: no handler runs
	attempts   sync.WaitGroup
	lease      lease
	share      *share     // of the slots of a WorkerGroup; nil for a worker by itself
	exchanging exchanging // owned by the goroutine of Run

	mu         sync.Mutex
	phase      phase
	problems   []error // with what was registered
	handlers   map[string]registration
	middleware []Middleware
	atEnd      []func()
	turns      *turns
	held       map[Holding]*Attempt // reserved and not known to be acknowledged
	active     int                  // attempts whose handler has not ended
	contact    time.Time            // of the latest successful exchange or tick
	draining   bool                 // nothing more is reserved: no slot is offered
	acks       []Ack                // of ended attempts, to be sent
	strays     strays               // that the store counts as the worker's
	unhandled  map[string]bool      // complaints that were logged
}

type phase uint8

const (
	phaseNew phase = iota
	phaseRunning
	phaseEnded
)

// NewWorker returns a worker without handlers: see Handle, HandleJSON and HandleRaw. Run starts it.
func NewWorker(c *Client, o WorkerOptions) (*Worker, error) {
	if c == nil {
		return nil, errors.New("worker options: no client")
	}
	w, err := newWorker(c, c.Namespace(), o)
	if err == nil {
		w.check, w.observer = c.CheckStore, c.observer
	}
	return w, err
}

func newWorker(e engine, namespace string, o WorkerOptions) (*Worker, error) {
	given := o.ID != ""
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("worker options: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return &Worker{
		engine: e, check: func(context.Context) error { return nil }, namespace: namespace, o: o, idGiven: given, host: host, startedAt: time.Now(),
		endedHint: make(chan struct{}, 1), readyHint: make(chan struct{}, 1), beatHint: make(chan struct{}, 1),
		quietHint: make(chan struct{}, 1),
		handlers:  make(map[string]registration), held: make(map[Holding]*Attempt), unhandled: make(map[string]bool),
		turns: newTurns(o.Queues),
	}, nil
}

// ID is the id under which the worker registers.
func (w *Worker) ID() string { return w.o.ID }

// Namespace is the namespace that the worker works for.
func (w *Worker) Namespace() string { return w.namespace }

// SetQueues replaces the queues that the worker serves. Running jobs go on.
func (w *Worker) SetQueues(queues []QueueShare) error {
	if err := checkQueues(queues); err != nil {
		return err
	}
	w.mu.Lock()
	w.turns = newTurns(queues)
	w.mu.Unlock()
	hint(w.readyHint)
	hint(w.beatHint)
	return nil
}

// Run works until ctx ends, then drains: it reserves nothing more, gives running jobs ShutdownTimeout to end, tells the rest
// to stop, hands back to their places those that did not get done, and signs off. It returns nil after an orderly end, and
// an error when the worker cannot start, when Redis gives an answer that no repetition mends, or when handlers or Redis did
// not let it end in order. A worker runs once.
func (w *Worker) Run(ctx context.Context) error {
	if err := w.begin(); err != nil {
		return err
	}
	defer func() {
		w.mu.Lock()
		w.phase = phaseEnded
		w.mu.Unlock()
	}()
	if err := w.repeated(ctx, w.check); err != nil {
		return fmt.Errorf("start worker %s: %w", w.o.ID, err)
	}
	if err := w.repeated(ctx, w.register); err != nil {
		return fmt.Errorf("start worker %s: %w", w.o.ID, err)
	}
	cycle := w.tick(ctx) // what waited too long while nobody worked expires before anything is reserved
	w.o.Logger.Info("worker started", "worker", w.o.ID, "concurrency", w.o.Concurrency)

	// work ends when no new job is to be taken, base when all is to be dropped.
	work, quit := context.WithCancelCause(ctx)
	defer quit(nil)
	base, drop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer drop(nil)
	aside, end := context.WithCancel(base)
	defer end()
	var beside sync.WaitGroup
	for _, f := range []func(context.Context){w.beats, func(ctx context.Context) { w.ticks(ctx, cycle) }, w.wakes} {
		beside.Go(func() { f(aside) })
	}
	beside.Go(func() { w.shutdown(work, aside, drop) })

	err := w.serve(work, base, quit)
	end()
	if err := w.engine.wake(base, w.o.ID); err != nil {
		w.o.Logger.Debug("the call that waits for wake-ups ends by itself", "worker", w.o.ID, "error", err)
	}
	beside.Wait() // a beat after Leave would register the worker again
	w.end()
	w.share.leave()
	return errors.Join(err, w.leave(ctx))
}

// begin checks what was registered and closes the registration.
func (w *Worker) begin() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.phase != phaseNew {
		return fmt.Errorf("worker %s has run already: make a new one", w.o.ID)
	}
	problems := slices.Clone(w.problems)
	if len(w.handlers) == 0 {
		problems = append(problems, errors.New("it has no handlers"))
	}
	if len(problems) > 0 {
		return fmt.Errorf("worker %s cannot run: %w", w.o.ID, errors.Join(problems...))
	}
	w.wrap()
	w.phase = phaseRunning
	return nil
}

// register makes the worker known. A random id is nobody else's; a given one may be that of a worker that was killed a
// moment ago, whose jobs must be counted as lost before the id serves again.
func (w *Worker) register(ctx context.Context) error {
	w.engine.ears().host(w.o.ID)
	if w.idGiven {
		deadline := time.Now().Add(DeadAfter + 2*BeatEvery)
		for {
			if _, err := w.engine.Tick(ctx); err != nil { // announces dead workers
				return err
			}
			workers, err := w.engine.Workers(ctx)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(workers, func(i WorkerInfo) bool { return i.ID == w.o.ID }) {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("%w: give each worker an id of its own", ErrWorkerID)
			}
			w.o.Logger.Info("waiting for the previous worker of this id to be announced dead", "worker", w.o.ID)
			if !sleep(ctx, BeatEvery/2) {
				return context.Cause(ctx)
			}
		}
	}
	sent := time.Now()
	if _, err := w.engine.Beat(ctx, w.info(nil)); err != nil {
		return err
	}
	w.lease.renew(sent)
	return nil
}

// repeated makes the first calls of a worker again while the store does not answer, for as long as a lease lasts: a moment's
// outage is no reason not to start.
func (w *Worker) repeated(ctx context.Context, call func(context.Context) error) error {
	deadline := time.Now().Add(DeadAfter)
	for pause := newPause(); ; {
		err := call(ctx)
		if err == nil || !errors.Is(err, ErrUnavailable) || time.Now().After(deadline) {
			return err
		}
		w.o.Logger.Warn("the start is repeated", "worker", w.o.ID, "error", err)
		if !pause.wait(ctx) {
			return context.Cause(ctx)
		}
	}
}

// info describes the worker for a beat.
func (w *Worker) info(running []Holding) WorkerInfo {
	w.mu.Lock()
	defer w.mu.Unlock()
	types := make([]string, 0, len(w.handlers))
	for t := range w.handlers {
		types = append(types, t)
	}
	slices.Sort(types)
	capacity := w.o.Concurrency
	if w.draining {
		capacity = 0
	}
	return WorkerInfo{
		ID: w.o.ID, Host: w.host, PID: os.Getpid(), Team: w.o.Team, Queues: w.turns.names(), Types: types,
		KeyIDs: w.o.Keyring.IDs(), Secrets: w.secretPatterns(), Capacity: capacity, Started: w.startedAt, Running: running,
	}
}

// shutdown waits for work to end, then holds the worker to its deadlines.
func (w *Worker) shutdown(work, done context.Context, drop context.CancelCauseFunc) {
	select {
	case <-work.Done():
	case <-done.Done():
		return
	}
	w.mu.Lock()
	w.draining = true
	w.mu.Unlock()
	hint(w.beatHint) // so that a fair queue leaves nothing to this worker any more
	w.o.Logger.Info("worker drains", "worker", w.o.ID, "timeout", w.o.ShutdownTimeout)
	if !w.quiet(done, w.o.ShutdownTimeout) {
		w.cancelAll(ErrShutdown)
		if !w.quiet(done, w.o.StopTimeout) && done.Err() == nil {
			drop(fmt.Errorf("handlers did not stop within %s of being told to", w.o.StopTimeout))
			return
		}
	}
	if sleep(done, leaveTimeout) { // for the last acknowledgements, which are on their way
		drop(fmt.Errorf("the last acknowledgements got no answer: %w", ErrUnavailable))
	}
}

// quiet waits until no handler runs, for at most d and until ctx ends.
func (w *Worker) quiet(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	for {
		w.mu.Lock()
		active := w.active
		w.mu.Unlock()
		if active == 0 {
			return true
		}
		select {
		case <-w.quietHint:
		case <-t.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// leave hands back whatever the store still holds for the worker.
func (w *Worker) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	for pause := newPause(); ; {
		err := w.engine.Leave(ctx, w.o.ID)
		if err == nil {
			w.o.Logger.Info("worker left", "worker", w.o.ID)
			return nil
		}
		if !transient(err) || !pause.wait(ctx) {
			return fmt.Errorf("sign off worker %s: %w: its jobs go back after %s", w.o.ID, err, DeadAfter)
		}
	}
}

// transient tells whether repeating a call may help. A deadline here is always that of a single call.
func transient(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// hint puts a token into a channel of one slot.
func hint(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// sleep reports whether d has passed; false means that ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
