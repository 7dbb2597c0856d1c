package applier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/conveyor"
)

// LeaderLease is how long a leader that dies is one still, at most.
const LeaderLease = lockLease

// ErrLeaseLost means that another controller leads by now, since this one was silent for longer than its lease.
var ErrLeaseLost = errors.New("another controller leads by now: this one was silent for longer than its lease")

// Candidate is a controller that may lead a workflow: of all replicas one does, by the same leased and fenced lock as an apply's,
// under a key of its own. Each of the leader's applies takes the workflow's lock besides, as everybody's does.
type Candidate struct {
	client   *conveyor.Client
	workflow string
	who      string
	token    string
}

// NewCandidate makes a candidate. Default of who: user@host and the number of the process.
func NewCandidate(c *conveyor.Client, workflow, who string) *Candidate {
	if who == "" {
		who = fmt.Sprintf("%s (process %d)", whoAmI(), os.Getpid())
	}
	return &Candidate{client: c, workflow: workflow, who: who, token: uuid.NewString()}
}

func (c *Candidate) lock() *lock {
	l := newLock(c.client, c.workflow)
	l.key, l.name, l.lost = controllerKey(c.workflow), fmt.Sprintf("the lease of workflow %q's controller", c.workflow), ErrLeaseLost
	l.token = c.token
	return l
}

// Lead asks once for the lead. Without it, the holder is who has it. The lease's context ends with the lease, with ErrLeaseLost as its
// cause when another one has taken it. One candidate holds one lease at a time.
func (c *Candidate) Lead(ctx context.Context) (*Lease, *Holder, error) {
	l := c.lock()
	holder, err := l.try(ctx, lockRequest{who: c.who, operation: "reconcile"})
	if err != nil || holder != nil {
		return nil, holder, err
	}
	return &Lease{lock: l, held: l.keep(context.WithoutCancel(ctx))}, nil, nil
}

// ReadLeader tells which controller leads a workflow; nil for none. It only reads.
func ReadLeader(ctx context.Context, c *conveyor.Client, workflow string) (*Holder, error) {
	return readHolder(ctx, NewCandidate(c, workflow, "").lock())
}

// Lease is the time in which a candidate leads. It is renewed until Release.
type Lease struct {
	lock *lock
	held context.Context
}

// Held ends with the lease.
func (l *Lease) Held() context.Context { return l.held }

// Renewed is when the lease was last known to be held, by this process's clock.
func (l *Lease) Renewed() time.Time { return time.Unix(0, l.lock.renewed.Load()) }

// Release gives the lead up. A lease that is another's by now is left alone.
func (l *Lease) Release(ctx context.Context) error { return l.lock.release(ctx) }

// maxNoted bounds the fields that one script writes.
const maxNoted = 1000

// Note writes what the controllers of a workflow remember: fields by name, "" removes one. It fails with ErrLeaseLost when the lease is
// another's. Several notes are not written together.
func (l *Lease) Note(ctx context.Context, fields map[string]string) error {
	for names := range slices.Chunk(slices.Sorted(maps.Keys(fields)), maxNoted) {
		args := []any{l.lock.token, l.lock.fence}
		for _, name := range names {
			args = append(args, noteField+name, fields[name])
		}
		n := 0
		err := endurance{}.call(ctx, func(ctx context.Context) (err error) {
			n, err = noteScript.Run(ctx, l.lock.client.Redis(), []string{l.lock.client.Prefix() + l.lock.key}, args...).Int()
			return err
		})
		if err != nil {
			return fmt.Errorf("write %q: %w", l.lock.key, storeError(err, l.lock.key))
		}
		if n == 0 {
			return ErrLeaseLost
		}
	}
	return nil
}

// noteField begins the names of fields that Note writes.
const noteField = "note:"

// The fields of a plan that waits for consent, and of the consent.
const (
	waitingField = "waiting" // name and, after a space, who is asked what, as text
	consentField = "consent" // name and, after a space, who consents
)

// Memory is what the controllers of a workflow remember.
type Memory struct {
	Notes   map[string]string
	Waiting Waiting // for consent; zero for nothing
	Consent Waiting // what was consented to, with who did
}

// Waiting is a plan by its name, with a text about it.
type Waiting struct{ Name, Text string }

// ReadMemory reads what the controllers of a workflow remember. It only reads.
func ReadMemory(ctx context.Context, c *conveyor.Client, workflow string) (Memory, error) {
	m := Memory{Notes: map[string]string{}}
	fields, err := c.Redis().HGetAll(ctx, c.Prefix()+controllerKey(workflow)).Result()
	if err != nil {
		return m, fmt.Errorf("read what the controller of workflow %q remembers: %w", workflow, storeError(err, controllerKey(workflow)))
	}
	for field, value := range fields {
		if name, ok := strings.CutPrefix(field, noteField); ok {
			m.Notes[name] = value
		}
	}
	m.Waiting.Name, m.Waiting.Text, _ = strings.Cut(fields[waitingField], " ")
	m.Consent.Name, m.Consent.Text, _ = strings.Cut(fields[consentField], " ")
	return m, nil
}

// Ask says that a plan waits for consent; the zero value says that none does, and forgets what was consented to.
func (l *Lease) Ask(ctx context.Context, w Waiting) error {
	args := []any{l.lock.token, l.lock.fence, waitingField, ""}
	if w.Name != "" {
		args[3] = w.Name + " " + w.Text
	} else {
		args = append(args, consentField, "")
	}
	n, err := noteScript.Run(ctx, l.lock.client.Redis(), []string{l.lock.client.Prefix() + l.lock.key}, args...).Int()
	switch {
	case err != nil:
		return fmt.Errorf("write %q: %w", l.lock.key, storeError(err, l.lock.key))
	case n == 0:
		return ErrLeaseLost
	}
	return nil
}

// Consent consents to the plan of a name, in somebody's name. It tells whether that plan waits for consent.
func Consent(ctx context.Context, c *conveyor.Client, workflow, name, who string) (bool, error) {
	if who == "" {
		who = whoAmI()
	}
	n := 0
	err := endurance{}.call(ctx, func(ctx context.Context) (err error) {
		n, err = consentScript.Run(ctx, c.Redis(), []string{c.Prefix() + controllerKey(workflow)}, name, who).Int()
		return err
	})
	if err != nil {
		return false, fmt.Errorf("consent to a plan of workflow %q: %w", workflow, storeError(err, controllerKey(workflow)))
	}
	return n == 1, nil
}
