package task

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/schedule"
)

// Errors of tasks that are owned, or are not.
var (
	ErrNotOwned = errors.New("task is not owned: only Search gives ownership, and templates are deleted with the bypass label")
	ErrTemplate = errors.New("the bypass label deletes templates only: a task belongs to its owner")
)

// Options configures an Engine. The zero value works.
type Options struct {
	// Queue holds the tasks. Default: "tasks".
	Queue string
	// Type is the job type of the tasks. Default: "task".
	Type string
	// Worker is the id under which tasks are owned and delivered. Default: a random uuid.
	Worker string
	// Expiry is how long a task is owned before anybody may own it again, unless it is extended. At least a millisecond.
	// Default: 30 s.
	Expiry time.Duration
}

func (o Options) withDefaults() Options {
	if o.Queue == "" {
		o.Queue = "tasks"
	}
	if o.Type == "" {
		o.Type = "task"
	}
	if o.Worker == "" {
		o.Worker = uuid.NewString()
	}
	if o.Expiry == 0 {
		o.Expiry = 30 * time.Second
	}
	return o
}

// Engine is what producers and workers of tasks use. It is safe for any number of goroutines.
type Engine struct {
	c *conveyor.Client
	o Options

	mu     sync.Mutex
	search calls
	acks   calls
}

// calls numbers the calls of one caller, one in flight at a time.
type calls struct {
	id     string
	number int64
	open   *conveyor.ExchangeRequest // the latest, while it has no answer: it is repeated before any other
}

// New returns an Engine over a client, which stays the caller's.
func New(c *conveyor.Client, o Options) (*Engine, error) {
	o = o.withDefaults()
	var problems []error
	if c == nil {
		problems = append(problems, errors.New("no client"))
	}
	if o.Expiry < time.Millisecond {
		problems = append(problems, fmt.Errorf("field Expiry: %s is less than a millisecond", o.Expiry))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("task engine: %w", err)
	}
	return &Engine{c: c, o: o, search: calls{id: uuid.NewString()}, acks: calls{id: uuid.NewString()}}, nil
}

// Worker is the id of this engine as a worker.
func (e *Engine) Worker() string { return e.o.Worker }

// Create submits a task. Anyone can create any task at any time. It sets Core[Object], and the ticks of a schedule.
func (e *Engine) Create(ctx context.Context, t *Task) error {
	job, err := e.jobOf(t)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	job.Uuid = uuid.NewString() // here, so that a repeated call of the client adds one job
	if err := e.c.Add(ctx, job); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	t.Core = withLabel(t.Core, Object, job.Uuid)
	if s := job.Schedule; s != nil {
		parsed, err := schedule.Parse(s.Every, s.Cron, s.Timezone)
		now, clock := e.c.Now(ctx)
		if err := errors.Join(err, clock); err != nil {
			return fmt.Errorf("create: the task is there, its ticks are not known: %w", err)
		}
		t.Cron = ticks(t.Cron, parsed.Prev(now), parsed.Next(now))
	}
	return nil
}

func withLabel(l Labels, key, value string) Labels {
	out := Labels{key: value}
	for k, v := range l {
		if k != key {
			out[k] = v
		}
	}
	return out
}

func ticks(cron Labels, prev, next time.Time) Labels {
	cron = withLabel(cron, LastTick, prev.UTC().Format(time.RFC3339Nano))
	return withLabel(cron, NextTick, next.UTC().Format(time.RFC3339Nano))
}

// Search gives the calling worker a task to own, or nil when there is none: what goes to all workers first, then what goes to this one,
// then any, by order of creation. An error loses nothing: a task whose answer is lost is told by the next Search.
func (e *Engine) Search(ctx context.Context) (*Task, error) {
	if err := e.alive(ctx); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	for {
		r, until, more, err := e.reserve(ctx)
		if err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		if r == nil {
			if more {
				continue
			}
			return nil, nil
		}
		t := e.owned(*r, until)
		if t.Node[Method] == DeliverAll {
			if err := e.end(ctx, t, conveyor.VerdictDone, 0, ""); err != nil {
				return nil, fmt.Errorf("search: %w", err)
			}
			t.done = true
		}
		return t, nil
	}
}

// reserve takes one job, and tells until when, or whether there may be more.
func (e *Engine) reserve(ctx context.Context) (r *conveyor.Reservation, until time.Time, more bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	repeated := e.search.open != nil
	if !repeated {
		e.search.number++
		e.search.open = &conveyor.ExchangeRequest{Caller: e.search.id, Number: e.search.number, Holder: e.o.Worker, Lease: e.o.Expiry,
			Queues: []string{e.o.Queue}, Want: 1}
	}
	reply, err := e.c.Exchange(ctx, *e.search.open)
	if err != nil {
		if !errors.Is(err, conveyor.ErrUnavailable) && ctx.Err() == nil {
			e.search.open = nil // refused: nothing was changed
		}
		return nil, until, false, err
	}
	e.search.open = nil
	if len(reply.Reserved) == 0 {
		return nil, until, reply.More || repeated, nil
	}
	return &reply.Reserved[0], reply.Now.Add(e.o.Expiry), false, nil
}

// alive makes the engine known as a worker, so that what goes to all workers goes to it too.
func (e *Engine) alive(ctx context.Context) error {
	_, err := e.c.Beat(ctx, conveyor.WorkerInfo{ID: e.o.Worker, Queues: []string{e.o.Queue}, Types: []string{e.o.Type}})
	return err
}

// end acknowledges an owned task in some way.
func (e *Engine) end(ctx context.Context, t *Task, verdict conveyor.Verdict, delay time.Duration, failure string) error {
	a := conveyor.Ack{UUID: t.Core[Object], Fence: t.fence, Verdict: verdict, Delay: delay, Failure: failure}
	if !maps.Equal(t.sync, t.Sync) {
		a.Sync = map[string]string{}
		maps.Copy(a.Sync, t.Sync)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.acks.number++ // an acknowledgement is idempotent by its fence: an unanswered one need not be repeated by its number
	reply, err := e.c.Exchange(ctx, conveyor.ExchangeRequest{Caller: e.acks.id, Number: e.acks.number, Done: []conveyor.Ack{a}})
	if err != nil || len(reply.Outdated) == 0 {
		return err
	}
	return fmt.Errorf("task %s: %w", a.UUID, conveyor.ErrOutdated)
}

// Delete removes a task that its owner has done, and stores its Sync for the next execution. An owner whose time has expired gets
// conveyor.ErrOutdated, and the task stays. A template is deleted by anyone whose Core has its Object and Bypass "true".
func (e *Engine) Delete(ctx context.Context, t *Task) error {
	switch {
	case t == nil:
		return fmt.Errorf("delete: %w", ErrNil)
	case t.Core[Bypass] == "true":
		s, err := e.c.Statuses(ctx, []string{t.Core[Object]})
		if err == nil && s[0].State != conveyor.StateTemplate && s[0].State != conveyor.StateUnknown && !s[0].State.Ended() {
			err = ErrTemplate
		}
		if err == nil {
			err = e.c.Cancel(ctx, t.Core[Object])
		}
		if err != nil {
			return fmt.Errorf("delete %s: %w", t.Core[Object], err)
		}
		return nil
	case t.done:
		return nil
	case t.fence == 0:
		return fmt.Errorf("delete %s: %w", t.Core[Object], ErrNotOwned)
	}
	err := e.end(ctx, t, conveyor.VerdictDone, 0, "")
	if errors.Is(err, conveyor.ErrOutdated) && e.succeeded(ctx, t) {
		err = nil // by an earlier call, whose answer was lost
	}
	if err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return nil
}

// succeeded tells whether this very execution has been acknowledged as done.
func (e *Engine) succeeded(ctx context.Context, t *Task) bool {
	s, err := e.c.Statuses(ctx, []string{t.Core[Object]})
	return err == nil && s[0].Fence == t.fence && (s[0].State == conveyor.StateCompleted || s[0].State == conveyor.StateClosing)
}

// Defer puts an owned task back with its Sync, to be found again after d, instead of ending it: with 0 it turns a page.
func (e *Engine) Defer(ctx context.Context, t *Task, d time.Duration) error {
	if err := owns(t); err != nil {
		return fmt.Errorf("defer: %w", err)
	}
	if err := e.end(ctx, t, conveyor.VerdictDefer, d, ""); err != nil {
		return fmt.Errorf("defer: %w", err)
	}
	return nil
}

// Extend has an owned task expire only Expiry from now. An owner whose time has expired gets conveyor.ErrOutdated.
func (e *Engine) Extend(ctx context.Context, t *Task) error {
	if err := owns(t); err != nil {
		return fmt.Errorf("extend: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.acks.number++
	reply, err := e.c.Exchange(ctx, conveyor.ExchangeRequest{Caller: e.acks.id, Number: e.acks.number,
		Done: []conveyor.Ack{{UUID: t.Core[Object], Fence: t.fence, Verdict: conveyor.VerdictExtend, Delay: e.o.Expiry}}})
	if err == nil && len(reply.Outdated) > 0 {
		err = fmt.Errorf("task %s: %w", t.Core[Object], conveyor.ErrOutdated)
	}
	if err != nil {
		return fmt.Errorf("extend: %w", err)
	}
	t.Core = withLabel(t.Core, Expiry, reply.Now.Add(e.o.Expiry).UTC().Format(time.RFC3339Nano))
	return nil
}

func owns(t *Task) error {
	switch {
	case t == nil:
		return ErrNil
	case t.fence == 0 || t.done:
		return fmt.Errorf("%s: %w", t.Core[Object], ErrNotOwned)
	}
	return nil
}
