package applier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/planner"
)

// maxRefusals is how often in a row a chunk of one row may be refused. A job passes a few places in its life, so a row
// that is refused this often has a job that somebody else keeps moving.
const maxRefusals = 20

// writeRows writes the plan's rows, chunk by chunk. When a chunk is refused because a job has left its row of the state
// table, the statuses are read again and the plan is made again from state as it is by then: rows that are written have
// nothing left to do, the others take the table's action. Chunks shrink while they are refused, since a smaller one
// is sooner on its way.
func (s *submission) writeRows(ctx context.Context) error {
	limit, refusals := s.run.batch, 0
	for {
		refused, progress, err := s.pass(ctx, limit)
		if err != nil || refused == nil {
			return err
		}
		if progress {
			limit, refusals = s.run.batch, 0
		}
		if limit == 1 {
			if refusals++; refusals > maxRefusals {
				return fmt.Errorf("%s cannot be applied: its job changes each time it is looked at (%w); apply again", refused.rows[0].Addr, refused.cause)
			}
		}
		limit = max(1, limit/2)
		if err := s.refresh(ctx, refused); err != nil {
			return err
		}
		if err := s.decideAgain(ctx); err != nil {
			return err
		}
	}
}

// pass writes rows until all are written or a chunk is refused.
func (s *submission) pass(ctx context.Context, limit int) (refused *refusal, progress bool, err error) {
	if err := planner.Settle(s.plan, s.state); err != nil {
		return nil, false, err
	}
	rows := inOrder(s.plan)
	w := rowWriter{
		workflow: s.workflow,
		jobs:     jobBuilder{namespace: s.client.Namespace(), keyring: s.run.Keyring, uuids: s.uuidsAfter()},
		stored: func(uuid string) (job *wire.Job, state conveyor.State, err error) {
			err = s.patient().call(ctx, func(ctx context.Context) error {
				job, state, err = s.stored(ctx, uuid)
				return err
			})
			return job, state, err
		},
	}
	total := len(s.done) + len(rows)
	s.held = nil
	var late []*planner.Row // whose unique key was held when they were to be written: a later row may free it
	for len(rows)+len(late) > 0 {
		if len(rows) == 0 {
			rows, late, limit = late, nil, 0
		}
		k := &chunk{}
		for _, r := range rows {
			changes, err := w.changes(r)
			if err != nil {
				return nil, progress, err
			}
			if !k.add(r, changes, limit) {
				break
			}
		}
		refused, err = s.write(ctx, k)
		var held *conveyor.UniqueError
		if errors.As(err, &held) {
			r := refusedFor(k, held)
			if r == nil {
				return nil, progress, err
			}
			if limit > 0 {
				late = append(late, r)
			} else {
				s.held = append(s.held, s.heldKey(r, held))
			}
			rows = append(k.without(r), rows[len(k.rows):]...)
			continue
		}
		if err != nil || refused != nil {
			return refused, progress, err
		}
		progress = true
		rows = rows[len(k.rows):]
		s.mail.post(Submitting{Done: total - len(rows), Total: total})
	}
	return nil, progress, nil
}

// stored is a job that has started, as the engine holds it. One that reopened has no bytes any more, and starts no more:
// of that it is what the engine goes on using.
func (s *submission) stored(ctx context.Context, uuid string) (*wire.Job, conveyor.State, error) {
	job, status, err := s.client.Get(ctx, uuid)
	if err != nil || job != nil || status.State != conveyor.StateClosing {
		return job, status.State, err
	}
	_, key, _ := strings.Cut(status.Unique, ":") // a declared type has no colon
	job = &wire.Job{Uuid: uuid, Unique: key, RemoveAfter: duration(status.RemoveAfter)}
	listed, err := s.client.List(ctx, conveyor.ListOptions{Labels: map[string]string{"object": uuid}})
	for _, l := range listed {
		job.Labels = maps.Clone(l.Labels)
		maps.DeleteFunc(job.Labels, func(name, _ string) bool { return conveyor.ReservedLabel(name) })
	}
	return job, status.State, err
}

// uuidsAfter finds the submission of an address as it stands when this pass is through.
func (s *submission) uuidsAfter() func(config.Addr) (string, bool) {
	next := make(map[config.Addr]*planner.Record)
	for _, r := range s.plan.Rows {
		if r.Next != nil {
			next[r.Addr] = r.Next
		}
	}
	return func(a config.Addr) (string, bool) {
		r := next[a]
		if r == nil {
			r = s.state.Records[a.String()]
		}
		if r == nil {
			return "", false
		}
		return r.UUID.String(), true
	}
}

// write sends one chunk and takes note of it.
func (s *submission) write(ctx context.Context, k *chunk) (*refusal, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	first, err := s.opening(ctx)
	if err != nil {
		return nil, err
	}
	s.run.probe(phaseOf(k))
	err = s.apply(ctx, k.batch(s.lock, s.meta.serial+1, s.state.Floor, first))
	var conflict *conveyor.ConflictError
	if errors.As(err, &conflict) {
		return refusalOf(k, conflict), nil
	}
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", rangeOf(k.rows), err)
	}
	s.inscribed()
	s.fresh, s.begun = false, true
	s.meta.serial++
	s.state.Floor = max(s.state.Floor, k.floor)
	at := time.Now()
	for _, r := range k.rows {
		s.wrote(r)
		s.mail.post(RowApplied{Row: r, At: at})
	}
	return nil, nil
}

// apply sends a batch to its end, whatever becomes of ctx meanwhile. One that was done, and whose answer was lost, is a
// no-op.
func (s *submission) apply(ctx context.Context, b conveyor.Batch) error {
	return s.patient().call(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
		defer cancel()
		return s.client.Apply(ctx, b)
	})
}

// opening is what the first batch of a run stores besides: where in the event log the run begins, so that whoever follows it, from
// whichever process, misses nothing of it.
func (s *submission) opening(ctx context.Context) ([]conveyor.Attach, error) {
	first, err := s.inscribe(ctx)
	if s.begun || err != nil {
		return first, err
	}
	first = append(first, s.besides...)
	if s.first == 0 {
		var last int64
		err := s.patient().call(ctx, func(ctx context.Context) (err error) {
			last, err = s.client.LastEvent(ctx)
			return err
		})
		if err != nil {
			return nil, err
		}
		s.first = last + 1
	}
	first = append(first, metaWrite(s.workflow, metaTold, strconv.FormatInt(s.first, 10)))
	if s.fresh {
		first = append(first, s.identity()...)
	}
	return first, nil
}

// identity is what the first batch of a workflow stores besides: nobody else may have been first.
func (s *submission) identity() []conveyor.Attach {
	lineage := metaWrite(s.workflow, metaLineage, s.state.Lineage.String())
	lineage.Version = 0
	return []conveyor.Attach{metaWrite(s.workflow, metaFormat, strconv.Itoa(stateFormat)), lineage}
}

// wrote brings state up to date after a row was written. A job that was submitted or changed counts as waiting from now
// on, whatever becomes of it: it is this run's, and is not decided again for its progress.
func (s *submission) wrote(r *planner.Row) {
	address := r.Addr.String()
	if r.Successor && r.Prior != nil {
		s.state.Earlier[r.Prior.UUID.String()] = r.Live
	}
	delete(s.state.MovedFrom, address)
	switch {
	case r.Next == nil:
		delete(s.state.Records, address)
		delete(s.state.Live, address)
	default:
		s.state.Records[address] = r.Next
		switch r.Action {
		case planner.Create, planner.Replace:
			s.state.Live[address] = planner.Live{Status: planner.Held, Opening: r.Next.Opening}
			if r.Recurs() {
				s.state.Live[address] = planner.Live{Status: planner.Template, Opening: r.Next.Opening}
			}
		case planner.Reopen:
			s.state.Live[address] = planner.Live{Status: planner.Closing, Opening: r.Next.Opening, Fence: r.Live.Fence}
		}
	}
	if s.done[r.Addr] == nil {
		s.done[r.Addr] = r
		s.order = append(s.order, r)
	}
}

func rangeOf(rows []*planner.Row) string {
	if len(rows) == 1 {
		return rows[0].Addr.String()
	}
	return fmt.Sprintf("%s to %s (%d rows)", rows[0].Addr, rows[len(rows)-1].Addr, len(rows))
}

// phaseOf names what a chunk does, each kind once: "rows", "reopen", "removal", joined by "+".
func phaseOf(k *chunk) string {
	var kinds []string
	for _, r := range k.rows {
		kind := "rows"
		switch r.Action {
		case planner.Reopen:
			kind = "reopen"
		case planner.Delete, planner.Forget:
			kind = "removal"
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, "+")
}
