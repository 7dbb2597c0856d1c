package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/internal/controller"
	"github.com/waybill-dev/waybill/planner"
)

// tended is what the controller of a workflow does about a job that failed, was cancelled, expired or is on hold.
type tended struct {
	leader  applier.Holder
	retryAt time.Time // zero: it leaves the job alone
	before  int       // how often it has run the job again
}

// tended finds what the controller that leads does about the jobs that are explained, if it has the same configuration.
func (p *planning) tended(ctx context.Context, state *planner.State, found []planner.Explanation) (map[config.Addr]*tended, error) {
	isBad := func(x planner.Explanation) bool {
		return x.Row.Prior != nil && x.Row.Job != nil && controller.Badly(x.Row.Live.Status)
	}
	if !slices.ContainsFunc(found, isBad) {
		return nil, nil
	}
	leader, err := applier.ReadLeader(ctx, p.store.client, p.store.workflow)
	if err != nil || leader == nil {
		return nil, err
	}
	memory, err := applier.ReadMemory(ctx, p.store.client, p.store.workflow)
	if err != nil {
		return nil, err
	}
	o := p.options
	o.KeepEnded = true
	plan, diags := planner.Make(p.workflow, state, o)
	if err := errorIf(diags, p.workflow.Sources); err != nil {
		return nil, err
	}
	all := map[config.Addr]*tended{}
	for _, r := range plan.Rows {
		if controller.Keeps(r) {
			t := &tended{leader: *leader}
			t.retryAt, t.before, _ = controller.RetryOf(memory.Notes, r)
			all[r.Addr] = t
		}
	}
	return all, nil
}

func (t *tended) text() string {
	if t.retryAt.IsZero() {
		return fmt.Sprintf("%s leads, and has left this job alone so far: it waits for a new revision, or for -retry-failed", t.leader.Who)
	}
	text := fmt.Sprintf("%s leads, and runs this job again at %s", t.leader.Who, t.retryAt.Format(time.RFC3339))
	if t.before > 0 {
		text += fmt.Sprintf(", as it has done %s before", countOf(int64(t.before), "time", "times"))
	}
	return text
}
