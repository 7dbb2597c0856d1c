package conveyor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// The pauses before the Worker of a namespace that failed is started again, and after what time without a failure they are short again.
const (
	leastRestart  = 500 * time.Millisecond
	mostRestart   = 30 * time.Second
	restartForget = time.Minute
)

// WorkerGroupOptions configures a WorkerGroup.
type WorkerGroupOptions struct {
	// Worker configures the Worker of each namespace. Its Concurrency bounds the attempts of each single namespace; default: as many as
	// run of all. The ID names the Workers of all namespaces.
	Worker WorkerOptions
	// Concurrency is how many attempts run at a time, of all namespaces together, 1 to 10,000. Default: 10.
	Concurrency int
	// Setup registers the handlers of a Worker, see Handle. It is called once for each namespace, and again for a Worker that takes the
	// place of one that failed. An error of it, other than the first time, is a failure of that namespace.
	Setup func(*Worker) error
}

// WorkerGroup runs a Worker for each of several namespaces, that share one limit of attempts: a free slot goes to the namespace that has
// the fewest of those that have ready jobs, so none of them starves another; running attempts are not interrupted for that. A namespace
// whose Worker fails, since a key of it is damaged, its user lacks a right or its node is down, is logged, and started again after a
// pause; the others go on.
//
// Clients may share one Redis client. Each namespace waits for wake-ups over a connection of its own, and follows events over
// another: a pool needs two connections a namespace and a few more.
type WorkerGroup struct {
	// Immutable.
	o       WorkerGroupOptions
	logger  *slog.Logger
	slots   *slots
	members map[string]*groupMember // by namespace

	mu  sync.Mutex
	ran bool
}

// groupMember is a namespace of a group.
type groupMember struct {
	client *Client

	mu     sync.Mutex
	o      WorkerOptions
	worker *Worker
	failed error // why the Worker is not running that is to be replaced; nil while it runs
}

// NewWorkerGroup returns a group of one Worker for each client. Run starts it.
func NewWorkerGroup(clients []*Client, o WorkerGroupOptions) (*WorkerGroup, error) {
	if o.Concurrency == 0 {
		o.Concurrency = DefaultConcurrency
	}
	if o.Worker.Concurrency == 0 {
		o.Worker.Concurrency = o.Concurrency
	}
	o.Worker = o.Worker.withDefaults() // so that one random id names all
	var problems []error
	if len(clients) == 0 {
		problems = append(problems, errors.New("no clients"))
	}
	if o.Concurrency < 1 || o.Concurrency > MaxConcurrency {
		problems = append(problems, fmt.Errorf("field Concurrency: %d is not in 1..%d", o.Concurrency, MaxConcurrency))
	}
	if o.Setup == nil {
		problems = append(problems, errors.New("field Setup: a worker needs handlers"))
	}
	if err := o.Worker.validate(); err != nil {
		problems = append(problems, fmt.Errorf("field Worker: %w", err))
	}
	g := &WorkerGroup{o: o, logger: o.Worker.Logger, slots: newSlots(o.Concurrency), members: make(map[string]*groupMember, len(clients))}
	for i, c := range clients {
		switch {
		case c == nil:
			problems = append(problems, fmt.Errorf("client %d is nil", i))
		case g.members[c.Namespace()] != nil:
			problems = append(problems, fmt.Errorf("namespace %q is given twice", c.Namespace()))
		default:
			m := &groupMember{client: c, o: o.Worker}
			m.o.Logger = o.Worker.Logger.With("namespace", c.Namespace())
			g.members[c.Namespace()] = m
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("worker group options: %w", err)
	}
	for _, namespace := range g.Namespaces() {
		if err := g.staff(g.members[namespace]); err != nil {
			return nil, fmt.Errorf("namespace %s: %w", namespace, err)
		}
	}
	return g, nil
}

// staff makes the Worker of a namespace.
func (g *WorkerGroup) staff(m *groupMember) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, err := NewWorker(m.client, m.o)
	if err != nil {
		return err
	}
	if err := g.o.Setup(w); err != nil {
		return err
	}
	w.share = g.slots.share(func() { hint(w.readyHint) })
	m.worker = w
	return nil
}

// Namespaces are those of the group, sorted.
func (g *WorkerGroup) Namespaces() []string { return slices.Sorted(maps.Keys(g.members)) }

// ID is the id under which the Workers register, each in its namespace.
func (g *WorkerGroup) ID() string { return g.o.Worker.ID }

// SetQueues replaces the queues that are served of a namespace. Running jobs go on.
func (g *WorkerGroup) SetQueues(namespace string, queues []QueueShare) error {
	m := g.members[namespace]
	if m == nil {
		return fmt.Errorf("namespace %q is not one of the group", namespace)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.worker.SetQueues(queues); err != nil {
		return err
	}
	m.o.Queues = slices.Clone(queues)
	return nil
}

// Run works until ctx ends, then all Workers drain at the same time, see Worker.Run. It returns nil after an orderly end, and what kept
// namespaces from one. A group runs once.
func (g *WorkerGroup) Run(ctx context.Context) error {
	g.mu.Lock()
	ran := g.ran
	g.ran = true
	g.mu.Unlock()
	if ran {
		return errors.New("the worker group has run already: make a new one")
	}
	var all sync.WaitGroup
	namespaces := g.Namespaces()
	ends := make([]error, len(namespaces))
	for i, namespace := range namespaces {
		all.Go(func() {
			if err := g.work(ctx, g.members[namespace]); err != nil {
				ends[i] = fmt.Errorf("namespace %s: %w", namespace, err)
			}
		})
	}
	all.Wait()
	return errors.Join(ends...)
}

// work runs the Worker of a namespace, and another one for each that fails, until ctx ends.
func (g *WorkerGroup) work(ctx context.Context, m *groupMember) error {
	wait := leastRestart
	for {
		began := time.Now()
		m.mu.Lock()
		w := m.worker
		m.mu.Unlock()
		err := w.Run(ctx)
		w.share.leave() // also of a Worker that did not get as far as that
		for ctx.Err() == nil {
			if time.Since(began) > restartForget {
				wait = leastRestart
			}
			m.mu.Lock()
			m.failed = err
			m.mu.Unlock()
			g.logger.Error("the worker of a namespace failed, the others go on", "namespace", m.client.Namespace(), "error", err, "again in", wait)
			m.client.happened(WorkerFailed, 1)
			if !sleep(ctx, wait) {
				return nil // it has ended already, and told why
			}
			wait = min(2*wait, mostRestart)
			if err = g.staff(m); err == nil {
				break
			}
		}
		if ctx.Err() != nil {
			if errors.Is(err, context.Canceled) {
				err = nil // it was told to end while it was starting
			}
			return err
		}
		m.mu.Lock()
		m.failed = nil
		m.mu.Unlock()
	}
}
