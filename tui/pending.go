package tui

import "github.com/waybill-dev/waybill/planner"

// summaryOf counts a plan's changes.
func summaryOf(p *planner.Plan) (add, change, destroy int) {
	for _, r := range p.Rows {
		switch r.Action {
		case planner.Create:
			add++
		case planner.Replace:
			add++
			destroy++
		case planner.Update, planner.Rerecord, planner.Reopen:
			change++
		case planner.Delete, planner.Forget:
			destroy++
		}
	}
	return add, change, destroy
}
