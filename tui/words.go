package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/planner"
)

// took is how long something lasted, for people: tenths below ten seconds, whole seconds above.
func took(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	if d < 10*time.Second {
		return strings.TrimSuffix(strconv.FormatFloat(d.Seconds(), 'f', 1, 64), ".0") + "s"
	}
	return elapsed(d)
}

// elapsed is a running time in whole seconds, as Terraform writes it: 10s, 1m10s, 2h0m0s.
func elapsed(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	return d.Truncate(time.Second).String()
}

// clock is a running time that keeps its width: 00:07, 12:40, 1:02:03.
func clock(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	s := int64(d / time.Second)
	if s < 3600 {
		return fmt.Sprintf("%02d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// count writes a number with its noun.
func count(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return strconv.Itoa(n) + " " + plural
}

// starting is what is said when a row's change is written, after Terraform's words; "" for rows without a change.
func starting(a planner.Action) string {
	switch a {
	case planner.Create:
		return "Creating..."
	case planner.Update, planner.Rerecord:
		return "Modifying..."
	case planner.Reopen:
		return "Reopening..."
	case planner.Replace:
		return "Replacing..."
	case planner.Delete:
		return "Destroying..."
	case planner.Forget:
		return "Forgetting..."
	default:
		return ""
	}
}

// finished is what is said of a change that is complete once it is written; "" when the job's own end completes it.
func finished(a planner.Action) string {
	switch a {
	case planner.Rerecord:
		return "Modifications complete"
	case planner.Delete:
		return "Destruction complete"
	case planner.Forget:
		return "Forgotten"
	default:
		return ""
	}
}

// rowVerb names an action inside a sentence.
func rowVerb(a planner.Action) string {
	switch a {
	case planner.Create:
		return "create"
	case planner.Update:
		return "update in place"
	case planner.Rerecord:
		return "update of the record"
	case planner.Reopen:
		return "reopen"
	case planner.Replace:
		return "replace"
	case planner.Delete:
		return "destroy"
	case planner.Forget:
		return "forget"
	default:
		return "no change"
	}
}
