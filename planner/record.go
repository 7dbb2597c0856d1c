package planner

import (
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/config"
)

// Record is what state holds for one address: the last submission, and what it was made of.
type Record struct {
	Version    int64 // rises with each write under the apply lock, never by a job's progress; first is 1
	UUID       uuid.UUID
	Generation int64 // first is 1 (or the workflow's floor + 1)
	Opening    int64 // of this generation; first is 1
	Work       Digest
	Handling   Digest
	KeyID      string // key of a keyed work digest (sensitive payloads), "" for a plain one
	SignKey    string // key that the job's signature is under, "" for an unsigned job and for records of earlier versions
	Deposed    bool   // no longer declared, told to stop, forgotten once it has ended
	Edges      []Edge // as submitted
	// Worked is how long the own work of the latest generation before this one took that did it, in milliseconds; 0 for none
	// known. Forecasts go by it as long as this one has not done its own.
	Worked   time.Duration
	Triggers []Trigger
	Hidden   []Digest // of the sensitive values that the definition does not show, in their order in it, under the key KeyID
	Queue    string   // for cancels and messages without decoding the definition
	Type     string

	// Definition is canonical JSON of what the fields above do not say of the job, as shown to people: sensitive parts
	// replaced, long payloads as their size and hash, defaults left out. It is kept undecoded: only a change that is
	// shown needs it. Document adds what the fields say.
	Definition []byte
}

// Edge is one edge of a submitted job: what it waits for, by name and by the exact submission.
type Edge struct {
	Kind    EdgeKind
	Group   int         // edges of one predecessor block share a number, which says nothing else
	Addr    config.Addr // zero for a job outside the files
	UUID    string      // the upstream submission
	Opening int64
}

// EdgeKind is the kind of an edge and, for a predecessor, the outcomes that satisfy it.
type EdgeKind uint8

// The kinds of edges.
const (
	EdgeParent        EdgeKind = iota // a failure of this job fails the parent
	EdgeParentLenient                 // on_child_failure = "ignore"
	EdgeSuccess
	EdgeFailure
	EdgeAlways
	// EdgeSuccessor is made by plan: this generation waits for the running one it replaces, whatever its outcome. It has
	// no Addr and a Group of its own.
	EdgeSuccessor
)

var edgeKindNames = [...]string{"parent", "parent, may fail", "success", "failure", "always", "successor"}

func (k EdgeKind) String() string {
	if int(k) < len(edgeKindNames) {
		return edgeKindNames[k]
	}
	return "edge kind " + strconv.Itoa(int(k))
}

// Parent tells whether the edge makes its job a child. Such an edge waits for the parent's own work, which a
// submission does once, so it names an opening only to say which one the child counts for.
func (k EdgeKind) Parent() bool { return k <= EdgeParentLenient }

// UUIDOf is the uuid of one submission: the same submission always has the same uuid, so adding it twice is a no-op.
func UUIDOf(lineage uuid.UUID, address string, generation int64) uuid.UUID {
	return uuid.NewSHA1(lineage, appendGeneration([]byte(address), generation))
}
