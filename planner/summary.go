package planner

import (
	"fmt"
	"strings"
)

// Summary counts a plan's changes as "Plan: N to add, N to change, N to destroy." tells them. A replacement adds one and
// destroys one. What is imported and otherwise left as it is counts nowhere: see Imports. A record that is forgotten counts nowhere, since no job of it is left to destroy: see Forgotten.
func (p *Plan) Summary() (add, change, destroy int) {
	for _, r := range p.Rows {
		switch r.Action {
		case Create:
			add++
		case Update, Rerecord, Reopen:
			if !r.Importing() || r.Action != Rerecord {
				change++
			}
		case Replace:
			add++
			destroy++
		case Delete:
			destroy++
		}
	}
	return add, change, destroy
}

// Forgotten counts the records that go without a job to destroy.
func (p *Plan) Forgotten() (n int) {
	for _, r := range p.Rows {
		if r.Action == Forget {
			n++
		}
	}
	return n
}

// Empty tells whether there is nothing to apply: the state is where it belongs, no row has an action, and queues and outputs are as
// stored.
func (p *Plan) Empty() bool {
	if p.Former != "" {
		return false
	}
	for _, r := range p.Rows {
		if r.Action != NoOp {
			return false
		}
	}
	return len(p.Queues) == 0 && len(p.Outputs) == 0
}

// Unfinished counts the recorded jobs that have not ended and stay, which an apply follows even if there is nothing to change.
// A template is none of them: it never ends.
func (p *Plan) Unfinished() (n int) {
	for _, r := range p.Rows {
		if r.Action == NoOp && r.Prior != nil && r.Live.Status != Lost && r.Live.Status != Template && !r.Live.Status.Ended() {
			n++
		}
	}
	return n
}

// Symbol is what marks a row of this action, "" for none.
func (a Action) Symbol() string { return [...]string{"", "+", "~", "~", "~", "-/+", "-", "."}[a] }

var actionNames = [...]string{"no-op", "create", "update", "update of the record", "reopen", "replace", "delete", "forget"}

func (a Action) String() string { return actionNames[a] }

// Because is the reason of a row's action or inaction as a clause that reads after "because": "job.extract runs again".
func (r *Row) Because() string {
	switch r.Reason {
	case ReasonNew:
		return "it is new"
	case ReasonLost:
		return "the store does not hold it any more"
	case ReasonWork:
		return "its work changed"
	case ReasonHandling:
		return "its handling changed"
	case ReasonUpstream, ReasonUpstreamRan, ReasonChildAgain:
		return r.causes()
	case ReasonTriggered:
		return r.causes() + ", as replace_triggered_by asks for"
	case ReasonMoved:
		if len(r.Causes) > 0 {
			return r.causes()
		}
		if r.MovedFrom.Name == "" {
			return "an address in its record has changed, as with state mv, and nothing else differs"
		}
		return r.MovedFrom.String() + " has moved to " + r.Addr.String()
	case ReasonFailed:
		return "it failed" + r.detail()
	case ReasonCancelled:
		return "it was cancelled" + r.detail()
	case ReasonExpired:
		return "it expired" + r.detail()
	case ReasonOnHold:
		return "it is on hold" + r.detail() + ", and is retried"
	case ReasonUnskipped:
		return "it was skipped and nothing excludes it any more"
	case ReasonRecurs:
		return "it runs " + r.rhythm() + " from now on"
	case ReasonRecursNoMore:
		return "it runs once from now on, and not in cycles"
	case ReasonRegated:
		return "it runs " + r.rhythm() + " from now on"
	case ReasonDeposed:
		return "it is declared again after it was told to stop"
	case ReasonRequested:
		return "it was asked for"
	case ReasonUndeclared:
		return r.Addr.String() + " is not in the configuration"
	case ReasonForgotten:
		return "a removed block says that it is left alone"
	case ReasonImported:
		return r.imported()
	case ReasonRekeyed:
		return r.rekeyed()
	case ReasonDestroy:
		return "everything is destroyed"
	case ReasonUnchanged:
		return "neither the configuration nor anything upstream changed"
	case ReasonIgnoredRunning:
		return "it is running, and on_change = \"ignore\" leaves it alone until it has ended"
	case ReasonIgnored:
		if r.Live.Status.Active() {
			return fmt.Sprintf("it is running, and %s, which ignore_changes leaves alone: what else changed is recorded once it has ended", r.ignored("differs", "differ"))
		}
		return fmt.Sprintf("only %s, which ignore_changes leaves alone", r.ignored("differs", "differ"))
	case ReasonStillExcluded:
		return "it was skipped and is still excluded"
	case ReasonKept:
		return r.ending() + r.detail() + ", and waits for a new revision or -retry-failed"
	case ReasonStopping:
		return "it was told to stop and has not ended yet"
	case ReasonStopped:
		return "it was told to stop and has ended"
	case ReasonNotTargeted:
		return "it is not among the targets"
	case ReasonExcluded:
		return r.exclusion()
	case ReasonRefreshOnly:
		return "only what changed outside of Waybill is looked at"
	default:
		return string(r.Reason)
	}
}

// ending says how the job of a row ended badly.
func (r *Row) ending() string {
	switch r.Live.Status {
	case Cancelled:
		return "it was cancelled"
	case Expired:
		return "it expired"
	default:
		return "it failed"
	}
}

// ignored tells what of a row is ignored, with a verb.
func (r *Row) ignored(singular, plural string) string {
	if len(r.Ignored) == 1 {
		return r.Ignored[0] + " " + singular
	}
	return listed(r.Ignored, 5) + " " + plural
}

// detail is the live cause, made safe to show, in one line.
func (r *Row) detail() string {
	if r.Live.Cause == "" {
		return ""
	}
	return ": " + plainText(r.Live.Cause, maxDetail)
}

// maxDetail bounds how many characters of a failure a plan quotes; logs has all of it.
const maxDetail = 200

// causes tells the causes of a row: "job.a runs again", "job.a, job.b and 3 more run again".
func (r *Row) causes() string {
	const most = 3
	if len(r.Causes) == 0 {
		return string(r.Reason)
	}
	var names []string
	fresh, reopened, replaced := 0, 0, 0
	for i, c := range r.Causes {
		if i < most {
			names = append(names, c.Addr.String())
		}
		switch c.Reason {
		case ReasonNew:
			fresh++
		case ReasonChildAgain:
			reopened++
		case ReasonRecurs, ReasonRecursNoMore, ReasonRegated:
			replaced++
		}
	}
	singular, plural := "runs again", "run again"
	switch {
	case r.Reason == ReasonMoved:
		singular, plural = "has moved", "have moved"
	case r.Reason == ReasonUpstreamRan:
		singular, plural = "ran again", "ran again"
	case fresh == len(r.Causes):
		singular, plural = "is new", "are new"
	case reopened == len(r.Causes):
		singular, plural = "reopens", "reopen"
	case replaced == len(r.Causes):
		singular, plural = "is replaced", "are replaced"
	}
	if more := len(r.Causes) - most; more > 0 {
		return fmt.Sprintf("%s and %d more %s", strings.Join(names, ", "), more, plural)
	}
	if len(names) == 1 {
		return names[0] + " " + singular
	}
	return listed(names, most) + " " + plural
}
