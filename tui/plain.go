package tui

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
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
	board *board.Board
	lock  applier.LockWaiting // last told
	buf   bytes.Buffer

	silent bool // the store is, and that was told
}

// NewPlain returns a Plain.
func NewPlain(o PlainOptions) *Plain {
	return &Plain{o: o.withDefaults(), board: board.New()}
}

// lockEvery is how often waiting for the lock is told again.
const lockEvery = 10 * time.Second

// Observe writes the lines of one event.
func (p *Plain) Observe(e applier.Event) {
	warned := len(p.board.Warnings)
	steps := p.board.Observe(e)
	p.buf.Reset()
	switch e := e.(type) {
	case applier.LockWaiting:
		if e.Holder.Token != p.lock.Holder.Token || p.lock.Left-e.Left >= lockEvery {
			p.lock = e
			fmt.Fprintln(&p.buf, board.LockLine(e))
		}
	case applier.StoreAway:
		p.away(e)
		return
	case applier.StoreBack:
		p.silent = false
		fmt.Fprintln(&p.buf, board.BackLine(e))
	case applier.RowApplied:
		if s := cmp.Or(board.Finished(e.Row), board.Starting(e.Row)); s != "" {
			p.line(e.Row.Addr.String(), s)
		}
	case applier.Replanned:
		fmt.Fprintln(&p.buf, board.Replanned(e))
	case applier.RowDiverted:
		p.line(e.Row.Addr.String(), fmt.Sprintf("Its job moved on meanwhile: %s instead of %s", board.RowVerb(e.Row.Action), board.RowVerb(e.Prev)))
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
		text := fmt.Sprintf("Still running... [%s elapsed]", board.Elapsed(e.Elapsed))
		if known := p.board.Job(e.Addr); known != nil && known.Progress != (conveyor.Progress{}) {
			text += " " + screen.Clean(howFar(known.Progress))
		}
		p.line(e.Addr.String(), text)
	case applier.Warning:
		if len(p.board.Warnings) > warned { // as long as it lasts, once
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

// howFar is an attempt's progress in words.
func howFar(p conveyor.Progress) string {
	text := strconv.FormatInt(p.Done, 10)
	if percent, known := p.Percent(); known {
		text = fmt.Sprintf("%d of %d (%d%%)", p.Done, p.Total, percent)
	}
	switch {
	case p.Text == "":
	case p.Done == 0 && p.Total <= 0:
		text = p.Text
	default:
		text += ", " + p.Text
	}
	return text
}

// following tells only what is not over, or became so in this run.
func (p *Plain) following(steps []board.Step) {
	old := 0
	for _, s := range steps {
		switch state := s.Job.Status.State; {
		case p.board.Applied(s.Job.Addr), board.SectionOf(state) == board.Done:
		case state != conveyor.StateUnknown && state != conveyor.StateTemplate: // a template never settles
			old++
		}
	}
	if old > 0 && !p.o.Watch {
		fmt.Fprintf(&p.buf, "Following %s of an earlier run.\n", board.Count(old, "unsettled job", "unsettled jobs"))
	}
	now := p.o.Now()
	for _, s := range steps {
		mine := p.board.Submitted(s.Job.Addr)
		switch sec := board.SectionOf(s.Job.Status.State); {
		case sec == board.Done && !mine:
		case s.Job.Status.State == conveyor.StateRunning && now.Sub(s.Job.Status.Started) >= time.Second:
			p.line(s.Job.Name, fmt.Sprintf("Still running... [%s elapsed]", board.Elapsed(now.Sub(s.Job.Status.Started))))
		default:
			p.step(s, now)
		}
	}
}

func (p *Plain) step(s board.Step, at time.Time) {
	text := board.Story(s, at)
	if text == "" {
		return
	}
	bad := board.SectionOf(s.Job.Status.State) == board.Failed
	failedAttempt := s.Job.Status.Attempts > s.Prev.Attempts
	if bad {
		text = p.o.Ink.Red(text)
	}
	p.line(s.Job.Name, text)
	if bad || failedAttempt {
		writeFailure(&p.buf, s.Job, p.o.Ink)
	}
}

func (p *Plain) line(name, text string) {
	fmt.Fprintf(&p.buf, "%s %s\n", p.o.Ink.Bold(screen.Clean(name)+":"), text)
}

func (p *Plain) warn(w applier.Warning) {
	fmt.Fprintf(&p.buf, "%s %s\n", p.o.Ink.Yellow("Warning:"), p.o.Ink.Bold(screen.Clean(w.Summary)))
	for _, line := range screen.Lines(w.Detail, 20) {
		fmt.Fprintf(&p.buf, "  %s\n", line)
	}
	p.o.Err.Write(p.buf.Bytes()) //nolint:errcheck // an observer has nobody to tell
}

// away tells that the store does not answer: why and what follows once, then only that it lasts.
func (p *Plain) away(e applier.StoreAway) {
	fmt.Fprintln(&p.buf, board.AwayLine(e))
	if !p.silent {
		fmt.Fprintf(&p.buf, "  %s.\n  %s\n", strings.TrimSuffix(screen.Clean(e.Reason), "."), screen.Clean(e.Then))
	}
	p.silent = true
	p.o.Err.Write(p.buf.Bytes()) //nolint:errcheck // an observer has nobody to tell
}

func (p *Plain) summary() {
	writeClosing(&p.buf, p.board, board.Operation{Destroy: p.o.Destroy, Watch: p.o.Watch}, p.o.Ink, p.o.Now())
}
