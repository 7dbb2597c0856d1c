package applier

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
)

// sight is what somebody makes of a namespace who knows nothing but the events of a watch.
type sight struct {
	*testing.T
	events   chan Event
	listed   map[string]WorkflowSeen
	jobs     map[string]map[string]conveyor.Status // by workflow and address
	queues   map[string]QueueSeen
	workers  map[string]conveyor.WorkerInfo
	loose    LooseSeen
	progress map[string]conveyor.Progress
	changes  []JobChanged
	warnings []string

	schedules   SchedulesSeen
	occurrences map[string]OccurrenceChanged // by uuid
}

// quick is how long a turn lasts in tests.
const quick = 20 * time.Millisecond

func newSight(t *testing.T) *sight {
	return &sight{T: t, events: make(chan Event, 100_000), jobs: map[string]map[string]conveyor.Status{}, progress: map[string]conveyor.Progress{},
		occurrences: map[string]OccurrenceChanged{}}
}

func (s *sight) Observe(e Event) { s.events <- e }

// fold takes an event in.
func (s *sight) fold(e Event) {
	switch e := e.(type) {
	case WorkflowsSeen:
		s.listed = map[string]WorkflowSeen{}
		for _, w := range e.Workflows {
			s.listed[w.Name] = w
		}
	case QueuesSeen:
		s.queues = map[string]QueueSeen{}
		for _, q := range e.Queues {
			s.queues[q.Info.Name] = q
		}
	case WorkersSeen:
		s.workers = map[string]conveyor.WorkerInfo{}
		for _, w := range e.Workers {
			s.workers[w.ID] = w
		}
	case LooseSeen:
		s.loose = e
	case SchedulesSeen:
		s.schedules = e
	case Warning:
		s.warnings = append(s.warnings, e.Summary)
	case OfWorkflow:
		s.foldOf(e.Workflow, e.Event)
	}
}

func (s *sight) foldOf(workflow string, e Event) {
	if _, listed := s.listed[workflow]; !listed {
		s.Errorf("an event of workflow %q, which is not listed: %+v", workflow, e)
	}
	switch e := e.(type) {
	case Following:
		s.jobs[workflow] = map[string]conveyor.Status{}
		for _, j := range e.Jobs {
			s.jobs[workflow][j.Addr.String()] = j.Status
		}
	case JobChanged:
		if _, followed := s.jobs[workflow][e.Addr.String()]; !followed {
			s.Errorf("a change of %s of workflow %q, which is not followed", e.Addr, workflow)
		}
		s.jobs[workflow][e.Addr.String()] = e.Status
		s.changes = append(s.changes, e)
	case OccurrencesSeen:
		for uuid, o := range s.occurrences {
			if status, followed := s.jobs[workflow][o.Addr.String()]; !followed || status.UUID == o.Status.Template {
				delete(s.occurrences, uuid)
			}
		}
		for _, status := range e.Jobs {
			for address, template := range s.jobs[workflow] {
				if addr, err := config.ParseAddr(address); err == nil && template.UUID == status.Template {
					s.occurrences[status.UUID] = OccurrenceChanged{JobChanged{Addr: addr, Status: status}}
				}
			}
			if _, told := s.occurrences[status.UUID]; !told {
				s.Errorf("occurrence %s of workflow %q, whose template is not followed", status.UUID, workflow)
			}
		}
	case OccurrenceChanged:
		if status, followed := s.jobs[workflow][e.Addr.String()]; !followed || status.UUID != e.Status.Template {
			s.Errorf("a change of %s of workflow %q, whose template is not followed", e.Name(), workflow)
		}
		s.occurrences[e.Status.UUID] = e
	case JobProgress:
		s.progress[e.Addr.String()] = e.Progress
	case Warning:
		s.warnings = append(s.warnings, e.Summary)
	}
}

// until folds events until that much is seen.
func (s *sight) until(what string, seen func() bool) {
	s.Helper()
	for !seen() {
		select {
		case e := <-s.events:
			s.fold(e)
		case <-s.Context().Done():
			s.Fatalf("not seen: %s", what)
		}
	}
}

// all folds what has been told so far.
func (s *sight) all() {
	for len(s.events) > 0 {
		s.fold(<-s.events)
	}
}

// states are the jobs of a workflow, "a=queued b=held".
func (s *sight) states(workflow string) string {
	var words []string
	for _, address := range slices.Sorted(maps.Keys(s.jobs[workflow])) {
		words = append(words, strings.TrimPrefix(address, "job.")+"="+s.jobs[workflow][address].State.String())
	}
	return strings.Join(words, " ")
}

func (s *sight) untilStates(workflow, want string) {
	s.Helper()
	s.until(workflow+": "+want, func() bool { return s.states(workflow) == want })
}
