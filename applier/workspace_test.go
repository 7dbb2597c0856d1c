package applier

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// in is a workspace of the same workflow.
func (l *lab) in(workspace string) *lab {
	other := l.another()
	w := *l.workflow
	w.Name, w.Workspace = config.StateName(w.Name, workspace), workspace
	other.workflow = &w
	return other
}

func (l *lab) workspaces(want ...string) {
	l.Helper()
	got, err := Workspaces(l.Context(), l.Client, "w")
	l.ok(err)
	if d := cmp.Diff(want, got); d != "" {
		l.Errorf("workspaces (-want +got):\n%s", d)
	}
}

// TestWorkspacesApart applies the same jobs in two workspaces: neither knows of the other's.
func TestWorkspacesApart(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b", l.after("a")))
		l.workflow.Queues = []*config.Queue{{Name: "q", Concurrency: 2, Weight: 1}}
		staging := l.in("staging")
		l.ok(CreateState(l.Context(), l.Client, "w@staging", StateChange{}))
		if err := CreateState(l.Context(), l.Client, "w@staging", StateChange{}); !errors.Is(err, ErrStateExists) {
			l.Errorf("made once more: %v", err)
		}
		l.workspaces("default", "staging")
		made := staging.state().Lineage
		l.apply()
		staging.apply()
		one, other := l.state(), staging.state()
		if other.Lineage != made || one.Lineage == made {
			l.Errorf("lineages %s and %s, and %s was made", one.Lineage, other.Lineage, made)
		}
		for address, r := range one.Records {
			if o := other.Records[address]; o == nil || o.UUID == r.UUID {
				l.Errorf("%s is %v in both", address, o)
			}
		}
		if d := cmp.Diff([]string{"w@staging"}, one.Shared["q"].DeclaredBy); d != "" {
			l.Errorf("queue q is declared by others (-want +got):\n%s", d)
		}
		for _, mine := range []*lab{l, staging} {
			if p := mine.plan(); len(p.Queues) > 0 || slices.ContainsFunc(p.Rows, func(r *planner.Row) bool { return r.Action != planner.NoOp }) {
				l.Errorf("%s: a plan is not empty", mine.workflow.Name)
			}
		}
	})
}

// TestDeleteState deletes a state with and without records, and makes it anew.
func TestDeleteState(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b", l.after("a")))
		l.workflow.Queues = []*config.Queue{{Name: "q", Concurrency: 2, Weight: 1}}
		l.apply()
		staging := l.in("staging")
		staging.apply()
		first := staging.state()

		_, err := DeleteState(l.Context(), l.Client, "w@staging", false, StateChange{})
		var full *NotEmptyError
		if !errors.As(err, &full) || full.Records != 2 {
			l.Errorf("deleting what has records: %v", err)
		}
		if d := cmp.Diff(first, staging.state()); d != "" {
			l.Errorf("that changed something:\n%s", d)
		}
		if n, err := DeleteState(l.Context(), l.Client, "w@staging", true, StateChange{DryRun: true}); n != 2 || err != nil {
			l.Errorf("what would be done: %d, %v", n, err)
		}
		l.workspaces("default", "staging")
		l.remember("w@staging")

		if n, err := DeleteState(l.Context(), l.Client, "w@staging", true, StateChange{}); n != 2 || err != nil {
			l.Errorf("deleted: %d, %v", n, err)
		}
		l.workspaces("default")
		for _, key := range []string{stateKey("w@staging"), metaKey("w@staging"), revisionsKey("w@staging"), archivesKey("w@staging"),
			controllerKey("w@staging")} {
			if n, err := l.Redis().Exists(l.Context(), l.Prefix()+key).Result(); n != 0 || err != nil {
				l.Errorf("%s is still there (%v)", key, err)
			}
		}
		if shared := l.state().Shared; len(shared) > 0 {
			l.Errorf("queues are still declared by %v", shared)
		}
		for address, r := range first.Records {
			status, err := l.Statuses(l.Context(), []string{r.UUID.String()})
			l.ok(err)
			if status[0].State.Ended() {
				l.Errorf("%s did not go on: %v", address, status[0].State)
			}
		}
		if _, err := DeleteState(l.Context(), l.Client, "w@staging", true, StateChange{}); !errors.Is(err, ErrNoState) {
			l.Errorf("deleted once more: %v", err)
		}

		staging.apply()
		again := staging.state()
		for address, r := range again.Records {
			if r.UUID == first.Records[address].UUID {
				l.Errorf("%s has the uuid of a job that was forgotten", address)
			}
		}
		if len(l.state().Records) != 2 {
			l.Error("the default workspace has lost records")
		}
	})
}
