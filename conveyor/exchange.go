package conveyor

import (
	"time"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// ExchangeRequest acknowledges a batch of attempts and reserves the next in one script. It carries (Caller, Number),
// one in flight per caller: the same number again gives the same reply, a lower one is refused with ErrOutdated.
type ExchangeRequest struct {
	Caller string
	Number int64
	Worker string        // lease holder: its beat is the lease of all it reserves; "" reserves for ReserveFor
	Lease  time.Duration // without Worker
	Holder string        // without Worker: whom the lease is for, see Status.Holder; may be empty
	Queues []string      // in the order to take from
	Want   int           // at most MaxBatch; 0 only acknowledges
	Done   []Ack         // at most MaxBatch
}

// Verdict is how an attempt ended.
type Verdict uint8

// The verdicts.
const (
	VerdictDone      Verdict = iota // own work succeeded
	VerdictRetry                    // error, attempts left: scheduled after Delay
	VerdictFailed                   // error, none left
	VerdictHold                     // error, none left, on_exhausted = hold; or a wrong signature
	VerdictBack                     // handed back: queued at its old place, nothing spent
	VerdictNoHandler                // no handler or key here: scheduled after Delay, place kept, nothing spent
	VerdictDefer                    // back after Delay, no failure
	VerdictExtend                   // none: the attempt goes on, and its lease without a worker ends after Delay from now
)

// Ack ends one attempt. A stale fence changes nothing and is answered with ErrOutdated.
type Ack struct {
	UUID    string
	Fence   int64
	Verdict Verdict
	Delay   time.Duration
	Failure string // bounded to 4 KiB
	Result  []byte // bounded to 1 MiB
	// Sync is what the next execution gets, in place of all that this one got; nil: the same. It counts when the job is done, or
	// deferred and comes back. Of an occurrence that is done it reaches the template.
	Sync map[string]string
}

// ExchangeReply answers an ExchangeRequest.
type ExchangeReply struct {
	Reserved []Reservation
	Outdated []int         // indexes into Done whose fence was stale
	More     bool          // something is left to do or to reserve: call again at once
	Damaged  []string      // keys of a wrong type that were met and left alone
	Next     time.Duration // until the next due job; 0: none known
	Broken   []Ack         // reserved jobs whose bytes cannot be decoded: to be acknowledged so, as failed
	Now      time.Time     // the store's clock
	Expired  int           // jobs that were met and had waited too long: they ended instead
	Obsolete int           // jobs that ended since a root of them is alive
}

// Reservation is one started attempt.
type Reservation struct {
	Job      *wire.Job
	Fence    int64
	Attempts int
	Lost     int
	Opening  int64 // of the job; edges that the attempt makes name it
	// MaxCycles is how many executions a job with max_cycles has before it is on hold, and Cycles how many it had before this one.
	MaxCycles, Cycles int
	Sync              map[string]string // that the execution before left, at first the declared one; nil: none
}
