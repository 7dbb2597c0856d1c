package conveyor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Handler runs one attempt of a job. The job is the handler's own, with its payload opened; FromContext(ctx) is the attempt,
// to write a log, tell progress or add jobs. ctx ends when the attempt has to stop: context.Cause(ctx) is ErrTimeout,
// ErrCancelled, ErrShutdown or ErrOutdated. A nil error completes the job's own work. Any other error, and a panic, is a
// failed attempt; see Permanent and RetryAfter.
//
// A job may run more than once, at any time after a crash: a handler must bear it.
type Handler func(ctx context.Context, job *wire.Job) error

// registration is a handler and what it demands of jobs.
type registration struct {
	call   Handler
	signed bool
}

// HandleOption changes how a worker treats jobs of a type.
type HandleOption func(*registration)

// Signed demands a signature: only who has the key can have such a job run. A job signed under a key that the worker does
// not hold is given back as one without handler; an unsigned one (unless the worker's AllowUnsigned) and a wrong
// signature put the job on hold with the reason.
func Signed() HandleOption { return func(r *registration) { r.signed = true } }

// HandleRaw registers the handler of a job type. All handlers are registered before Run, which refuses to start and names
// every mistake made here: an empty type, a nil handler, a second handler of a type.
func (w *Worker) HandleRaw(jobType string, h Handler, options ...HandleOption) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := registration{call: h}
	for _, o := range options {
		o(&r)
	}
	_, twice := w.handlers[jobType]
	switch {
	case w.phase != phaseNew:
		w.o.Logger.Error("handler ignored: it was registered after Run", "type", jobType)
	case jobType == "":
		w.problems = append(w.problems, errors.New("a handler was registered for an empty job type"))
	case h == nil:
		w.problems = append(w.problems, fmt.Errorf("the handler of job type %q is nil", jobType))
	case twice:
		w.problems = append(w.problems, fmt.Errorf("job type %q has two handlers", jobType))
	default:
		w.handlers[jobType] = r
	}
}

// Handle registers a handler of the jobs whose type is the full name of the protobuf message M, a generated type. A payload
// is the message's binary form or its JSON form. One that is neither fails the job for good.
func Handle[M proto.Message](w *Worker, fn func(ctx context.Context, message M) error, options ...HandleOption) {
	var none M
	if any(none) == nil || fn == nil {
		w.refuse(fmt.Errorf("Handle needs a function over a generated message type, not %T", fn))
		return
	}
	message := none.ProtoReflect()
	w.HandleRaw(string(message.Descriptor().FullName()), func(ctx context.Context, job *wire.Job) error {
		m := message.New().Interface().(M)
		if err := readMessage(job.GetPayload(), m); err != nil {
			return Permanent(fmt.Errorf("the payload is not a %s: %w", message.Descriptor().FullName(), err))
		}
		return fn(ctx, m)
	}, options...)
}

// HandleJSON registers a handler of a job type whose payload is JSON for T, by the rules of encoding/json; an empty payload
// is the zero T. A payload that does not fit fails the job for good.
func HandleJSON[T any](w *Worker, jobType string, fn func(ctx context.Context, payload T) error, options ...HandleOption) {
	if fn == nil {
		w.HandleRaw(jobType, nil, options...)
		return
	}
	w.HandleRaw(jobType, func(ctx context.Context, job *wire.Job) error {
		var payload T
		if len(job.GetPayload()) > 0 {
			if err := json.Unmarshal(job.GetPayload(), &payload); err != nil {
				return Permanent(fmt.Errorf("the payload is not JSON for %T: %w", payload, err))
			}
		}
		return fn(ctx, payload)
	}, options...)
}

// readMessage reads a message in either of its forms. A first byte tells them apart almost always: a brace begins a binary form only of a
// proto2 group with the number 15, and the space that JSON may begin with also begins fields, such as a text of 123 bytes. So the form that is
// less likely is tried where the other one does not fit. A quote or a bracket begins the JSON of some messages of protobuf itself
// alone, such as StringValue and ListValue, whose binary forms never begin so.
func readMessage(payload []byte, m proto.Message) error {
	asJSON := func() error { return protojson.Unmarshal(payload, m) }
	asBytes := func() error { return proto.Unmarshal(payload, m) }
	switch {
	case bytes.HasPrefix(payload, []byte("{")):
		return either(asJSON, asBytes)
	case (bytes.HasPrefix(payload, []byte(`"`)) || bytes.HasPrefix(payload, []byte("["))) && asJSON() == nil:
		return nil
	case bytes.HasPrefix(bytes.TrimLeft(payload, " \t\r\n"), []byte("{")):
		return either(asBytes, asJSON)
	}
	return asBytes()
}

// either gives the error of the first when both fail.
func either(first, second func() error) error {
	err := first()
	if err == nil || second() == nil {
		return nil
	}
	return err
}

// refuse notes a mistake for Run to report.
func (w *Worker) refuse(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, err)
}
