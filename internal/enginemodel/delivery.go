package enginemodel

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// isBroadcast tells whether a job goes to all workers: it is never run itself.
func isBroadcast(w *wire.Job) bool { return w.Delivery.GetTo() == wire.Delivery_ALL }

// inbox is the queue of what goes to one worker.
func inbox(worker string) string { return "@" + worker }

func inInbox(queue string) bool { return strings.HasPrefix(queue, "@") }

// placeOf is the queue that a job stands in.
func placeOf(w *wire.Job) string {
	if w.Delivery.GetTo() == wire.Delivery_WORKER {
		return inbox(w.Delivery.Worker)
	}
	return w.Queue
}

// waitingLimit is how long a job may wait for its first start; what goes to workers never waits for ever.
func waitingLimit(w *wire.Job) time.Duration {
	if d := w.Retention.AsDuration(); d > 0 || w.Delivery.GetTo() == wire.Delivery_ANY {
		return d
	}
	return conveyor.DeliveryRetention
}

// broadcast hands a job for all to every worker that is alive, longest silent first, and is done with it.
func (e *Engine) broadcast(j *job) {
	j.state, j.limit, j.expires = conveyor.StateClosing, 0, 0
	e.settle(j)
	alive := slices.DeleteFunc(slices.Collect(maps.Keys(e.workers)), func(id string) bool {
		return e.workers[id].last <= e.now-conveyor.DeadAfter.Milliseconds()
	})
	slices.SortFunc(alive, func(a, b string) int {
		return cmp.Or(cmp.Compare(e.workers[a].last, e.workers[b].last), cmp.Compare(a, b))
	})
	for _, id := range alive {
		d := &job{uuid: conveyor.DeliveryUUID(j.uuid, id), opening: 1, labels: j.wire.Labels}
		if e.jobs[d.uuid] != nil {
			continue
		}
		w := proto.CloneOf(j.wire)
		w.Uuid, w.Delivery = d.uuid, &wire.Delivery{To: wire.Delivery_WORKER, Worker: id, Of: j.uuid}
		d.take(w)
		d.lane = 2
		e.jobs[d.uuid], d.sync = d, firstSync(w)
		e.mayWaitFor(d, w)
		e.ready(d)
	}
}
