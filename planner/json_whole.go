package planner

import (
	"bufio"
	"io"
)

// WriteJSON writes the plan as one JSON object, with the members of the lines that Messages gives: each row, also one that nothing
// becomes of, what drifted, queues, schedules and gates, outputs, the forecast, and the sums. tui.PlanSchema describes it.
func (p *Plan) WriteJSON(w io.Writer) error {
	b := bufio.NewWriter(w)
	o := wholeWriter{b: b}
	o.member("format_version", "1.0")
	o.member("workflow", p.Workflow)
	if p.Former != "" {
		o.member("moved_from", p.Former)
	}
	if p.Lineage != [16]byte{} {
		o.member("lineage", p.Lineage.String())
	}
	o.member("mode", p.mode())
	o.member("refreshed", !p.Assumed)
	o.list("resource_changes", func(add func(any)) {
		for _, r := range p.Rows {
			add(r.change())
		}
		for i := range p.Queues {
			add(p.Queues[i].change())
		}
	})
	o.list("resource_drift", func(add func(any)) {
		for _, d := range p.Drift() {
			add(d.change())
		}
	})
	o.list("schedules", func(add func(any)) {
		for _, r := range p.Rows {
			if r.showsRecurrence() {
				add(r.schedule())
			}
		}
	})
	o.member("outputs", p.outputMembers())
	if p.Forecast != nil {
		o.member("forecast", p.Forecast.members())
	}
	o.member("changes", p.sums())
	if _, err := b.WriteString("}\n"); o.err == nil {
		o.err = err
	}
	if err := b.Flush(); o.err == nil {
		o.err = err
	}
	return o.err
}

// mode is what the plan was made for.
func (p *Plan) mode() string {
	switch {
	case p.Destroy:
		return "destroy"
	case p.RefreshOnly:
		return "refresh-only"
	default:
		return "normal"
	}
}

// wholeWriter writes the members of an object one after the other, so that no second copy of a large plan is held.
type wholeWriter struct {
	b     *bufio.Writer
	begun bool
	err   error
}

func (o *wholeWriter) name(name string) {
	lead := ","
	if !o.begun {
		lead, o.begun = "{", true
	}
	o.text(lead + `"` + name + `":`)
}

func (o *wholeWriter) text(s string) {
	if _, err := o.b.WriteString(s); o.err == nil {
		o.err = err
	}
}

func (o *wholeWriter) value(v any) {
	raw, err := encodeJSON(v)
	if err != nil {
		if o.err == nil {
			o.err = err
		}
		return
	}
	o.text(string(raw))
}

func (o *wholeWriter) member(name string, v any) {
	o.name(name)
	o.value(v)
}

func (o *wholeWriter) list(name string, each func(add func(any))) {
	o.name(name)
	lead := "["
	each(func(v any) {
		o.text(lead)
		lead = ","
		o.value(v)
	})
	if lead == "[" {
		o.text(lead)
	}
	o.text("]")
}
