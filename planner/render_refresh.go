package planner

// assumedNote says what a plan does not know that was made from an assumed state.
const assumedNote = "How the jobs stand was not read (-refresh=false): the configuration is compared with the records alone, as if every job " +
	"had completed. What failed, waits, runs or is lost does not show."

func (p *Plan) renderAssumed(c *canvas) {
	if p.Assumed {
		c.paragraph("Note: " + assumedNote)
		c.blank()
	}
}

// renderRefresh writes a plan that is made for nothing but what changed outside of Waybill.
func (p *Plan) renderRefresh(c *canvas) {
	drifted := p.renderDrift(c)
	stopped := 0
	for _, r := range p.Rows {
		if r.Action == Forget && r.Reason == ReasonStopped {
			c.raw("  # " + c.ink.bold(r.Addr.String()) + " is not declared any more, was told to stop, and has ended\n")
			stopped++
		}
	}
	if stopped > 0 {
		c.blank()
	}
	forgotten := p.Forgotten()
	switch {
	case !drifted && stopped == 0:
		c.raw(c.ink.bold("No changes. Your jobs still match the configuration.") + "\n")
		c.blank()
		c.paragraph("Waybill has looked at every recorded job: each is in the store, and nothing happened to it but what applies and its own runs did.")
	case forgotten == 0:
		c.paragraph("This is a refresh-only plan: Waybill undoes none of this, and its records stay as they are. A plan without -refresh-only shows " +
			"what would be done about it.")
	default:
		c.paragraph("This is a refresh-only plan: Waybill undoes none of this. If you apply it, " + counted(forgotten, "record of a job that is gone is",
			"records of jobs that are gone are") + " forgotten, and nothing else changes. What is declared still is new in the next plan.")
	}
}
