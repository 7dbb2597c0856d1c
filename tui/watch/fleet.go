package watch

import (
	"cmp"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// fleet is what is known of a namespace, folded from events. It belongs to one goroutine.
type fleet struct {
	opened  applier.Opened
	away    *applier.StoreAway // while the store does not answer
	warning *applier.Warning   // of the namespace, that was told since the last frame

	listed bool // the workflows have been told
	flows  []*flow
	byName map[string]*flow
	counts applier.StateCounts // over all workflows

	queues  []queue // by name
	rates   map[string]*rates
	workers []conveyor.WorkerInfo // by id

	schedules     map[string]*applier.ScheduleSeen // by uuid of the template
	scheduleTotal int
	rescheduled   bool              // they were told since the last frame
	cycled        []string          // templates whose cycles changed since then
	templates     map[string]origin // recorded templates by uuid; nil: to be found anew
	dirty         bool              // occurrences of some workflow have changed

	lists   int // rises when a list of jobs is replaced: what points into the old ones is void
	changed []change
}

// flow is one workflow. The jobs that belong to none are one too, with an empty key.
type flow struct {
	key         string // as the store calls it
	of          *flow  // not nil for a list of what the templates of a workflow have made: the workflow
	name, lower string // for people
	made        *made  // of its templates; nil: nothing was told
	seen        applier.WorkflowSeen
	board       *board.Board
	members     members
	names       []string // of the board's jobs, in lower case, for filters
	byName      []int32  // places in the order of addresses; nil until it is asked for
}

// change is a job whose status was told.
type change struct {
	flow *flow
	job  *board.Job
}

// loose is what the jobs of no workflow are headed with.
const loose = "(no workflow)"

func newFleet() *fleet { return &fleet{byName: map[string]*flow{}, rates: map[string]*rates{}} }

// observe folds one event.
func (f *fleet) observe(e applier.Event) {
	if _, still := e.(applier.StoreAway); !still {
		f.away = nil
	}
	switch e := e.(type) {
	case applier.Opened:
		f.opened = e
	case applier.StoreAway:
		f.away = &e
	case applier.Warning:
		f.warning = &e
	case applier.WorkflowsSeen:
		f.list(e.Workflows)
	case applier.OfWorkflow:
		f.within(f.flow(e.Workflow), e.Event)
	case readied:
		w := f.flow(e.Workflow)
		w.board.Observe(e.Event)
		if len(e.names) != len(w.board.Jobs) {
			f.relist(w)
			return
		}
		w.names, w.members, w.byName = e.names, e.members, nil
		f.tally(w)
		f.lists++
		f.again()
	case applier.LooseSeen:
		f.loose(e)
	case applier.SchedulesSeen:
		f.schedulesSeen(e)
	case applier.QueuesSeen:
		f.queuesSeen(e)
	case applier.WorkersSeen:
		f.workers = slices.Clone(e.Workers)
		slices.SortFunc(f.workers, func(x, y conveyor.WorkerInfo) int { return strings.Compare(x.ID, y.ID) })
	}
}

// flow is the workflow of this name, made when it was not known.
func (f *fleet) flow(key string) *flow {
	if w := f.byName[key]; w != nil {
		return w
	}
	w := &flow{key: key, name: screen.Clean(key), board: board.New()}
	if key == "" {
		w.name = loose
	}
	w.lower = strings.ToLower(w.name)
	f.byName[key] = w
	at, _ := slices.BinarySearchFunc(f.flows, w, compareFlows)
	f.flows = slices.Insert(f.flows, at, w)
	f.lists++
	return w
}

// compareFlows orders workflows by name; the jobs of none come last.
func compareFlows(x, y *flow) int {
	if (x.key == "") != (y.key == "") {
		return strings.Compare(y.key, x.key)
	}
	return strings.Compare(x.key, y.key)
}

// list takes what there is: other workflows are gone.
func (f *fleet) list(seen []applier.WorkflowSeen) {
	f.listed = true
	there := make(map[string]bool, len(seen))
	for _, s := range seen {
		there[s.Name] = true
		f.flow(s.Name).seen = s
	}
	f.flows = slices.DeleteFunc(f.flows, func(w *flow) bool {
		if there[w.key] || w.of != nil && there[w.of.key] {
			return false
		}
		delete(f.byName, w.key)
		f.lists++
		return true
	})
	f.recount()
}

// successor is the workflow that has carried over the state of one that is gone; "" while that is there, or for none.
func (f *fleet) successor(name string) string {
	if name == "" || f.byName[name] != nil {
		return ""
	}
	for _, w := range f.flows {
		if w.of == nil && w.seen.Former == name {
			return w.key
		}
	}
	return ""
}

func (f *fleet) recount() {
	f.counts = applier.StateCounts{}
	for _, w := range f.flows {
		for s, n := range w.seen.Counts {
			f.counts[w.counted(conveyor.State(s))] += n
		}
	}
}

// within folds an event of one workflow.
func (f *fleet) within(w *flow, e applier.Event) {
	steps := w.board.Observe(e)
	switch e := e.(type) {
	case applier.OccurrencesSeen:
		f.occurrencesSeen(w, e)
		return
	case applier.OccurrenceChanged:
		f.occurrenceChanged(w, e)
		return
	case applier.Following:
		f.relist(w)
		f.again()
		return
	case applier.JobChanged:
		if len(w.board.Jobs) != len(w.names) {
			f.relist(w)
		}
	}
	for _, s := range steps {
		f.changed = append(f.changed, change{w, s.Job})
		w.members.changed(s.Job)
	}
	if len(steps) > 0 {
		f.tally(w)
	}
}

// tally counts a workflow's jobs from what is known of each, which is newer than what was listed.
func (f *fleet) tally(w *flow) {
	for s, n := range w.board.Counts {
		f.counts[w.counted(conveyor.State(s))] += n - w.seen.Counts[s]
		w.seen.Counts[s] = n
	}
	w.seen.Jobs = len(w.board.Jobs)
}

// relist follows a list of jobs that was replaced or has grown.
func (f *fleet) relist(w *flow) {
	w.names, w.byName = make([]string, len(w.board.Jobs)), nil
	for i, j := range w.board.Jobs {
		w.names[i] = strings.ToLower(j.Name)
	}
	w.members = enrol(len(w.board.Jobs), func(i int) board.Section { return board.Standing(w.board.Jobs[i].Status) })
	f.tally(w)
	f.lists++
}

// loose makes the jobs of no workflow one, each named as it was when it belonged to one, or by its uuid.
func (f *fleet) loose(e applier.LooseSeen) {
	if e.Total == 0 && f.byName[""] == nil {
		return
	}
	w := f.flow("")
	var list applier.Following
	for _, s := range e.Jobs {
		list.Jobs = append(list.Jobs, applier.Followed{Addr: config.Addr{Name: s.UUID}, Queue: s.Queue, Status: s})
	}
	steps := w.board.Observe(list)
	for _, j := range w.board.Jobs {
		j.Name = screen.Clean(cmp.Or(e.Names[j.Status.UUID], j.Status.UUID))
	}
	f.relist(w)
	for _, s := range steps {
		f.changed = append(f.changed, change{w, s.Job})
	}
}

// queueOf is the queue that a job is in, or is declared for.
func queueOf(j *board.Job) string {
	if j.Status.Queue != "" {
		return j.Status.Queue
	}
	return j.Queue
}
