package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/handlers"
	"github.com/waybill-dev/waybill/planner"
)

// ownWorker is a worker inside apply.
type ownWorker struct {
	ctx     context.Context // ends when the worker has ended, so that what it hands back is still seen
	working context.Context // ends when it is to stop
	quit    context.CancelFunc
	done    chan struct{}
	err     error // set before done is closed

	observer applier.Observer
	begin    func() // starts it; may be called again
}

// Observe passes events on, and lets the worker begin once everything is submitted and followed: nothing runs that is
// not seen, and nothing at all for an apply that is refused.
func (o *ownWorker) Observe(e applier.Event) {
	o.observer.Observe(e)
	if _, ok := e.(applier.Following); ok {
		o.begin()
	}
}

// startWorker makes a worker that runs the workflow's jobs in this process, until stop. Jobs that still run then are
// handed back.
func (p *applying) startWorker(ctx context.Context, plan *planner.Plan) (*ownWorker, error) {
	secrets, err := p.secrets.source()
	if err != nil {
		return nil, err
	}
	w, err := conveyor.NewWorker(p.store.client, conveyor.WorkerOptions{
		Queues: shares(planQueues(plan), nil), Concurrency: p.parallelism, ShutdownTimeout: -1, Keyring: p.keyring, Secrets: secrets,
	})
	if err != nil {
		return nil, fail("Cannot start a worker", "%v.", err)
	}
	if err := handlers.Register(w, handlers.Options{Dir: p.store.dir}); err != nil {
		return nil, fail("Cannot start a worker", "%v.", err)
	}
	following, ended := context.WithCancel(context.WithoutCancel(ctx))
	working, quit := context.WithCancel(ctx)
	own := &ownWorker{ctx: following, working: working, quit: quit, done: make(chan struct{})}
	begun := make(chan struct{})
	own.observer, own.begin = p.display, sync.OnceFunc(func() { close(begun) })
	go func() {
		defer close(own.done)
		defer ended()
		select {
		case <-begun:
		case <-working.Done():
			return
		}
		if declared, err := p.store.client.Queues(working); err == nil { // by now they are written; without them weights are equal
			_ = w.SetQueues(shares(planQueues(plan), declared)) // the names were accepted before
		}
		if err := w.Run(working); err != nil {
			own.err = fmt.Errorf("the worker ended: %w", err)
		}
	}()
	return own, nil
}

// stop drains the worker and waits for it. died tells that it had ended by itself before it was asked to. A nil worker
// was never there.
func (o *ownWorker) stop() (died bool, err error) {
	if o == nil {
		return false, nil
	}
	asked := o.working.Err() != nil
	select {
	case <-o.done:
		died = o.err != nil && !asked
	default:
	}
	o.quit()
	<-o.done
	if !died && errors.Is(o.err, context.Canceled) {
		return false, nil // it was asked to stop while it was starting
	}
	return died, o.err
}

// planQueues are the queues of all jobs that a plan declares or finds recorded.
func planQueues(plan *planner.Plan) []string {
	queues := map[string]bool{}
	for _, r := range plan.Rows {
		if r.Job != nil {
			queues[r.Job.Queue] = true
		}
		if r.Prior != nil {
			queues[r.Prior.Queue] = true
		}
	}
	return slices.Sorted(maps.Keys(queues))
}

// shares gives queues the weights that are declared of them, 1 without any.
func shares(queues []string, declared []conveyor.QueueInfo) []conveyor.QueueShare {
	s := make([]conveyor.QueueShare, 0, len(queues))
	for _, name := range queues {
		share := conveyor.QueueShare{Name: name, Weight: 1}
		for _, q := range declared {
			if q.Name == name {
				share.Weight = min(max(q.Settings.Weight, 1), conveyor.MaxWeight)
			}
		}
		s = append(s, share)
	}
	return s
}

// builtIn tells whether every worker of the command line handles a type.
func builtIn(jobType string) bool {
	switch jobType {
	case handlers.TypeExec, handlers.TypeHTTP, handlers.TypeSleep, handlers.TypeNoop:
		return true
	}
	return false
}
