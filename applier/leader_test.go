package applier

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
)

// mustLead makes a candidate lead.
func mustLead(t *testing.T, c *Candidate) *Lease {
	t.Helper()
	lease, holder, err := c.Lead(t.Context())
	if err != nil || holder != nil {
		t.Fatalf("held by %v, error %v", holder, err)
	}
	t.Cleanup(func() { _ = lease.Release(context.Background()) })
	return lease
}

// TestOneLeads lets two candidates lead in turn: one gives the lead up, one is silent for too long.
func TestOneLeads(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *conveyor.Client) {
		setClock(t, c, 1_000_000)
		one, two := NewCandidate(c, "w", "one@host"), NewCandidate(c, "w", "two@host")
		first := mustLead(t, one)
		mustLock(t, c, "apply") // is another lock
		_, holder, err := two.Lead(t.Context())
		want := &Holder{Token: one.token, Who: "one@host", Operation: "reconcile", Since: time.UnixMilli(1_000_000), Expires: time.UnixMilli(1_005_000)}
		if diff := cmp.Diff(want, holder); diff != "" || err != nil {
			t.Errorf("leader, error %v (-want +got):\n%s", err, diff)
		}
		if read, err := ReadLeader(t.Context(), c, "w"); err != nil || cmp.Diff(want, read) != "" {
			t.Errorf("ReadLeader: %v, %v", read, err)
		}
		if err := first.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		second := mustLead(t, two)
		setClock(t, c, 1_000_000+2*LeaderLease.Milliseconds())
		third := mustLead(t, NewCandidate(c, "w", "three@host"))
		<-second.Held().Done() // the next renewal learns it
		if cause := context.Cause(second.Held()); !errors.Is(cause, ErrLeaseLost) {
			t.Errorf("the lease ended with %v, want ErrLeaseLost", cause)
		}
		if third.Held().Err() != nil {
			t.Error("the lease of the third ended too")
		}
		if other, err := ReadLeader(t.Context(), c, "other"); other != nil || err != nil {
			t.Errorf("another workflow is led by %v, error %v", other, err)
		}
	})
}

// TestControllersRemember writes what outlives a leader, and lets nobody else write it.
func TestControllersRemember(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *conveyor.Client) {
		ctx := t.Context()
		setClock(t, c, 1_000_000)
		first := mustLead(t, NewCandidate(c, "w", ""))
		ok := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		remembers := func(want Memory) {
			t.Helper()
			m, err := ReadMemory(ctx, c, "w")
			if diff := cmp.Diff(want, m); diff != "" || err != nil {
				t.Errorf("memory, error %v (-want +got):\n%s", err, diff)
			}
		}
		remembers(Memory{Notes: map[string]string{}})
		ok(first.Note(ctx, map[string]string{"a": "1", "b": "2"}))
		ok(first.Note(ctx, map[string]string{"a": "", "b": "3"}))
		consented, err := Consent(ctx, c, "w", "plan1", "me@host")
		if consented || err != nil {
			t.Errorf("consent to what does not wait: %t, %v", consented, err)
		}
		ok(first.Ask(ctx, Waiting{"plan1", "destroys 9 of 10"}))
		if consented, err = Consent(ctx, c, "w", "plan", "me@host"); consented || err != nil {
			t.Errorf("consent to another plan: %t, %v", consented, err)
		}
		if consented, err = Consent(ctx, c, "w", "plan1", "me@host"); !consented || err != nil {
			t.Errorf("consent to what waits: %t, %v", consented, err)
		}
		ok(first.Release(ctx))
		remembers(Memory{Notes: map[string]string{"b": "3"}, Waiting: Waiting{"plan1", "destroys 9 of 10"}, Consent: Waiting{"plan1", "me@host"}})
		second := mustLead(t, NewCandidate(c, "w", ""))
		for _, err := range []error{first.Note(ctx, map[string]string{"b": "4"}), first.Ask(ctx, Waiting{})} {
			if !errors.Is(err, ErrLeaseLost) {
				t.Errorf("a former leader writes: %v, want ErrLeaseLost", err)
			}
		}
		ok(second.Ask(ctx, Waiting{}))
		remembers(Memory{Notes: map[string]string{"b": "3"}})
	})
}

// remember makes a controller lead, remember something and give the lead up.
func (l *lab) remember(workflow string) {
	l.Helper()
	lease := mustLead(l.T, NewCandidate(l.Client, workflow, ""))
	l.ok(lease.Note(l.Context(), map[string]string{"retry:job.a": "once", "retry:job.b": "twice"}))
	l.ok(lease.Ask(l.Context(), Waiting{"plan1", "1 of 1 jobs"}))
	l.ok(lease.Release(l.Context()))
}

// memory wants the controllers of a workflow to remember these notes and nothing else.
func (l *lab) memory(workflow string, notes map[string]string) {
	l.Helper()
	m, err := ReadMemory(l.Context(), l.Client, workflow)
	if diff := cmp.Diff(Memory{Notes: notes}, m); diff != "" || err != nil {
		l.Errorf("memory of %q, error %v (-want +got):\n%s", workflow, err, diff)
	}
}

// TestMemoryCarried: notes go with the state to another name, those of the new one come first, and nothing is left but the lease of one
// that leads still.
func TestMemoryCarried(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		for _, led := range []bool{false, true} {
			old, next := fmt.Sprint("old-", led), fmt.Sprint("new-", led)
			l.named(old, "")
			l.apply()
			l.remember(old)
			var leader *Lease
			if led {
				leader = mustLead(l.T, NewCandidate(l.Client, old, ""))
			}
			l.ok(mustLead(l.T, NewCandidate(l.Client, next, "")).Note(l.Context(), map[string]string{"retry:job.b": "three times"}))
			l.named(next, old)
			l.apply()
			l.memory(next, map[string]string{"retry:job.a": "once", "retry:job.b": "three times"})
			l.memory(old, map[string]string{})
			if n, err := l.Redis().Exists(l.Context(), l.Prefix()+controllerKey(old)).Result(); (n == 1) != led || err != nil {
				l.Errorf("%d keys are left under the name %q, error %v", n, old, err)
			}
			if led {
				l.ok(leader.Note(l.Context(), map[string]string{"retry:job.c": "again"}))
			}
		}
	})
}

// TestLeaderOutlivesState: who leads a workflow whose state is deleted leads it still, and remembers nothing.
func TestLeaderOutlivesState(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		l.apply()
		l.remember("w")
		leader := mustLead(l.T, NewCandidate(l.Client, "w", ""))
		if _, err := DeleteState(l.Context(), l.Client, "w", true, StateChange{}); err != nil {
			l.Fatal(err)
		}
		l.memory("w", map[string]string{})
		l.ok(leader.Note(l.Context(), map[string]string{"retry:job.a": "once"}))
	})
}
