package conveyor

import (
	"context"
	"time"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Apply makes the changes of b in order, all or none, in one script. It fails with *ConflictError when a job or a companion
// write is not as expected and with ErrGuard when the guard does not hold. Repeating an Apply that was done is a no-op and
// succeeds: companion writes already there as wanted are recognised.
func (c *Client) Apply(ctx context.Context, b Batch) error { return errUnbuilt }

// Update replaces the bytes, edges, place and time of a waiting job.
func (c *Client) Update(ctx context.Context, job *wire.Job) error { return errUnbuilt }

// Cancel ends a waiting job as cancelled and tells the worker of a running one. Cancelling an ended job is a no-op.
func (c *Client) Cancel(ctx context.Context, uuid string) error { return errUnbuilt }

// Retry runs a failed job again, under a new opening, with its attempts reset.
func (c *Client) Retry(ctx context.Context, uuid string) error { return errUnbuilt }

// Release queues a job that is on hold.
func (c *Client) Release(ctx context.Context, uuid string) error { return errUnbuilt }

// Get returns a job's status, and its bytes as far as they can be found without scanning a list: those of a job that
// runs, failed, was updated or has several edges. Otherwise the job is nil. ErrNotFound means no status entry.
func (c *Client) Get(ctx context.Context, uuid string) (*wire.Job, Status, error) {
	return nil, Status{}, errUnbuilt
}

// Statuses returns the status of each uuid, in order; StateUnknown for those without an entry. It only reads.
func (c *Client) Statuses(ctx context.Context, uuids []string) ([]Status, error) {
	return nil, errUnbuilt
}

// Exchange acknowledges a batch of attempts and reserves the next.
func (c *Client) Exchange(ctx context.Context, r ExchangeRequest) (ExchangeReply, error) {
	return ExchangeReply{}, errUnbuilt
}

// TickReply tells what a Tick did.
type TickReply struct {
	Changes int           // jobs changed
	More    bool          // work is left: tick again at once
	Dead    []string      // workers found silent and removed
	Next    time.Duration // until the next due job or lease end, at most a minute
	Now     time.Time
}

// Tick does what any connected process may do for all: release due jobs, finish what is listed to do, reap dead workers and
// expired leases, sweep retention. At most 200 changes a call.
func (c *Client) Tick(ctx context.Context) (TickReply, error) { return TickReply{}, errUnbuilt }
