package bridge

import "github.com/waybill-dev/waybill/conveyor/wire"

// Kind says what an Event is about.
type Kind string

// The kinds.
const (
	Handed    Kind = "handed"    // pushed to the fleet's queue
	Adopted   Kind = "adopted"   // reserved again, and the fleet has it already
	Completed Kind = "completed" // acknowledged as done
	Failed    Kind = "failed"    // an attempt ended in error; Detail is why
	Again     Kind = "again"     // it was nowhere in the fleet, and was pushed again
	Cancelled Kind = "cancelled" // its cancel was asked for
	Back      Kind = "back"      // taken out of the fleet's queue, and back at its place
	Refused   Kind = "refused"   // not handed over; Detail is why

	Taken    Kind = "taken"     // a client of theirs enqueued it, and it is a job of ours now
	SetAside Kind = "set_aside" // what a client of theirs enqueued cannot be a job; Detail is why. UUID is empty if it cannot be read
	Closed   Kind = "closed"    // a client's job has ended here and is closed on their side; Detail is its state
)

// Event is one thing that a bridge did.
type Event struct {
	Kind   Kind
	UUID   string
	Queue  string
	Name   string // of the job, for people; empty when the bridge did not read the job
	Detail string
}

// kinds are all there are.
var kinds = []Kind{Handed, Adopted, Completed, Failed, Again, Cancelled, Back, Refused, Taken, SetAside, Closed}

// tell counts an event and tells who observes.
func (b *Bridge) tell(e Event) {
	b.mu.Lock()
	b.counts[e.Kind]++
	b.mu.Unlock()
	b.o.Observe(e)
}

func eventOf(kind Kind, job *wire.Job, detail string) Event {
	return Event{Kind: kind, UUID: job.GetUuid(), Queue: job.GetQueue(), Name: job.GetName(), Detail: detail}
}
