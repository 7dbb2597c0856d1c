package planner

import "github.com/waybill-dev/waybill/config"

// situation is where a declared address with a record stands: one cell of the state table in DESIGN.md section 4, with
// what the cell asks besides.
type situation struct {
	live      Live
	deposed   bool
	work      bool // the work digest differs
	upstream  bool // an upstream runs again, or ran again
	triggered bool // likewise a job of replace_triggered_by
	why       Reason
	handling  bool // the handling digest differs
	requested bool
	onChange  config.OnChange
	// leaves, of a job that has started: it is a child of parents that it is no longer declared under.
	leaves bool
	// excluded, of a skipped job: the outcomes of today, under the edges declared today, still exclude it.
	excluded bool
	// reopens, of a failed job: its own work succeeded, and the declared children that failed it run again.
	reopens bool
	// ignored: there are differences that ignore_changes leaves alone, work and handling not counting them; ignoredWork: in the work.
	ignored, ignoredWork bool
	kept                 bool // Options.KeepEnded means it, and at most what it is called and waits for is another name
	retried              bool // of a job on hold: Options.Retry means it
	recurs               bool // what is declared is a template
	regated              bool // of a template: it is declared as a gate and was none, or the other way round
}

// decision is what happens to a row, before its children have their say (see maker.complete).
type decision struct {
	action                 Action
	reason                 Reason
	successor, cancelFirst bool
	leave                  bool // see Row.Leave
}

// decide looks the situation up in the table.
//
// Where the table and another rule fight: a skipped job whose new edges let it run does so at once, although only its
// handling changed, since a plan made after this one's apply would say so anyway. A running job with on_change = ignore
// keeps a changed handling for later too: its record holds both digests or none. Only the parents that it is no longer
// declared under do not wait for it any more: they may wait, by what is declared today, for what it waits for, and then none of
// them would ever end. And a closing job that runs again is not
// waited for, nor cancelled: its own work is done, so there is no second live copy to avoid, and it may be open because of
// jobs that now wait for the new generation. A job becomes a template, or stops being one, whatever on_change says: it takes all
// that is downstream along, which could not wait for the one as it waits for the other.
func (c situation) decide() decision {
	again := c.work || c.upstream || c.triggered
	why := c.why
	switch {
	case c.work:
		why = ReasonWork
	case !c.upstream:
		why = ReasonTriggered
	}
	switch status := c.live.Status; {
	case status == Lost:
		return decision{action: Create, reason: ReasonLost}
	case c.deposed:
		return c.replace(ReasonDeposed)
	case c.requested:
		return c.replace(ReasonRequested)
	case c.recurs && status != Template:
		return c.replace(ReasonRecurs)
	case !c.recurs && status == Template:
		return c.replace(ReasonRecursNoMore)
	case c.regated:
		return c.replace(ReasonRegated)
	case c.kept && !again && (status == Failed || status == Cancelled || status == Expired):
		return c.settled(ReasonKept)
	case c.retried:
		return c.replace(ReasonOnHold)
	case status == Failed && c.reopens && !again:
		return c.settled(ReasonChildAgain)
	case status == Failed:
		return c.replace(ReasonFailed)
	case status == Cancelled:
		return c.replace(ReasonCancelled)
	case status == Expired:
		return c.replace(ReasonExpired)
	case again && (status.Waits() || status == Template):
		return decision{action: Update, reason: why}
	case again && status.Active() && c.onChange == config.OnChangeIgnore && c.leaves:
		return decision{action: Update, reason: ReasonIgnoredRunning, leave: true}
	case !again && c.handling && c.ignoredWork && status.Active() && c.leaves:
		return decision{action: Update, reason: ReasonHandling, leave: true}
	case !again && c.handling && c.ignoredWork && status.Active():
		return decision{action: NoOp, reason: ReasonIgnored} // its next attempt would run the work that is declared now
	case again && status.Active() && c.onChange == config.OnChangeIgnore:
		return decision{action: NoOp, reason: ReasonIgnoredRunning}
	case again:
		return c.replace(why)
	case status == Skipped && !c.excluded:
		return c.replace(ReasonUnskipped)
	case status == Skipped && !c.handling:
		return decision{action: NoOp, reason: ReasonStillExcluded}
	case status.Ended():
		return c.settled(c.unchanged())
	case c.handling:
		return decision{action: Update, reason: ReasonHandling}
	default:
		return decision{action: NoOp, reason: c.unchanged()}
	}
}

// unchanged is why nothing happens to a job.
func (c situation) unchanged() Reason {
	if c.ignored {
		return ReasonIgnored
	}
	return ReasonUnchanged
}

// replace gives a new generation. There are never two live copies: one that waits is cancelled by the same step, and
// one that runs is waited for. A template does not wait for it, since all of its occurrences would: it starts nothing before
// its next tick.
func (c situation) replace(reason Reason) decision {
	d := decision{action: Replace, reason: reason}
	switch status := c.live.Status; {
	case status == Running:
		d.successor = !c.recurs
		d.cancelFirst = c.onChange == config.OnChangeCancel && !c.deposed
	case status != Closing && !status.Ended():
		d.cancelFirst = true
	}
	return d
}

// settled keeps work that is done: at most its record is written.
func (c situation) settled(reason Reason) decision {
	if c.handling {
		return decision{action: Rerecord, reason: ReasonHandling}
	}
	return decision{action: NoOp, reason: reason}
}

// remove is the last column of the table, for an address that is not declared any more. reason is ReasonUndeclared or
// ReasonDestroy.
func remove(prior *Record, live Live, reason Reason) decision {
	switch status := live.Status; {
	case status == Lost:
		return decision{action: Forget, reason: ReasonLost}
	case prior.Deposed && status.Active():
		return decision{action: NoOp, reason: ReasonStopping}
	case prior.Deposed && status.Ended():
		return decision{action: Forget, reason: ReasonStopped}
	default:
		return decision{action: Delete, reason: reason}
	}
}
