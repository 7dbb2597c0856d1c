package watch

import (
	"strings"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
)

// filter is what a job has to have to be listed: every term. The zero filter lets all through.
type filter struct {
	text  string // as it was typed
	terms []term
}

// term is one word of a filter.
type term struct {
	field field
	value string // lower case
	not   bool   // the job must not have it
}

// field is what of a job a term looks at.
type field uint8

const (
	anywhere field = iota // its address and its workflow's name, a part of them
	byState               // the beginning of its state's word
	byQueue               // the beginning of the rest
	byWorker
	byType
	byWorkflow
	byCycle // "<address of the root>@<tick>", the beginning of it, with or without "job."
)

var fields = map[string]field{"state": byState, "queue": byQueue, "worker": byWorker, "type": byType, "workflow": byWorkflow, "cycle": byCycle}

// parseFilter reads words as they are typed: "load state:failed -queue:etl". A word that is not finished, such as
// "state:", asks for nothing yet.
func parseFilter(text string) filter {
	f := filter{text: text}
	for _, word := range strings.Fields(strings.ToLower(text)) {
		t := term{value: word}
		if len(word) > 1 && (word[0] == '-' || word[0] == '!') {
			t.not, t.value = true, word[1:]
		}
		if name, value, ok := strings.Cut(t.value, ":"); ok {
			if by, known := fields[name]; known {
				t.field, t.value = by, value
			}
		}
		if t.value != "" && t.value != "-" && t.value != "!" {
			f.terms = append(f.terms, t)
		}
	}
	return f
}

func (f filter) empty() bool { return len(f.terms) == 0 }

// matches tells whether a job has all that is asked for. name is its cleaned address in lower case.
func (f filter) matches(w *flow, name string, j *board.Job) bool {
	for _, t := range f.terms {
		if t.matches(w, name, j) == t.not {
			return false
		}
	}
	return true
}

func (t term) matches(w *flow, name string, j *board.Job) bool {
	begins := func(s string) bool { return len(s) >= len(t.value) && strings.EqualFold(s[:len(t.value)], t.value) }
	switch t.field {
	case byState:
		return begins(board.StateWord(j.Status.State)) || begins(j.Status.State.String())
	case byQueue:
		return begins(queueOf(j))
	case byWorker:
		return j.Status.State == conveyor.StateRunning && begins(j.Status.Owner)
	case byType:
		return begins(j.Type)
	case byWorkflow:
		return begins(w.name) || w.of != nil && begins(w.of.name)
	case byCycle:
		return j.Cycle != "" && (begins(j.Cycle) || begins(strings.TrimPrefix(j.Cycle, "job.")))
	default:
		return strings.Contains(name, t.value) || strings.Contains(w.lower, t.value)
	}
}
