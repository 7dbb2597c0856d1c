package planner

import (
	"encoding/json"
	"fmt"
	"iter"

	"github.com/waybill-dev/waybill/config"
)

// Message is one line of a plan in Terraform's UI envelope, without the envelope: Body is a JSON object whose members
// stand beside the envelope's.
type Message struct {
	Type string // planned_change, planned_schedule, resource_drift, outputs, forecast, log or change_summary
	Text string // @message
	Body json.RawMessage
}

type changeBody struct {
	Change changeMembers `json:"change"`
}

type changeMembers struct {
	Resource resource        `json:"resource"`
	Previous *resource       `json:"previous_resource,omitempty"` // of one that has moved
	Import   *importMembers  `json:"importing,omitempty"`         // of one that the store holds already
	Action   string          `json:"action"`
	Reason   Reason          `json:"reason,omitempty"`
	Causes   []causeMembers  `json:"causes,omitempty"`
	Before   json.RawMessage `json:"before,omitempty"`
	After    json.RawMessage `json:"after,omitempty"`
	Drift    *driftMembers   `json:"drift,omitempty"` // of resource_drift
}

type importMembers struct {
	ID      string `json:"id"`
	Assumed bool   `json:"work_assumed,omitempty"`
}

type driftMembers struct {
	Kind   DriftKind `json:"kind"`
	Status string    `json:"status"` // of the job now
	Text   string    `json:"text"`
}

type resource struct {
	Addr    string `json:"addr"`
	Module  string `json:"module"`
	Name    string `json:"resource"` // the address without its module
	Type    string `json:"resource_type"`
	Block   string `json:"resource_name"`
	Key     any    `json:"resource_key"`
	Implied string `json:"implied_provider"`
}

type causeMembers struct {
	Addr   string `json:"addr"`
	Reason Reason `json:"reason"`
}

type outputsBody struct {
	Outputs map[string]outputMembers `json:"outputs"`
}

type outputMembers struct {
	Sensitive bool            `json:"sensitive"`
	Action    string          `json:"action"`
	Value     json.RawMessage `json:"value,omitempty"` // absent when sensitive or known after apply
}

type summaryBody struct {
	Changes sumMembers `json:"changes"`
}

type sumMembers struct {
	Import    int    `json:"import,omitempty"`
	Add       int    `json:"add"`
	Change    int    `json:"change"`
	Remove    int    `json:"remove"`
	Operation string `json:"operation"`
}

// Messages gives a plan for programs: that the workflow has another name, what drifted, one planned_change for each row with an action and each queue that
// changes, one planned_schedule for each schedule and gate that is declared, outputs, the forecast, and the summary last.
func (p *Plan) Messages() iter.Seq[Message] {
	return func(yield func(Message) bool) {
		if p.Assumed && !yield(Message{Type: "log", Text: assumedNote, Body: json.RawMessage("{}")}) {
			return
		}
		if p.Former != "" && !yield(p.formerMessage()) {
			return
		}
		for _, d := range p.Drift() {
			if !yield(d.message()) {
				return
			}
		}
		for _, r := range p.Rows {
			if r.Action != NoOp && !yield(r.message()) {
				return
			}
		}
		for i := range p.Queues {
			if !yield(p.Queues[i].message()) {
				return
			}
		}
		for _, r := range p.Rows {
			if r.showsRecurrence() && !yield(r.recurrence()) {
				return
			}
		}
		if len(p.Outputs) > 0 && !yield(p.outputsMessage()) {
			return
		}
		if p.Forecast != nil && !yield(p.Forecast.message()) {
			return
		}
		yield(p.summaryMessage())
	}
}

func (d Drift) message() Message {
	return changeMessage("resource_drift", fmt.Sprintf("%s: Drift detected (%s)", d.Row.Addr, d.Kind), d.change())
}

func (d Drift) change() changeMembers {
	change := changeMembers{Resource: resourceOf(d.Row.Addr), Action: "update", Before: d.Row.Before(), Drift: &driftMembers{
		Kind: d.Kind, Status: d.Row.Live.Status.String(), Text: d.Text()}}
	if d.Kind == DriftLost {
		change.Action, change.Reason = "delete", ReasonLost
	}
	return change
}

func (r *Row) message() Message {
	change := r.change()
	verb := change.Action
	if r.Importing() && r.Action == Rerecord {
		verb = "import"
	}
	return changeMessage("planned_change", r.Addr.String()+": Plan to "+verb, change)
}

func (r *Row) change() changeMembers {
	change := changeMembers{Resource: resourceOf(r.Addr), Action: r.Action.Word(), Reason: r.Reason, Before: r.Before(), After: r.After()}
	if r.MovedFrom != (config.Addr{}) {
		previous := resourceOf(r.MovedFrom)
		change.Previous = &previous
	}
	if r.justMoves() {
		change.Action = "move"
	}
	if r.Importing() && r.Action != NoOp {
		change.Import = &importMembers{r.Prior.UUID.String(), r.Unseen}
		if r.Action == Rerecord {
			change.Action = NoOp.Word()
		}
	}
	for _, c := range r.Causes {
		change.Causes = append(change.Causes, causeMembers{c.Addr.String(), c.Reason})
	}
	return change
}

// Word is the action in the words of Terraform's envelope, and two of ours: reopen and forget.
func (a Action) Word() string {
	switch a {
	case NoOp:
		return "noop"
	case Rerecord:
		return "update"
	default:
		return a.String()
	}
}

func resourceOf(a config.Addr) resource {
	local := a
	local.Module = ""
	r := resource{Addr: a.String(), Module: a.Module, Name: local.String(), Type: "job", Block: a.Name}
	switch a.Key.Kind {
	case config.KeyString:
		r.Key = a.Key.Str
	case config.KeyInt:
		r.Key = a.Key.Int
	}
	return r
}

func (q *QueueChange) message() Message {
	change := q.change()
	return changeMessage("planned_change", change.Resource.Addr+": Plan to "+change.Action, change)
}

func (q *QueueChange) change() changeMembers {
	name := "queue." + q.Name
	change := changeMembers{
		Resource: resource{Addr: name, Name: name, Type: "queue", Block: q.Name}, Action: "update",
	}
	if q.Prior == nil {
		change.Action = "create"
	} else {
		change.Before = q.Prior.document().encode()
	}
	if q.Next == nil {
		change.Action = "delete"
	} else {
		change.After = q.Next.document().encode()
	}
	return change
}

func (p *Plan) outputsMessage() Message {
	return Message{Type: "outputs", Text: "Outputs: " + fmt.Sprint(len(p.Outputs)), Body: encodeBody(outputsBody{p.outputMembers()})}
}

func (p *Plan) outputMembers() map[string]outputMembers {
	all := make(map[string]outputMembers, len(p.Outputs))
	for i := range p.Outputs {
		o := &p.Outputs[i]
		members := outputMembers{Sensitive: o.Sensitive, Action: "update"}
		switch {
		case o.Prior == "":
			members.Action = "create"
		case o.Next == "":
			members.Action = "delete"
		}
		if unknown, _ := placeholders(o.Next); !unknown && !o.Sensitive && json.Valid([]byte(o.Next)) {
			members.Value = json.RawMessage(o.Next)
		}
		all[o.Name] = members
	}
	return all
}

func (p *Plan) summaryMessage() Message {
	return Message{Type: "change_summary", Body: encodeBody(summaryBody{p.sums()}), Text: p.Sentence()}
}

func (p *Plan) sums() (s sumMembers) {
	s.Add, s.Change, s.Remove = p.Summary()
	s.Import, s.Operation = p.Imports(), "plan"
	return s
}

func changeMessage(kind, text string, c changeMembers) Message {
	return Message{Type: kind, Text: text, Body: encodeBody(changeBody{c})}
}

func encodeBody(v any) json.RawMessage {
	raw, err := encodeJSON(v)
	if err != nil {
		return json.RawMessage("{}") // not reached: all of it is strings, numbers and JSON that was read or written here
	}
	return raw
}
