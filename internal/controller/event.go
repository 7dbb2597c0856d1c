package controller

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/planner"
)

// Kind is what an Event tells.
type Kind string

// The kinds of events. What goes on being so is told once, not in each round.
const (
	KindLeading  Kind = "leading"  // this replica leads from now on
	KindStandby  Kind = "standby"  // another one leads
	KindRevision Kind = "revision" // the source shows another revision
	KindRejected Kind = "rejected" // the newest revision cannot be applied as it is; the last good one goes on being healed
	KindRecalled Kind = "recalled" // a configuration of the history goes on being healed
	KindConsent  Kind = "consent"  // a plan destroys more than is allowed without consent, and waits for it
	KindApplied  Kind = "applied"  // a difference was submitted
	KindHealed   Kind = "healed"   // likewise, of a revision that had been applied before: something had drifted
	KindInSync   Kind = "in_sync"  // nothing differs, after something did
	KindKept     Kind = "kept"     // a job ended badly and is left alone
	KindRetried  Kind = "retried"  // a job that ended badly runs again, by -retry-failed
	KindWaiting  Kind = "waiting"  // for a lock that somebody else holds, or for another revision than one that was rolled back
	KindFailed   Kind = "failed"   // a round could not be ended; it is repeated
	KindWarning  Kind = "warning"  // something works less well than it should
)

// Level is how bad an event is.
func (k Kind) Level() string {
	switch k {
	case KindRejected, KindFailed:
		return "error"
	case KindConsent, KindKept, KindWaiting, KindWarning:
		return "warn"
	default:
		return "info"
	}
}

// Event is something that a Loop tells, for people and for logs.
type Event struct {
	Kind     Kind
	Dir      string // of the configuration, as the source has it; "" when there is none yet
	Workflow string // "" until it is known
	Revision planner.Source
	Text     string // a sentence, without a full stop
	// Diags are what a revision is rejected for, with Files for their snippets.
	Diags hcl.Diagnostics
	Files map[string]*hcl.File
	// Job is the address that kept and retried are about.
	Job string
	// Plan is the name of the plan that waits for consent.
	Plan string
	// Added, Changed and Destroyed count what was submitted, or, of a plan that waits for consent, what would be.
	Added, Changed, Destroyed int
}
