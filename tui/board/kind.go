package board

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/conveyor"
)

// Kind is what a job's state means to somebody who watches a tree: finer than a section, coarser than a state.
type Kind uint8

// The kinds, in the order in which they are listed.
const (
	Completed    Kind = iota
	PassedOver        // skipped, obsolete
	CalledOff         // an occurrence in whose place a later one came, or that was given up
	Unsuccessful      // failed, cancelled, expired, on hold
	AtWork            // a worker is at it
	Retrying          // an attempt failed or was lost, and the next is to come
	Closed            // its own work is done, its children's is not
	Queued            // waits for a worker
	Timed             // waits for its time
	Upcoming          // waits for other jobs
	Recurring         // a template: never run itself, it waits for nobody
	Kinds
)

// KindOf is the kind of a job with this status.
func KindOf(s conveyor.Status) Kind {
	switch s.State {
	case conveyor.StateCompleted:
		return Completed
	case conveyor.StateCancelled:
		if s.Template != "" {
			return CalledOff
		}
		return Unsuccessful
	case conveyor.StateSkipped, conveyor.StateObsolete:
		return PassedOver
	case conveyor.StateFailed, conveyor.StateExpired, conveyor.StateOnHold:
		return Unsuccessful
	case conveyor.StateRunning:
		return AtWork
	case conveyor.StateClosing:
		return Closed
	case conveyor.StateQueued:
		if s.Attempts+s.Lost > 0 {
			return Retrying
		}
		return Queued
	case conveyor.StateScheduled:
		if s.Attempts+s.Lost > 0 {
			return Retrying
		}
		return Timed
	case conveyor.StateTemplate:
		return Recurring
	default:
		return Upcoming
	}
}

// over tells whether a job ended well, or without having to run.
func (k Kind) over() bool { return k == Completed || k == PassedOver || k == CalledOff }

var kindWords = [Kinds]string{"completed", "skipped", "cancelled", "unsuccessful", "running", "retrying", "closing", "queued", "scheduled", "waiting", "recurring"}

func (k Kind) String() string {
	if k >= Kinds {
		return "invalid"
	}
	return kindWords[k]
}

// Sums counts jobs by kind.
type Sums [Kinds]int32

// Jobs is how many are counted.
func (s *Sums) Jobs() int {
	n := 0
	for _, x := range s {
		n += int(x)
	}
	return n
}

func (s *Sums) add(t *Sums) {
	for k := range s {
		s[k] += t[k]
	}
}

func (s *Sums) subtract(t *Sums) {
	for k := range s {
		s[k] -= t[k]
	}
}

// String says how many jobs there are and where they stand: "12 jobs completed", "40 jobs: 3 queued, 37 waiting".
func (s *Sums) String() string {
	var parts []string
	for k, n := range s {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", Thousands(int(n)), Kind(k)))
		}
	}
	n := s.Jobs()
	noun := "jobs"
	if n == 1 {
		noun = "job"
	}
	if len(parts) == 1 {
		_, word, _ := strings.Cut(parts[0], " ")
		return fmt.Sprintf("%s %s %s", Thousands(n), noun, word)
	}
	return fmt.Sprintf("%s %s: %s", Thousands(n), noun, strings.Join(parts, ", "))
}
