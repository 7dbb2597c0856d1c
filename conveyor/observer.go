package conveyor

import "time"

// Observer is told what a Client and the Workers on it do, for metrics and traces. Its methods are called from many
// goroutines, on their way to something else: they must be safe for that, and return at once.
type Observer interface {
	// Called tells of a call to the store that was answered or given up: the operation, how long it took with all repetitions,
	// and the error that the caller gets.
	Called(operation string, took time.Duration, err error)
	// Attempted tells of an attempt that ended in a Worker of this process.
	Attempted(queue string, outcome Outcome, took time.Duration)
	// Happened tells that something was seen n times, n > 0. What any process may do for all is told by the one that did it.
	Happened(what Incident, n int)
}

// NamespaceObserver is an Observer that tells namespaces apart: a Client of a namespace tells what In returns for it.
type NamespaceObserver interface {
	Observer
	In(namespace string) Observer
}

// Outcome is how an attempt ended, for observers.
type Outcome string

// The outcomes.
const (
	OutcomeDone      Outcome = "done"
	OutcomeRetry     Outcome = "retry"     // error, attempts left
	OutcomeFailed    Outcome = "failed"    // error, none left
	OutcomeHold      Outcome = "hold"      // error, none left, on hold; or a wrong signature
	OutcomeBack      Outcome = "back"      // handed back unspent: shutdown, lost lease
	OutcomeNoHandler Outcome = "unhandled" // no handler or key here
	OutcomeDefer     Outcome = "deferred"
	OutcomeCancelled Outcome = "cancelled" // told to stop, and did
)

// Incident is something that is only counted.
type Incident string

// The incidents.
const (
	LeaseExtended Incident = "lease extended" // of a running job, by its worker's beat or its holder
	AckOutdated   Incident = "ack outdated"   // an attempt's end was refused: it had been superseded
	JobLost       Incident = "job lost"       // taken from a dead worker or an ended lease
	JobExpired    Incident = "job expired"    // it waited longer than its retention
	JobObsolete   Incident = "job obsolete"   // a live job has the labels that make it so
	WorkerDied    Incident = "worker lost"    // announced dead
	CallRepeated  Incident = "call repeated"  // its answer did not come
	WorkerFailed  Incident = "worker failed"  // that of a namespace of a WorkerGroup, which starts it again
)

// outcomeOf is how observers see the end of an attempt.
func outcomeOf(v Verdict, cancelled bool) Outcome {
	if cancelled && v == VerdictBack {
		return OutcomeCancelled
	}
	return [...]Outcome{OutcomeDone, OutcomeRetry, OutcomeFailed, OutcomeHold, OutcomeBack, OutcomeNoHandler, OutcomeDefer, OutcomeBack}[v]
}

// happened tells the observer, if there is one.
func (c *Client) happened(what Incident, n int) {
	if c.observer != nil && n > 0 {
		c.observer.Happened(what, n)
	}
}
