package planner

import "slices"

// FormerNote says what a plan does about the workflow's former name; "" for a plan without one.
func (p *Plan) FormerNote() string {
	if p.Former == "" {
		return ""
	}
	again := "none runs again for it"
	if slices.ContainsFunc(p.Rows, func(r *Row) bool { return r.Action == Replace }) {
		again = "none runs again but those that this plan replaces" // such as one whose command holds workflow.name
	}
	return "all that is recorded is carried over: the jobs are the same ones, " + again + ", and the name " + quoted(p.Former) + " is free"
}

func (p *Plan) renderFormer(c *canvas) {
	if p.Former == "" {
		return
	}
	c.blank()
	c.raw("  " + c.ink.bold("# workflow "+quoted(p.Former)) + " has moved to " + c.ink.bold("workflow "+quoted(p.Workflow)) + "\n")
	c.raw("  # (" + p.FormerNote() + ")\n")
}

func (p *Plan) formerMessage() Message {
	from := workflowResource(p.Former)
	return changeMessage("planned_change", "workflow."+p.Workflow+": Plan to move",
		changeMembers{Resource: workflowResource(p.Workflow), Previous: &from, Action: "move", Reason: ReasonMoved})
}

func workflowResource(name string) resource {
	return resource{Addr: "workflow." + name, Name: "workflow." + name, Type: "workflow", Block: name}
}
