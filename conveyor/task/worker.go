package task

import (
	"context"
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
)

// Handler does one kind of task: Filter tells which, by the labels of a task, and Ensure does one. What Ensure sets in Sync
// is stored when it returns nil.
type Handler interface {
	Filter(t *Task) bool
	Ensure(ctx context.Context, t *Task) error
}

// retryAfter is how long a task waits that nobody here is for, or that failed.
const retryAfter = 2 * time.Second

// Work searches one task and gives it to the first handler whose Filter takes it: it is deleted when Ensure returns nil, and comes
// back when it does not, until its Cancel is reached. A task that no handler takes goes back with nothing spent. It tells whether
// there was one; an error is that of the engine, never that of Ensure, which is kept with the task.
func (e *Engine) Work(ctx context.Context, handlers ...Handler) (bool, error) {
	t, err := e.Search(ctx)
	if t == nil || err != nil {
		return false, err
	}
	for _, h := range handlers {
		if !h.Filter(t) {
			continue
		}
		if failure := ensure(ctx, h, t); failure != nil {
			if t.done {
				return true, nil
			}
			return true, within("work", e.end(ctx, t, conveyor.VerdictRetry, retryAfter, failure.Error()))
		}
		return true, within("work", e.Delete(ctx, t))
	}
	if t.done {
		return true, nil
	}
	return true, within("work", e.end(ctx, t, conveyor.VerdictNoHandler, retryAfter, ""))
}

// ensure makes an error of a panic, so that a handler harms its own task only.
func ensure(ctx context.Context, h Handler, t *Task) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v", value)
		}
	}()
	return h.Ensure(ctx, t)
}

func within(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
