package watch

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
)

// order is how a list of jobs is sorted.
type order uint8

const (
	byStart    order = iota // as they start: what others wait for first
	byUrgency               // what failed, what runs, what waits, what is done
	byDuration              // the longest first
	byAddress
	orders
)

var orderNames = [orders]string{"start", "state", "duration", "name"}

// query chooses and sorts jobs.
type query struct {
	filter    filter
	order     order
	scope     string // only this workflow
	scoped    bool
	scheduled bool // only what waits for a time, by that time
}

// row is one job in a list.
type row struct {
	flow *flow
	job  *board.Job
}

// search answers a query in steps, so that the view stays awake: each looks at some of the jobs. What is then to be sorted, is,
// beside the view if it is much.
type search struct {
	query
	lists       int // of the fleet when it began
	flow, place int // what is looked at next
	rows        []row
	keys        []uint64 // a sort key above the row's number; for orders that move
	now         time.Time
	sorted      bool
}

// perStep is how many jobs one step looks at: a millisecond or two.
const perStep = 10_000

// step goes on, and tells whether all has been looked at.
func (s *search) step(f *fleet) bool {
	for n := 0; n < perStep; {
		if s.flow >= len(f.flows) {
			return true
		}
		w := f.flows[s.flow]
		if s.place >= len(w.board.Jobs) || (s.scoped && !w.within(s.scope)) {
			s.flow, s.place = s.flow+1, 0
			continue
		}
		end := min(s.place+perStep-n, len(w.board.Jobs))
		n += end - s.place
		s.look(f, w, end)
	}
	return false
}

// look goes through the jobs of one workflow up to end.
func (s *search) look(f *fleet, w *flow, end int) {
	for ; s.place < end; s.place++ {
		at := s.place
		if s.order == byAddress && !s.scheduled {
			at = int(w.byName[at])
		}
		j := w.board.Jobs[at]
		due, timed := f.due(j.Status)
		if s.scheduled && !timed || !s.filter.matches(w, w.names[at], j) {
			continue
		}
		if s.moves() {
			s.keys = append(s.keys, s.key(j, due)<<rowBits|uint64(len(s.rows)))
		}
		s.rows = append(s.rows, row{w, j})
	}
}

// due is when a job that waits for a time is due, or a schedule fires; the zero time of one that does not, and of a gate. timed is
// false for other jobs.
func (f *fleet) due(s conveyor.Status) (at time.Time, timed bool) {
	switch s.State {
	case conveyor.StateScheduled, conveyor.StateHeld:
		return s.DueAt, !s.DueAt.IsZero()
	case conveyor.StateTemplate:
		if seen := f.schedules[s.UUID]; seen != nil {
			return seen.Template.Next, true
		}
	}
	return at, false
}

// moves tells whether rows change their places when jobs change their states.
func (q query) moves() bool { return q.scheduled || q.order == byUrgency || q.order == byDuration }

// narrows tells whether a job's change can put it into the list or out of it.
func (q query) narrows() bool { return q.scheduled || !q.filter.empty() }

// rowBits number the rows below a sort key: 16 million of them, above which the order is whatever it is.
const rowBits = 24

// epoch is where due times are counted from, for as many milliseconds as a sort key holds: 34 years.
var epoch = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// key sorts a row.
func (s *search) key(j *board.Job, due time.Time) uint64 {
	const most = 1<<(64-rowBits) - 1
	switch {
	case s.scheduled && due.IsZero():
		return most
	case s.scheduled:
		return uint64(max(0, min(due.Sub(epoch)/time.Millisecond, most)))
	case s.order == byUrgency:
		return uint64(board.Standing(j.Status))
	default:
		return most - uint64(min(board.Lasted(j.Status, s.now)/time.Millisecond, most))
	}
}

// sort touches nothing but the search.
func (s *search) sort() {
	s.sorted = true
	if !s.moves() {
		return
	}
	slices.Sort(s.keys)
	sorted := make([]row, len(s.rows))
	for i, k := range s.keys {
		sorted[i] = s.rows[k&(1<<rowBits-1)%uint64(len(s.rows))]
	}
	if s.scheduled {
		s.byName(sorted)
	}
	s.rows, s.keys = sorted, nil
}

// byName has those of one time stand by the names of their workflows and of themselves.
func (s *search) byName(sorted []row) {
	for from := 0; from < len(sorted); {
		end := from + 1
		for end < len(sorted) && s.keys[end]>>rowBits == s.keys[from]>>rowBits {
			end++
		}
		slices.SortStableFunc(sorted[from:end], func(a, b row) int {
			switch {
			case a.flow != b.flow:
				return strings.Compare(a.flow.name, b.flow.name)
			case a.job.Addr.Less(b.job.Addr):
				return -1
			case b.job.Addr.Less(a.job.Addr):
				return 1
			}
			return 0
		})
		from = end
	}
}

// ready tells which workflow's addresses must be sorted before a search can go by them; nil: none.
func (s *search) ready(f *fleet) *flow {
	if s.order != byAddress || s.scheduled {
		return nil
	}
	for _, w := range f.flows {
		if len(w.byName) != len(w.board.Jobs) && (!s.scoped || w.within(s.scope)) {
			return w
		}
	}
	return nil
}

// addressOrder sorts addresses. It touches nothing but its argument, so it may take its time elsewhere.
func addressOrder(jobs []*board.Job) []int32 {
	order := make([]int32, len(jobs))
	for i := range order {
		order[i] = int32(i)
	}
	sort.SliceStable(order, func(x, y int) bool { return jobs[order[x]].Addr.Less(jobs[order[y]].Addr) })
	return order
}
