package conveyor

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// begun is the baton of the first attempt.
var begun = func() <-chan struct{} { c := make(chan struct{}); close(c); return c }()

// start starts attempts in the order of their reservation: each passes a baton to the next right before its handler is called
// (from then on they are concurrent). What was reserved by a call that was on its way when the worker began to drain goes back at once.
func (w *Worker) start(work, base context.Context, reserved []Reservation) {
	if len(reserved) == 0 {
		return
	}
	started := make([]*Attempt, len(reserved))
	contexts := make([]context.Context, len(reserved))
	w.mu.Lock()
	for i, r := range reserved {
		ctx, cancel := context.WithCancelCause(base)
		a := &Attempt{job: r.Job, fence: r.Fence, opening: r.Opening, failed: r.Attempts, sync: r.Sync, engine: w.engine, cancel: cancel,
			output: newOutput(base, w.engine, r.Job.GetUuid(), r.Fence), after: w.exchanging.began, began: make(chan struct{})}
		if r.MaxCycles > 0 {
			a.cycle = r.Cycles + 1
		}
		if a.after == nil {
			a.after = begun
		}
		w.exchanging.began = a.began
		started[i], contexts[i] = a, attemptContext{ctx, a}
		w.held[Holding{r.Job.GetUuid(), r.Fence}] = a
		w.active++
	}
	w.mu.Unlock()

	if !w.lease.await(base, w.beatHint) {
		for _, a := range started {
			a.end(ErrShutdown)
		}
	}
	for i, a := range started {
		if work.Err() != nil {
			a.end(ErrShutdown)
		}
		w.attempts.Add(1)
		go w.attempt(contexts[i], a)
	}
}

// attempt runs one attempt to its end.
func (w *Worker) attempt(ctx context.Context, a *Attempt) {
	defer w.attempts.Done()
	<-a.after
	var ack Ack
	returned, began := false, time.Now()
	a.mu.Lock()
	a.toldAt = began
	a.mu.Unlock()
	defer func() {
		if !returned {
			ack = w.conclude(ctx, a, errGoexit)
		}
		if w.observer != nil {
			w.observer.Attempted(a.job.GetQueue(), outcomeOf(ack.Verdict, errors.Is(context.Cause(ctx), ErrCancelled)), time.Since(began))
		}
		a.unlisten()
		a.cancel(nil)
		w.mu.Lock()
		w.active--
		w.share.give()
		if w.active == 0 {
			hint(w.quietHint)
		}
		w.acks = append(w.acks, ack)
		w.mu.Unlock()
		hint(w.endedHint)
	}()
	ack = w.execute(ctx, a)
	returned = true
}

// execute decides whether the job may run here, runs it, and says how it ended.
func (w *Worker) execute(ctx context.Context, a *Attempt) Ack {
	began := false
	defer func() {
		if !began {
			close(a.began)
		}
	}()
	if cause := causeOf(ctx); cause != nil {
		return a.verdict(ctx, cause, w.o.Random)
	}
	call, refusal := w.admit(a)
	if refusal != nil {
		return *refusal
	}
	if cause := w.leased(ctx); cause != nil {
		return a.verdict(ctx, cause, w.o.Random)
	}
	if timeout := a.job.GetTimeout().AsDuration(); timeout > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, timeout, ErrTimeout)
		defer cancel()
		ctx = limited
	}
	began = true
	close(a.began)
	if len(a.job.GetResults())+len(a.job.GetSecrets()) > 0 {
		switch err := w.fill(ctx, a); {
		case errors.Is(err, ErrSecretRefused):
			return w.unspent(a, err.Error())
		case err != nil:
			return w.conclude(ctx, a, err)
		}
		if cause := w.leased(ctx); cause != nil {
			return w.conclude(ctx, a, cause)
		}
	}
	return w.conclude(ctx, a, a.run(ctx, call))
}

// leased waits until the lease of what the worker holds is valid, which it is not when the process was stopped for longer, and tells
// whether the attempt has to end: a beat says so of one that is not the worker's any more.
func (w *Worker) leased(ctx context.Context) error {
	w.lease.await(ctx, w.beatHint)
	return causeOf(ctx)
}

// conclude sends the rest of the attempt's log, which has to come before its end, and says how it ended.
func (w *Worker) conclude(ctx context.Context, a *Attempt, err error) Ack {
	if lost := a.output.close(); lost != nil && !errors.Is(lost, ErrOutdated) {
		w.o.Logger.Warn("the end of a log is lost", "worker", w.o.ID, "uuid", a.job.GetUuid(), "error", lost)
	}
	return a.verdict(ctx, err, w.o.Random)
}

// admit returns the handler that may run the job, with the job's payload opened, or how to give the job up unspent.
func (w *Worker) admit(a *Attempt) (Handler, *Ack) {
	job := a.job
	missing := func(what string) (Handler, *Ack) {
		ack := w.unspent(a, what)
		return nil, &ack
	}
	hold := func(err error) (Handler, *Ack) {
		err = fmt.Errorf("%sworker %s: %w", refusedBy, w.o.ID, err)
		return nil, &Ack{UUID: job.GetUuid(), Fence: a.fence, Verdict: VerdictHold, Failure: failureText(err.Error())}
	}

	w.mu.Lock()
	r, ok := w.handlers[job.GetType()]
	w.mu.Unlock()
	if !ok {
		return missing(fmt.Sprintf("no handler for job type %q", job.GetType()))
	}
	if asks := len(job.GetSecrets()) > 0; r.signed || asks {
		switch err := w.o.Keyring.Verify(w.namespace, job); {
		case errors.Is(err, ErrUnsigned) && asks:
			return hold(fmt.Errorf("%w, and it asks for secrets of the worker (%s), which no unsigned job gets: submit it with a key", err, secretNames(job)))
		case errors.Is(err, ErrUnsigned) && w.o.AllowUnsigned:
		case errors.Is(err, ErrUnknownKey):
			return missing(err.Error())
		case errors.Is(err, ErrUnsigned):
			return hold(fmt.Errorf("%w, and jobs of type %q have to be: submit it with a key, or start a worker that allows unsigned jobs", err, job.GetType()))
		case err != nil:
			return hold(err)
		}
	}
	payload, hidden, err := w.o.Keyring.openJob(job)
	switch {
	case errors.Is(err, ErrUnknownKey):
		return missing(err.Error())
	case err != nil:
		return hold(err)
	}
	job.Payload = payload
	a.hide(hidden...)
	if tick, ok := TickOf(job); ok && job.GetName() != "" { // not before: the payload is sealed for the template's name
		job.Name = OccurrenceName(job.GetName(), tick)
	}
	return r.call, nil
}

// unspent gives a job back for later, since this worker cannot run it and another may.
func (w *Worker) unspent(a *Attempt, what string) Ack {
	w.complain(what)
	return Ack{UUID: a.job.GetUuid(), Fence: a.fence, Verdict: VerdictNoHandler, Delay: BeatEvery}
}

// refusedBy begins the failure of a job that is on hold because a worker would not run it: it is not what its key signed or sealed.
const refusedBy = "not run by "

// complain logs once what keeps this worker from running jobs.
func (w *Worker) complain(what string) {
	w.mu.Lock()
	seen := w.unhandled[what]
	if len(w.unhandled) < 1000 { // job types come from outside
		w.unhandled[what] = true
	}
	w.mu.Unlock()
	if !seen {
		w.o.Logger.Warn("jobs are given back", "worker", w.o.ID, "reason", what)
	}
}

// end tells the attempt why it has to stop. Only the first reason counts.
func (a *Attempt) end(cause error) {
	if a != nil {
		a.cancel(cause)
	}
}

// cancelAll ends all attempts that the worker holds.
func (w *Worker) cancelAll(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.held {
		a.end(cause)
	}
}

// holdings are the attempts that the worker holds: of a job held twice only the latest, since the other is superseded.
func (w *Worker) holdings() (map[string]*Attempt, []Holding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	latest := make(map[string]*Attempt, len(w.held))
	for h, a := range w.held {
		if other := latest[h.UUID]; other == nil || other.fence < h.Fence {
			latest[h.UUID] = a
		}
	}
	running := make([]Holding, 0, len(latest))
	for uuid, a := range latest {
		running = append(running, Holding{uuid, a.fence})
	}
	return latest, running
}
