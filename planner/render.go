package planner

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/waybill-dev/waybill/config"
)

// RenderOptions is how a plan looks.
type RenderOptions struct {
	Color bool
	// Width of the terminal in columns, by which sentences are wrapped and long changes take two lines. 0: nothing is.
	Width int
}

// Render writes a plan for people, after Terraform's model. The last line is the summary that scripts match.
func (p *Plan) Render(w io.Writer, o RenderOptions) error {
	c := &canvas{w: w, ink: ink(o.Color), width: o.Width}
	if p.Empty() {
		p.renderNothing(c)
		return c.flush()
	}
	p.legend(c)
	for _, r := range p.Rows {
		if r.Action != NoOp {
			r.render(c)
		}
	}
	p.renderQueues(c)
	p.renderOutputs(c)
	add, change, destroy := p.Summary()
	c.blank()
	if n := p.Forgotten(); n > 0 {
		c.paragraph(fmt.Sprintf("%s will be forgotten without anything to destroy.", counted(n, "record", "records")))
		c.blank()
	}
	c.raw(c.ink.bold(fmt.Sprintf("Plan: %d to add, %d to change, %d to destroy.", add, change, destroy)) + "\n")
	return c.flush()
}

func (p *Plan) renderNothing(c *canvas) {
	if p.Destroy {
		c.raw(c.ink.bold("No changes. No jobs need to be destroyed.") + "\n")
	} else {
		c.raw(c.ink.bold("No changes. Your jobs match the configuration.") + "\n")
	}
	if n := p.Unfinished(); n > 0 {
		c.blank()
		c.paragraph(fmt.Sprintf("%s not ended yet; apply goes on following them.", counted(n, "job has", "jobs have")))
	}
	for _, r := range p.Rows {
		if r.Reason == ReasonIgnoredRunning {
			c.blank()
			c.paragraph(fmt.Sprintf("%s differs, but %s.", r.Addr, r.Because()))
		}
	}
}

// legend explains the symbols that this plan uses.
func (p *Plan) legend(c *canvas) {
	used := map[string]bool{}
	for _, r := range p.Rows {
		used[r.Action.Symbol()] = true
	}
	if len(used) == 0 || len(used) == 1 && used[""] {
		return
	}
	c.paragraph("Planned actions are marked with these symbols:")
	for _, line := range [...][2]string{
		{"+", "create"}, {"~", "update in place"}, {"-/+", "replace: a new generation runs"}, {"-", "destroy"}, {".", "forget"},
	} {
		if used[line[0]] {
			c.raw(c.ink.symbol(line[0]) + " " + line[1] + "\n")
		}
	}
	c.blank()
	c.paragraph("Waybill will perform the following actions:")
}

// render writes the block of one row.
func (r *Row) render(c *canvas) {
	c.blank()
	c.raw("  " + c.ink.bold("# "+r.Addr.String()) + " " + r.fate() + "\n")
	for _, note := range r.notes() {
		c.raw("  # (" + note + ")\n")
	}
	c.raw(c.ink.symbol(r.Action.Symbol()) + " job " + quoted(r.Addr.Name) + " {\n")
	if r.Action == Forget {
		c.attribute(8, "", "uuid", 4, quoted(r.Prior.UUID.String()))
	} else {
		r.members(c)
	}
	c.raw("    }\n")
}

// fate says what happens to the row.
func (r *Row) fate() string {
	switch r.Action {
	case Create:
		return "will be created"
	case Update:
		return "will be updated in-place"
	case Rerecord:
		return "will be updated in-place (its record only)"
	case Reopen:
		return "will be reopened"
	case Replace:
		if r.Reason == ReasonRequested {
			return "will be replaced, as requested"
		}
		return "will be replaced"
	case Delete:
		return "will be destroyed"
	default:
		return "will be forgotten"
	}
}

// notes are the lines below the first: why, and what happens besides.
func (r *Row) notes() (notes []string) {
	if r.Reason != ReasonNew && r.Reason != ReasonRequested && r.Reason != ReasonDestroy {
		notes = append(notes, "because "+r.Because())
	}
	if r.Reason == ReasonWork && r.KeyID != "" && bytes.Equal(r.Definition, r.Prior.Definition) {
		notes = append(notes, "what changed is sensitive")
	}
	switch {
	case r.Action == Rerecord:
		notes = append(notes, "its work stands and does not run again")
	case r.Action == Reopen:
		notes = append(notes, "its own work stands; it is complete again after its children")
	case r.Successor && r.CancelFirst:
		notes = append(notes, fmt.Sprintf("generation %d is running: it is cancelled, and the new one starts after it", r.Prior.Generation))
	case r.Successor && r.Prior.Deposed:
		notes = append(notes, fmt.Sprintf("generation %d is stopping: the new one starts after it", r.Prior.Generation))
	case r.Successor:
		notes = append(notes, fmt.Sprintf("generation %d is running: the new one starts after it", r.Prior.Generation))
	case r.Action == Replace && r.Live.Status == Closing:
		notes = append(notes, fmt.Sprintf("generation %d has done its own work and is left to its children", r.Prior.Generation))
	case r.CancelFirst:
		notes = append(notes, fmt.Sprintf("generation %d is %s and is cancelled", r.Prior.Generation, r.Live.Status))
	case r.Action == Delete && r.Live.Status.Active():
		notes = append(notes, "it is running and is told to stop")
	case r.Action == Delete && !r.Live.Status.Ended():
		notes = append(notes, fmt.Sprintf("it is %s and is cancelled", r.Live.Status))
	}
	if r.Earlier != "" && r.Action == Delete {
		notes = append(notes, "a generation before it is still running and is told to stop")
	}
	return notes
}

// members writes the attributes and blocks of a job.
func (r *Row) members(c *canvas) {
	var before, after document
	if r.Prior != nil && r.Action != Create {
		before = r.Prior.document()
		before["uuid"] = r.Prior.UUID.String()
	}
	if after = r.after(); after != nil {
		if r.keepsUUID() {
			after["uuid"] = r.Prior.UUID.String()
		} else {
			after["uuid"] = unknown{}
		}
	}
	c.members(8, before, after, jobMembers(r.Action == Replace && r.Reason == ReasonWork))
}

func (p *Plan) renderQueues(c *canvas) {
	for _, q := range p.Queues {
		c.blank()
		before, after := q.Prior.document(), q.Next.document()
		fate, symbol := "will be updated in-place", "~"
		switch {
		case before == nil:
			fate, symbol = "will be created", "+"
		case after == nil:
			fate, symbol = "will be destroyed", "-"
		}
		name := quoted(q.Name)
		c.raw("  " + c.ink.bold("# queue "+name) + " " + fate + "\n")
		c.raw(c.ink.symbol(symbol) + " queue " + name + " {\n")
		c.members(8, before, after, shape{})
		c.raw("    }\n")
	}
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

// canvas writes text. The first error sticks.
type canvas struct {
	w     io.Writer
	ink   ink
	width int
	b     bytes.Buffer
	err   error
	some  bool // something was written
}

func (c *canvas) raw(s string) {
	c.b.WriteString(s)
	c.some = true
	if c.b.Len() > 1<<16 {
		_ = c.flush()
	}
}

func (c *canvas) flush() error {
	if c.err == nil {
		_, c.err = c.w.Write(c.b.Bytes())
	}
	c.b.Reset()
	return c.err
}

// blank separates blocks.
func (c *canvas) blank() {
	if c.some {
		c.b.WriteByte('\n')
	}
}

// paragraph writes a sentence, wrapped at width.
func (c *canvas) paragraph(s string) {
	column := 0
	for i, word := range strings.Fields(s) {
		switch {
		case i == 0:
		case c.width > 0 && column+1+len(word) > c.width:
			c.raw("\n")
			column = 0
		default:
			c.raw(" ")
			column++
		}
		c.raw(word)
		column += len(word)
	}
	c.raw("\n")
}

func counted(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", n, plural)
}

// ink colours with codes that every terminal knows. It is on or off.
type ink bool

func (on ink) paint(code, s string) string {
	if !on {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (on ink) bold(s string) string { return on.paint("1", s) }

// symbol writes the symbol of a row in its three columns.
func (on ink) symbol(s string) string {
	if s == "-/+" {
		return on.paint("31", "-") + "/" + on.paint("32", "+")
	}
	return "  " + on.mark(s)
}

// mark colours one sign.
func (on ink) mark(s string) string {
	switch s {
	case "+":
		return on.paint("32", s)
	case "-":
		return on.paint("31", s)
	case "~":
		return on.paint("33", s)
	default:
		return s
	}
}
