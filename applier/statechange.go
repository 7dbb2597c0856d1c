package applier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// StateChange says who changes state by hand, outside of an apply, and how long to wait for the lock.
type StateChange struct {
	Operation   string        // for whoever waits for the lock
	Who         string        // the same; default user@host
	LockTimeout time.Duration // default DefaultLockTimeout; negative: ask once
	Observer    Observer      // learns that somebody else holds the lock; nil for nobody
	DryRun      bool          // finds what would be done, under the lock, and writes nothing
}

// ErrNotInState says that an address has no record. The message names it.
var ErrNotInState = errors.New("is not in the state")

// ErrInState says that an address has a record already. The message names it.
var ErrInState = errors.New("is in the state already")

// Forget removes the records of addresses, and leaves their jobs alone: what runs goes on, what is over is kept as long as a job
// that nobody declared. An address covers what config.Addr.Covers says. Nothing is forgotten if one of them covers nothing. The
// floor rises, so that what is submitted there later is new.
func Forget(ctx context.Context, c *conveyor.Client, workflow string, addrs []config.Addr, o StateChange) ([]config.Addr, error) {
	var done []config.Addr
	err := changeState(ctx, c, workflow, o, func(s *planner.State) ([]*planner.Row, error) {
		var rows []*planner.Row
		covered := make([]bool, len(addrs))
		for _, addr := range sortedAddrs(s) {
			i := slices.IndexFunc(addrs, func(a config.Addr) bool { return a.Covers(addr) })
			if i < 0 {
				continue
			}
			for i := range addrs {
				covered[i] = covered[i] || addrs[i].Covers(addr)
			}
			name := addr.String()
			rows = append(rows, &planner.Row{Addr: addr, Action: planner.Forget, Reason: planner.ReasonForgotten, Prior: s.Records[name], Live: s.Live[name]})
			done = append(done, addr)
		}
		var problems []error
		for i, found := range covered {
			if !found {
				problems = append(problems, notInState(s, addrs[i]))
			}
		}
		return rows, errors.Join(problems...)
	})
	return done, err
}

// notInState says that an address has no record, and which one may have been meant.
func notInState(s *planner.State, addr config.Addr) error {
	if near := s.Near(addr); near != "" {
		return fmt.Errorf("%s %w (did you mean %s?)", addr, ErrNotInState, near)
	}
	return fmt.Errorf("%s %w", addr, ErrNotInState)
}

// StateMove is a record that gets another address.
type StateMove struct{ From, To config.Addr }

// Move gives the records of an address another one. What waits for the jobs names them so from then on. from and to are two jobs,
// two job blocks, whose instances keep their keys, or two modules, whose jobs keep their names.
func Move(ctx context.Context, c *conveyor.Client, workflow string, from, to config.Addr, o StateChange) ([]StateMove, error) {
	var done []StateMove
	err := changeState(ctx, c, workflow, o, func(s *planner.State) ([]*planner.Row, error) {
		moves, err := planner.MovesOf(s, from, to)
		if err != nil {
			return nil, err
		}
		if len(moves) == 0 {
			return nil, notInState(s, from)
		}
		for _, old := range sortedAddrs(s) {
			next, is := moves[old]
			if !is {
				continue
			}
			if s.Records[next.String()] != nil {
				return nil, fmt.Errorf("%s %w", next, ErrInState)
			}
			done = append(done, StateMove{old, next})
		}
		return planner.Readdressed(s, moves), nil
	})
	return done, err
}

func sortedAddrs(s *planner.State) []config.Addr {
	addrs := make([]config.Addr, 0, len(s.Records))
	for name := range s.Records {
		if addr, err := config.ParseAddr(name); err == nil {
			addrs = append(addrs, addr)
		}
	}
	slices.SortFunc(addrs, compareAddr)
	return addrs
}

// changeState takes the lock of a workflow, lets rows make rows of the state as it is by then, and writes these, in batches that carry
// the lock's fence. One refused batch ends it: what was written before stands.
func changeState(ctx context.Context, c *conveyor.Client, workflow string, o StateChange, rows func(*planner.State) ([]*planner.Row, error)) error {
	return underLock(ctx, c, workflow, o, func(ctx context.Context, s *submission) error {
		list, err := rows(s.state)
		if err != nil || o.DryRun {
			return err
		}
		return s.writeByHand(ctx, list)
	})
}

// writeByHand writes rows that no plan made. One refused batch ends it: what was written before stands.
func (s *submission) writeByHand(ctx context.Context, rows []*planner.Row) error {
	refused, err := s.writeUnplanned(ctx, rows)
	if err != nil {
		return err
	}
	if refused != nil {
		return fmt.Errorf("%s cannot be changed: its job has moved on meanwhile (%w); try again", refused.rows[0].Addr, refused.cause)
	}
	return nil
}

// writeUnplanned writes rows that no plan made, batch by batch, up to the first batch that is refused, which it returns.
func (s *submission) writeUnplanned(ctx context.Context, rows []*planner.Row) (*refusal, error) {
	w := rowWriter{workflow: s.workflow}
	for len(rows) > 0 {
		k := &chunk{}
		for _, row := range rows {
			changes, err := w.changes(row)
			if err != nil {
				return nil, err
			}
			if !k.add(row, changes, conveyor.MaxBatch) {
				break
			}
		}
		refused, err := s.write(ctx, k)
		if err != nil || refused != nil {
			return refused, err
		}
		rows = rows[len(k.rows):]
	}
	return nil, nil
}
