package applier

import (
	"context"
	"errors"
	"slices"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// forgetDeposed removes the records of jobs that are no longer declared and have ended since. It is a follower's last
// act, under a lock of its own. Where somebody else holds the lock it leaves them: the next apply's plan forgets them.
func forgetDeposed(ctx context.Context, c *conveyor.Client, workflow string, r Run) error {
	if found, err := hasEndedDeposed(ctx, c, workflow); err != nil || !found {
		return err
	}
	held, l, err := acquireLock(ctx, c, lockRequest{workflow: workflow, who: r.Who, operation: r.Operation})
	var locked *LockedError
	if errors.As(err, &locked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = l.release(ctx) }() // the lease ends it
	snap, err := readSnapshot(held, c, workflow)
	if err != nil {
		return err
	}
	s := &submission{client: c, workflow: workflow, run: r, lock: l, state: snap.state, meta: snap.meta,
		mail: newMailbox(nil), done: map[config.Addr]*planner.Row{}}
	if _, err := s.writeUnplanned(held, endedDeposed(snap.state)); err != nil {
		return causeOf(held, err)
	}
	return nil // also after a refusal: somebody retried a job by hand, and the next plan decides
}

func hasEndedDeposed(ctx context.Context, c *conveyor.Client, workflow string) (bool, error) {
	s, err := ReadState(ctx, c, workflow)
	return err == nil && len(endedDeposed(s)) > 0, err
}

// endedDeposed lists what can be forgotten, as the rows that forget it, by address.
func endedDeposed(s *planner.State) []*planner.Row {
	var rows []*planner.Row
	for address, r := range s.Records {
		live := s.Live[address]
		if !r.Deposed || !live.Status.Ended() && live.Status != planner.Lost {
			continue
		}
		if addr, err := config.ParseAddr(address); err == nil {
			rows = append(rows, &planner.Row{Addr: addr, Action: planner.Forget, Reason: planner.ReasonStopped, Prior: r, Live: live})
		}
	}
	slices.SortFunc(rows, func(a, b *planner.Row) int { return compareAddr(a.Addr, b.Addr) })
	return rows
}
