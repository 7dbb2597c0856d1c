package planner

import (
	"encoding/base64"
	"encoding/json"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
)

// Judge holds the plan against a policy. Errors among the diagnostics deny it: nothing of it may be applied. A nil policy has nothing
// to say.
func (p *Plan) Judge(policy *config.Policy) hcl.Diagnostics {
	if policy == nil {
		return nil
	}
	return policy.Judge(p.policyData())
}

// policyData is the plan as the rules of policies know it.
func (p *Plan) policyData() *config.PlanData {
	d := &config.PlanData{Mode: p.mode(), Import: p.Imports()}
	d.Workflow, d.Workspace = config.SplitStateName(p.Workflow)
	d.Add, d.Change, d.Destroy = p.Summary()
	for _, r := range p.Rows {
		job := r.jobData()
		if r.Action != NoOp {
			change := r.changeData(job)
			job.Action = change.Action
			d.Changes = append(d.Changes, change)
		}
		if r.Job != nil {
			d.Jobs = append(d.Jobs, job)
		}
	}
	for i := range p.Queues {
		c := p.Queues[i].change()
		d.Queues = append(d.Queues, config.QueueData{Name: p.Queues[i].Name, Action: c.Action, Before: c.Before, After: c.After})
	}
	return d
}

func (r *Row) jobData() config.JobData {
	d := config.JobData{Addr: r.Addr, Action: r.Action.Word()}
	if r.Prior != nil {
		d.Status = r.Live.Status.String()
	}
	if r.Job != nil && !r.Leave {
		d.Type, d.Queue, d.Labels = r.Job.Type, r.Job.Queue, r.Job.Labels
		return d
	}
	d.Type, d.Queue = r.Prior.Type, r.Prior.Queue
	if meta, ok := decodeDefinition(r.Prior.Definition)["meta"].(map[string]any); ok {
		d.Labels = make(map[string]string, len(meta))
		for name, v := range meta {
			if text, ok := v.(string); ok {
				d.Labels[name] = text
			}
		}
	}
	return d
}

func (r *Row) changeData(job config.JobData) config.ChangeData {
	c := r.change()
	job.Action = c.Action
	d := config.ChangeData{JobData: job, Reason: string(r.Reason), Before: c.Before, After: c.After, Declared: r.Job != nil && !r.Leave, Imports: c.Import != nil,
		Destroys: r.Action == Delete || r.Action == Replace && r.CancelFirst}
	if c.Previous != nil {
		d.Previous = c.Previous.Addr
	}
	if d.Declared && len(d.After) > 0 {
		d.After = r.whole(d.After)
	}
	return d
}

// whole puts what is too long for records back into a document: a rule that looks for something has to find it in a long payload
// too.
func (r *Row) whole(after []byte) []byte {
	j := r.Job
	if r.KeepsWork || len(j.Shown) <= maxShown && len(j.Triggers) <= maxShown {
		return after
	}
	doc := decodeDefinition(after)
	put := func(name string, raw []byte) {
		var v any
		if err := decodeJSON(appendReadable(nil, raw), &v); err == nil {
			doc[name] = v
		}
	}
	if len(j.Shown) > maxShown {
		switch {
		case j.Type == "exec" || j.Type == "http" || j.Type == "sleep":
			put(j.Type, j.Shown)
		case json.Valid(j.Shown):
			put("payload", j.Shown)
		default:
			doc["payload_base64"] = base64.StdEncoding.EncodeToString(j.Shown)
		}
	}
	if len(j.Triggers) > maxShown {
		put("triggers", j.Triggers)
	}
	return doc.encode()
}
