package applier

import (
	"context"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// refusal is a chunk that met jobs elsewhere than its rows expect.
type refusal struct {
	rows    []*planner.Row // that conflicted
	parents []string       // uuids of parents that were to be held open and have ended
	stale   bool           // a record had another version
	cause   *conveyor.ConflictError
}

func refusalOf(k *chunk, conflict *conveyor.ConflictError) *refusal {
	refused := &refusal{cause: conflict}
	for _, c := range conflict.Conflicts {
		refused.stale = refused.stale || c.Stale
		if c.Index < 0 || c.Index >= len(k.of) {
			continue
		}
		r, change := k.of[c.Index], k.changes[c.Index]
		refused.rows = append(refused.rows, r)
		if change.Kind == conveyor.ChangeAttach && (r.Prior == nil || change.UUID != r.Prior.UUID.String()) {
			refused.parents = append(refused.parents, change.UUID)
		}
	}
	if len(refused.rows) == 0 {
		refused.rows = k.rows
	}
	return refused
}

// refresh reads again what the refusal is about: the status of every row not written yet that the plan changes, of those
// that conflicted, and of the parents that were to be held open. A record that moved under the lock is one of this run's
// own whose reply was lost: then records are read again too.
func (s *submission) refresh(ctx context.Context, refused *refusal) error {
	if refused.stale {
		if err := s.rereadRecords(ctx); err != nil {
			return err
		}
	}
	var addresses, uuids []string
	look := func(address string, r *planner.Record) {
		if r != nil {
			addresses, uuids = append(addresses, address), append(uuids, r.UUID.String())
		}
	}
	for _, r := range s.plan.Rows {
		if r.Action != planner.NoOp && s.done[r.Addr] == nil {
			look(r.Addr.String(), s.state.Records[r.Addr.String()])
		}
	}
	for _, r := range refused.rows {
		look(r.Addr.String(), s.state.Records[r.Addr.String()])
	}
	for _, id := range refused.parents {
		for address, r := range s.state.Records {
			if r.UUID.String() == id {
				look(address, r)
			}
		}
	}
	earlier := len(uuids)
	for id := range s.state.Earlier {
		uuids = append(uuids, id)
	}
	statuses, err := statusesOf(ctx, s.client, uuids)
	if err != nil {
		return err
	}
	for i, address := range addresses {
		setLive(s.state, address, liveOf(statuses[i]))
	}
	for i, id := range uuids[earlier:] {
		s.state.Earlier[id] = liveOf(statuses[earlier+i])
	}
	return nil
}

func (s *submission) rereadRecords(ctx context.Context) error {
	snap, err := readSnapshot(ctx, s.client, s.workflow)
	if err != nil {
		return err
	}
	if snap.state, err = s.moved(ctx, snap.state); err != nil {
		return err
	}
	for address := range s.state.Live {
		if snap.state.Records[address] != nil {
			snap.state.Live[address] = s.state.Live[address]
		}
	}
	if snap.state.Lineage == s.state.Lineage {
		s.fresh = false
	}
	snap.state.Lineage, snap.state.Now = s.state.Lineage, s.state.Now
	s.state, s.meta = snap.state, snap.meta
	return nil
}
