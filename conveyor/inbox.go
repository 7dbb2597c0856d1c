package conveyor

import (
	"strings"
	"time"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// DeliveryRetention is how long what goes to one worker, or to all, waits for it when the job does not say.
const DeliveryRetention = 7 * 24 * time.Hour

// inboxMark begins the names of the pseudo-queues that hold what goes to one worker. No queue of users is named so.
const inboxMark = "@"

// DeliveryUUID is the uuid of the job that a worker gets of one that goes to all.
func DeliveryUUID(broadcast, worker string) string { return uuidFrom(broadcast + "@" + worker) }

// placeOf is the queue that a job stands in: its own, or the inbox of the worker that it goes to.
func placeOf(job *wire.Job) string {
	if job.Delivery.GetTo() == wire.Delivery_WORKER {
		return inboxMark + job.Delivery.Worker
	}
	return job.Queue
}

// waitingLimit is how long a job may wait; 0: for ever.
func waitingLimit(job *wire.Job) time.Duration {
	if d := job.Retention.AsDuration(); d > 0 || job.Delivery.GetTo() == wire.Delivery_ANY {
		return d
	}
	return DeliveryRetention
}

// validPlace tells whether s can be a queue or an inbox.
func validPlace(s string) bool { return validName(strings.TrimPrefix(s, inboxMark)) }

// Inbox is the worker that the job goes to, whichever queue it names; "" for a job of a queue. Queue is "@" and this worker then.
func (s Status) Inbox() string {
	worker, ok := strings.CutPrefix(s.Queue, inboxMark)
	if !ok {
		return ""
	}
	return worker
}

// method is how a job is delivered.
func (s Status) method() string {
	switch {
	case s.Broadcast, s.Inbox() != "" && s.Priority == 2:
		return "all"
	case s.Inbox() != "":
		return "worker"
	}
	return "any"
}
