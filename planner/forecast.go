package planner

import (
	"time"

	"github.com/waybill-dev/waybill/config"
)

// Forecast is how a plan's jobs are expected to run if all goes well: what starts when, and how long it takes by their last runs.
// Templates are not in it: they run by their schedules.
type Forecast struct {
	Jobs        int           `json:"jobs"`                  // that are to run, or run already
	Conditional int           `json:"conditional,omitempty"` // that start only if something fails
	OnHold      int           `json:"on_hold,omitempty"`     // that start only once somebody has released a job: on hold, or after one that is
	Waves       []Wave        `json:"waves"`                 // the first maxWaves of them
	WaveCount   int           `json:"wave_count"`
	Unknown     int           `json:"unknown,omitempty"` // jobs without history: their time counts nowhere
	Critical    []Step        `json:"critical"`          // the chain that takes longest, its first and last maxChain jobs
	Length      int           `json:"length"`            // jobs of that chain
	Expected    time.Duration `json:"expected"`          // how long all takes at least, by history and with workers enough
	// Queue is the queue whose limit, rather than the chain, makes it last so long; "" for none.
	Queue     string      `json:"queue,omitempty"`
	NotBefore time.Time   `json:"not_before,omitzero"` // the latest time that one of them waits for
	Waits     config.Addr `json:"waits,omitzero"`      // that one
}

// Wave is jobs that start after the same number of others, one after the other, are done.
type Wave struct {
	Jobs   int         `json:"jobs"`
	Blocks []WaveBlock `json:"blocks"` // the first maxWaveBlocks of them, in start order
	More   int         `json:"more,omitempty"`
}

// WaveBlock is the jobs of one block in a wave.
type WaveBlock struct {
	Addr config.Addr `json:"addr"` // of the job if it is one, else of the block
	Jobs int         `json:"jobs"`
}

// Step is one job of the critical chain.
type Step struct {
	Addr  config.Addr   `json:"addr"`
	Takes time.Duration `json:"takes,omitempty"`
	Known bool          `json:"known,omitempty"` // else it has no history
}

// Bounds of what a forecast keeps; programs that want the graph have `waybill graph`.
const (
	maxWaves      = 100
	maxWaveBlocks = 20
	maxChain      = 50
)

// lastWorked is how long a row's job took when it last did its own work; known is false for one that has no history.
func (r *Row) lastWorked() (d time.Duration, known bool) {
	switch {
	case r.Prior == nil:
		return 0, false
	case r.Live.Fence > 0 && r.Live.worked():
		return r.Live.Worked, true
	default:
		return r.Prior.Worked, r.Prior.Worked > 0
	}
}

// worked tells whether the job's own work has succeeded.
func (l Live) worked() bool {
	return l.Status == Completed || l.Status == Closing || l.Status == Failed && l.ChildFailed
}

// ahead tells whether a row's job has its own work before it once the plan is applied.
func (r *Row) ahead() bool {
	switch {
	case r.Job == nil || r.Recurs():
		return false
	case r.Action == Create || r.Action == Replace:
		return true
	case r.Action == Update || r.Action == NoOp:
		return r.Prior != nil && !r.Prior.Deposed && (r.Live.Status.Waits() || r.Live.Status == Running || r.Live.Status == OnHold)
	default:
		return false
	}
}

// onHold tells whether a row's job goes on only when somebody releases it.
func (r *Row) onHold() bool {
	return r.Live.Status == OnHold && (r.Action == Update || r.Action == NoOp)
}

// moment is when something happens in a forecast: after how many jobs, and after how long.
type moment struct {
	waves int32
	after time.Duration
	from  int32 // the event that it waits for last: own work of job j as j, its completion as ^j; noEvent for none
}

const noEvent = int32(-1) << 31

func (m *moment) await(event int32, other moment) {
	m.waves = max(m.waves, other.waves)
	if other.after > m.after || m.from == noEvent {
		m.after, m.from = other.after, event
	}
}

// simulation plays a plan through with as many workers as there are jobs.
type simulation struct {
	m        *maker
	guess    time.Duration // for a job without history, so that the longest chain can be told
	begun    []moment      // by job: when its own work starts
	worked   []moment      // when that is done
	complete []moment
	skipped  []bool // it starts only if something fails
	held     []bool // it starts only once a job is released that is on hold
	open     []bool // likewise, it is complete only then
}

// forecast makes the forecast of a plan, nil when nothing is to run.
func (m *maker) forecast() *Forecast {
	f := &Forecast{}
	var known time.Duration
	for i := range m.rows {
		if r := &m.rows[i]; r.ahead() {
			f.Jobs++
			if d, ok := r.lastWorked(); ok {
				known += d
			} else {
				f.Unknown++
			}
		}
	}
	if f.Jobs == 0 {
		return nil
	}
	n := len(m.rows)
	s := &simulation{m: m, guess: time.Second, begun: make([]moment, n), worked: make([]moment, n), complete: make([]moment, n), skipped: make([]bool, n),
		held: make([]bool, n), open: make([]bool, n)}
	if some := f.Jobs - f.Unknown; some > 0 {
		s.guess = max(time.Millisecond, known/time.Duration(some))
	}
	last := s.run()
	s.tell(f, last)
	return f
}

// run goes through the events in their order and returns the last one.
func (s *simulation) run() (last int32) {
	last = noEvent
	var end moment
	for _, e := range s.m.g.events {
		j, done := e, &s.worked
		if e >= 0 {
			s.work(e)
		} else {
			j, done = ^e, &s.complete
			at := s.worked[j]
			at.from = j
			s.open[j] = s.held[j]
			for _, child := range s.m.g.children.of(j) {
				at.await(^child, s.complete[child])
				s.open[j] = s.open[j] || s.open[child]
			}
			s.complete[j] = at
		}
		if at := (*done)[j]; last == noEvent || at.after > end.after || at.after == end.after && at.waves > end.waves {
			last, end = e, at
		}
	}
	return last
}

func (s *simulation) work(j int32) {
	r := &s.m.rows[j]
	at := moment{from: noEvent}
	for _, l := range s.m.g.up.of(j) {
		if !l.inside() {
			continue
		}
		if l.kind.Parent() {
			at.await(l.to, s.worked[l.to])
			s.skipped[j] = s.skipped[j] || s.skipped[l.to]
			s.held[j] = s.held[j] || s.held[l.to]
		} else {
			at.await(^l.to, s.complete[l.to])
			s.skipped[j] = s.skipped[j] || l.kind == EdgeFailure
			s.held[j] = s.held[j] || s.open[l.to]
		}
	}
	if !r.ahead() {
		// What stands holds nobody up: its edges were met long ago.
		s.skipped[j], s.held[j] = false, false
		s.begun[j], s.worked[j] = moment{from: noEvent}, moment{from: noEvent}
		return
	}
	if at.waves == 0 {
		at.from = noEvent
	}
	s.begun[j], s.worked[j] = at, at
	s.held[j] = s.held[j] || r.onHold()
	if s.skipped[j] || s.held[j] {
		return
	}
	s.worked[j] = moment{waves: at.waves + 1, after: at.after + s.takes(r), from: at.from}
}

// takes is how long a job takes, its delay included.
func (s *simulation) takes(r *Row) time.Duration {
	d, known := r.lastWorked()
	if !known {
		d = s.guess
	}
	return d + r.Job.RunAt.After
}

// tell fills in a forecast.
func (s *simulation) tell(f *Forecast, last int32) {
	m, work := s.m, map[string]time.Duration{}
	var deepest int32
	for _, j := range m.g.order {
		r := &m.rows[j]
		if !r.ahead() {
			continue
		}
		if s.skipped[j] || s.held[j] {
			if s.held[j] {
				f.OnHold++
			} else {
				f.Conditional++
			}
			f.Jobs--
			if _, known := r.lastWorked(); !known {
				f.Unknown--
			}
			continue
		}
		f.add(int(s.begun[j].waves), r.Addr)
		deepest = max(deepest, s.begun[j].waves)
		if d, known := r.lastWorked(); known {
			work[r.Job.Queue] += d
		}
		if t := r.Job.RunAt.Time; t.After(f.NotBefore) && t.After(m.s.Now) {
			f.NotBefore, f.Waits = t, r.Addr
		}
	}
	f.WaveCount = int(deepest) + 1
	if f.Jobs == 0 {
		f.WaveCount = 0
	}
	s.trace(f, last)
	for i := range m.queues {
		q := m.queues[i]
		if bound := work[q.Name] / time.Duration(max(1, q.Concurrency)); q.Concurrency > 0 && bound > f.Expected {
			f.Expected, f.Queue = bound, q.Name
		}
	}
}

// add puts a job into a wave. Jobs of a block come one after the other in start order, or nearly so.
func (f *Forecast) add(wave int, addr config.Addr) {
	if wave >= maxWaves {
		return
	}
	for len(f.Waves) <= wave {
		f.Waves = append(f.Waves, Wave{})
	}
	w := &f.Waves[wave]
	w.Jobs++
	for i := range w.Blocks {
		if b := &w.Blocks[i]; b.Addr.Block() == addr.Block() {
			b.Addr = addr.Block()
			b.Jobs++
			return
		}
	}
	if len(w.Blocks) == maxWaveBlocks {
		w.More++
		return
	}
	w.Blocks = append(w.Blocks, WaveBlock{addr, 1})
}

// trace follows the critical chain back from the last event.
func (s *simulation) trace(f *Forecast, last int32) {
	var chain []int32
	for e := last; e != noEvent; {
		if e < 0 {
			e = s.complete[^e].from
			continue
		}
		if r := &s.m.rows[e]; r.ahead() && !s.skipped[e] && !s.held[e] {
			chain = append(chain, e)
		}
		e = s.worked[e].from
	}
	f.Length = len(chain)
	for i := len(chain) - 1; i >= 0; i-- {
		r := &s.m.rows[chain[i]]
		d, known := r.lastWorked()
		f.Expected += d + r.Job.RunAt.After
		if at := len(chain) - 1 - i; at < maxChain || i < maxChain {
			f.Critical = append(f.Critical, Step{r.Addr, d + r.Job.RunAt.After, known})
		}
	}
}
