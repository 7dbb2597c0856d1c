package conveyor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// The errors of a MessageQueue, each told apart from all others.
var (
	ErrNilTask           = errors.New("task is nil")
	ErrEmptyID           = errors.New("task has no id")
	ErrMissingPriority   = errors.New("task has no priority")
	ErrPriorityRange     = errors.New("task's priority is not 0, 1 or 2")
	ErrNotReserved       = errors.New("task is there, but not reserved")
	ErrReservedElsewhere = errors.New("task is reserved by another: this reservation is outdated")
)

// DefaultReserveFor is how long a task of a MessageQueue is reserved when nothing else is said.
const DefaultReserveFor = 60 * time.Second

// DefaultTaskType is the job type of tasks that have none.
const DefaultTaskType = "message"

// MessageQueueOptions configures a MessageQueue. The zero value works.
type MessageQueueOptions struct {
	// ReserveFor is the timeout of a reservation whose task has no reserve_for of its own. At least a millisecond. Default: 60 s.
	ReserveFor time.Duration
	// Type is the job type of tasks pushed without one. Default: "message".
	Type string
}

// MessageQueue is the contract of a plain queue over one queue of the engine: Push, Reserve, Delete. Tasks of a higher
// priority come first, and those of one priority in the order they were pushed; a task that is reserved and not deleted in
// time is back at its place. It is safe for any number of goroutines, and any number of processes may use one queue, beside
// workers too.
type MessageQueue struct {
	c    *Client
	name string
	o    MessageQueueOptions

	mu         sync.Mutex
	reserving  []*caller // not in use
	unanswered []*caller // not in use, with a call to repeat: these go on first
	deleting   []*caller // not in use
	tickedAt   time.Time
}

// caller numbers calls, one in flight at a time.
type caller struct {
	id     string
	number int64            // of the latest call
	open   *ExchangeRequest // the latest call, when it got no answer: to be repeated before any other
}

// MessageQueue returns the queue of this name. It costs nothing and is never closed.
func (c *Client) MessageQueue(name string, o MessageQueueOptions) (*MessageQueue, error) {
	if o.ReserveFor == 0 {
		o.ReserveFor = DefaultReserveFor
	}
	if o.Type == "" {
		o.Type = DefaultTaskType
	}
	var problems []error
	if !validName(name) {
		problems = append(problems, fmt.Errorf("%w: %q", ErrQueueName, name))
	}
	if o.ReserveFor < time.Millisecond {
		problems = append(problems, fmt.Errorf("field ReserveFor: %s is less than a millisecond", o.ReserveFor))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("message queue: %w", err)
	}
	return &MessageQueue{c: c, name: name, o: o}, nil
}

// Push queues a task and returns it as it is stored: with this queue, and with a type if it had none. Its uuid is the id,
// and a priority of 0 to 2 must be set; after delays it. A task whose timeouts are to end it sets max_lost in its retry
// policy: without that it comes back however often. When an error is returned the task is not queued, unless that is
// ErrUnavailable or the context's: then it may be, and pushing it again is safe, since one id runs once.
func (q *MessageQueue) Push(ctx context.Context, task *wire.Job) (*wire.Job, error) {
	switch {
	case task == nil:
		return nil, fmt.Errorf("push: %w", ErrNilTask)
	case task.GetUuid() == "":
		return nil, fmt.Errorf("push: %w", ErrEmptyID)
	case task.Priority == nil:
		return nil, fmt.Errorf("push %s: %w", task.GetUuid(), ErrMissingPriority)
	case task.GetPriority() < 0 || task.GetPriority() > 2:
		return nil, fmt.Errorf("push %s: %w: %d", task.GetUuid(), ErrPriorityRange, task.GetPriority())
	}
	job := proto.CloneOf(task)
	job.Queue = q.name
	if job.GetType() == "" {
		job.Type = q.o.Type
	}
	if job.RetryPolicy == nil {
		job.RetryPolicy = &wire.RetryPolicy{}
	}
	if job.RetryPolicy.MaxLost == nil {
		job.RetryPolicy.MaxLost = proto.Int32(0)
	}
	if err := q.c.Add(ctx, job); err != nil {
		return nil, fmt.Errorf("push %s: %w", task.GetUuid(), err)
	}
	return job, nil
}

// Reserve takes the first task and starts its timeout: its reserve_for, else the option's. It returns nil and no error when
// nothing is there. Nothing is lost with an error: if a task was reserved and the answer lost, a later Reserve of this
// MessageQueue learns of it, and otherwise its timeout brings it back.
func (q *MessageQueue) Reserve(ctx context.Context) (*Reservation, error) {
	q.tick(ctx)
	who := q.take(&q.unanswered, &q.reserving)
	defer func() {
		if who.open != nil {
			q.put(&q.unanswered, who)
		} else {
			q.put(&q.reserving, who)
		}
	}()
	var broken []Ack
	for {
		repeated := who.open != nil
		if !repeated {
			who.number++
			who.open = &ExchangeRequest{
				Caller: who.id, Number: who.number, Lease: q.o.ReserveFor, Queues: []string{q.name}, Want: 1, Done: broken,
			}
		}
		reply, err := q.c.Exchange(ctx, *who.open)
		if err != nil {
			if !errors.Is(err, ErrUnavailable) && ctx.Err() == nil {
				who.open = nil // refused: nothing was changed
			}
			return nil, fmt.Errorf("reserve from %s: %w", q.name, err)
		}
		who.open = nil
		if len(reply.Reserved) > 0 {
			return &reply.Reserved[0], nil
		}
		if broken = reply.Broken; len(broken) == 0 && !reply.More && !repeated {
			return nil, nil
		}
	}
}

// Delete ends a reserved task for good. A task that is there but not reserved is ErrNotReserved, one that is reserved by
// another by now ErrReservedElsewhere; both are left alone. A task that is not there is deleted already. A Reservation of
// nothing but a Job with its uuid asks for a task that the caller did not reserve.
func (q *MessageQueue) Delete(ctx context.Context, r *Reservation) error {
	switch {
	case r == nil || r.Job == nil:
		return fmt.Errorf("delete: %w", ErrNilTask)
	case r.Job.GetUuid() == "":
		return fmt.Errorf("delete: %w", ErrEmptyID)
	}
	id := r.Job.GetUuid()
	if r.Fence > 0 {
		who := q.take(&q.deleting)
		who.number++ // the acknowledgement is idempotent by its fence: an unanswered one need not be repeated by its number
		reply, err := q.c.Exchange(ctx, ExchangeRequest{Caller: who.id, Number: who.number, Done: []Ack{{UUID: id, Fence: r.Fence}}})
		q.put(&q.deleting, who)
		if err != nil {
			return fmt.Errorf("delete %s: %w", id, err)
		}
		if len(reply.Outdated) == 0 {
			return nil
		}
	}
	s, err := q.c.Statuses(ctx, []string{id})
	switch {
	case err != nil:
		return fmt.Errorf("delete %s: %w", id, err)
	case s[0].State == StateUnknown || s[0].State.Ended() || s[0].State == StateClosing:
		return nil
	case s[0].State == StateRunning:
		return fmt.Errorf("delete %s: %w", id, ErrReservedElsewhere)
	}
	return fmt.Errorf("delete %s: %w: it is %s", id, ErrNotReserved, s[0].State)
}

// tick does the namespace's upkeep now and then: there need be no worker that does.
func (q *MessageQueue) tick(ctx context.Context) {
	q.mu.Lock()
	due := time.Since(q.tickedAt) >= BeatEvery
	if due {
		q.tickedAt = time.Now()
	}
	q.mu.Unlock()
	if !due {
		return
	}
	if _, err := q.c.Tick(ctx); err != nil && ctx.Err() == nil {
		q.c.logger.Warn("tick failed", "queue", q.name, "error", err)
	}
}

// take takes a caller from the first of these lists that has one, or makes one.
func (q *MessageQueue) take(lists ...*[]*caller) *caller {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, list := range lists {
		if n := len(*list); n > 0 {
			who := (*list)[n-1]
			*list = (*list)[:n-1]
			return who
		}
	}
	return &caller{id: uuid.NewString()}
}

func (q *MessageQueue) put(list *[]*caller, who *caller) {
	q.mu.Lock()
	defer q.mu.Unlock()
	*list = append(*list, who)
}
