package enginemodel

import (
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/conveyor"
)

// Engine is one namespace.
type Engine struct {
	now      int64 // ms
	jobs     map[string]*job
	queues   map[string]queue
	workers  map[string]worker
	calls    map[string]*call             // by caller
	hashes   map[string]map[string][]byte // companion writes: key, field, value
	over     map[string][]retained        // by queue: ended jobs in the order in which retention meets them
	unique   map[string]string            // who holds a unique key
	places   int64                        // the last one given
	turns    map[turn]int64               // who waits where, in which order
	began    map[turn]int64               // the same when the operation under way began
	lastTurn int64

	cycles    map[string][]*cycle // that are not over, by root and then by tick
	templates int64               // how many were declared
	turned    bool                // a cycle ended in the request under way, and a tick has waited for that
	dropped   int                 // jobs found obsolete by the request under way

	settling []*job // own work done or end decided, in the order in which that happened
}

// call is the last request of a caller and the answer to it.
type call struct {
	number int64
	at     int64
	worker bool // the caller is a worker: its calls go with it
	reply  conveyor.ExchangeReply
}

// retained is a job that came to its end, or lost its record, at this time.
type retained struct {
	uuid string
	at   int64
}

// New is an empty namespace at this time, in milliseconds.
func New(now int64) *Engine {
	return &Engine{now: now, jobs: map[string]*job{}, queues: map[string]queue{}, workers: map[string]worker{}, calls: map[string]*call{},
		hashes: map[string]map[string][]byte{}, turns: map[turn]int64{}, over: map[string][]retained{}, unique: map[string]string{}, cycles: map[string][]*cycle{}}
}

// Pass moves the clock.
func (e *Engine) Pass(ms int64) { e.now += ms }

// Now is the time in milliseconds.
func (e *Engine) Now() int64 { return e.now }

// atomically undoes what a refused request did: it changes nothing.
func (e *Engine) atomically(do func() error) error {
	before := e.clone()
	e.began = before.turns
	err := do()
	if err != nil {
		*e = *before
	}
	return err
}

func (e *Engine) clone() *Engine {
	c := *e
	c.jobs = make(map[string]*job, len(e.jobs))
	for uuid, j := range e.jobs {
		twin := *j
		twin.edges = slices.Clone(j.edges)
		twin.earlier = slices.Clone(j.earlier)
		twin.template = j.template.clone()
		c.jobs[uuid] = &twin
	}
	c.queues, c.workers, c.turns = maps.Clone(e.queues), maps.Clone(e.workers), maps.Clone(e.turns)
	c.calls, c.unique = maps.Clone(e.calls), maps.Clone(e.unique)
	c.cycles = make(map[string][]*cycle, len(e.cycles))
	for root, list := range e.cycles {
		for _, one := range list {
			twin := *one
			c.cycles[root] = append(c.cycles[root], &twin)
		}
	}
	c.over = make(map[string][]retained, len(e.over))
	for queue, list := range e.over {
		c.over[queue] = slices.Clone(list)
	}
	c.hashes = make(map[string]map[string][]byte, len(e.hashes))
	for key, fields := range e.hashes {
		c.hashes[key] = maps.Clone(fields)
	}
	return &c
}

// sorted are the jobs that pass, by the given order and then by uuid.
func (e *Engine) sorted(pass func(j *job) bool, order func(a, b *job) int) []*job {
	var out []*job
	for _, uuid := range slices.Sorted(maps.Keys(e.jobs)) {
		if j := e.jobs[uuid]; pass(j) {
			out = append(out, j)
		}
	}
	slices.SortStableFunc(out, order)
	return out
}
