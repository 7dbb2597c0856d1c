package watch

import (
	"context"
	"io"
	"time"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
)

// Actions is what the view does by itself, each when its user asks for it. An error of conveyor.ErrState or
// conveyor.ErrNotFound means that the job has moved on meanwhile.
type Actions interface {
	Retry(ctx context.Context, uuid string) error
	Cancel(ctx context.Context, uuid string) error
	Release(ctx context.Context, uuid string) error
	PauseQueue(ctx context.Context, name string) error
	ResumeQueue(ctx context.Context, name string) error
	// Logs returns what a job wrote after a position, not all of it at once; none means that this is all for now.
	Logs(ctx context.Context, uuid string, after conveyor.LogPosition) ([]conveyor.LogEntry, error)
	Inspect(ctx context.Context, uuid string) (*conveyor.Inspection, error)
	// Payload returns what a job with a type of its own is about, as lines for people, without sensitive values; none of one whose work
	// is built in, or not known. The address is that of its record, or of its template.
	Payload(ctx context.Context, workflow string, addr config.Addr, uuid string) ([]string, error)
	// RunTemplate begins a cycle now, PauseTemplate and ResumeTemplate let none or some begin, ResetCycles lets one go on that has
	// had all it may have. An error of conveyor.ErrNotTemplate means that it is none any more.
	RunTemplate(ctx context.Context, uuid string) error
	PauseTemplate(ctx context.Context, uuid string) error
	ResumeTemplate(ctx context.Context, uuid string) error
	ResetCycles(ctx context.Context, uuid string) error
	// Cycles returns what a template has emitted, or that of which it is downstream: the live ones and the history, the latest first.
	Cycles(ctx context.Context, uuid string) ([]conveyor.Cycle, error)
}

// Options configures a View.
type Options struct {
	In  io.Reader // the terminal's keys and mouse
	Out io.Writer // the terminal
	// NoColor draws without colours. The NO_COLOR variable does the same.
	NoColor bool
	// Now is the store's clock; default time.Now.
	Now func() time.Time
	// Zone is what moments are shown in; default time.Local.
	Zone *time.Location
	// Namespace is what the view is headed with; "" when there is but one.
	Namespace string
	// Workflow is the one whose jobs are shown first; "": those of all.
	Workflow string
	// Actions are required.
	Actions Actions
	// Stop is called, outside of the view, for the n-th time that the user asks to stop; the second time he wants to leave
	// at once.
	Stop func(n int)
	// Suspend is called when the user presses ctrl+z; it is to stop the process, with Pause before. Without it the key does
	// nothing.
	Suspend func()
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	return o
}

// callTimeout bounds one call of an action: the store's own patience is longer than that of somebody who waits for an answer.
const callTimeout = 15 * time.Second
