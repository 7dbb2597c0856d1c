package tui

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
)

// PlainOptions configures a Plain.
type PlainOptions struct {
	Out io.Writer // gets what happens to jobs, and the summary
	Err io.Writer // gets warnings
	Ink Ink
	// Now is the store's clock; default time.Now. It is read once per event that needs it.
	Now func() time.Time
	// Destroy and Watch choose the words of the summary.
	Destroy, Watch bool
}

func (o PlainOptions) withDefaults() PlainOptions {
	if o.Out == nil {
		o.Out = io.Discard
	}
	if o.Err == nil {
		o.Err = io.Discard
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Plain writes Terraform's lines: one per event that somebody who reads the log later wants to see. Each event is one
// write, so that lines of several processes on one terminal do not mix.
type Plain struct {
	o     PlainOptions
	board *board
	lock  applier.LockWaiting // last told
	buf   bytes.Buffer

	silent bool // the store is, and that was told
}

// NewPlain returns a Plain.
func NewPlain(o PlainOptions) *Plain {
	return &Plain{o: o.withDefaults(), board: newBoard()}
}

// lockEvery is how often waiting for the lock is told again.
const lockEvery = 10 * time.Second

// Observe writes the lines of one event.
func (p *Plain) Observe(e applier.Event) {
	warned := len(p.board.warnings)
	steps := p.board.observe(e)
	p.buf.Reset()
	switch e := e.(type) {
	case applier.LockWaiting:
		if e.Holder.Token != p.lock.Holder.Token || p.lock.Left-e.Left >= lockEvery {
			p.lock = e
			fmt.Fprintln(&p.buf, lockLine(e))
		}
	case applier.StoreAway:
		p.away(e)
		return
	case applier.StoreBack:
		p.silent = false
		fmt.Fprintln(&p.buf, backLine(e))
	case applier.RowApplied:
		if s := cmp.Or(finished(e.Row.Action), starting(e.Row.Action)); s != "" {
			p.line(e.Row.Addr.String(), s)
		}
	case applier.Replanned:
		fmt.Fprintln(&p.buf, replanned(e))
	case applier.RowDiverted:
		p.line(e.Row.Addr.String(), fmt.Sprintf("Its job moved on meanwhile: %s instead of %s", rowVerb(e.Row.Action), rowVerb(e.Prev)))
	case applier.Following:
		p.following(steps)
	case applier.JobChanged:
		at := e.At
		if at.IsZero() {
			at = p.o.Now()
		}
		for _, s := range steps {
			p.step(s, at)
		}
	case applier.StillRunning:
		p.line(e.Addr.String(), fmt.Sprintf("Still running... [%s elapsed]", elapsed(e.Elapsed)))
	case applier.Warning:
		if len(p.board.warnings) > warned { // each once
			p.warn(e)
		}
		return
	case applier.Done:
		p.summary()
	}
	if p.buf.Len() > 0 {
		p.o.Out.Write(p.buf.Bytes()) //nolint:errcheck // an observer has nobody to tell
	}
}

// following tells only what is not over, or became so in this run.
func (p *Plain) following(steps []step) {
	old := 0
	for _, s := range steps {
		if _, mine := p.board.applied[s.job.Addr]; !mine && sectionOf(s.job.Status.State) != sectionDone {
			old++
		}
	}
	if old > 0 && !p.o.Watch {
		fmt.Fprintf(&p.buf, "Following %s of an earlier run.\n", count(old, "unsettled job", "unsettled jobs"))
	}
	now := p.o.Now()
	for _, s := range steps {
		_, mine := p.board.applied[s.job.Addr]
		switch sec := sectionOf(s.job.Status.State); {
		case sec == sectionDone && !mine:
		case s.job.Status.State == conveyor.StateRunning && now.Sub(s.job.Status.Started) >= time.Second:
			p.line(s.job.name, fmt.Sprintf("Still running... [%s elapsed]", elapsed(now.Sub(s.job.Status.Started))))
		default:
			p.step(s, now)
		}
	}
}

func (p *Plain) step(s step, at time.Time) {
	text := story(s, at)
	if text == "" {
		return
	}
	bad := sectionOf(s.job.Status.State) == sectionFailed
	failedAttempt := s.job.Status.Attempts > s.prev.Attempts
	if bad {
		text = p.o.Ink.Red(text)
	}
	p.line(s.job.name, text)
	if bad || failedAttempt {
		writeFailure(&p.buf, s.job, p.o.Ink)
	}
}

func (p *Plain) line(name, text string) {
	fmt.Fprintf(&p.buf, "%s %s\n", p.o.Ink.Bold(clean(name)+":"), text)
}

func (p *Plain) warn(w applier.Warning) {
	fmt.Fprintf(&p.buf, "%s %s\n", p.o.Ink.Yellow("Warning:"), p.o.Ink.Bold(clean(w.Summary)))
	for _, line := range cleanLines(w.Detail, 20) {
		fmt.Fprintf(&p.buf, "  %s\n", line)
	}
	p.o.Err.Write(p.buf.Bytes()) //nolint:errcheck // an observer has nobody to tell
}

// away tells that the store does not answer: why and what follows once, then only that it lasts.
func (p *Plain) away(e applier.StoreAway) {
	fmt.Fprintln(&p.buf, awayLine(e))
	if !p.silent {
		fmt.Fprintf(&p.buf, "  %s.\n  %s\n", strings.TrimSuffix(clean(e.Reason), "."), clean(e.Then))
	}
	p.silent = true
	p.o.Err.Write(p.buf.Bytes()) //nolint:errcheck // an observer has nobody to tell
}

func (p *Plain) summary() {
	writeClosing(&p.buf, p.board, operation{destroy: p.o.Destroy, watch: p.o.Watch}, p.o.Ink)
}

// writeClosing writes a run's last sentence and its outputs.
func writeClosing(w io.Writer, b *board, op operation, ink Ink) {
	line, good := b.closing(op)
	if line == "" {
		return
	}
	if good {
		line = ink.Green(line)
	}
	fmt.Fprintf(w, "\n%s\n", ink.Bold(line))
	if outputs := b.done.Result.Outputs; len(outputs) > 0 && !op.watch {
		fmt.Fprintf(w, "\n%s\n\n", ink.Bold(ink.Green("Outputs:")))
		WriteOutputs(w, outputs) //nolint:errcheck // an observer has nobody to tell
	}
}

// awayLine says how long the store is silent, and how much longer it is waited for.
func awayLine(e applier.StoreAway) string {
	return fmt.Sprintf("The store has not answered for %s; asking again... [%s left]", elapsed(e.For), elapsed(e.Left))
}

func backLine(e applier.StoreBack) string {
	return fmt.Sprintf("The store answers again, after %s.", elapsed(e.After))
}

// lockLine says who holds the lock and how much longer it is waited for.
func lockLine(e applier.LockWaiting) string {
	by := clean(e.Holder.Who)
	if by == "" {
		by = "somebody else"
	}
	doing := ""
	if e.Holder.Operation != "" {
		doing = fmt.Sprintf(" (%s since %s)", clean(e.Holder.Operation), e.Holder.Since.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("Waiting for the state lock, held by %s%s... [%s left]", by, doing, elapsed(e.Left))
}

// replanned says why a plan was made again, and what is left of it.
func replanned(e applier.Replanned) string {
	text := "The state has changed since the plan was made"
	const shown = 3
	for i, a := range e.Moved[:min(shown, len(e.Moved))] {
		if i == 0 {
			text += " ("
		} else {
			text += ", "
		}
		text += clean(a.String())
	}
	switch n := len(e.Moved); {
	case n > shown:
		text += fmt.Sprintf(" and %d more)", n-shown)
	case n > 0:
		text += ")"
	}
	text += ", so it was made again. "
	if e.Plan == nil || e.Plan.Empty() {
		return text + "Nothing is left to change."
	}
	add, change, destroy := e.Plan.Summary()
	return text + fmt.Sprintf("Plan: %d to add, %d to change, %d to destroy.", add, change, destroy)
}
