package watch

import (
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
)

// queue is one queue with the workers that serve it now.
type queue struct {
	conveyor.QueueInfo
	rates *rates
}

// ready is how many jobs wait in a queue for a worker.
func (q queue) ready() int64 { return q.Depth[0] + q.Depth[1] + q.Depth[2] }

// queuesSeen takes the queues as they stand, and goes on with their rates.
func (f *fleet) queuesSeen(e applier.QueuesSeen) {
	f.queues = f.queues[:0]
	there := make(map[string]bool, len(e.Queues))
	for _, seen := range e.Queues {
		r := f.rates[seen.Info.Name]
		if r == nil {
			r = &rates{}
			f.rates[seen.Info.Name] = r
		}
		r.count(e.At, seen.Started, seen.Ended)
		there[seen.Info.Name] = true
		f.queues = append(f.queues, queue{seen.Info, r})
	}
	for name := range f.rates {
		if !there[name] {
			delete(f.rates, name)
		}
	}
	slices.SortFunc(f.queues, func(x, y queue) int { return strings.Compare(x.Name, y.Name) })
}

// serving lists the live workers that take jobs of a queue.
func (f *fleet) serving(name string) []conveyor.WorkerInfo {
	var list []conveyor.WorkerInfo
	for _, w := range f.workers {
		if w.Alive && slices.Contains(w.Queues, name) {
			list = append(list, w)
		}
	}
	return list
}

// unserved tells whether jobs wait in a queue that no live worker serves.
func (f *fleet) unserved(q queue) bool { return q.ready() > 0 && len(f.serving(q.Name)) == 0 }

// attention is how many queues keep jobs waiting until somebody acts.
func (f *fleet) attention() int {
	n := 0
	for _, q := range f.queues {
		if q.ready() > 0 && (q.Paused() || f.unserved(q)) {
			n++
		}
	}
	return n
}
