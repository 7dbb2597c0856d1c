package planner

// FormerNote says, in a sentence, what a plan does about the workflow's former name; "" for a plan without one.
func (p *Plan) FormerNote() string {
	if p.Former == "" {
		return ""
	}
	return "All that is recorded under the former name is carried over: the jobs are the same ones, and none runs again for it. " +
		"The name " + quoted(p.Former) + " is free then."
}

func (p *Plan) renderFormer(c *canvas) {
	if p.Former == "" {
		return
	}
	c.raw("  " + c.ink.bold("# workflow "+quoted(p.Former)) + " has moved to " + c.ink.bold("workflow "+quoted(p.Workflow)) + "\n")
	c.blank()
	c.paragraph(p.FormerNote())
	c.blank()
}

func (p *Plan) formerMessage() Message {
	from := workflowResource(p.Former)
	return changeMessage("planned_change", "workflow."+p.Workflow+": Plan to move",
		changeMembers{Resource: workflowResource(p.Workflow), Previous: &from, Action: "move", Reason: ReasonMoved})
}

func workflowResource(name string) resource {
	return resource{Addr: "workflow." + name, Name: "workflow." + name, Type: "workflow", Block: name}
}
