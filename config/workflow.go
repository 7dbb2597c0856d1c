package config

import (
	"encoding/json"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/waybill-dev/waybill/config/protofile"
)

// Workflow is one evaluated directory of files: everything plan needs to know, with nothing left to evaluate.
// It is immutable once loaded.
type Workflow struct {
	Name      string // of its state: the workflow block's label, or else the directory's name, and @ with the workspace unless that is default
	Named     bool   // the name was written; required when the store is Redis
	Workspace string // default "default"
	// DefaultQueue is that of jobs which name none: the name, with a dot before the workspace.
	DefaultQueue string

	Dir       string // the directory the files are in, as given
	Namespace string // default "waybill"
	Redis     string // URL of the redis block, "" without one
	// MovedFrom is the name whose state the next apply carries over, if this workflow has none yet; "" without one.
	MovedFrom string

	Jobs    []*Job // by address, each once
	Queues  []*Queue
	Outputs []*Output
	Moved   []Moved
	Removed []Removed
	Imports []Import
	// Protected are the job blocks with prevent_destroy, by address. Quick loads find them too, if Options.Protected asks for it.
	Protected []Protected

	// Messages are those of the proto block; nil without one. Quick loads find them if Options.Messages asks for it.
	Messages *protofile.Set

	// Missing are the variables that lack a value, each of which is an error among the diagnostics.
	Missing []Missing

	// Sources holds the bytes of each file by name, for the snippets of diagnostics made later.
	Sources map[string]*hcl.File

	files func() []string

	library *library                   // what was read, for Archive
	sources []string                   // names of the workflow's own files
	values  map[string]json.RawMessage // of variables that are not sensitive
}

// Files are the paths of all files that the workflow was made of, sorted: its own and those of its modules, of variables, of inputs
// and of functions that read files, there or not; and of the directories that expressions list. Others may follow from a change of one.
func (w *Workflow) Files() []string {
	if w.files == nil {
		return nil
	}
	return w.files()
}

// Queue is the settings of one queue, written by the workflow that declares it.
type Queue struct {
	Name        string
	Concurrency int // leased slots over all workers; 0 is no limit
	Weight      int // turns among the queues of one worker; default 1
	Paused      bool
	Fair        bool          // each worker gets its part of the queue's jobs, whatever its number of slots
	KeepFor     time.Duration // retention: how long an ended job without a record is kept; 0 is the engine's default
	KeepCount   int           // retention_count: how many of them at most; 0 is the engine's default
	Range       hcl.Range
}

// Output is a named value shown after apply. Value may hold placeholders of job uuids (see Placeholder).
type Output struct {
	Name        string
	Description string
	Value       cty.Value
	Sensitive   bool
	Range       hcl.Range
}

// RunIf says which outcomes of a predecessor block let its heir start.
type RunIf uint8

// The values of run_if.
const (
	RunIfSuccess RunIf = iota
	RunIfFailure
	RunIfAlways
)

func (r RunIf) String() string { return [...]string{"success", "failure", "always"}[r] }

// OnChange says what becomes of a running job whose work changes (lifecycle.on_change).
type OnChange uint8

// The values of on_change.
const (
	OnChangeFinish OnChange = iota // the new generation waits for the running one
	OnChangeCancel                 // the running one is told to stop first
	OnChangeIgnore                 // the running one stands; the change waits for the next reason to run
)

// Job is one declared job instance.
type Job struct {
	Addr  Addr
	Range hcl.Range // the block's header

	Type     string // "exec", "http", "sleep", "noop" or a type that some worker knows
	Queue    string
	Priority int           // 0..2, default 1
	Timeout  time.Duration // 0 is none
	Reserve  time.Duration // reserve_for, 0 is the worker's beat

	// Payload is what the worker gets: for exec, http and sleep the canonical JSON of the block, for a typed job
	// the canonical JSON of payload, its protobuf bytes or the bytes of payload_base64. It may hold placeholders.
	Payload []byte
	// Shown is Payload as people may see it: sensitive parts replaced, and protobuf as JSON. Same as Payload when Sensitive is false
	// and Message is nil.
	Shown     []byte
	Message   *Message `json:",omitempty"` // Payload is the protobuf message that Type names; nil otherwise
	Sensitive bool     // Payload has sensitive parts: it is sealed before it leaves the process
	Masks     []string `json:"-"` // texts in Payload that its worker masks in what the job tells: sensitive ones, and the values they were made from

	Results []Result // of other jobs that Payload reads, each job once, in the order in which they are met
	Secrets []string // of the worker that Payload reads, sorted: env:DB_PASSWORD, file:/run/secrets/db

	Inputs   []Input // files whose content belongs to the work, by path
	Triggers []byte  // canonical JSON of triggers, nil without

	Parents      []Parent
	Predecessors []Predecessor
	RunAt        RunAt
	Schedule     *Schedule // run_at with every or cron: the job is a template; nil without
	Gate         *Gate     // likewise; nil without
	Delivery     *Delivery // nil: to any worker of the queue
	Retry        Retry
	OnChange     OnChange
	Lifecycle    *Lifecycle `json:",omitempty"` // nil without

	Unique      string            // of all live jobs of a type, one has this key; "" is none
	Labels      map[string]string // meta; nil without
	RemoveAfter time.Duration     // from the job's end; 0 leaves it to its queue's retention
	Retention   time.Duration     // the longest wait for its first start before the job expires; 0 is no limit, or the delivery's

	TriggersGate []string          // labels of gates that the job's success flips, sorted
	ObsoleteIf   *ObsoleteIf       // nil without
	Sync         map[string]string // state carried from one execution to the next: its first value; nil without
	MaxCycles    int               // executions, or cycles of a template, after which it is on hold; 0 is no limit
}

// Message says how a payload is written as protobuf.
type Message struct {
	// Fields are those that the payload gives and that are not inside of a sensitive value, with what decides on their bytes: their type and number,
	// such as "string = 1"; and the values of enums with their numbers. A field of the message itself has its name, one of another message that of the message in front of it.
	Fields map[string]string
}

// Input is a file hashed into the work digest. Path is relative to the workflow's directory, with forward slashes.
type Input struct {
	Path   string
	SHA256 [32]byte
}

// Result is another job whose result a payload reads.
type Result struct {
	Job   Addr
	Range hcl.Range // of the first reference to it
}

// Parent is one parent block. Exactly one of Job and UUID is set.
type Parent struct {
	Job           Addr
	UUID          string // a job outside the files
	IgnoreFailure bool   // on_child_failure = "ignore"
	Range         hcl.Range
}

// Predecessor is one predecessor block: its jobs are judged together once all have ended.
type Predecessor struct {
	Jobs  []Addr
	UUIDs []string // jobs outside the files
	RunIf RunIf
	Range hcl.Range
	// Implied: no block says so, but the job reads the results of these jobs, at Range.
	Implied bool
}

// RunAt is a run_at block with time or after. The zero value starts a job as soon as its edges are satisfied.
type RunAt struct {
	Time  time.Time     // not before, zero without
	After time.Duration // from the moment all edges are satisfied
	Set   bool
	Range hcl.Range
}

// Backoff is how the delay between attempts grows.
type Backoff uint8

// The values of retry.backoff.
const (
	BackoffExponential Backoff = iota
	BackoffLinear
	BackoffConstant
)

func (b Backoff) String() string { return [...]string{"exponential", "linear", "constant"}[b] }

// Retry is the retry block with its defaults filled in.
type Retry struct {
	MaxAttempts int           // default 3; 0 is no limit
	MaxLost     int           // default 5
	Backoff     Backoff       // default exponential
	Min         time.Duration // default 1s
	Max         time.Duration // default 1h
	Jitter      float64       // 0..1, default 0.2
	Hold        bool          // on_exhausted = "hold"
}
