package applier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/planner"
)

// jobBuilder makes the wire job of a submission. It is the one place where a declared job becomes a queued one.
type jobBuilder struct {
	namespace string
	keyring   *conveyor.Keyring
	uuids     func(config.Addr) (string, bool) // of the submission that stands after this apply
}

// build makes the job that next records; recurs says that it is a template. Its payload is filled, sealed and signed in this
// order.
func (b *jobBuilder) build(j *config.Job, next *planner.Record, recurs bool) (*wire.Job, error) {
	payload, err := fillPlaceholders(j.Payload, b.uuids)
	if err != nil {
		return nil, fmt.Errorf("submit %s: %w", j.Addr, err)
	}
	payload, results, err := b.readings(payload, j)
	if err != nil {
		return nil, fmt.Errorf("submit %s: %w", j.Addr, err)
	}
	job := &wire.Job{
		Uuid:        next.UUID.String(),
		Type:        j.Type,
		Queue:       j.Queue,
		Payload:     payload,
		Results:     results,
		Secrets:     j.Secrets,
		RetryPolicy: retryPolicy(j.Retry),
		Timeout:     duration(j.Timeout),
		ReserveFor:  duration(j.Reserve),
		After:       duration(j.RunAt.After),
		Name:        j.Addr.String(),
		Unique:      j.Unique,
		Labels:      j.Labels,
		RemoveAfter: duration(j.RemoveAfter),
		Retention:   duration(j.Retention),
	}
	if !j.RunAt.Time.IsZero() {
		job.RunAt = timestamppb.New(j.RunAt.Time)
	}
	if j.Priority != defaultPriority {
		job.Priority = proto.Int32(int32(j.Priority))
	}
	setEdges(job, next.Edges)
	setCycles(job, j, recurs)
	if j.Sensitive {
		if err := b.keyring.SealJob(job, j.Masks...); err != nil {
			return nil, fmt.Errorf("submit %s: %w", j.Addr, err)
		}
	}
	if planner.Signed(j) {
		if err := b.keyring.Sign(b.namespace, job); err != nil {
			return nil, fmt.Errorf("submit %s: %w", j.Addr, err)
		}
	}
	return job, nil
}

const defaultPriority = 1

// writable tells before the first write what would stop an apply in the middle: jobs that cannot be built, all of them at
// once.
func (s *submission) writable() error {
	var problems []error
	keyless := false
	for _, r := range s.plan.Rows {
		switch r.Action {
		case planner.Create, planner.Replace, planner.Update:
		default:
			continue
		}
		if size := len(r.Job.Payload) + masksRoom(r.Job) + sealRoom + readingRoom(r.Job); size > conveyor.MaxPayload {
			problems = append(problems, fmt.Errorf("%s: a payload of %d bytes: %w: the limit is %d; put what is large into a file or a store of its own",
				r.Addr, len(r.Job.Payload), conveyor.ErrTooLarge, conveyor.MaxPayload-sealRoom-masksRoom(r.Job)))
		}
		if n := len(r.Edges); n >= conveyor.MaxEdges {
			problems = append(problems, fmt.Errorf("%s: %d edges: %w: the limit is %d; join some of them in a noop job",
				r.Addr, n, conveyor.ErrTooLarge, conveyor.MaxEdges-1))
		}
		if r.KeyID != "" && r.KeyID != s.run.Keyring.ID() && s.run.Keyring != nil && !r.Leave {
			problems = append(problems, fmt.Errorf("%s: the plan was made with key %s, and the key that seals here is %s: make the plan anew",
				r.Addr, r.KeyID, s.run.Keyring.ID()))
		}
		if s.run.Keyring == nil && !keyless && (r.Job.Sensitive || planner.Signed(r.Job)) {
			keyless = true // the others would say the same
			problems = append(problems, fmt.Errorf("%s: %w", r.Addr, conveyor.ErrNoKey))
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("nothing was submitted: %w", errors.Join(problems...))
	}
	return nil
}

// masksRoom is what the texts that are sealed beside a payload, to be masked, may add to it.
func masksRoom(j *config.Job) int {
	n := 0
	for _, text := range j.Masks {
		n += len(text) + binary.MaxVarintLen64
	}
	return n
}

// sealRoom is what sealing and filled placeholders may add to a payload.
const sealRoom = 4 << 10

// signed tells whether jobs of a type carry a signature.
func signed(jobType string) bool { return planner.SignedType(jobType) }

// setEdges writes the edges. One edge of each kind with default policies is said by fields 6 and 7 alone.
func setEdges(job *wire.Job, edges []planner.Edge) {
	plain, parents, predecessors := true, 0, 0
	for _, e := range edges {
		switch e.Kind {
		case planner.EdgeParent, planner.EdgeParentLenient:
			parents++
			if job.ParentUuid == "" {
				job.ParentUuid = e.UUID
			}
			plain = plain && e.Kind == planner.EdgeParent
		default:
			predecessors++
			if job.PredecessorUuid == "" {
				job.PredecessorUuid = e.UUID
			}
			plain = plain && e.Kind == planner.EdgeSuccess && e.Group == 0
		}
		plain = plain && e.Opening <= 1
	}
	if plain && parents <= 1 && predecessors <= 1 {
		return
	}
	job.Edges = make([]*wire.Edge, len(edges))
	for i, e := range edges {
		job.Edges[i] = wireEdge(e)
	}
}

func wireEdge(e planner.Edge) *wire.Edge {
	w := &wire.Edge{Uuid: e.UUID, Opening: e.Opening, Group: int32(e.Group)}
	switch e.Kind {
	case planner.EdgeParent, planner.EdgeParentLenient:
		w.Kind, w.IgnoreFailure = wire.Edge_PARENT, e.Kind == planner.EdgeParentLenient
		return w
	case planner.EdgeFailure:
		w.RunIf = wire.Edge_FAILURE
	case planner.EdgeAlways, planner.EdgeSuccessor:
		w.RunIf = wire.Edge_ALWAYS
	}
	w.Kind = wire.Edge_PREDECESSOR
	return w
}

// The defaults of a retry block: what wire.RetryPolicy means by an absent field, and what a policy of only these omits.
var defaultRetry = config.Retry{MaxAttempts: 3, MaxLost: 5, Min: time.Second, Max: time.Hour, Jitter: 0.2}

func retryPolicy(r config.Retry) *wire.RetryPolicy {
	if r == defaultRetry {
		return nil
	}
	return &wire.RetryPolicy{
		MaxAttempts:     proto.Int32(int32(r.MaxAttempts)),
		MaxLost:         proto.Int32(int32(r.MaxLost)),
		Backoff:         wireBackoff(r.Backoff),
		Min:             durationpb.New(r.Min),
		Max:             durationpb.New(r.Max),
		Jitter:          proto.Float64(r.Jitter),
		HoldOnExhausted: r.Hold,
	}
}

func wireBackoff(b config.Backoff) wire.RetryPolicy_Backoff {
	switch b {
	case config.BackoffLinear:
		return wire.RetryPolicy_LINEAR
	case config.BackoffConstant:
		return wire.RetryPolicy_CONSTANT
	default:
		return wire.RetryPolicy_EXPONENTIAL
	}
}

func duration(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}
