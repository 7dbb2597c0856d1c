package conveyor

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Attempt is one execution of a job by a worker, as its handler sees it. All methods are safe for concurrent use, and all
// but AddMany carry the attempt's fence: once the attempt is superseded they write nothing.
type Attempt struct {
	// Immutable.
	job     *wire.Job
	fence   int64
	opening int64 // of the job
	failed  int   // attempts that ended in error before
	cycle   int   // number of this execution of a job with max_cycles; 0 for others
	engine  engine
	cancel  context.CancelCauseFunc
	output  *output
	after   <-chan struct{} // closed when the attempt reserved before this one began
	began   chan struct{}
	hidden  []string // what mask masks

	mu        sync.Mutex
	mask      *mask // of the secrets and sensitive values that the job was given
	result    []byte
	deferred  *time.Duration
	sync      map[string]string
	synced    bool          // by this attempt
	over      bool          // the handler has returned
	listeners []*listener   // that end with the attempt
	sending   chan struct{} // 1 slot, taken by who sends a message; made with the first
	sent      int64         // messages; of who sends
	told      Progress      // the latest
	toldAt    time.Time     // when the attempt came so far, or began; zero before
}

// attemptKey finds the attempt in a context.
type attemptKey struct{}

// FromContext returns the attempt that a handler's context belongs to; nil for any other context.
func FromContext(ctx context.Context) *Attempt {
	a, _ := ctx.Value(attemptKey{}).(*Attempt)
	return a
}

// Job is the job, with its payload opened. The occurrence of a template has a name of its own, see OccurrenceName.
func (a *Attempt) Job() *wire.Job { return a.job }

// Fence is the number of this attempt: how often the job was started so far.
func (a *Attempt) Fence() int64 { return a.fence }

// Cycle is the number of this execution of a job with max_cycles, from 1, since it was added or released; 0 for other jobs. When it
// is the last and the job is to run again, the job is on hold instead.
func (a *Attempt) Cycle() int { return a.cycle }

// SetResult stores what the job's success leaves for others, committed together with it: at most MaxResult bytes, the last
// call wins. A failed attempt leaves nothing.
func (a *Attempt) SetResult(result []byte) error {
	if len(result) > MaxResult {
		return fmt.Errorf("result of %d bytes: %w, the limit is %d", len(result), ErrTooLarge, MaxResult)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	shown, err := a.mask.data(result)
	if err != nil {
		return fmt.Errorf("result: %w", err)
	}
	a.result = append([]byte(nil), shown...)
	return nil
}

// Defer has the job come back after d instead of completing, without that counting as a failure, when the handler returns
// nil. It comes back as a new attempt; children, results and deferrals of this one do not reach it, what SetSync set does.
func (a *Attempt) Defer(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	d = max(d, 0)
	a.deferred = &d
}

// AddChild adds a job that starts once this one's own work succeeded and that this job's completion waits for. It is
// dropped when the attempt fails. The call is repeated until Redis answers or ctx ends.
func (a *Attempt) AddChild(ctx context.Context, job *wire.Job) error {
	return a.add(ctx, job, wire.Edge_PARENT)
}

// AddHeir adds a job that starts once this one is complete, all its children included. It is dropped when the attempt fails.
// The call is repeated until Redis answers or ctx ends.
func (a *Attempt) AddHeir(ctx context.Context, job *wire.Job) error {
	return a.add(ctx, job, wire.Edge_PREDECESSOR)
}

// AddMany adds jobs that have nothing to do with this one, by the client of its worker: see Client.AddMany. They stay whatever
// becomes of the attempt, also when it was superseded, and the call is not repeated for longer than a client's.
func (a *Attempt) AddMany(ctx context.Context, jobs []*wire.Job, opts ...AddOption) error {
	return a.engine.AddMany(ctx, jobs, opts...)
}

func (a *Attempt) add(ctx context.Context, job *wire.Job, kind wire.Edge_Kind) error {
	if job == nil {
		return ErrNilJob
	}
	if job.GetUuid() == "" {
		job.Uuid = uuid.NewString() // here, so that a repeated call adds the same job
	}
	edge := &wire.Edge{Kind: kind, Uuid: a.job.GetUuid(), Opening: a.opening, MadeBy: a.fence}
	if kind == wire.Edge_PARENT {
		job.ParentUuid = edge.Uuid
	} else {
		job.PredecessorUuid = edge.Uuid
	}
	job.Edges = append(job.Edges, edge)
	for pause := newPause(); ; {
		err := a.engine.AddMany(ctx, []*wire.Job{job})
		if !errors.Is(err, ErrUnavailable) {
			return err
		}
		if !pause.wait(ctx) {
			return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
		}
	}
}

// attemptContext is the handler's context: one value more than its parent.
type attemptContext struct {
	context.Context
	attempt *Attempt
}

func (c attemptContext) Value(key any) any {
	if _, ok := key.(attemptKey); ok {
		return c.attempt
	}
	return c.Context.Value(key)
}

// run calls the handler and makes an error of a panic.
func (a *Attempt) run(ctx context.Context, h Handler) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value, debug.Stack()}
		}
	}()
	return h(ctx, a.job)
}
