package controller

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// retryNote begins the names of notes about jobs that ended badly.
const retryNote = "retry:"

// retry is what is remembered of a job that ended badly. The times are the store's, so that whoever leads next goes on with them.
type retry struct {
	Retries int    `json:"retries"` // so far, since it last ended well or changed
	Of      string `json:"of"`      // the submission and start that ended badly
	Next    int64  `json:"next"`    // when it is due, in ms since 1970
}

// Badly tells whether a job stands in a way that it does not leave by itself.
func Badly(s planner.Status) bool {
	switch s {
	case planner.Failed, planner.Cancelled, planner.Expired, planner.OnHold:
		return true
	default:
		return false
	}
}

// endOf names one bad end of a job: another submission, and another start of this one, ends anew.
func endOf(r *planner.Record, l planner.Live) string {
	return fmt.Sprintf("%s.%d.%d", r.UUID, l.Opening, l.Fence)
}

// remembered is what notes say of a job that ended badly.
func remembered(notes map[string]string, address string) (known retry, ok bool) {
	ok = json.Unmarshal([]byte(notes[retryNote+address]), &known) == nil
	return known, ok
}

// RetryOf is when the controllers of a workflow are going to run a job again that ended badly, and how often they did so before, as far
// as their notes tell. False where they do not, or where the job has ended anew since.
func RetryOf(notes map[string]string, row *planner.Row) (at time.Time, before int, ok bool) {
	known, ok := remembered(notes, row.Addr.String())
	if !ok || row.Prior == nil || known.Of != endOf(row.Prior, row.Live) {
		return time.Time{}, 0, false
	}
	return time.UnixMilli(known.Next).UTC(), known.Retries, true
}

// forgetRetries removes the notes of a controller that retried jobs, for one that does not.
func forgetRetries(notes map[string]string) map[string]string {
	gone := map[string]string{}
	for name := range notes {
		if strings.HasPrefix(name, retryNote) {
			gone[name] = ""
		}
	}
	return gone
}

// retries are the bad ends of a workflow's jobs and when each is due.
type retries struct {
	known map[string]retry  // by address
	due   []config.Addr     // of declared jobs
	notes map[string]string // to be written
}

// findRetries finds what is due at a time. Which job has reached the number of its cycles goes on only by hand.
func findRetries(w *config.Workflow, s *planner.State, notes map[string]string, now time.Time) retries {
	r := retries{known: map[string]retry{}, notes: map[string]string{}}
	for name := range notes {
		if address, ok := strings.CutPrefix(name, retryNote); ok {
			if known, ok := remembered(notes, address); ok {
				r.known[address] = known
			}
		}
	}
	declared := make(map[string]bool, len(r.known))
	for _, j := range w.Jobs {
		address := j.Addr.String()
		record, live := s.Records[address], s.Live[address]
		known, before := r.known[address]
		declared[address] = true
		switch {
		case record != nil && !record.Deposed && Badly(live.Status) && (live.Status != planner.OnHold || j.MaxCycles == 0):
			switch end := endOf(record, live); {
			case !before || known.Of != end:
				known.Of, known.Next = end, now.Add(doubled(retryMin, retryMax, known.Retries)).UnixMilli()
				r.note(address, known)
			case now.UnixMilli() >= known.Next:
				r.due = append(r.due, j.Addr)
			}
		case before && (record == nil || live.Status.Ended()):
			r.forget(address)
		}
	}
	for address := range r.known {
		if !declared[address] {
			r.forget(address)
		}
	}
	return r
}

func (r *retries) note(address string, known retry) {
	text, _ := json.Marshal(known) // texts and numbers
	r.known[address], r.notes[retryNote+address] = known, string(text)
}

func (r *retries) forget(address string) {
	delete(r.known, address)
	r.notes[retryNote+address] = ""
}

// submitted takes note of a row that was submitted: a retry, or what makes all earlier ones count no more.
func (r *retries) submitted(row *planner.Row) (retried bool) {
	address := row.Addr.String()
	known, before := r.known[address]
	if row.Action != planner.Replace && row.Action != planner.Reopen || !before {
		return false
	}
	for _, a := range r.due {
		if a == row.Addr && row.Prior != nil && row.Prior.Work == row.Work && row.Prior.Handling == row.Handling {
			known.Retries++
			r.note(address, known)
			return true
		}
	}
	if row.Prior != nil && (row.Prior.Work != row.Work || row.Prior.Handling != row.Handling) {
		r.forget(address)
	}
	return false
}
