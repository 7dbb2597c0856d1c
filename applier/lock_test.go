package applier

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/waybill-dev/waybill/conveyor"
)

// setClock fixes the namespace's clock, in milliseconds.
func setClock(t *testing.T, c *conveyor.Client, ms int64) {
	t.Helper()
	if err := c.Redis().Set(t.Context(), c.Prefix()+"clock", fmt.Sprintf("=%d", ms), 0).Err(); err != nil {
		t.Fatal(err)
	}
}

func request(operation string) lockRequest {
	return lockRequest{workflow: "w", who: operation + "@host", operation: operation}
}

// mustLock takes the lock and gives it up with the test.
func mustLock(t *testing.T, c *conveyor.Client, operation string) (context.Context, *lock) {
	t.Helper()
	ctx, l, err := acquireLock(t.Context(), c, request(operation))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.release(context.Background()) })
	return ctx, l
}

func TestLockHasOneHolder(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *conveyor.Client) {
		setClock(t, c, 1_000_000)
		_, first := mustLock(t, c, "apply")
		_, _, err := acquireLock(t.Context(), c, request("destroy"))
		var locked *LockedError
		if !errors.As(err, &locked) {
			t.Fatalf("a second holder got %v, want *LockedError", err)
		}
		want := Holder{Token: first.token, Who: "apply@host", Operation: "apply", Since: time.UnixMilli(1_000_000), Expires: time.UnixMilli(1_005_000)}
		if diff := cmp.Diff(want, locked.Holder); diff != "" {
			t.Errorf("holder (-want +got):\n%s", diff)
		}
		for _, part := range []string{"Error acquiring the state lock", "apply@host", "waybill force-unlock " + first.token} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the error does not say %q: %v", part, err)
			}
		}
		if err := first.release(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, second := mustLock(t, c, "destroy")
		if second.fence <= first.fence {
			t.Errorf("fence %s follows %s, want a higher one", second.fence, first.fence)
		}
	})
}

func TestLocksOfOtherWorkflowsAreFree(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *conveyor.Client) {
		mustLock(t, c, "apply")
		r := request("apply")
		r.workflow = "other"
		_, l, err := acquireLock(t.Context(), c, r)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestLockOfDeadHolderEnds(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *conveyor.Client) {
		setClock(t, c, 1_000_000)
		_, dead := mustLock(t, c, "apply")
		dead.stop() // as a killed process does
		<-dead.done
		setClock(t, c, 1_004_999)
		if _, _, err := acquireLock(t.Context(), c, request("apply")); err == nil {
			t.Fatal("the lock was free within its lease")
		}
		setClock(t, c, 1_005_000)
		_, next := mustLock(t, c, "apply")
		if held, err := dead.renewOnce(t.Context()); held || err != nil {
			t.Errorf("the dead holder renewed: %t, %v", held, err)
		}
		if err := dead.release(t.Context()); err != nil {
			t.Error(err)
		}
		if held, err := next.renewOnce(t.Context()); !held || err != nil {
			t.Errorf("the new holder lost its lock to the old one's release: %t, %v", held, err)
		}
	})
}

// TestLockSurvivesSilence: a lease that ran out is lengthened again as long as nobody took the lock.
func TestLockSurvivesSilence(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *conveyor.Client) {
		setClock(t, c, 1_000_000)
		_, l := mustLock(t, c, "apply")
		setClock(t, c, 1_060_000)
		if held, err := l.renewOnce(t.Context()); !held || err != nil {
			t.Fatalf("renewal after a minute: %t, %v", held, err)
		}
		if _, _, err := acquireLock(t.Context(), c, request("apply")); err == nil {
			t.Error("the renewed lock was free")
		}
	})
}

func TestLockIsRenewed(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *conveyor.Client) {
		setClock(t, c, 1_000_000)
		mustLock(t, c, "apply")
		setClock(t, c, 1_004_000)
		key := c.Prefix() + lockKey("w")
		for c.Redis().HGet(t.Context(), key, "expires").Val() != "1009000" {
			if t.Context().Err() != nil {
				t.Fatal("the lock was not renewed")
			}
			yield(t)
		}
	})
}

func TestLockReplyLost(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *conveyor.Client) {
		_, l := mustLock(t, c, "apply")
		fence := l.fence
		if holder, err := l.try(t.Context(), request("apply")); holder != nil || err != nil || l.fence != fence {
			t.Errorf("asked again with the same token: holder %v, fence %s after %s, %v", holder, l.fence, fence, err)
		}
	})
}

func TestForceUnlock(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *conveyor.Client) {
		if err := ForceUnlock(t.Context(), c, "w", "x"); err == nil || !strings.Contains(err.Error(), "not locked") {
			t.Errorf("without a lock: %v", err)
		}
		ctx, l := mustLock(t, c, "apply")
		if err := ForceUnlock(t.Context(), c, "w", "x"); err == nil || !strings.Contains(err.Error(), l.token) {
			t.Errorf("with another token: %v", err)
		}
		if err := ForceUnlock(t.Context(), c, "w", l.token); err != nil {
			t.Fatal(err)
		}
		if h, err := ReadLock(t.Context(), c, "w"); h != nil || err != nil {
			t.Errorf("afterwards it is held by %v, %v", h, err)
		}
		<-ctx.Done() // the next renewal tells the holder
		if cause := context.Cause(ctx); !errors.Is(cause, ErrLockLost) {
			t.Errorf("the holder is told %v, want %v", cause, ErrLockLost)
		}
	})
}

func TestLockTimeout(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *conveyor.Client) {
		_, l := mustLock(t, c, "apply")
		r := request("destroy")
		r.timeout = time.Minute
		told := make(chan LockWaiting, 100)
		r.waiting = func(e LockWaiting) { told <- e }
		got := make(chan error, 1)
		go func() {
			_, second, err := acquireLock(t.Context(), c, r)
			if err == nil {
				err = second.release(t.Context())
			}
			got <- err
		}()
		if e := <-told; e.Holder.Token != l.token || e.Left <= 0 || e.Left > time.Minute {
			t.Errorf("told %+v", e)
		}
		if err := l.release(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-got; err != nil {
			t.Errorf("the waiting one got %v", err)
		}
	})
}

func TestLockWaitIsInterrupted(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *conveyor.Client) {
		mustLock(t, c, "apply")
		ctx, cancel := context.WithCancel(t.Context())
		r := request("destroy")
		r.timeout = time.Hour
		r.waiting = func(LockWaiting) { cancel() }
		if _, _, err := acquireLock(ctx, c, r); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
	})
}

func TestLockKeyOfAnotherType(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *conveyor.Client) {
		if err := c.Redis().Set(t.Context(), c.Prefix()+lockKey("w"), "x", 0).Err(); err != nil {
			t.Fatal(err)
		}
		_, _, err := acquireLock(t.Context(), c, request("apply"))
		if !errors.Is(err, conveyor.ErrCorrupt) || !strings.Contains(err.Error(), lockKey("w")) {
			t.Errorf("got %v, want one that names the key", err)
		}
	})
}
