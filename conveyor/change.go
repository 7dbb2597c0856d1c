package conveyor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Apply makes the changes of b in order, all or none, in one script. It fails with *ConflictError when a job or a companion
// write is not as expected and with ErrGuard when the guard does not hold. Repeating an Apply that was done is a no-op and
// succeeds: companion writes already there as wanted are recognised, and their changes are left out.
func (c *Client) Apply(ctx context.Context, b Batch) error {
	call, err := b.call()
	if err != nil {
		return fmt.Errorf("apply: %w", err)
	}
	if err := c.apply(ctx, call); err != nil {
		return fmt.Errorf("apply: %w", err)
	}
	return nil
}

// Update replaces the bytes, edges, place and time of a waiting job. One that has started takes the bytes, queue, priority
// and limits for its next attempt; one that is over is left alone.
func (c *Client) Update(ctx context.Context, job *wire.Job) error {
	if job == nil {
		return fmt.Errorf("update: %w", ErrNilJob)
	}
	return c.one(ctx, "update", job.Uuid, Change{Kind: ChangeUpdate, Job: job})
}

// Cancel ends a waiting job as cancelled and tells the worker of a running one, which ends when it stops or its lease does.
// A closing one ends as cancelled after its children. Cancelling an ended job is a no-op.
func (c *Client) Cancel(ctx context.Context, uuid string) error {
	return c.one(ctx, "cancel", uuid, Change{Kind: ChangeCancel, UUID: uuid})
}

// Retry runs a failed job again, under a new opening, with its attempts reset. Retrying a job that is not over is a
// no-op; one that ended otherwise, failed(child) included, is ErrState; one whose unique key another job holds by now is
// *UniqueError.
func (c *Client) Retry(ctx context.Context, uuid string) error {
	s, err := c.Statuses(ctx, []string{uuid})
	if err != nil {
		return fmt.Errorf("retry: %w", err)
	}
	if s[0].State == StateUnknown {
		return fmt.Errorf("retry %s: %w", uuid, ErrNotFound)
	}
	call := newApplyCall("retry", nil, nil, 5)
	if err := c.again(ctx, call, s[0]); err != nil {
		return fmt.Errorf("retry: %w", err)
	}
	if err := c.apply(ctx, call); err != nil {
		return fmt.Errorf("retry: %w", err)
	}
	return nil
}

// again appends the retry of a job. One that failed before it was ever started, since its unique key was held, gets the
// edges and the time that it was added with; those that an attempt made count as declared ones now.
func (c *Client) again(ctx context.Context, call *applyCall, s Status) error {
	call.args = append(call.args, "R", s.UUID, s.Opening)
	if s.State != StateFailed || s.Fence > 0 {
		return nil
	}
	job, _, err := c.Get(ctx, s.UUID)
	if err != nil || job == nil {
		return err
	}
	if err := c.mapOccurrence(ctx, job, s); err != nil {
		return err
	}
	for _, e := range job.Edges {
		e.MadeBy = 0
	}
	sub, err := newSubmission(job, addOptions{})
	if err != nil {
		return fmt.Errorf("%w: bytes of the job: %w", ErrCorrupt, err)
	}
	call.args[len(call.args)-3] = "Rs"
	call.args = append(call.args, sub.entry)
	if sub.edges != "" {
		call.args[len(call.args)-4] = "Rse"
		call.args = append(call.args, sub.edges)
	}
	return nil
}

// Release queues a job that is on hold, with its attempts reset.
func (c *Client) Release(ctx context.Context, uuid string) error {
	call := newApplyCall("release", nil, nil, 2)
	call.args = append(call.args, "H", uuid)
	return notFound("release", uuid, c.apply(ctx, call))
}

// Remove takes an ended job away at once with all that is kept of it: status, result, failure, log, labels. One that is live, or
// that a companion write belongs to, is ErrState. Removing what is not there is a no-op.
func (c *Client) Remove(ctx context.Context, uuid string) error {
	if !validName(uuid) {
		return fmt.Errorf("remove: %w: %q", ErrUUID, uuid)
	}
	call := newApplyCall("remove", nil, nil, 2)
	call.args = append(call.args, "D", uuid)
	if err := c.apply(ctx, call); err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	return nil
}

// one makes a single unguarded change.
func (c *Client) one(ctx context.Context, what, uuid string, change Change) error {
	b := Batch{Changes: []Change{change}}
	call, err := b.call()
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	call.args[0], call.frees = what, change.Kind == ChangeCancel
	return notFound(what, uuid, c.apply(ctx, call))
}

// notFound makes the conflict of a single change on an unknown job ErrNotFound.
func notFound(what, uuid string, err error) error {
	var conflict *ConflictError
	if errors.As(err, &conflict) && len(conflict.Conflicts) == 1 && conflict.Conflicts[0].State == StateUnknown {
		return fmt.Errorf("%s %s: %w", what, uuid, ErrNotFound)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", what, uuid, err)
	}
	return nil
}

// applyCall collects the arguments of apply.lua.
type applyCall struct {
	args  []any
	frees bool // it goes on in a store that is full
}

func newApplyCall(event string, g *Guard, companions []Attach, size int) *applyCall {
	call := &applyCall{args: make([]any, 0, 5+4*len(companions)+size)}
	if g == nil {
		call.args = append(call.args, event, "", "", "")
	} else {
		call.args = append(call.args, event, g.Key, g.Field, g.Want)
	}
	call.args = append(call.args, len(companions))
	for i := range companions {
		call.attach(&companions[i])
	}
	return call
}

func (call *applyCall) attach(a *Attach) {
	if a.Value == nil {
		call.args = append(call.args, a.Key, a.Field, "-"+strconv.FormatInt(a.Version, 10))
		return
	}
	call.args = append(call.args, a.Key, a.Field, "="+strconv.FormatInt(a.Version, 10), a.Value)
}

// add appends a plain addition.
func (call *applyCall) add(s *submission) {
	kind := "A"
	switch big := len(s.bytes) > apart; {
	case s.edges != "" && big:
		kind = "Aeb"
	case s.edges != "":
		kind = "Ae"
	case big:
		kind = "Ab"
	}
	if s.labels != "" {
		kind += "l"
	}
	call.args = append(call.args, kind+s.letters(), s.uuid, s.entry, s.bytes)
	if s.edges != "" {
		call.args = append(call.args, s.edges)
	}
	if s.labels != "" {
		call.args = append(call.args, s.labels)
	}
	call.args = s.append(call.args)
}

// letters are the options that announce what few jobs have, and append adds that.
func (s *submission) letters() string {
	var b []byte
	if s.roots != "" {
		b = append(b, 'v')
	}
	if s.triggers != "" {
		b = append(b, 'g')
	}
	if s.gate != "" {
		b = append(b, 'h')
	}
	if s.settings != "" {
		b = append(b, 'm')
	}
	if s.sync != "" {
		b = append(b, 'y')
	}
	if s.all {
		b = append(b, 'd')
	}
	return string(b)
}

func (s *submission) append(args []any) []any {
	for _, text := range [...]string{s.roots, s.triggers, s.gate, s.settings, s.sync} {
		if text != "" {
			args = append(args, text)
		}
	}
	return args
}

// apply calls apply.lua.
func (c *Client) apply(ctx context.Context, call *applyCall) error {
	s := applyScript
	if call.frees {
		s = s.freely()
	}
	reply, err := c.run(ctx, s, call.args...)
	if err != nil {
		return err
	}
	told := texts(reply)
	if len(told) == 0 {
		return errors.New("apply: unreadable reply")
	}
	c.happened(JobObsolete, int(integer(told[0])))
	c.warnDamaged(told[1:])
	return nil
}

// warnDamaged reports keys that a script met and left alone.
func (c *Client) warnDamaged(keys []string) {
	for _, key := range keys {
		c.logger.Warn("a key is damaged and was left alone; run doctor", "key", key)
	}
}

// call checks a Batch and puts it into arguments.
func (b *Batch) call() (*applyCall, error) {
	var problems []error
	if n := len(b.Changes); n > MaxBatch {
		problems = append(problems, fmt.Errorf("%d changes, the limit is %d: %w", n, MaxBatch, ErrTooLarge))
	}
	if n := len(b.Companions); n > MaxBatch {
		problems = append(problems, fmt.Errorf("%d companion writes, the limit is %d: %w", n, MaxBatch, ErrTooLarge))
	}
	if b.Guard != nil {
		problems = append(problems, validKey("guard", b.Guard.Key))
	}
	for i := range b.Companions {
		problems = append(problems, validKey("companion", b.Companions[i].Key))
	}
	problems = append(problems, b.once(), checkFamilies(b.jobs()))
	call := newApplyCall("apply", b.Guard, b.Companions, len(b.Changes)*9)
	for i := range b.Changes {
		if err := call.change(&b.Changes[i]); err != nil {
			problems = append(problems, fmt.Errorf("change %d: %w", i, err))
		}
	}
	return call, errors.Join(problems...)
}

// jobs are those that the batch stores, or stores anew.
func (b *Batch) jobs() []*wire.Job {
	var out []*wire.Job
	for i := range b.Changes {
		if ch := &b.Changes[i]; ch.Kind == ChangeAdd || ch.Kind == ChangeUpdate {
			out = append(out, ch.Job)
		}
	}
	return out
}

// once refuses a field that two companion writes would leave in two ways.
func (b *Batch) once() error {
	seen := map[[2]string]*Attach{} // stays empty for jobs without companions
	var problems []error
	check := func(a *Attach) {
		field := [2]string{a.Key, a.Field}
		first := seen[field]
		if first == nil {
			seen[field] = a
			return
		}
		if a.Version != -1 || first.Version != -1 || (a.Value == nil) != (first.Value == nil) || !bytes.Equal(a.Value, first.Value) {
			problems = append(problems, fmt.Errorf("%q of %s: %w", a.Field, a.Key, ErrFieldTwice))
		}
	}
	for i := range b.Changes {
		if a := b.Changes[i].Attach; a != nil {
			check(a)
		}
	}
	for i := range b.Companions {
		check(&b.Companions[i])
	}
	return errors.Join(problems...)
}

// validKey keeps companion writes off the engine's own keys.
func validKey(what, key string) error {
	kind, _, parted := strings.Cut(key, ":")
	if key == "" || engineKeys[key] || parted && enginePrefixes[kind] {
		return fmt.Errorf("%s key %q: %w", what, key, ErrKey)
	}
	return nil
}

var engineKeys = map[string]bool{"status": true, "seq": true, "scheduled": true, "todo": true, "workers": true, "leases": true,
	"queues": true, "slots": true, "depth": true, "events": true, "events:seq": true, "events:life": true, "results": true,
	"failures": true, "failed": true, "progress": true, "clock": true, "setaside": true, "callers": true,
	"unique": true, "labels": true, "sweeps": true, "removals": true, "expiry": true, "ticks": true, "sync": true, "triggers": true,
	"roots": true}

// enginePrefixes are what the engine's keys that belong to one job, queue, worker or label start with.
var enginePrefixes = map[string]bool{"queue": true, "jobs": true, "worker": true, "idle": true, "wake": true, "call": true, "ended": true,
	"label": true, "past": true, "kind": true, "template": true, "emits": true, "cycles": true, "cycle": true, "history": true,
	"backlog": true, "gate": true, "shares": true, "servers": true, "damaged": true}

// change appends one Change: kind and options, uuid, and what they announce, in the order apply.lua reads.
func (call *applyCall) change(ch *Change) error {
	letters := "AUCLOTF"
	if int(ch.Kind) >= len(letters) {
		return fmt.Errorf("kind %d is not known", ch.Kind)
	}
	kind, uuid := letters[ch.Kind:ch.Kind+1], ch.UUID
	var sub submission
	withJob := ch.Kind == ChangeAdd || ch.Kind == ChangeUpdate
	if withJob {
		var err error
		if sub, err = newSubmission(ch.Job, addOptions{}); err != nil {
			return err
		}
		if ch.Job.TemplateUuid != "" || ch.Job.Tick != "" || ch.Job.Delivery.GetOf() != "" {
			return fmt.Errorf("job %s: %w", label(ch.Job), ErrEmitted)
		}
		uuid = sub.uuid
		if sub.edges != "" {
			kind += "e"
		}
		if sub.labels != "" {
			kind += "l"
		}
		if len(sub.bytes) > apart {
			kind += "b"
		}
		kind += sub.letters()
	} else if ch.Kind != ChangeAttach && !validName(uuid) {
		return fmt.Errorf("%w: %q", ErrUUID, uuid)
	}
	if ch.Kind == ChangeReopen && ch.Job != nil {
		if err := validate(ch.Job); err != nil {
			return err
		}
		kind += "s"
		if sub.labels = packLabels(ch.Job.Labels); sub.labels != "" {
			kind += "l"
		}
	}
	if ch.Expect != nil {
		kind += "x"
	}
	if ch.Replaces != "" {
		kind += "p"
	}
	if ch.Attach != nil {
		kind += "t"
		if err := validKey("attach", ch.Attach.Key); err != nil {
			return err
		}
	} else if ch.Kind == ChangeAttach {
		return errors.New("ChangeAttach without Attach")
	}
	if ch.Withdraw {
		kind += "w"
	}
	if ch.CancelReplaced {
		kind += "n"
	}
	call.args = append(call.args, kind, uuid)
	if withJob {
		call.args = append(call.args, sub.entry, sub.bytes)
		if sub.edges != "" {
			call.args = append(call.args, sub.edges)
		}
		if sub.labels != "" {
			call.args = append(call.args, sub.labels)
		}
		call.args = sub.append(call.args)
	} else if ch.Kind == ChangeReopen {
		call.args = append(call.args, ch.Opening)
		if ch.Job != nil {
			call.args = append(call.args, entryOf(ch.Job))
			if sub.labels != "" {
				call.args = append(call.args, sub.labels)
			}
		}
	}
	if ch.Expect != nil {
		call.args = append(call.args, stateLetters(ch.Expect))
	}
	if ch.Replaces != "" {
		if !validName(ch.Replaces) || ch.Kind != ChangeAdd || ch.Replaces == uuid {
			return fmt.Errorf("replaces %q: %w", ch.Replaces, ErrUUID)
		}
		call.args = append(call.args, ch.Replaces)
	}
	if ch.Attach != nil {
		call.attach(ch.Attach)
	}
	return nil
}

// texts are the strings of a reply that is a list.
func texts(reply any) []string {
	list, _ := reply.([]any)
	out := make([]string, 0, len(list))
	for _, v := range list {
		s, _ := v.(string)
		out = append(out, s)
	}
	return out
}
