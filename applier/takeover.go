package applier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// Owner is the record of a job: whose it is.
type Owner struct {
	Workflow string
	Addr     config.Addr
}

func (o Owner) String() string { return fmt.Sprintf("%s of workflow %q", o.Addr, o.Workflow) }

// ErrNotOwned says that no workflow has a record of a job. The message names it.
var ErrNotOwned = errors.New("is recorded by no workflow")

// OwnerOf finds the record that a job has, in whichever workflow of the namespace. It fails with ErrNotOwned where there is none.
func OwnerOf(ctx context.Context, c *conveyor.Client, id string) (Owner, error) {
	known, err := readWorkflows(ctx, c)
	if err != nil {
		return Owner{}, err
	}
	names := slices.Collect(maps.Keys(known))
	more, err := searchWorkflows(ctx, c)
	if err != nil {
		return Owner{}, err
	}
	names = append(names, more...)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		snap, err := readRecords(ctx, c, name)
		if err != nil {
			return Owner{}, err
		}
		for address, r := range snap.state.Records {
			if r.UUID.String() != id {
				continue
			}
			addr, err := config.ParseAddr(address)
			return Owner{Workflow: name, Addr: addr}, err
		}
	}
	return Owner{}, fmt.Errorf("%s %w", id, ErrNotOwned)
}

// TakeOver is Import of a job that another workflow has a record of, which is removed by the script that writes the new one: whenever
// it is interrupted, exactly one of the two owns the job. from is the owner that was consented to; if it is another one by now, nothing
// is changed. Both workflows are locked meanwhile.
func TakeOver(ctx context.Context, c *conveyor.Client, w *config.Workflow, addr config.Addr, id string, from Owner, o planner.Options, change StateChange) (Imported, error) {
	if from.Workflow == w.Name {
		return Imported{}, fmt.Errorf("%s is this workflow's own: %w", id, ErrInState)
	}
	one, other := min(w.Name, from.Workflow), max(w.Name, from.Workflow) // in the order in which applies lock two
	var done Imported
	err := underLock(ctx, c, one, change, func(ctx context.Context, first *submission) error {
		return underLock(ctx, c, other, change, func(ctx context.Context, second *submission) error {
			s, old := first, second
			if one != w.Name {
				s, old = second, first
			}
			r := old.state.Records[from.Addr.String()]
			if r == nil || r.UUID.String() != id {
				return fmt.Errorf("%s is not recorded as %s any more; nothing was changed, so try again", id, from)
			}
			row, err := s.adopting(ctx, w, addr, id, o)
			if err != nil {
				return err
			}
			// The former record says what the job was made of, also where the store does not tell any more. Its edges are to jobs of the other
			// workflow, so how it is handled is written anew by the next apply while that matters, as after each import.
			row.Next.Type, row.Next.Definition, row.Next.Work = r.Type, r.Definition, r.Work
			row.Next.KeyID, row.Next.Hidden = r.KeyID, r.Hidden
			done = Imported{Status: row.Live.Status}
			if change.DryRun {
				return nil
			}
			s.besides = old.givingUp(from.Addr, r)
			return s.writeByHand(ctx, []*planner.Row{row})
		})
	})
	return done, err
}

// givingUp are the companion writes by which a workflow loses a record: as Forget would write them.
func (s *submission) givingUp(addr config.Addr, r *planner.Record) []conveyor.Attach {
	serial := strconv.FormatInt(s.meta.serial+1, 10)
	writes := []conveyor.Attach{
		{Key: stateKey(s.workflow), Field: addr.String(), Version: r.Version},
		metaWrite(s.workflow, metaSerial, serial),
		{Key: workflowsKey, Field: s.workflow, Version: -1, Value: []byte("1 " + serial)},
	}
	if r.Generation > s.state.Floor {
		writes = append(writes, metaWrite(s.workflow, metaFloor, strconv.FormatInt(r.Generation, 10)))
	}
	return writes
}

// adopting is the row that imports a job, whoever has a record of it.
func (s *submission) adopting(ctx context.Context, w *config.Workflow, addr config.Addr, id string, o planner.Options) (*planner.Row, error) {
	if s.state.Records[addr.String()] != nil {
		return nil, fmt.Errorf("%s %w", addr, ErrInState)
	}
	only := *w
	only.Imports, only.Moved, only.Removed = []config.Import{{To: addr, ID: id}}, nil, nil
	stored, err := s.client.GetAll(ctx, []string{id})
	if err != nil {
		return nil, fmt.Errorf("read the job to take over: %w", err)
	}
	found := stored[0]
	found.Status.Recorded = false // it is given up by the same script
	s.state.Imports = map[string]*planner.Import{addr.String(): importOf(id, found, func() map[uuid.UUID]string { return nil })}
	return importingRow(&only, s.state, addr, o)
}
