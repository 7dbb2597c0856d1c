package applier

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"
	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/planner"
)

// readImports reads the jobs that a workflow's import blocks name, but for those of addresses with a record.
func readImports(ctx context.Context, c *conveyor.Client, w *config.Workflow, s *planner.State) error {
	recorded := sync.OnceValue(func() map[uuid.UUID]string { return recordedAs(s) })
	var names, ids []string
	for i := range w.Imports {
		v := &w.Imports[i]
		if name := v.To.String(); s.Records[name] == nil {
			names, ids = append(names, name), append(ids, v.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	stored, err := c.GetAll(ctx, ids)
	if err != nil {
		return fmt.Errorf("read the jobs to import: %w", err)
	}
	if err := c.Search(ctx, stored); err != nil { // so that plans show what a waiting job is about
		return fmt.Errorf("read the jobs to import: %w", err)
	}
	s.Imports = make(map[string]*planner.Import, len(ids))
	for i, name := range names {
		s.Imports[name] = importOf(ids[i], stored[i], recorded)
	}
	return nil
}

// importOf is a job of the store as a plan imports it.
func importOf(id string, stored conveyor.Stored, recorded func() map[uuid.UUID]string) *planner.Import {
	job, status := stored.Job, stored.Status
	found := &planner.Import{Live: liveOf(status), Queue: status.Queue}
	var err error
	if found.UUID, err = uuid.Parse(id); err != nil || found.UUID.String() != id {
		found.Problem = "only jobs whose id is a uuid in lower case can have a record"
		return found
	}
	switch {
	case status.State == conveyor.StateUnknown:
		found.Problem = "the store holds no such job"
	case recorded()[found.UUID] != "":
		found.Problem = fmt.Sprintf("it is recorded as %s already; `waybill state mv` gives a record another address", recorded()[found.UUID])
	case status.Recorded:
		found.Problem = "another workflow has a record of it; `waybill import -take-over` takes it from there, and `waybill state rm` there forgets it"
	case status.Template != "":
		found.Problem = fmt.Sprintf("it is an occurrence, made by the template %s", status.Template)
	case status.State == conveyor.StateTemplate:
		found.Problem = "it is a template, whose schedule or gate belongs to whoever declared it; cancel it, and declare one of your own"
	case status.Broadcast || job.GetDelivery().GetTo() == wire.Delivery_ALL:
		found.Problem = "it goes to all workers, and cannot be changed any more"
	}
	if job != nil && job.SealKey == "" && len(job.Results)+len(job.Secrets) == 0 {
		found.Work = &planner.ImportedWork{Type: job.Type, Payload: job.Payload, After: job.After.AsDuration()}
		if job.RunAt != nil {
			found.Work.Time = job.RunAt.AsTime()
		}
	}
	return found
}

// recordedAs is the address of each job that has a record.
func recordedAs(s *planner.State) map[uuid.UUID]string {
	names := make(map[uuid.UUID]string, len(s.Records))
	for name, r := range s.Records {
		names[r.UUID] = name
	}
	return names
}

// Import gives a job of the store a record under an address that w declares, and leaves the job alone: the next plan shows what
// differs. Only the record is written. The state that o is about is that of w.
func Import(ctx context.Context, c *conveyor.Client, w *config.Workflow, addr config.Addr, id string, o planner.Options, change StateChange) (Imported, error) {
	only := *w
	only.Imports, only.Moved, only.Removed = []config.Import{{To: addr, ID: id}}, nil, nil
	var done Imported
	err := changeState(ctx, c, w.Name, change, func(s *planner.State) ([]*planner.Row, error) {
		if s.Records[addr.String()] != nil {
			return nil, fmt.Errorf("%s %w", addr, ErrInState)
		}
		if err := readImports(ctx, c, &only, s); err != nil {
			return nil, err
		}
		row, err := importingRow(&only, s, addr, o)
		if err != nil {
			return nil, err
		}
		done = Imported{Status: row.Live.Status, Unseen: row.Unseen}
		return []*planner.Row{row}, nil
	})
	return done, err
}

// importingRow is the row that writes the record of what only's import block names.
func importingRow(only *config.Workflow, s *planner.State, addr config.Addr, o planner.Options) (*planner.Row, error) {
	plan, diags := planner.Make(only, s, o)
	if diags.HasErrors() {
		return nil, importError(diags)
	}
	for _, r := range plan.Rows {
		if r.Addr == addr && r.Job != nil && r.Importing() {
			return &planner.Row{Addr: addr, Action: planner.Rerecord, Reason: planner.ReasonImported, Prior: r.Prior, Live: r.Live, Next: r.Adopted(s), Unseen: r.Unseen}, nil
		}
	}
	return nil, fmt.Errorf("%s %w", addr, ErrNotDeclared)
}

// Imported is a job that was imported by hand.
type Imported struct {
	Status planner.Status
	Unseen bool // the store has nothing of its work, see planner.Row
}

// ErrNotDeclared says that an address is not declared. The message names it.
var ErrNotDeclared = errors.New("is not declared")

// importError is the first thing that is wrong.
func importError(diags hcl.Diagnostics) error {
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			return &ImportError{Summary: d.Summary, Detail: d.Detail}
		}
	}
	return nil
}

// ImportError says why a job cannot be imported.
type ImportError struct{ Summary, Detail string }

func (e *ImportError) Error() string { return e.Summary + ": " + e.Detail }
