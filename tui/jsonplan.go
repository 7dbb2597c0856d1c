package tui

import (
	"encoding/json"
	"fmt"

	"github.com/waybill-dev/waybill/planner"
)

// changeJSON is the content of planned_change and resource_drift.
type changeJSON struct {
	Resource resourceJSON    `json:"resource"`
	Action   string          `json:"action"`
	Reason   string          `json:"reason,omitempty"`
	Causes   []linkJSON      `json:"causes,omitempty"` // for changes that follow from others
	Before   json.RawMessage `json:"before,omitempty"` // definition, as recorded
	After    json.RawMessage `json:"after,omitempty"`  // definition, as declared
}

// linkJSON is one link of a chain of causes.
type linkJSON struct {
	Addr   string `json:"addr"`
	Reason string `json:"reason"`
}

// actionJSON is an action in the words of Terraform's envelope, and two of ours: reopen and forget.
func actionJSON(a planner.Action) string {
	switch a {
	case planner.Create:
		return "create"
	case planner.Update, planner.Rerecord:
		return "update"
	case planner.Reopen:
		return "reopen"
	case planner.Replace:
		return "replace"
	case planner.Delete:
		return "delete"
	case planner.Forget:
		return "forget"
	default:
		return "noop"
	}
}

// Plan writes a plan: drift, one planned_change per changed row, and the summary.
func (j *JSON) Plan(p *planner.Plan) {
	for _, row := range p.Rows {
		if row.Prior != nil && row.Live.Status == planner.Lost && row.Action != planner.NoOp {
			j.change("resource_drift", row.Addr.String()+": Drift detected (lost)",
				changeJSON{Resource: resourceOf(row.Addr), Action: "delete", Before: row.Prior.Definition})
		}
	}
	for _, row := range p.Rows {
		if row.Action == planner.NoOp {
			continue
		}
		c := changeJSON{Resource: resourceOf(row.Addr), Action: actionJSON(row.Action), Reason: string(row.Reason), After: row.Definition}
		if row.Prior != nil {
			c.Before = row.Prior.Definition
		}
		for _, cause := range row.Causes {
			c.Causes = append(c.Causes, linkJSON{Addr: cause.Addr.String(), Reason: string(cause.Reason)})
		}
		j.change("planned_change", row.Addr.String()+": Plan to "+rowVerb(row.Action), c)
	}
	add, change, destroy := summaryOf(p)
	j.write("info", "change_summary", fmt.Sprintf("Plan: %d to add, %d to change, %d to destroy.", add, change, destroy),
		func(e *envelope) {
			e.Changes = &changesJSON{Add: add, Change: change, Remove: destroy, Operation: "plan"}
		})
}

func (j *JSON) change(kind, message string, c changeJSON) {
	j.write("info", kind, message, func(e *envelope) { e.Change = &c })
}
