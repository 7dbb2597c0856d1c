package applier

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/conveyor"
)

// The lock's times. The lease is counted by the store's clock, so a holder that dies is gone that long after its last
// renewal, whatever its own clock said.
const (
	lockLease      = 5 * time.Second
	lockRenewal    = time.Second
	lockPollFirst  = 100 * time.Millisecond
	lockPollMax    = time.Second
	lockToldEvery  = 2 * time.Second
	releaseTimeout = 5 * time.Second
)

// DefaultLockTimeout is how long an apply waits for a lock that somebody else holds.
const DefaultLockTimeout = 20 * time.Second

// ErrLockLost means that the lock went to another holder while this process was silent, or was removed by
// force-unlock. What was written under it stands; nothing more can be.
var ErrLockLost = errors.New("the state lock was lost: it was taken over or force-unlocked meanwhile. Nothing more was changed; apply again to go on")

// LockedError says who kept the lock for as long as the caller was willing to wait.
type LockedError struct {
	Workflow string
	Holder   Holder
	Waited   time.Duration
}

func (e *LockedError) Error() string {
	h := e.Holder
	return fmt.Sprintf("Error acquiring the state lock: workflow %q is locked by %s (%s since %s), also after a wait of %s.\n"+
		"Only if that process is known to be gone for good: waybill force-unlock %s",
		e.Workflow, h.Who, h.Operation, h.Since.UTC().Format(time.RFC3339), e.Waited.Round(time.Second), h.Token)
}

// lock is one holder's time with a workflow's lock. It is renewed by a goroutine of its own until release.
type lock struct {
	client   *conveyor.Client
	workflow string
	key      string
	name     string // for messages: the lock of workflow "w"
	token    string
	fence    string
	lost     error // the cause of a lost lock

	renewed atomic.Int64       // when it was last known to be held, in Unix nanoseconds of this process
	stop    context.CancelFunc // ends the renewal
	done    chan struct{}      // closed when the renewal has ended
}

// lockRequest says who wants the lock.
type lockRequest struct {
	workflow  string
	who       string
	operation string
	timeout   time.Duration // 0 asks once
	waiting   func(LockWaiting)
	patient   endurance
}

func newLock(c *conveyor.Client, workflow string) *lock {
	return &lock{client: c, workflow: workflow, key: lockKey(workflow), name: fmt.Sprintf("the lock of workflow %q", workflow), token: uuid.NewString(), lost: ErrLockLost,
		done: make(chan struct{})}
}

// acquireLock takes the lock or fails with *LockedError. The returned context is cancelled, with ErrLockLost as its
// cause, when a renewal learns that the lock is another's.
func acquireLock(ctx context.Context, c *conveyor.Client, r lockRequest) (context.Context, *lock, error) {
	l := newLock(c, r.workflow)
	began, told := time.Now(), time.Time{}
	for pause := lockPollFirst; ; pause = min(2*pause, lockPollMax) {
		holder, err := l.try(ctx, r)
		if err != nil {
			return nil, nil, err
		}
		if holder == nil {
			break
		}
		waited := time.Since(began)
		left := r.timeout - waited
		if left <= 0 {
			return nil, nil, &LockedError{Workflow: r.workflow, Holder: *holder, Waited: waited}
		}
		if r.waiting != nil && time.Since(told) >= lockToldEvery {
			told = time.Now()
			r.waiting(LockWaiting{Holder: *holder, Left: left})
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(min(pause, left)):
		}
	}
	return l.keep(ctx), l, nil
}

// keep renews a lock that was taken until release. The returned context ends with it.
func (l *lock) keep(ctx context.Context) context.Context {
	held, cancel := context.WithCancelCause(ctx)
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	l.renewed.Store(time.Now().UnixNano())
	go func() {
		defer close(l.done)
		l.renew(renewing, cancel)
		cancel(nil)
	}()
	return held
}

// try asks once; a lost reply is asked for again, under the same token. A nil Holder means that the lock is ours.
func (l *lock) try(ctx context.Context, r lockRequest) (*Holder, error) {
	keys := []string{l.client.Prefix() + l.key, l.client.Prefix() + "clock"}
	var reply []string
	err := r.patient.call(ctx, func(ctx context.Context) (err error) {
		reply, err = acquireScript.Run(ctx, l.client.Redis(), keys, l.token, r.who, r.operation, lockLease.Milliseconds()).StringSlice()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("acquire %s: %w", l.name, storeError(err, l.key))
	}
	switch {
	case len(reply) == 2 && reply[0] == "1":
		l.fence = reply[1]
		return nil, nil
	case len(reply) == 7 && reply[0] == "0":
		h := holderOf(reply[1], reply[2], reply[3], reply[4], reply[5])
		return &h, nil
	default:
		return nil, fmt.Errorf("acquire %s: the script answered %q", l.name, reply)
	}
}

// renew runs until ctx ends or the lock is lost. A failed call is not a lost lock: the next second asks again, and
// should the lease run out meanwhile, the guard of every batch decides.
func (l *lock) renew(ctx context.Context, lost context.CancelCauseFunc) {
	tick := time.NewTicker(lockRenewal)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if held, err := l.renewOnce(ctx); err == nil && !held {
			lost(l.lost)
			return
		}
	}
}

func (l *lock) renewOnce(ctx context.Context) (bool, error) {
	keys := []string{l.client.Prefix() + l.key, l.client.Prefix() + "clock"}
	n, err := renewScript.Run(ctx, l.client.Redis(), keys, l.token, l.fence, lockLease.Milliseconds()).Int()
	if err == nil && n == 1 {
		l.renewed.Store(time.Now().UnixNano())
	}
	return n == 1, err
}

// guard makes a batch hold only while this holder's fence is the lock's.
func (l *lock) guard() *conveyor.Guard {
	return &conveyor.Guard{Key: l.key, Field: "fence", Want: l.fence}
}

// release ends the renewal and gives the lock up, also when ctx is cancelled. A lock that is another's by now is left
// alone, and that is no error: whatever was written under it had its guard.
func (l *lock) release(ctx context.Context) error {
	l.stop()
	<-l.done
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if _, err := removeLock(ctx, l.client, l.key, l.token); err != nil {
		return fmt.Errorf("release %s: %w. It is gone by itself in %s", l.name, err, lockLease)
	}
	return nil
}

// ReadLock tells who holds a workflow's lock; nil when nobody does, or its holder's lease has run out. It only reads.
func ReadLock(ctx context.Context, c *conveyor.Client, workflow string) (*Holder, error) {
	return readHolder(ctx, newLock(c, workflow))
}

// readHolder tells who holds what would be taken as l.
func readHolder(ctx context.Context, l *lock) (*Holder, error) {
	c := l.client
	v, err := c.Redis().HMGet(ctx, c.Prefix()+l.key, holderFields...).Result()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", l.name, storeError(err, l.key))
	}
	h := holderIn(v)
	if h == nil {
		return nil, nil
	}
	now, err := c.Now(ctx)
	if err != nil || !h.Expires.After(now) {
		return nil, err
	}
	return h, nil
}

// holderFields are the fields of a lock that describe its holder.
var holderFields = []string{"token", "who", "operation", "since", "expires"}

// holderIn is who the values of holderFields describe; nil for nobody.
func holderIn(values []any) *Holder {
	var f [5]string
	for i := range f {
		f[i], _ = values[i].(string)
	}
	if f[0] == "" {
		return nil
	}
	h := holderOf(f[0], f[1], f[2], f[3], f[4])
	return &h
}

// ForceUnlock removes a workflow's lock if token is its holder's. The holder, should it live, is told by its next
// renewal and refused by the guard of its next batch.
func ForceUnlock(ctx context.Context, c *conveyor.Client, workflow, token string) error {
	removed, err := removeLock(ctx, c, lockKey(workflow), token)
	switch {
	case err != nil:
		return fmt.Errorf("unlock workflow %q: %w", workflow, err)
	case removed:
		return nil
	}
	holder, err := ReadLock(ctx, c, workflow)
	if err != nil {
		return err
	}
	if holder == nil {
		return fmt.Errorf("workflow %q is not locked; nothing was changed", workflow)
	}
	return fmt.Errorf("workflow %q is locked under another token than %q: %s has held it for %s since %s under %s; nothing was changed",
		workflow, token, holder.Who, holder.Operation, holder.Since.UTC().Format(time.RFC3339), holder.Token)
}

func removeLock(ctx context.Context, c *conveyor.Client, key, token string) (bool, error) {
	removed := false
	err := endurance{}.call(ctx, func(ctx context.Context) error {
		n, err := releaseScript.Run(ctx, c.Redis(), []string{c.Prefix() + key}, token).Int()
		removed = n == 1
		return err
	})
	return removed, storeError(err, key)
}

func holderOf(token, who, operation, since, expires string) Holder {
	return Holder{Token: token, Who: who, Operation: operation, Since: milliseconds(since), Expires: milliseconds(expires)}
}

func milliseconds(s string) time.Time {
	ms, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
