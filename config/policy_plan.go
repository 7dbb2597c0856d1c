package config

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"
)

// PlanData is a plan as the rules of policies know it: plan in their expressions.
type PlanData struct {
	Workflow, Workspace string
	Mode                string // normal, destroy or refresh-only
	Add, Change         int
	Destroy, Import     int
	Changes             []ChangeData // in the order of the plan
	Jobs                []JobData    // all that are declared, likewise
	Queues              []QueueData
}

// JobData is a declared job.
type JobData struct {
	Addr        Addr
	Type, Queue string
	Labels      map[string]string
	Action      string // what the plan does with it; "noop" for nothing
	Status      string // how its job stands; "" where there is none
}

// ChangeData is a job that the plan does something with. What is not declared any more is described as it was.
type ChangeData struct {
	JobData
	Previous string // the address it has moved from, "" for none
	Reason   string
	Declared bool // the plan submits or changes it, and does not end it
	Destroys bool // the plan deletes it, or cancels it to run it anew
	Imports  bool
	// Before and After are the job as JSON, nil where there is none; sensitive values are masked.
	Before, After []byte
}

// QueueData is a queue whose settings change.
type QueueData struct {
	Name, Action  string
	Before, After []byte // JSON, nil for none
}

// fact is something that rules may refer to: a member of plan, or of what is in there.
type fact struct {
	name string
	is   cty.Type // DynamicPseudoType for an object whose members differ from job to job
	text string
	// each has the members of each element, or those of the object when one is set.
	each []fact
	one  bool
}

// planFacts is the table of what a plan holds. The sample, the values and the reference have the same names by it.
var planFacts = sync.OnceValue(func() []fact {
	text, count, yes := cty.String, cty.Number, cty.Bool
	job := []fact{
		{name: "address", is: text, text: "Such as `job.load` or `module.m.job.load[\"eu\"]`."},
		{name: "module", is: text, text: "The module that it stands in, `\"\"` for none."},
		{name: "name", is: text, text: "The label of its block."},
		{name: "key", is: text, text: "What tells it from other instances of its block; `null` without `count` and `for_each`."},
		{name: "type", is: text, text: "`exec`, `http`, `sleep`, or the type of a worker's handler."},
		{name: "queue", is: text, text: "Where it runs."},
		{name: "labels", is: cty.Map(text), text: "Its `meta`. Empty without."},
		{name: "action", is: text, text: "`create`, `update`, `replace`, `delete`, `reopen`, `move` or `forget`, or `noop` for one that is only imported; of a job in `plan.jobs` also `noop`."},
		{name: "status", is: text, text: "How its job stands, such as `running`, `completed` or `lost`; `null` where nothing is recorded."},
	}
	return []fact{
		{name: "workflow", is: text, text: "The name of the workflow, without its workspace."},
		{name: "workspace", is: text, text: "The workspace, `default` where none was chosen."},
		{name: "mode", is: text, text: "`normal`, `destroy` or `refresh-only`."},
		{name: "summary", one: true, text: "How many jobs, as the plan's last line has them.", each: []fact{
			{name: "add", is: count, text: "To add. One that is replaced counts here and in `destroy`."},
			{name: "change", is: count, text: "To change."},
			{name: "destroy", is: count, text: "To destroy."},
			{name: "import", is: count, text: "To import."},
		}},
		{name: "changes", text: "Each job that the plan does something with, in the order in which they start.", each: append(slices.Clone(job),
			fact{name: "reason", is: text, text: "Why, in the words of `plan -json`: `new`, `work_changed`, `not_declared` and so on."},
			fact{name: "previous_address", is: text, text: "Where it has moved from; `null` if it has not."},
			fact{name: "declared", is: yes, text: "It is submitted or changed, and not taken away."},
			fact{name: "destroys", is: yes, text: "Its job is cancelled or forgotten: what `prevent_destroy` would refuse."},
			fact{name: "imports", is: yes, text: "It is a job that the store holds already."},
			fact{name: "before", is: cty.DynamicPseudoType, text: "The recorded job, with the members that `show -json` has; `null` for a new one."},
			fact{name: "after", is: cty.DynamicPseudoType, text: "The job as it will be, likewise; `null` for one that goes."},
		)},
		{name: "jobs", text: "Each declared job, also one that nothing becomes of.", each: job},
		{name: "queues", text: "Each queue whose settings change.", each: []fact{
			{name: "name", is: text, text: "Its name."},
			{name: "action", is: text, text: "`create`, `update` or `delete`."},
			{name: "before", is: cty.DynamicPseudoType, text: "Its settings; `null` for none."},
			{name: "after", is: cty.DynamicPseudoType, text: "Those it gets; `null` for none."},
		}},
	}
})

// planMembers are what may follow plan in a reference.
func planMembers() []string {
	var names []string
	for _, f := range planFacts() {
		names = append(names, f.name)
	}
	return names
}

// samplePlan is a plan of one change of which nothing is known but the names and types of its members.
func samplePlan() cty.Value { return sampleOf(planFacts()) }

func sampleOf(facts []fact) cty.Value {
	vals := make(map[string]cty.Value, len(facts))
	for _, f := range facts {
		switch {
		case f.each == nil:
			vals[f.name] = cty.UnknownVal(f.is)
		case f.one:
			vals[f.name] = sampleOf(f.each)
		default:
			vals[f.name] = cty.TupleVal([]cty.Value{sampleOf(f.each)})
		}
	}
	return cty.ObjectVal(vals)
}

// value is the plan in expressions.
func (d *PlanData) value() cty.Value {
	changes, jobs, queues := make([]cty.Value, len(d.Changes)), make([]cty.Value, len(d.Jobs)), make([]cty.Value, len(d.Queues))
	for i := range d.Changes {
		changes[i] = d.Changes[i].value()
	}
	for i := range d.Jobs {
		jobs[i] = cty.ObjectVal(d.Jobs[i].members())
	}
	for i, q := range d.Queues {
		queues[i] = cty.ObjectVal(map[string]cty.Value{
			"name": cty.StringVal(q.Name), "action": cty.StringVal(q.Action), "before": documentValue(q.Before), "after": documentValue(q.After),
		})
	}
	number := func(n int) cty.Value { return cty.NumberIntVal(int64(n)) }
	return cty.ObjectVal(map[string]cty.Value{
		"workflow": cty.StringVal(d.Workflow), "workspace": cty.StringVal(d.Workspace), "mode": cty.StringVal(d.Mode),
		"summary": cty.ObjectVal(map[string]cty.Value{
			"add": number(d.Add), "change": number(d.Change), "destroy": number(d.Destroy), "import": number(d.Import),
		}),
		"changes": cty.TupleVal(changes), "jobs": cty.TupleVal(jobs), "queues": cty.TupleVal(queues),
	})
}

func (j *JobData) members() map[string]cty.Value {
	key := ""
	if j.Addr.Key.Kind != NoKey {
		key = strings.Trim(j.Addr.Key.String(), "[]")
		if j.Addr.Key.Kind == KeyString {
			key = j.Addr.Key.Str
		}
	}
	labels := cty.MapValEmpty(cty.String)
	if len(j.Labels) > 0 {
		vals := make(map[string]cty.Value, len(j.Labels))
		for name, text := range j.Labels {
			vals[name] = cty.StringVal(text)
		}
		labels = cty.MapVal(vals)
	}
	return map[string]cty.Value{
		"address": cty.StringVal(j.Addr.String()), "module": cty.StringVal(j.Addr.Module), "name": cty.StringVal(j.Addr.Name), "key": textOrNull(key),
		"type": cty.StringVal(j.Type), "queue": cty.StringVal(j.Queue), "labels": labels, "action": cty.StringVal(j.Action), "status": textOrNull(j.Status),
	}
}

func (c *ChangeData) value() cty.Value {
	vals := c.members()
	vals["reason"], vals["previous_address"] = cty.StringVal(c.Reason), textOrNull(c.Previous)
	vals["declared"], vals["destroys"], vals["imports"] = cty.BoolVal(c.Declared), cty.BoolVal(c.Destroys), cty.BoolVal(c.Imports)
	vals["before"], vals["after"] = documentValue(c.Before), documentValue(c.After)
	return cty.ObjectVal(vals)
}

func textOrNull(s string) cty.Value {
	if s == "" {
		return cty.NullVal(cty.String)
	}
	return cty.StringVal(s)
}

// documentValue is JSON as a value: objects and lists of whatever they hold. What is no JSON is null, and is not met: it was written
// by this program.
func documentValue(raw []byte) cty.Value {
	if len(raw) == 0 {
		return cty.NullVal(cty.DynamicPseudoType)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return cty.NullVal(cty.DynamicPseudoType)
	}
	return valueOf(v)
}

func valueOf(v any) cty.Value {
	switch v := v.(type) {
	case string:
		return cty.StringVal(v)
	case bool:
		return cty.BoolVal(v)
	case json.Number:
		if n, err := cty.ParseNumberVal(v.String()); err == nil {
			return n
		}
	case []any:
		vals := make([]cty.Value, len(v))
		for i := range v {
			vals[i] = valueOf(v[i])
		}
		return cty.TupleVal(vals)
	case map[string]any:
		vals := make(map[string]cty.Value, len(v))
		for name := range v {
			vals[name] = valueOf(v[name])
		}
		return cty.ObjectVal(vals)
	}
	return cty.NullVal(cty.DynamicPseudoType)
}
