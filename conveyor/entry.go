package conveyor

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A status entry is
//
//	<state><lane><flags>|<queue>|<place>[|<tag><value>]...
//
// packed so that a plain queued job's stays far below the 64 bytes beyond which a Redis hash doubles. States:
//
//	h held   t template   s scheduled   q queued   r running   c closing   H on hold
//	C completed   F failed   f failed(child)   X cancelled   K skipped by failure   k skipped by success
//	O obsolete   E expired
//
// Flags: r recorded, w withdrawn, c cancel asked for, b bytes in jobs:<uuid>, k and h list of children and of heirs to work
// off, a had children in the active set, m edges in jobs:<uuid>:edges, d a ticket stayed behind in a queue, o on hold
// when exhausted, p goes back to its place when due, l labels in the hash, v labels that make it obsolete in `roots`, s
// what its next execution gets in `sync`, u an execution of an occurrence has left some that its template does not have yet, t a template, also
// once it is over, A goes to all workers, g labels in
// `triggers` that its success flips.
//
// Tags: d due (ms), e delay after the edges (ms), f fence, a attempts, l lost, g opening, w owner, i edges, p undecided
// edges in the hash, x decided outcome of a closing job, k how edges excluded it (- or =), s started, t ended (ms), z uuid
// of the upstream that excluded it, b failed children, h outcomes of earlier openings, m limit of lost leases, j number of
// the attempt's last message, y unique key as "<type>:<key>", escaped, r remove_after (ms), v waiting limit as "<ms when it
// ends>:<ms it lasts>" until the first start, c how long it is reserved without a worker (ms), o minute in which a held job began to
// wait for an upstream not seen yet, C cycle of an occurrence as "<tick ms>:<template>[:<root>]", without the root where that is the
// template itself, N limit of executions as "<limit>:<used>", D how far what its template emits is worked off, or
// u and the templates whose occurrences a held one waits for and that are to be made still, W whom a lease without a
// worker is for, R how long the own work took (ms), where start and end do not say it, G how far what it triggers is, as "<n>:<place>".

var stateOf = map[byte]State{
	'h': StateHeld, 't': StateTemplate, 's': StateScheduled, 'q': StateQueued, 'r': StateRunning, 'c': StateClosing,
	'C': StateCompleted, 'F': StateFailed, 'f': StateFailed, 'H': StateOnHold, 'X': StateCancelled, 'K': StateSkipped,
	'k': StateSkipped, 'O': StateObsolete, 'E': StateExpired,
}

// stateLetters are the letters of a state, as scripts compare them.
func stateLetters(states []State) string {
	var b strings.Builder
	for _, s := range states {
		if s == StateUnknown {
			b.WriteByte('-')
		}
		for letter, state := range stateOf {
			if state == s {
				b.WriteByte(letter)
			}
		}
	}
	return b.String()
}

// decodeStatus reads a status entry.
func decodeStatus(uuid, entry string) (Status, error) {
	bad := func() (Status, error) {
		return Status{UUID: uuid}, fmt.Errorf("%w: status entry of %s: %q", ErrCorrupt, uuid, entry)
	}
	head, rest, ok := strings.Cut(entry, "|")
	if !ok || len(head) < 2 || head[1] < '0' || head[1] > '2' {
		return bad()
	}
	s := Status{UUID: uuid, Priority: int(head[1] - '0'), Opening: 1}
	if s.State, ok = stateOf[head[0]]; !ok {
		return bad()
	}
	s.ChildFailed = head[0] == 'f'
	s.Success = head[0] == 'k'
	for _, f := range head[2:] {
		switch f {
		case 'r':
			s.Recorded = true
		case 'w':
			s.Withdrawn = true
		case 'c':
			s.CancelRequested = true
		case 'l':
			s.Labelled = true
		case 'A':
			s.Broadcast = true
		}
	}
	s.Queue, rest, ok = strings.Cut(rest, "|")
	if !ok {
		return bad()
	}
	place, rest, _ := strings.Cut(rest, "|")
	if place != "" {
		n, err := strconv.ParseInt(place, 10, 64)
		if err != nil {
			return bad()
		}
		s.Place = n
	}
	told := false // how long its own work took
	for rest != "" {
		var field string
		field, rest, _ = strings.Cut(rest, "|")
		if field == "" || !s.set(field[0], field[1:]) {
			return bad()
		}
		told = told || field[0] == 'R'
	}
	s.judgeWorked(told)
	return s, nil
}

// judgeWorked fills in Worked where start and end say it, and takes it from a job whose own work did not succeed.
func (s *Status) judgeWorked(told bool) {
	switch {
	case s.State != StateClosing && s.State != StateCompleted && !s.ChildFailed:
		s.Worked = 0
	case !told && !s.Started.IsZero() && !s.Ended.IsZero():
		s.Worked = s.Ended.Sub(s.Started)
	}
}

// set reads one tagged field; tags that only scripts need are passed over.
func (s *Status) set(tag byte, value string) bool {
	switch tag {
	case 'w':
		s.Owner = value
		return true
	case 'W':
		s.Holder = value
		return true
	case 'z':
		s.Cause = value
		return true
	case 'y':
		s.Unique = unescaped(value)
		return true
	case 'v':
		at, _, ok := strings.Cut(value, ":")
		n, err := strconv.ParseInt(at, 10, 64)
		s.ExpiresAt = time.UnixMilli(n)
		return ok && err == nil
	case 'C':
		tick, rest, ok := strings.Cut(value, ":")
		n, err := strconv.ParseInt(tick, 10, 64)
		s.Tick = time.UnixMilli(n).UTC()
		if s.Template, s.Root, _ = strings.Cut(rest, ":"); s.Root == "" {
			s.Root = s.Template
		}
		return ok && err == nil && s.Template != ""
	case 'N':
		most, used, ok := strings.Cut(value, ":")
		var errs [2]error
		s.MaxCycles, errs[0] = strconv.Atoi(most)
		s.Cycles, errs[1] = strconv.Atoi(used)
		return ok && errors.Join(errs[:]...) == nil
	case 'i':
		s.Pending += strings.Count(value, "?") + strings.Count(value, "~")
		return true
	case 'h': // how each opening before this one ended: after one in which its own work failed, it is done again
		s.Reopened = value != "" && !strings.HasSuffix(value, "F")
		return true
	case 'x', 'k', 'j', 'c', 'D', 'G':
		return true
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return false
	}
	switch tag {
	case 'r':
		s.RemoveAfter = time.Duration(n) * time.Millisecond
	case 'd':
		s.DueAt = time.UnixMilli(n)
	case 'f':
		s.Fence = n
	case 'a':
		s.Attempts = int(n)
	case 'l':
		s.Lost = int(n)
	case 'g':
		s.Opening = n
	case 'p':
		s.Pending += int(n)
	case 's':
		s.Started = time.UnixMilli(n)
	case 't':
		s.Ended = time.UnixMilli(n)
	case 'b':
		s.FailedChildren = int(n)
	case 'R':
		s.Worked = time.Duration(n) * time.Millisecond
	case 'o':
		s.HeldSince = time.UnixMilli(n * time.Minute.Milliseconds())
	case 'e', 'm':
	default:
		return false
	}
	return true
}
