package conveyor

import "github.com/waybill-dev/waybill/conveyor/wire"

// MaxBatch is how many changes one Batch may hold: a script of this size holds the server for about a millisecond.
const MaxBatch = 200

// Batch is a list of changes that one script applies in order, as a whole or not at all.
type Batch struct {
	Guard   *Guard // nil: unguarded
	Changes []Change
	// Companions are hash fields written with the batch that belong to no single change (at most MaxBatch).
	Companions []Attach
}

// Guard makes a script refuse with ErrGuard unless the hash field holds exactly this value: the fence of a lock.
type Guard struct {
	Key, Field, Want string // Key without the namespace prefix
}

// Attach is an opaque companion write: a hash field set, or removed, if its version is as expected. The value
// starts with its version as a decimal number and a space. The engine never reads further. A batch writes a field once, or
// always the same with any version expected (ErrFieldTwice): otherwise repeating it would not find what it had written first.
type Attach struct {
	Key, Field string // Key without the namespace prefix
	Version    int64  // expected now; 0: the field must not exist; -1: any
	Value      []byte // nil removes the field
}

// ChangeKind is what a Change does.
type ChangeKind uint8

// The kinds of changes.
const (
	// ChangeAdd adds Job; an existing uuid is a no-op (its Attach is written all the same if its version fits).
	ChangeAdd ChangeKind = iota
	// ChangeUpdate replaces the bytes, edges, place and time of a job that waits (held, scheduled, queued).
	ChangeUpdate
	// ChangeCancel cancels a waiting job at once and tells the worker of a running one. Withdraw also takes it out of its parents' lists.
	ChangeCancel
	// ChangeRelease drops the Recorded flag, so that retention may remove the entry; with a lost or ended job that is all.
	ChangeRelease
	// ChangeReopen raises the opening to Opening, sets closing and releases what waits for that opening.
	ChangeReopen
	// ChangeAttach only writes Attach.
	ChangeAttach
	// ChangeForget drops the Recorded flag and leaves the job alone: a template goes on with its cycles, and what is over is kept as
	// long as a job that nobody declared.
	ChangeForget
)

// Change is one step of a Batch.
type Change struct {
	Kind ChangeKind
	// Job is what an Add or Update stores. Of a Reopen it is optional and says under which unique key and labels and
	// for how long after its end the job is kept from now on.
	Job  *wire.Job
	UUID string // of the others; for Add and Update it is Job's
	// Expect lists the states the job named by UUID (for an Add with Replaces: the replaced one) may be in; nil is any.
	// A batch with one job elsewhere is refused whole with *ConflictError.
	Expect []State
	// Replaces withdraws this earlier job in the same step: its successor enters its parents' lists first, it loses its
	// Recorded flag, and its end counts for nobody but the successor.
	Replaces string
	// CancelReplaced also cancels the replaced job.
	CancelReplaced bool
	Withdraw       bool
	Opening        int64
	Attach         *Attach
}

// ConflictError tells which jobs of a refused Batch were not in an expected state, or which companion writes met
// another version. Nothing was changed.
type ConflictError struct {
	Conflicts []Conflict
}

// Conflict is one reason to refuse a Batch.
type Conflict struct {
	Index   int   // into Batch.Changes; -1-i for Companions[i]
	State   State // found, when the state did not fit
	Version int64 // found, when the version did not fit; 0: no such field
	Stale   bool  // true: the version did not fit; false: the state did not
}
