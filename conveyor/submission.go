package conveyor

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Bounds of one job.
const (
	MaxPayload = 1 << 20 // bytes
	MaxEdges   = 20_000
	MaxUnique  = 512      // bytes of a unique key together with the type it belongs to
	apart      = 16 << 10 // bytes of a job from which on they are kept beside its tickets
)

// submission is a job checked and put into the form that apply.lua takes.
type submission struct {
	uuid           string
	entry          string // status entry before the engine fills in state and place
	edges          string
	labels         string // packed
	roots          string // labels that make it obsolete, packed
	triggers, gate string // labels that its success flips, and that it waits for, packed
	sync           string // what the first execution gets, packed; of a template its first occurrence
	// settings are those of a template, as lua/lib/template.lua reads them; "" for other jobs.
	settings string
	all      bool // it goes to all workers
	bytes    []byte
	count    int // edges, and labels with their sets: what bounds a script beside the number of jobs
}

// newSubmission checks a job, gives it a uuid when it has none, and marshals it. It changes nothing else in job.
func newSubmission(job *wire.Job, o addOptions) (submission, error) {
	if job == nil {
		return submission{}, ErrNilJob
	}
	if err := validate(job); err != nil {
		return submission{}, fmt.Errorf("job %s: %w", label(job), err)
	}
	if job.Uuid == "" {
		job.Uuid = uuid.NewString()
	}
	edges, err := edgesOf(job, o)
	if err != nil {
		return submission{}, fmt.Errorf("job %s: %w", label(job), err)
	}
	if len(job.Edges) > 0 {
		job = withFirstEdges(job)
	}
	bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(job)
	if err != nil {
		return submission{}, fmt.Errorf("job %s: %w: %w", label(job), ErrMarshal, err)
	}
	settings, err := settingsOf(job)
	if err != nil {
		return submission{}, fmt.Errorf("job %s: %w", label(job), err)
	}
	return submission{
		uuid: job.Uuid, entry: entryOf(job), edges: strings.Join(edges, ","), labels: packLabels(job.Labels), roots: packLabels(job.ObsoleteIf),
		sync: packLabels(job.Sync), bytes: bytes, count: len(edges) + 2*len(job.Labels) + len(job.ObsoleteIf) + len(job.TriggersGate) + 2*len(job.Gate), settings: settings,
		all: isBroadcast(job), triggers: packNames(job.TriggersGate), gate: packNames(job.Gate),
	}, nil
}

func label(job *wire.Job) string {
	if job.Name != "" && job.Uuid != "" {
		return job.Name + " (" + job.Uuid + ")"
	}
	return job.Uuid + job.Name
}

// validate joins all that is wrong with a job.
func validate(job *wire.Job) error {
	var problems []error
	if !validName(job.Queue) {
		problems = append(problems, fmt.Errorf("%w: %q", ErrQueueName, job.Queue))
	}
	if job.Type == "" {
		problems = append(problems, ErrTypeName)
	}
	if job.Uuid != "" && !validName(job.Uuid) {
		problems = append(problems, fmt.Errorf("%w: %q", ErrUUID, job.Uuid))
	}
	if p := job.Priority; p != nil && (*p < 0 || *p > 2) {
		problems = append(problems, fmt.Errorf("%w: %d", ErrPriority, *p))
	}
	if n := len(job.Payload); n > MaxPayload {
		problems = append(problems, fmt.Errorf("payload of %d bytes, the limit is %d: %w", n, MaxPayload, ErrTooLarge))
	}
	if job.RunAt != nil && job.RunAt.CheckValid() != nil {
		problems = append(problems, fmt.Errorf("run_at: %w: %w", ErrTime, job.RunAt.CheckValid()))
	}
	for _, d := range []struct {
		name string
		*durationpb.Duration
	}{{"after", job.After}, {"remove_after", job.RemoveAfter}, {"retention", job.Retention}} {
		if d.Duration != nil && (d.CheckValid() != nil || d.AsDuration() < 0) {
			problems = append(problems, fmt.Errorf("%s: %w: %s", d.name, ErrTime, d.Duration))
		}
	}
	if n := len(job.Type) + len(job.Unique); job.Unique != "" && n > MaxUnique {
		problems = append(problems, fmt.Errorf("type and unique key of %d bytes, the limit is %d: %w", n, MaxUnique, ErrTooLarge))
	}
	if job.ReserveFor != nil && (job.ReserveFor.CheckValid() != nil || job.ReserveFor.AsDuration() < 0) {
		problems = append(problems, fmt.Errorf("reserve_for: %w: %s", ErrTime, job.ReserveFor))
	}
	if job.MaxCycles < 0 {
		problems = append(problems, fmt.Errorf("%w: %d", ErrCycles, job.MaxCycles))
	}
	if len(job.Labels) > 0 {
		problems = append(problems, checkLabels(job.Labels))
	}
	problems = append(problems, checkDefinition(job), checkResults(job), checkSecrets(job))
	if n := len(job.Edges); n > MaxEdges {
		problems = append(problems, fmt.Errorf("%d edges, the limit is %d: %w", n, MaxEdges, ErrTooLarge))
	}
	return errors.Join(problems...)
}

// checkResults checks the jobs whose results a job reads.
func checkResults(job *wire.Job) error {
	if n := len(job.Results); n > MaxEdges {
		return fmt.Errorf("results of %d jobs, the limit is %d: %w", n, MaxEdges, ErrTooLarge)
	}
	for _, uuid := range job.Results {
		if !validName(uuid) {
			return fmt.Errorf("results: %w: %q", ErrUUID, uuid)
		}
		if uuid == job.Uuid && uuid != "" {
			return fmt.Errorf("results: %w: the job reads its own", ErrUUID)
		}
	}
	return nil
}

// entryOf is the status entry that a job starts from.
func entryOf(job *wire.Job) string {
	b := make([]byte, 0, 64)
	lane := byte('1')
	if job.Priority != nil && job.Delivery.GetTo() != wire.Delivery_WORKER {
		lane = '0' + byte(*job.Priority)
	}
	b = append(b, 'h', lane)
	if job.RetryPolicy.GetHoldOnExhausted() {
		b = append(b, 'o')
	}
	b = append(b, '|')
	b = append(b, placeOf(job)...)
	b = append(b, '|')
	if job.RunAt != nil {
		b = append(b, "|d"...)
		b = strconv.AppendInt(b, ceilMilli(job.RunAt.AsTime()), 10)
	}
	if d := job.After.AsDuration(); d > 0 {
		b = append(b, "|e"...)
		b = strconv.AppendInt(b, int64((d+time.Millisecond-1)/time.Millisecond), 10)
	}
	if p := job.RetryPolicy; p != nil && p.MaxLost != nil {
		b = append(b, "|m"...)
		b = strconv.AppendInt(b, int64(max(*p.MaxLost, 0)), 10)
	}
	if d := job.RemoveAfter.AsDuration(); d > 0 {
		b = append(b, "|r"...)
		b = strconv.AppendInt(b, int64((d+time.Millisecond-1)/time.Millisecond), 10)
	}
	if d := waitingLimit(job); d > 0 {
		b = append(b, "|v"...) // the script makes a time of it
		b = strconv.AppendInt(b, int64((d+time.Millisecond-1)/time.Millisecond), 10)
	}
	if d := job.ReserveFor.AsDuration(); d > 0 {
		b = append(b, "|c"...)
		b = strconv.AppendInt(b, int64((d+time.Millisecond-1)/time.Millisecond), 10)
	}
	if job.MaxCycles > 0 && !isTemplate(job) { // those of a template are its cycles
		b = append(b, "|N"...)
		b = strconv.AppendInt(b, int64(job.MaxCycles), 10)
		b = append(b, ":0"...)
	}
	if job.Unique != "" {
		b = append(b, "|y"...)
		b = append(b, uniqueTag(job)...)
	}
	return string(b)
}

// ceilMilli rounds up, so that nothing is ever due before its time.
func ceilMilli(t time.Time) int64 {
	ms := t.UnixMilli()
	if t.Nanosecond()%int(time.Millisecond) != 0 {
		ms++
	}
	return max(ms, 0)
}

// withFirstEdges is job with fields 6 and 7 naming the first edge of each kind.
func withFirstEdges(job *wire.Job) *wire.Job {
	parent, predecessor := "", ""
	for _, e := range job.Edges {
		if e.GetKind() == wire.Edge_PARENT && parent == "" {
			parent = e.GetUuid()
		}
		if e.GetKind() == wire.Edge_PREDECESSOR && predecessor == "" {
			predecessor = e.GetUuid()
		}
	}
	if job.ParentUuid == parent && job.PredecessorUuid == predecessor {
		return job
	}
	job = proto.CloneOf(job)
	job.ParentUuid, job.PredecessorUuid = parent, predecessor
	return job
}

// edgesOf are a job's edges as scripts read them, see lua/lib/edge.lua. Those of fields 6 and 7 count when no edge is
// declared, and must agree with the declared ones otherwise.
func edgesOf(job *wire.Job, o addOptions) ([]string, error) {
	declared := job.Edges
	if len(declared) == 0 {
		if job.ParentUuid != "" {
			declared = append(declared, &wire.Edge{Kind: wire.Edge_PARENT, Uuid: job.ParentUuid})
		}
		if job.PredecessorUuid != "" {
			declared = append(declared, &wire.Edge{Kind: wire.Edge_PREDECESSOR, Uuid: job.PredecessorUuid})
		}
	}
	if len(declared) == 0 {
		return nil, nil
	}
	check := edgeCheck{job: job.Uuid, seen: make(map[string]*wire.Edge, len(declared)), groups: map[int32]wire.Edge_RunIf{}}
	texts := make([]string, 0, len(declared))
	for _, e := range declared {
		if err := check.edge(e); err != nil {
			return nil, err
		}
		if o.parentDead && e.Kind == wire.Edge_PREDECESSOR {
			continue // neither held list is used
		}
		mark := byte('?')
		if o.strict && !o.within[e.Uuid] && !o.parentDead {
			mark = '!'
		}
		texts = append(texts, edgeText(mark, e, o.parentDead))
	}
	return texts, nil
}

func edgeText(mark byte, e *wire.Edge, parentDead bool) string {
	b := make([]byte, 0, 56)
	b = append(b, mark)
	switch {
	case e.Kind == wire.Edge_PREDECESSOR:
		b = append(b, "sfa"[e.RunIf])
	case parentDead && e.IgnoreFailure:
		b = append(b, 'l')
	case parentDead:
		b = append(b, 'd')
	case e.IgnoreFailure:
		b = append(b, 'i')
	default:
		b = append(b, 'p')
	}
	b = append(b, ':')
	b = append(b, e.Uuid...)
	if e.Opening > 1 || e.Group > 0 || e.MadeBy > 0 {
		b = append(b, ':')
		if e.Opening > 1 {
			b = strconv.AppendInt(b, e.Opening, 10)
		}
		b = append(b, ':')
		if e.Group > 0 {
			b = strconv.AppendInt(b, int64(e.Group), 10)
		}
		if e.MadeBy > 0 {
			b = append(b, ':')
			b = strconv.AppendInt(b, e.MadeBy, 10)
		}
	}
	return string(b)
}

// edgeCheck refuses sets of edges that could never be decided, or not in one way.
type edgeCheck struct {
	job    string
	seen   map[string]*wire.Edge
	groups map[int32]wire.Edge_RunIf
}

func (c *edgeCheck) edge(e *wire.Edge) error {
	switch {
	case e == nil:
		return fmt.Errorf("%w: it is nil", ErrEdge)
	case !validName(e.Uuid):
		return fmt.Errorf("%w: upstream %q: %w", ErrEdge, e.Uuid, ErrUUID)
	case e.Uuid == c.job:
		return fmt.Errorf("%w: the job waits for itself", ErrEdge)
	case e.Kind != wire.Edge_PARENT && e.Kind != wire.Edge_PREDECESSOR:
		return fmt.Errorf("%w: kind %d", ErrEdge, e.Kind)
	case e.RunIf < wire.Edge_SUCCESS || e.RunIf > wire.Edge_ALWAYS:
		return fmt.Errorf("%w: run_if %d", ErrEdge, e.RunIf)
	case e.Opening < 0 || e.Group < 0 || e.MadeBy < 0:
		return fmt.Errorf("%w: to %s: opening, group and made_by are not negative", ErrEdge, e.Uuid)
	}
	if other, twice := c.seen[e.Uuid]; twice {
		switch {
		case other.Kind != e.Kind:
			return fmt.Errorf("%w: %s is parent and predecessor, so the job would wait for itself", ErrEdge, e.Uuid)
		case e.Kind == wire.Edge_PARENT || other.Group == e.Group:
			return fmt.Errorf("%w: %s is named twice", ErrEdge, e.Uuid)
		case max(other.Opening, 1) != max(e.Opening, 1):
			return fmt.Errorf("%w: %s is named with two openings", ErrEdge, e.Uuid)
		}
	}
	c.seen[e.Uuid] = e
	if e.Kind == wire.Edge_PREDECESSOR {
		if runIf, ok := c.groups[e.Group]; ok && runIf != e.RunIf {
			return fmt.Errorf("%w: group %d has two values of run_if", ErrEdge, e.Group)
		}
		c.groups[e.Group] = e.RunIf
	}
	return nil
}
