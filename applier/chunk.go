package applier

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/planner"
)

// maxChunkBytes bounds what one script is sent: payloads go up to a MiB each.
const maxChunkBytes = 4 << 20

// chunk is some rows in the form of one batch.
type chunk struct {
	rows    []*planner.Row
	changes []conveyor.Change
	of      []*planner.Row // the row of each change
	bytes   int
	floor   int64          // the highest generation that the chunk gives up
	moved   []*planner.Row // whose records the store has under another address until then
}

// maxMoved bounds the rows of a chunk that have moved: what they leave behind is removed by the batch as a whole, which has
// some companions besides.
const maxMoved = conveyor.MaxBatch / 2

// add takes a row in, unless it is full.
func (k *chunk) add(r *planner.Row, changes []conveyor.Change, limit int) bool {
	size := 0
	for _, c := range changes {
		if c.Job != nil {
			size += proto.Size(c.Job)
		}
		if c.Attach != nil {
			size += len(c.Attach.Value)
		}
	}
	if len(k.moved) == maxMoved && r.MovedFrom != (config.Addr{}) {
		return false
	}
	if len(k.rows) > 0 && (len(k.changes)+len(changes) > limit || k.bytes+size > maxChunkBytes) {
		return false
	}
	k.rows = append(k.rows, r)
	k.changes = append(k.changes, changes...)
	for range changes {
		k.of = append(k.of, r)
	}
	k.bytes += size
	if r.MovedFrom != (config.Addr{}) {
		k.moved = append(k.moved, r)
		k.floor = max(k.floor, r.Prior.Generation)
	}
	if r.Prior != nil && r.Next == nil {
		k.floor = max(k.floor, r.Prior.Generation)
	}
	return true
}

// rowWriter turns settled rows into changes.
type rowWriter struct {
	workflow string
	jobs     jobBuilder
	stored   func(uuid string) (*wire.Job, conveyor.State, error) // a job as the engine holds it
}

// changes are what a row writes: its job, if it has one, and its record, in one batch. A row's job may be anywhere in
// the row of the state table that its action was decided by; elsewhere the engine refuses the batch.
func (w *rowWriter) changes(r *planner.Row) ([]conveyor.Change, error) {
	attach := &conveyor.Attach{Key: stateKey(w.workflow), Field: r.Addr.String(), Version: versionOf(r.Prior)}
	if r.MovedFrom != (config.Addr{}) {
		attach.Version = 0 // see batch for the other address
	}
	var job *conveyor.Change
	switch r.Action {
	case planner.Create, planner.Replace, planner.Update:
		if r.Leave {
			attach.Value = r.Next.AppendTo(nil)
			return w.leaving(r, attach)
		}
		built, err := w.jobs.build(r.Job, r.Next, r.Recurs())
		if err != nil {
			return nil, err
		}
		r.Next.SignKey = built.SignKey
		job = &conveyor.Change{Job: built, Attach: attach}
	}
	if r.Next != nil {
		attach.Value = r.Next.AppendTo(nil)
	}
	var changes []conveyor.Change
	for _, parent := range r.HoldOpen[:min(len(r.HoldOpen), maxHeldOpen)] {
		changes = append(changes, conveyor.Change{Kind: conveyor.ChangeAttach, UUID: parent, Expect: notEnded}) // see batch
	}
	switch r.Action {
	case planner.Create:
		job.Kind = conveyor.ChangeAdd
		return append(changes, *job), nil
	case planner.Replace:
		job.Kind = conveyor.ChangeAdd
		job.Replaces, job.CancelReplaced = r.Prior.UUID.String(), r.CancelFirst
		job.Expect = peers(r.Live.Status)
		return append(changes, *job), nil
	case planner.Update:
		job.Kind, job.UUID = conveyor.ChangeUpdate, r.Prior.UUID.String()
		job.Expect = peers(r.Live.Status)
		return append(changes, *job), nil
	}
	c := conveyor.Change{UUID: r.Prior.UUID.String(), Expect: peers(r.Live.Status), Attach: attach}
	switch r.Action {
	case planner.Rerecord:
		c.Kind = conveyor.ChangeAttach
		if r.Importing() {
			// An add of what is there already does no more than taking note that it has a record, with which it is kept.
			c.Kind, c.Job = conveyor.ChangeAdd, &wire.Job{Uuid: c.UUID, Type: r.Next.Type, Queue: r.Next.Queue}
			return append(changes, c), nil
		}
		if r.Job == nil { // by hand: nothing about the job was decided
			c.Expect = nil
		}
		return append(changes, c), nil
	case planner.Reopen:
		c.Kind, c.Opening = conveyor.ChangeReopen, r.Next.Opening
		c.Job = &wire.Job{Uuid: c.UUID, Type: r.Next.Type, Queue: r.Job.Queue, Unique: r.Job.Unique, Labels: r.Job.Labels,
			RemoveAfter: duration(r.Job.RemoveAfter), TriggersGate: r.Job.TriggersGate}
		return append(changes, c), nil
	case planner.Delete:
		return append(changes, deletion(r, c)...), nil
	case planner.Forget:
		c.Kind = conveyor.ChangeRelease
		if r.Reason == planner.ReasonForgotten {
			c.Kind, c.Expect = conveyor.ChangeForget, nil
		}
		return append(changes, c), nil
	default:
		return nil, fmt.Errorf("apply %s: action %d is not known here", r.Addr, r.Action)
	}
}

// leaving is the update of a job that stays as it is but for its edges to parents. What the engine has of it is sent back to
// it: what the job was made of is in no record.
func (w *rowWriter) leaving(r *planner.Row, attach *conveyor.Attach) ([]conveyor.Change, error) {
	id := r.Prior.UUID.String()
	job, state, err := w.stored(id)
	if err != nil && !errors.Is(err, conveyor.ErrNotFound) {
		return nil, fmt.Errorf("update %s: %w", r.Addr, err)
	}
	c := conveyor.Change{Kind: conveyor.ChangeUpdate, UUID: id, Job: job, Attach: attach, Expect: peers(r.Live.Status)}
	if job == nil {
		c.Job = &wire.Job{Uuid: id}
	}
	c.Job.Type, c.Job.Queue, c.Job.TriggersGate = r.Prior.Type, r.Prior.Queue, r.Prior.TriggersGate()
	if !slices.Contains(c.Expect, state) || job == nil && state != conveyor.StateClosing {
		c.Expect = []conveyor.State{} // it has left its row of the table, so the batch has to be refused
	}
	c.Job.ParentUuid, c.Job.PredecessorUuid, c.Job.Edges = "", "", nil
	setEdges(c.Job, r.Next.Edges)
	return []conveyor.Change{c}, nil
}

// maxHeldOpen bounds how many parents one row checks: they share the batch with it. A child of more that runs while it is
// edited, of which one beyond the bound ends at that moment, would not reopen that one.
const maxHeldOpen = conveyor.MaxBatch / 2

// notEnded are the states of a parent that a child can still join.
var notEnded = []conveyor.State{conveyor.StateHeld, conveyor.StateTemplate, conveyor.StateScheduled, conveyor.StateQueued,
	conveyor.StateRunning, conveyor.StateClosing, conveyor.StateOnHold}

// deletion gives an ended job free for retention, and cancels any other. A job that waits as the successor of a running
// one takes that one with it: from then on the record, a deposed one, is of the latter.
func deletion(r *planner.Row, c conveyor.Change) []conveyor.Change {
	if r.Live.Status.Ended() {
		c.Kind = conveyor.ChangeRelease
		return []conveyor.Change{c}
	}
	c.Kind, c.Withdraw = conveyor.ChangeCancel, true
	if r.Earlier == "" {
		return []conveyor.Change{c}
	}
	successor := c
	successor.Attach = nil
	return []conveyor.Change{
		successor,
		{Kind: conveyor.ChangeRelease, UUID: c.UUID},
		{Kind: conveyor.ChangeCancel, UUID: r.Earlier, Withdraw: true, Attach: c.Attach},
	}
}

// batch is the chunk under the lock's guard, with what belongs to the workflow as a whole. What only expects something
// of a job writes the serial number too, which each batch does anyway: the engine knows no change that writes nothing.
func (k *chunk) batch(l *lock, serial, floor int64, first []conveyor.Attach) conveyor.Batch {
	raised := metaWrite(l.workflow, metaSerial, strconv.FormatInt(serial, 10))
	for i := range k.changes {
		if c := &k.changes[i]; c.Kind == conveyor.ChangeAttach && c.Attach == nil {
			c.Attach = &raised
		}
	}
	listed := conveyor.Attach{Key: workflowsKey, Field: l.workflow, Version: -1, Value: raised.Value}
	companions := append(first, raised, listed)
	if k.floor > floor {
		companions = append(companions, metaWrite(l.workflow, metaFloor, strconv.FormatInt(k.floor, 10)))
	}
	for _, r := range k.moved {
		companions = append(companions, conveyor.Attach{Key: stateKey(l.workflow), Field: r.MovedFrom.String(), Version: r.Prior.Version})
	}
	return conveyor.Batch{Guard: l.guard(), Changes: k.changes, Companions: companions}
}
