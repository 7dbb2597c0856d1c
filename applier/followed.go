package applier

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// watchedJob is one job that a follower knows: a recorded one, an earlier generation that may still run, or a job outside
// the workflow that one of them waits for.
type watchedJob struct {
	addr    config.Addr // zero for what is not recorded
	record  *planner.Record
	depth   int
	place   int32   // in watchedJobs.order
	above   []int32 // see Followed.Above
	status  conveyor.Status
	told    int       // attempts whose failure was shown
	stillAt time.Time // when StillRunning was told last

	failures int // that there were when statuses were read last, which may be ahead of status; a follower's alone

	progress   conveyor.Progress // the latest
	progressAt time.Time         // when JobProgress was told last

	flow *flow // whose job it is; nil for nobody's; a watcher's alone, as what follows
	mark int64 // see looseJobs
}

// recorded tells whether the job is one that an apply waits for.
func (j *watchedJob) recorded() bool { return j.record != nil }

// waits tells whether the job could run now.
func (j *watchedJob) waits() bool {
	return j.status.State == conveyor.StateQueued || j.status.State == conveyor.StateScheduled && j.status.Fence > 0
}

func (j *watchedJob) followed() Followed {
	return Followed{Addr: j.addr, Depth: j.depth, Type: j.record.Type, Queue: j.record.Queue, Status: j.status}
}

// upstream is the address of the recorded job that excluded a skipped one.
func (w *watchedJobs) upstream(s conveyor.Status) string {
	if up := w.byUUID[s.Cause]; s.State == conveyor.StateSkipped && up != nil && up.recorded() {
		return up.addr.String()
	}
	return ""
}

// following is the list of the recorded jobs; what comes after a position is told.
func (w *watchedJobs) following(at Position) Following {
	e := Following{At: at, Jobs: make([]Followed, len(w.order))}
	for i, j := range w.order {
		e.Jobs[i] = j.followed()
		e.Jobs[i].Above = j.above
	}
	return e
}

// maxProgress is of how many running jobs progress is read at once.
const maxProgress = 200

// progressOf reads how far jobs are that run, with one command for the first of them, and returns those that have told.
func progressOf(ctx context.Context, c *conveyor.Client, running []*watchedJob) (told []*watchedJob) {
	if len(running) == 0 {
		return nil
	}
	running = running[:min(len(running), maxProgress)]
	uuids := make([]string, len(running))
	for i, j := range running {
		uuids[i] = j.status.UUID
	}
	all, err := c.ProgressesOf(ctx, uuids)
	if err != nil {
		return nil // it is for people, and the next event tells
	}
	for i, j := range running {
		if p := all[i]; !p.At.IsZero() && !p.At.Before(j.status.Started) && p != j.progress {
			j.progress = p
			told = append(told, j)
		}
	}
	return told
}

// watchedJobs are the jobs of one workflow by uuid, and the recorded ones in start order.
type watchedJobs struct {
	byUUID map[string]*watchedJob
	order  []*watchedJob
	// children are the recorded jobs under each parent, by its uuid.
	children map[string][]*watchedJob
}

// watchRecords lists what is to be followed of a state, without statuses.
func watchRecords(s *planner.State) *watchedJobs {
	w := &watchedJobs{
		byUUID:   make(map[string]*watchedJob, len(s.Records)),
		order:    make([]*watchedJob, 0, len(s.Records)),
		children: map[string][]*watchedJob{},
	}
	for address, r := range s.Records {
		addr, err := config.ParseAddr(address)
		if err != nil {
			continue // ReadState refuses such a state
		}
		j := &watchedJob{addr: addr, record: r}
		w.byUUID[r.UUID.String()] = j
		w.order = append(w.order, j)
	}
	for _, j := range w.order {
		for _, e := range j.record.Edges {
			if w.byUUID[e.UUID] == nil {
				w.byUUID[e.UUID] = &watchedJob{}
			}
			if e.Kind.Parent() {
				w.children[e.UUID] = append(w.children[e.UUID], j)
			}
		}
	}
	w.sortByStart()
	w.findAbove()
	return w
}

// findAbove fills in where each recorded job stands and what it stands under.
func (w *watchedJobs) findAbove() {
	for i, j := range w.order {
		j.place = int32(i)
	}
	for _, j := range w.order {
		var parent, deepest *watchedJob
		for _, e := range j.record.Edges {
			up := w.byUUID[e.UUID]
			if !up.recorded() || up == j {
				continue
			}
			switch {
			case e.Kind.Parent():
				if parent == nil {
					parent = up
				}
			case deepest == nil || up.depth > deepest.depth || up.depth == deepest.depth && up.place < deepest.place:
				deepest = up
			}
			j.above = append(j.above, up.place)
		}
		slices.Sort(j.above)
		j.above = slices.Compact(j.above)
		first := cmp.Or(parent, deepest)
		if first == nil {
			continue
		}
		at := slices.Index(j.above, first.place)
		copy(j.above[1:], j.above[:at])
		j.above[0] = first.place
	}
}

// uuids are all uuids whose status matters, in no order.
func (w *watchedJobs) uuids() []string {
	uuids := make([]string, 0, len(w.byUUID))
	for id := range w.byUUID {
		uuids = append(uuids, id)
	}
	return uuids
}

// sortByStart orders as a plan does, as far as records can tell: connected jobs together, upstream first, ties by address.
func (w *watchedJobs) sortByStart() {
	slices.SortFunc(w.order, func(a, b *watchedJob) int { return compareAddr(a.addr, b.addr) })
	for i, j := range w.order {
		j.place, j.depth = int32(i), -1
	}
	first := w.components()
	for _, j := range w.order {
		w.measure(j)
	}
	slices.SortFunc(w.order, func(a, b *watchedJob) int {
		return cmp.Or(cmp.Compare(first[a.place], first[b.place]), a.depth-b.depth, cmp.Compare(a.place, b.place))
	})
}

// measure finds how deep down a job is.
func (w *watchedJobs) measure(j *watchedJob) int {
	if j.depth >= 0 {
		return j.depth
	}
	j.depth = 0 // ends the walk should records ever hold a cycle
	d := 0
	for _, e := range j.record.Edges {
		if up := w.byUUID[e.UUID]; up.recorded() {
			d = max(d, w.measure(up)+1)
		}
	}
	j.depth = d
	return d
}

// components gives each recorded job, by its place, the lowest place among the jobs it is connected with.
func (w *watchedJobs) components() []int32 {
	first := make([]int32, len(w.order)) // by place: another of its component that is lower, or itself
	for i := range first {
		first[i] = int32(i)
	}
	find := func(i int32) int32 {
		for first[i] != i {
			first[i] = first[first[i]] // halves the path
			i = first[i]
		}
		return i
	}
	for _, j := range w.order {
		for _, e := range j.record.Edges {
			if up := w.byUUID[e.UUID]; up.recorded() {
				a, b := find(j.place), find(up.place)
				first[max(a, b)] = min(a, b)
			}
		}
	}
	for i := range first {
		first[i] = find(int32(i))
	}
	return first
}

func compareAddr(a, b config.Addr) int {
	switch {
	case a.Less(b):
		return -1
	case b.Less(a):
		return 1
	default:
		return 0
	}
}

// keepTold carries over what was already told of the jobs that both lists have.
func (w *watchedJobs) keepTold(prior *watchedJobs) {
	for id, j := range w.byUUID {
		if old := prior.byUUID[id]; old != nil {
			j.told, j.stillAt, j.progressAt = old.told, old.stillAt, old.progressAt
		}
	}
}
