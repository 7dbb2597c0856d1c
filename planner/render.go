package planner

import (
	"bytes"
	"fmt"
	"io"
	"slices"

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
	if p.RefreshOnly {
		p.renderFormer(c)
		p.renderRefresh(c)
		return c.flush()
	}
	p.renderAssumed(c)
	p.renderDrift(c)
	if p.Empty() {
		p.renderNothing(c)
		return c.flush()
	}
	p.legend(c)
	p.renderFormer(c)
	for _, r := range p.Rows {
		if r.Action != NoOp {
			r.render(c)
		}
	}
	p.renderQueues(c)
	p.renderOutputs(c)
	p.renderForecast(c)
	c.blank()
	if n := p.Forgotten(); n > 0 {
		c.paragraph(fmt.Sprintf("%s will be forgotten without anything to destroy.", counted(n, "record", "records")))
		c.blank()
	}
	c.raw(c.ink.bold(p.Sentence()) + "\n")
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
	if s := p.scheduled(); s != "" {
		c.blank()
		c.paragraph(s)
	}
	for _, r := range p.Rows {
		if r.Reason == ReasonIgnoredRunning {
			c.blank()
			c.paragraph(fmt.Sprintf("%s differs, but %s.", r.Addr, r.Because()))
		}
	}
	if n := p.ignored(); n > 0 {
		c.blank()
		c.paragraph(fmt.Sprintf("%s only in what ignore_changes leaves alone.", counted(n, "job differs", "jobs differ")))
	}
}

// ignored counts the jobs that would change if they had no ignore_changes.
func (p *Plan) ignored() (n int) {
	for _, r := range p.Rows {
		if r.Reason == ReasonIgnored {
			n++
		}
	}
	return n
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
	if r.justMoves() {
		c.raw("  " + c.ink.bold("# "+r.MovedFrom.String()) + " has moved to " + c.ink.bold(r.Addr.String()) + "\n")
	} else {
		c.raw("  " + c.ink.bold("# "+r.Addr.String()) + " " + r.Fate() + "\n")
	}
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

// Fate says what happens to the row, as a sentence without its subject: "will be created".
func (r *Row) Fate() string {
	switch r.Action {
	case Create:
		return "will be created"
	case Update:
		return "will be updated in-place"
	case Rerecord:
		if r.Importing() {
			return "will be imported"
		}
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
	case Forget:
		if r.Reason == ReasonForgotten {
			return "will no longer be managed"
		}
		return "will be forgotten"
	default:
		return "stays as it is"
	}
}

// notes are the lines below the first: why, and what happens besides.
func (r *Row) notes() (notes []string) {
	if r.Reason != ReasonNew && r.Reason != ReasonRequested && r.Reason != ReasonDestroy && !r.justMoves() {
		notes = append(notes, "because "+r.Because())
	}
	return slices.Concat(notes, r.Besides(), r.cycleNotes(), r.resultNotes())
}

// justMoves tells whether a row gives its record another address and does nothing else.
func (r *Row) justMoves() bool { return r.Reason == ReasonMoved && r.MovedFrom != (config.Addr{}) }

// Besides is what else whoever approves the row should know: what becomes of a generation that runs, and the like.
func (r *Row) Besides() (notes []string) {
	if r.Reason == ReasonWork && r.KeyID != "" {
		switch {
		case bytes.Equal(r.Definition, r.Prior.Definition):
			notes = append(notes, "what changed is sensitive")
		case r.KeyID == r.Prior.KeyID && len(r.Hidden) == len(r.Prior.Hidden) && !slices.Equal(r.Hidden, r.Prior.Hidden):
			notes = append(notes, "a sensitive value changed as well")
		}
	}
	if r.MovedFrom != (config.Addr{}) && r.Action != NoOp && !r.justMoves() {
		notes = append(notes, "moved from "+r.MovedFrom.String())
	}
	if len(r.Ignored) > 0 && r.Action != NoOp && !r.Leave {
		what := "taken along"
		if r.KeepsWork {
			what = "left alone"
		}
		notes = append(notes, fmt.Sprintf("%s too, which ignore_changes makes no reason; this is %s", r.ignored("differs", "differ"), what))
	}
	if r.Importing() && r.Action != NoOp && r.Action != Rerecord {
		notes = append(notes, fmt.Sprintf("imported from %q", r.Prior.UUID))
	}
	if r.renamed() {
		notes = append(notes, r.rename())
	}
	if r.Unclear && r.Reason == ReasonWork {
		notes = append(notes, "ignore_changes does not hold this time: the record does not tell which of the sensitive values changed; from now on it does")
	}
	if r.Unseen && r.Action != NoOp && r.Action != Replace {
		notes = append(notes, r.unseen())
	}
	switch {
	case r.Leave:
		notes = append(notes, "until then it stays as it is, but parents that it is no longer declared under do not wait for it")
	case r.Action == Rerecord:
		notes = append(notes, "its work stands and does not run again")
	case r.Action == Reopen:
		notes = append(notes, "its own work stands; it is complete again after its children")
	case r.Reason == ReasonMoved && r.Live.Status == Template:
		notes = append(notes, "occurrences that are made already keep their names")
	case r.Live.Status == Template && r.Action == Update:
		notes = append(notes, "occurrences that are made already stay as they are")
	case r.Live.Status == Template && r.CancelFirst:
		notes = append(notes, fmt.Sprintf("generation %d and its waiting occurrences are cancelled; what runs of it goes on", r.Prior.Generation))
	case r.Live.Status == Template && r.Action == Delete:
		notes = append(notes, "its waiting occurrences are cancelled; what runs of it goes on")
	case r.Recurs() && r.Live.Status == Running && r.CancelFirst:
		notes = append(notes, fmt.Sprintf("generation %d is running and is told to stop", r.Prior.Generation))
	case r.Recurs() && r.Live.Status == Running && r.Action == Replace:
		notes = append(notes, fmt.Sprintf("generation %d is running and goes on; the new one does not wait for it", r.Prior.Generation))
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
	case r.Reason == ReasonForgotten:
		notes = append(notes, fmt.Sprintf("its job is %s and is left alone", r.Live.Status))
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
	before, after := r.documents()
	if before != nil {
		before["uuid"] = r.Prior.UUID.String()
	}
	if after != nil {
		if r.keepsUUID() {
			after["uuid"] = r.Prior.UUID.String()
		} else {
			after["uuid"] = unknown{}
		}
	}
	c.members(8, before, after, jobMembers(r.Action == Replace && r.Reason == ReasonWork))
}
