package controller

import (
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/planner"
)

// maxTold bounds how many jobs one round tells of one by one.
const maxTold = 20

// written takes down what a submission writes, and what it warns of.
type written struct {
	rows     []*planner.Row
	warnings []applier.Warning
}

// Observe is part of applier.Observer.
func (w *written) Observe(e applier.Event) {
	switch e := e.(type) {
	case applier.RowApplied:
		w.rows = append(w.rows, e.Row)
	case applier.Warning:
		w.warnings = append(w.warnings, e)
	}
}

// Keeps tells whether a controller leaves the job of a row alone that stands badly: a row of a plan with Options.KeepEnded.
func Keeps(r *planner.Row) bool {
	held := r.Action == planner.NoOp && r.Job != nil && r.Live.Status == planner.OnHold
	return r.Prior != nil && (r.Reason == planner.ReasonKept || held)
}

// tellKept tells which jobs ended badly and are left alone, each end once.
func (l *Loop) tellKept(plan *planner.Plan, again retries) {
	kept, told := 0, 0
	for _, r := range plan.Rows {
		if !Keeps(r) {
			continue
		}
		address, end := r.Addr.String(), endOf(r.Prior, r.Live)
		kept++
		known := l.kept[address] == end || l.keeping[address] == end
		if l.keeping[address] = end; known {
			continue
		}
		if told++; told > maxTold {
			continue
		}
		text := address + ": " + r.Because()
		if r.Live.Status == planner.OnHold {
			text = address + ": it is on hold, and waits for a new revision or -retry-failed"
			if r.Live.Cause != "" {
				text += ": " + r.Live.Cause
			}
		}
		if known, ok := again.known[address]; ok && l.o.RetryFailed {
			text = fmt.Sprintf("%s: it ended badly (%s) and is retried at %s", address, ended(r), time.UnixMilli(known.Next).UTC().Format(time.RFC3339))
		}
		l.tell(Event{Kind: KindKept, Job: address, Text: text})
	}
	if told > maxTold {
		l.tell(Event{Kind: KindKept, Text: fmt.Sprintf("%d more jobs ended badly and are left alone", told-maxTold)})
	}
	l.figures.keeps(kept)
}

// ended says how a job ended, in short.
func ended(r *planner.Row) string {
	if r.Live.Cause != "" {
		return r.Live.Status.String() + ": " + r.Live.Cause
	}
	return r.Live.Status.String()
}

// settled takes note of a round in which nothing differed.
func (l *Loop) settled(r *reading) {
	l.applied = r.id
	l.figures.applied(r)
	if l.inSync {
		return
	}
	l.inSync = true
	l.tell(Event{Kind: KindInSync, Revision: r.source(), Text: "nothing differs from the configuration"})
}

// submitted takes note of what a round wrote; of less than it was to write, if it failed.
func (l *Loop) submitted(r *reading, result applier.Result, rows []*planner.Row, again *retries, failed bool) {
	if result.Added+result.Changed+result.Destroyed == 0 && len(rows) == 0 && result.From == nil {
		return
	}
	retried := 0
	for _, row := range rows {
		if again.submitted(row) {
			retried++
			if retried <= maxTold {
				known := again.known[row.Addr.String()]
				l.tell(Event{Kind: KindRetried, Job: row.Addr.String(), Revision: r.source(),
					Text: fmt.Sprintf("%s runs again, for the %s time", row.Addr, ordinal(known.Retries))})
			}
		}
	}
	kind, text := KindApplied, "the revision was applied"
	switch again := l.applied == r.id; {
	case again && retried > 0:
		text = "what had ended badly was submitted again, with what follows from it"
	case again || r.of != nil:
		kind, text = KindHealed, "what had changed in the store was healed"
	}
	if failed {
		text += " in part"
	} else {
		l.applied = r.id
		l.figures.applied(r)
	}
	l.figures.submitted(kind, result, retried)
	l.inSync = false
	l.tell(Event{Kind: kind, Revision: r.source(), Added: result.Added, Changed: result.Changed, Destroyed: result.Destroyed,
		Text: fmt.Sprintf("%s: %d added, %d changed, %d destroyed", text, result.Added, result.Changed, result.Destroyed)})
}

func ordinal(n int) string {
	switch {
	case n%100 >= 11 && n%100 <= 13:
		return fmt.Sprintf("%dth", n)
	case n%10 == 1:
		return fmt.Sprintf("%dst", n)
	case n%10 == 2:
		return fmt.Sprintf("%dnd", n)
	case n%10 == 3:
		return fmt.Sprintf("%drd", n)
	}
	return fmt.Sprintf("%dth", n)
}
