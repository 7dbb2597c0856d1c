package conveyor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// QueueSettings is what is declared of a queue. The zero value is the default: unlimited, weight 1, not paused.
type QueueSettings struct {
	Concurrency int           // running jobs at most, over all workers; 0: unlimited
	Weight      int           // share of a worker's turns; 0 is 1
	Paused      bool          // gives out no jobs
	Fair        bool          // workers get even shares of its jobs
	KeepFor     time.Duration // how long ended jobs are kept; whole milliseconds; 0: the default
	KeepCount   int           // how many ended jobs are kept; 0: the default
}

// ErrQueueDeclaredPaused refuses ResumeQueue: the queue is paused by its settings, which only who declares them changes.
var ErrQueueDeclaredPaused = errors.New("the queue is declared paused")

// QueueOption changes how settings are written.
type QueueOption func(*queueWrite)

type queueWrite struct {
	guard Guard
	owner string
}

// GuardedBy refuses the write with ErrGuard unless the guard holds.
func GuardedBy(g Guard) QueueOption { return func(w *queueWrite) { w.guard = g } }

// DeclaredBy notes who declares the settings: a name of [A-Za-z0-9._-]{1,128}, or two with an @ between them. Several owners may
// declare one queue; the last one to write decides, and DeleteQueueSettings by one of them leaves the settings to the others.
func DeclaredBy(owner string) QueueOption { return func(w *queueWrite) { w.owner = owner } }

// SetQueue stores a queue's settings and wakes the workers that may now get more. A pause by hand stays.
func (c *Client) SetQueue(ctx context.Context, name string, s QueueSettings, opts ...QueueOption) error {
	if s.Concurrency < 0 || s.Weight < 0 || s.KeepFor < 0 || s.KeepCount < 0 {
		return fmt.Errorf("set queue %s: concurrency %d, weight %d, keep for %s and keep count %d must not be negative",
			name, s.Concurrency, s.Weight, s.KeepFor, s.KeepCount)
	}
	return c.writeQueue(ctx, "set queue", name, "set", s.String(), opts)
}

// DeleteQueueSettings brings a queue back to the defaults; with DeclaredBy only once no other owner declares it. A pause by
// hand stays.
func (c *Client) DeleteQueueSettings(ctx context.Context, name string, opts ...QueueOption) error {
	return c.writeQueue(ctx, "delete queue settings", name, "delete", QueueSettings{}.String(), opts)
}

// PauseQueue has a queue give out no more jobs until ResumeQueue, whatever is declared of it and by whomever. Jobs that
// run go on.
func (c *Client) PauseQueue(ctx context.Context, name string) error {
	return c.writeQueue(ctx, "pause queue", name, "pause", "", nil)
}

// ResumeQueue ends a PauseQueue. A queue that is declared paused stays as it is, which is ErrQueueDeclaredPaused; one that is
// not paused is left alone.
func (c *Client) ResumeQueue(ctx context.Context, name string) error {
	return c.writeQueue(ctx, "resume queue", name, "resume", "", nil)
}

func (c *Client) writeQueue(ctx context.Context, what, name, action, settings string, opts []QueueOption) error {
	var w queueWrite
	for _, opt := range opts {
		opt(&w)
	}
	var problems []error
	if !validName(name) {
		problems = append(problems, fmt.Errorf("%w: %q", ErrQueueName, name))
	}
	if w.owner != "" && !validOwner(w.owner) {
		problems = append(problems, fmt.Errorf("owner %q does not match [A-Za-z0-9._-]{1,128}, with or without @ and such a name behind it", w.owner))
	}
	if w.guard != (Guard{}) {
		problems = append(problems, validKey("guard", w.guard.Key))
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if _, err := c.run(ctx, queueScript, w.guard.Key, w.guard.Field, w.guard.Want, name, action, settings, w.owner); err != nil {
		return fmt.Errorf("%s %s: %w", what, name, err)
	}
	return nil
}

// validOwner tells whether s can be an owner of settings: nothing in it parts owners, or fields of the settings.
func validOwner(s string) bool {
	name, part, parted := strings.Cut(s, "@")
	return validName(name) && (!parted || validName(part))
}

// String is how the declared part of the settings is stored: "<concurrency>:<weight>:<paused>:<fair>:<keep ms>:<keep
// count>". In the store follow ":<by hand>:<owners>". Earlier versions stored less: what is missing has its default.
func (s QueueSettings) String() string {
	bit := map[bool]int{true: 1}
	return fmt.Sprintf("%d:%d:%d:%d:%d:%d", s.Concurrency, s.Weight, bit[s.Paused], bit[s.Fair], s.KeepFor.Milliseconds(), s.KeepCount)
}

// storedQueue is all that is stored of a queue's settings.
type storedQueue struct {
	QueueSettings
	byHand bool
	owners []string
}

func parseQueueSettings(text string) (storedQueue, error) {
	f := strings.Split(text, ":")
	bad := len(f) < 3 || len(f) > 8
	var n [7]int64
	for i := range min(len(f), len(n)) {
		v, err := strconv.ParseInt(f[i], 10, 64)
		bad = bad || err != nil || v < 0
		n[i] = v
	}
	bit := func(i int) bool {
		bad = bad || n[i] > 1
		return n[i] == 1
	}
	s := storedQueue{QueueSettings: QueueSettings{
		Concurrency: int(n[0]), Weight: int(n[1]), Paused: bit(2), Fair: bit(3),
		KeepFor: time.Duration(n[4]) * time.Millisecond, KeepCount: int(n[5]),
	}, byHand: bit(6)}
	if bad {
		return storedQueue{}, fmt.Errorf("queue settings %q: %w", text, ErrCorrupt)
	}
	if len(f) == 8 {
		s.owners = listed(f[7])
		slices.Sort(s.owners)
	}
	return s, nil
}
