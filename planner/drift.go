package planner

import (
	"cmp"
	"fmt"
	"slices"
)

// Drift is a job that is not as the last apply left it, nor as its own progress makes it: something happened to it outside of
// Waybill.
type Drift struct {
	Row  *Row
	Kind DriftKind
}

// DriftKind says what happened. The names stand in plans for programs.
type DriftKind string

// The kinds of drift.
const (
	DriftLost      DriftKind = "lost"      // the store does not hold it any more
	DriftCancelled DriftKind = "cancelled" // by hand or by a program, not by an apply
	DriftStopping  DriftKind = "stopping"  // the same, and it has not ended yet
	DriftExpired   DriftKind = "expired"   // nothing started it within its retention
	DriftRetried   DriftKind = "retried"   // it runs, or ran, again under a later opening
)

// drift is what happened to a row's job; "" for nothing.
func (r *Row) drift() DriftKind {
	switch {
	case r.Prior == nil || r.Prior.Deposed:
		return ""
	case r.Live.Status == Lost:
		return DriftLost
	case r.Live.Status == Cancelled:
		return DriftCancelled
	case r.Live.CancelAsked && r.Live.Status.Active():
		return DriftStopping
	case r.Live.Status == Expired:
		return DriftExpired
	case r.Live.Opening > max(1, r.Prior.Opening):
		return DriftRetried
	default:
		return ""
	}
}

// Drift lists what happened to jobs outside of Waybill, in plan order. What matters no more is left out, but in a plan that is
// made for nothing else: a job that somebody has retried and that has ended since, if nothing runs again for it.
func (p *Plan) Drift() []Drift {
	if p.Assumed {
		return nil
	}
	var all []Drift
	for _, r := range p.Rows {
		if kind := r.drift(); kind != "" {
			all = append(all, Drift{r, kind})
		}
	}
	if p.RefreshOnly || !slices.ContainsFunc(all, func(d Drift) bool { return d.over() }) {
		return all
	}
	causes := map[*Row]bool{}
	rows := NewChains(p).rows
	for _, r := range p.Rows {
		for _, c := range r.Causes {
			if r.Action != NoOp {
				causes[rows[c.Addr]] = true
			}
		}
	}
	return slices.DeleteFunc(all, func(d Drift) bool { return d.over() && d.Row.Action == NoOp && !causes[d.Row] })
}

// over tells whether a drift is history.
func (d Drift) over() bool { return d.Kind == DriftRetried && d.Row.Live.Status.Ended() }

// Text says what happened, as a sentence without its subject.
func (d Drift) Text() string {
	r := d.Row
	switch d.Kind {
	case DriftLost:
		return "is not in the store any more"
	case DriftCancelled:
		return "was cancelled" + r.detail()
	case DriftStopping:
		return "was told to stop, and has not ended yet"
	case DriftExpired:
		return "expired before anything started it"
	case DriftRetried:
		if r.Live.Status.Ended() {
			return fmt.Sprintf("was retried, and %s", ended(r.Live))
		}
		return "was retried, and is " + r.Live.Status.String()
	default:
		return string(d.Kind)
	}
}

// ended says how a job ended.
func ended(l Live) string {
	switch l.Status {
	case Completed, Expired, Failed:
		return l.Status.String()
	default:
		return "was " + l.Status.String()
	}
}

// maxDrift is how many jobs the note about drift names.
const maxDrift = 10

// renderDrift writes the note about drift that comes before a plan. It tells whether there was anything to say.
func (p *Plan) renderDrift(c *canvas) bool {
	drift := p.Drift()
	if len(drift) == 0 {
		return false
	}
	c.raw(c.ink.bold("Note: Jobs have changed outside of Waybill") + "\n")
	c.blank()
	c.paragraph("Since the last apply this happened to jobs without it:")
	c.blank()
	told := drift
	if len(drift) > maxDrift+1 && !p.RefreshOnly {
		told = drift[:maxDrift]
	}
	for _, d := range told {
		c.raw("  # " + c.ink.bold(d.Row.Addr.String()) + " " + d.Text() + "\n")
	}
	if more := drift[len(told):]; len(more) > 0 {
		c.raw("  # ... and " + kindsOf(more) + "\n")
	}
	c.blank()
	return true
}

// kindsOf counts what happened to jobs that are not named: "90 more jobs (80 lost, 10 cancelled)".
func kindsOf(drift []Drift) string {
	counts := map[DriftKind]int{}
	for _, d := range drift {
		counts[d.Kind]++
	}
	kinds := make([]DriftKind, 0, len(counts))
	for kind := range counts {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b DriftKind) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
	parts := make([]string, len(kinds))
	for i, kind := range kinds {
		parts[i] = fmt.Sprintf("%d %s", counts[kind], kind)
	}
	return counted(len(drift), "more job", "more jobs") + " (" + listed(parts, len(parts)) + ")"
}
