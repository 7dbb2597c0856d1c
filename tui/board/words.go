package board

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/planner"
)

// Took is how long something lasted, for people: tenths below ten seconds, whole seconds above.
func Took(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	if d < 10*time.Second {
		return strings.TrimSuffix(strconv.FormatFloat(d.Seconds(), 'f', 1, 64), ".0") + "s"
	}
	return Elapsed(d)
}

// Elapsed is a running time in whole seconds, as Terraform writes it: 10s, 1m10s, 2h0m0s.
func Elapsed(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	return d.Truncate(time.Second).String()
}

// Clock is a running time that keeps its width: 00:07, 12:40, 1:02:03.
func Clock(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	s := int64(d / time.Second)
	if s < 3600 {
		return fmt.Sprintf("%02d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Count writes a number with its noun.
func Count(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return strconv.Itoa(n) + " " + plural
}

// Thousands writes a number with commas between its thousands.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Starting is what is said when a row's change is written, after Terraform's words; "" for rows without a change.
func Starting(r *planner.Row) string {
	if importing(r) {
		return "Importing..." + importedID(r)
	}
	switch r.Action {
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

// Finished is what is said of a change that is complete once it is written; "" when the job's own end completes it.
func Finished(r *planner.Row) string {
	switch r.Action {
	case planner.Rerecord:
		if importing(r) {
			return "Import complete" + importedID(r)
		}
		return "Modifications complete"
	case planner.Delete:
		return "Destruction complete"
	case planner.Forget:
		return "Forgotten"
	default:
		return ""
	}
}

// importing tells whether a row does no more than take on a job that is there already.
func importing(r *planner.Row) bool {
	return r.Importing() && (r.Action == planner.Update || r.Action == planner.Rerecord)
}

func importedID(r *planner.Row) string { return " [id=" + r.Prior.UUID.String() + "]" }

// RowVerb names an action inside a sentence.
func RowVerb(a planner.Action) string {
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
