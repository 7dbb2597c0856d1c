package planner

import (
	"strings"

	"github.com/waybill-dev/waybill/config"
)

func (p *Plan) renderQueues(c *canvas) {
	for i := range p.Queues {
		p.Queues[i].render(c)
	}
}

// Action is what apply does with a queue's settings: Create, Update or Delete.
func (q *QueueChange) Action() Action {
	switch {
	case q.Prior == nil:
		return Create
	case q.Next == nil:
		return Delete
	default:
		return Update
	}
}

// Fate says what happens to the queue's settings.
func (q *QueueChange) Fate() string {
	switch q.Action() {
	case Create:
		return "will be created"
	case Delete:
		return "will be destroyed"
	default:
		return "will be updated in-place"
	}
}

// render writes the block of one queue.
func (q *QueueChange) render(c *canvas) {
	c.blank()
	name := quoted(q.Name)
	c.raw("  " + c.ink.bold("# queue "+name) + " " + q.Fate() + "\n")
	c.raw(c.ink.symbol(q.Action().Symbol()) + " queue " + name + " {\n")
	c.members(8, q.Prior.document(), q.Next.document(), shape{})
	c.raw("    }\n")
}

func (q *QueueSettings) document() document {
	if q == nil {
		return nil
	}
	d := document{"weight": number(q.Weight)}
	if q.Concurrency != 0 {
		d["concurrency"] = number(q.Concurrency)
	}
	if q.Paused {
		d["paused"] = true
	}
	if q.Fair {
		d["fair"] = true
	}
	if q.KeepFor != 0 {
		d["retention"] = durationText(q.KeepFor)
	}
	if q.KeepCount != 0 {
		d["retention_count"] = number(q.KeepCount)
	}
	return d
}

func (p *Plan) renderOutputs(c *canvas) {
	if len(p.Outputs) == 0 {
		return
	}
	c.blank()
	c.raw("Changes to Outputs:\n")
	before, after := document{}, document{}
	for _, o := range p.Outputs {
		if o.Prior != "" {
			before[o.Name] = o.shown(o.Prior)
		}
		if o.Next != "" {
			after[o.Name] = o.shown(o.Next)
		}
	}
	c.members(4, before, after, shape{})
}

// shown is the value of an output for people.
func (o *OutputChange) shown(raw string) any {
	if o.Sensitive || strings.HasPrefix(raw, sensitiveOutput) {
		return sensitive{raw}
	}
	if value := (document{}); decodeJSON([]byte(`{"v":`+raw+`}`), &value) == nil {
		return withUnknown(value["v"])
	}
	return raw
}

// withUnknown replaces strings that are one placeholder.
func withUnknown(v any) any {
	switch v := v.(type) {
	case string:
		if _, alone := placeholders(v); alone {
			return unknown{}
		}
		return string(config.FillPlaceholders([]byte(v), reference))
	case []any:
		for i := range v {
			v[i] = withUnknown(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = withUnknown(v[k])
		}
	}
	return v
}
