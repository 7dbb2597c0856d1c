package tui

import (
	"github.com/waybill-dev/waybill/planner"
)

// actionJSON is an action in the words of Terraform's envelope, and two of ours: reopen and forget.
func actionJSON(a planner.Action) string {
	switch a {
	case planner.NoOp:
		return "noop"
	case planner.Rerecord:
		return planner.Update.String()
	default:
		return a.String()
	}
}

// Plan writes a plan: drift, one planned_change per change, and the summary.
func (j *JSON) Plan(p *planner.Plan) {
	j.plan(p)
	j.flush()
}

// planFlush is how many bytes of a plan are written at once.
const planFlush = 1 << 16

func (j *JSON) plan(p *planner.Plan) {
	for m := range p.Messages() {
		if j.buf.Len() > planFlush {
			j.flush()
		}
		j.line("info", m.Type, m.Text, func(e *envelope) { e.rest = m.Body })
	}
}
