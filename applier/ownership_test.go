package applier

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/planner"
)

// owned is what is recorded of a workflow and how its jobs stand.
func owned(l *lab) map[string]string {
	l.Helper()
	all := map[string]string{}
	s := l.state()
	for name, r := range s.Records {
		all[name] = r.UUID.String() + " " + s.Live[name].Status.String()
	}
	return all
}

// TestOthersAreLeftAlone: whatever one workflow does, the jobs of another one and those that somebody has added by hand stay as they
// are, though addresses, names, queues and uuids be the same.
func TestOthersAreLeftAlone(t *testing.T) {
	for _, row := range []struct {
		name string
		do   func(l *lab, others string) // others is the uuid of the other workflow's job.a
		want string                      // in what is said, "" where it succeeds
	}{
		{name: "apply", do: func(l *lab, _ string) {
			l.declare(l.job("a", payload("mine")), l.job("b"))
			l.apply()
		}},
		{name: "destroy", do: func(l *lab, _ string) { l.destroy() }},
		{name: "state rm", do: func(l *lab, _ string) { l.forget("a") }},
		{name: "state mv", do: func(l *lab, _ string) {
			_, err := Move(l.Context(), l.Client, l.workflow.Name, addr(l.T, "job.a"), addr(l.T, "job.z"), StateChange{Operation: "state mv"})
			l.ok(err)
		}},
		{name: "import", do: func(l *lab, others string) {
			l.forget("a")
			_, err := Import(l.Context(), l.Client, l.workflow, addr(l.T, "job.a"), others, planner.Options{}, StateChange{Operation: "import"})
			if err == nil || !strings.Contains(err.Error(), "another workflow has a record of it") {
				l.Errorf("got %v", err)
			}
		}},
		{name: "import block", do: func(l *lab, others string) {
			l.forget("a")
			l.workflow.Imports = []config.Import{{To: addr(l.T, "job.a"), ID: others}}
			s, err := ReadStateFor(l.Context(), l.Client, l.workflow)
			l.ok(err)
			if _, diags := planner.Make(l.workflow, s, planner.Options{}); !diags.HasErrors() || !strings.Contains(diags.Error(), "another workflow has a record of it") {
				l.Errorf("got %v", diags)
			}
		}},
		{name: "moved block", do: func(l *lab, _ string) {
			l.declare(l.job("new"))
			l.workflow.Moved = []config.Moved{{From: addr(l.T, "job.a"), To: addr(l.T, "job.new")}}
			l.apply()
		}},
		{name: "a job outside the files as upstream", do: func(l *lab, others string) {
			l.declare(l.job("a"), l.job("b", func(j *config.Job) { j.Predecessors = []config.Predecessor{{UUIDs: []string{others}}} }))
			l.apply()
			l.declare(l.job("a"))
			l.apply()
		}},
		{name: "workspace delete", do: func(l *lab, _ string) { l.destroy() }},
	} {
		t.Run(row.name, func(t *testing.T) {
			onBoth(t, func(l *lab) {
				other := l.workflowNamed("v", l.job("a"), l.job("b", l.after("a")))
				other.apply()
				l.ok(l.Add(l.Context(), &wire.Job{Uuid: "by-hand", Name: "job.a", Type: "noop", Queue: "q"}))
				l.declare(l.job("a"))
				l.apply()
				before := owned(other)
				row.do(l, other.record("a").UUID.String())
				if diff := cmp.Diff(before, owned(other)); diff != "" {
					l.Errorf("the other workflow (-before +after):\n%s", diff)
				}
				other.noChanges()
				_, status, err := l.Get(l.Context(), "by-hand")
				l.ok(err)
				if status.State != conveyor.StateQueued || status.Recorded {
					l.Errorf("the job added by hand is %v", status.State)
				}
				if ran := l.work(); !strings.Contains(strings.Join(ran, " "), "a") {
					l.Errorf("ran: %q", ran)
				}
			})
		})
	}
}

// TestTakeOver gives the record of a job to another workflow: one of the two has it at any time, and only the new one afterwards.
func TestTakeOver(t *testing.T) {
	onBoth(t, func(l *lab) {
		other := l.workflowNamed("v", l.job("x", payload("{}")), l.job("stays"))
		other.apply()
		id := other.record("x").UUID.String()
		l.declare(l.job("a", payload("{}")))
		take := func(from Owner, change StateChange) (Imported, error) {
			change.Operation = "import"
			return TakeOver(l.Context(), l.Client, l.workflow, addr(l.T, "job.a"), id, from, planner.Options{}, change)
		}
		from, err := OwnerOf(l.Context(), l.Client, id)
		l.ok(err)
		if want := (Owner{"v", addr(l.T, "job.x")}); from != want {
			l.Fatalf("owned by %v, want %v", from, want)
		}
		if _, err := OwnerOf(l.Context(), l.Client, "0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b11"); !errors.Is(err, ErrNotOwned) {
			l.Errorf("got %v", err)
		}

		// Nothing changes where it is only looked at, or the owner is another by now.
		before := owned(other)
		_, err = take(from, StateChange{DryRun: true})
		l.ok(err)
		if _, err := take(Owner{"v", addr(l.T, "job.stays")}, StateChange{}); err == nil || !strings.Contains(err.Error(), "not recorded as") {
			l.Errorf("got %v", err)
		}
		if _, err := take(Owner{"w", addr(l.T, "job.x")}, StateChange{}); !errors.Is(err, ErrInState) {
			l.Errorf("got %v", err)
		}
		if diff := cmp.Diff(before, owned(other)); diff != "" {
			l.Fatalf("the owner (-before +after):\n%s", diff)
		}

		got, err := take(from, StateChange{})
		l.ok(err)
		if want := (Imported{Status: planner.Queued}); got != want {
			l.Errorf("took over %+v, want %+v", got, want)
		}
		if is := l.record("a").UUID.String(); is != id {
			l.Errorf("the record is of %s, want %s", is, id)
		}
		if diff := cmp.Diff([3]int{0, 1, 0}, summaryOf(l.plan())); diff != "" { // how it is handled is written anew
			l.Errorf("the next plan (-want +got):\n%s", diff)
		}
		l.apply()
		l.noChanges()
		if _, still := owned(other)["job.x"]; still || len(owned(other)) != 1 {
			l.Errorf("the former owner has %v", owned(other))
		}
		// There the job is new, under a uuid of its own.
		other.apply()
		if is := other.record("x"); is.UUID.String() == id || is.Generation != 2 {
			l.Errorf("the former owner made generation %d, %s", is.Generation, is.UUID)
		}
		other.destroy()
		if is := l.live("a"); is != "queued" {
			l.Errorf("the job is %s after the former owner was destroyed", is)
		}
		if _, err := take(from, StateChange{}); err == nil {
			l.Error("taken over twice")
		}
		l.work()
		l.noChanges()
	})
}

// TestTakeOverLocksBoth: neither workflow may be written by somebody else meanwhile.
func TestTakeOverLocksBoth(t *testing.T) {
	onBoth(t, func(l *lab) {
		other := l.workflowNamed("v", l.job("x"))
		other.apply()
		l.declare(l.job("a"))
		id := other.record("x").UUID.String()
		for _, name := range []string{"v", "w"} {
			_, lock, err := acquireLock(l.Context(), l.Client, lockRequest{workflow: name, who: "somebody", operation: "apply"})
			l.ok(err)
			_, err = TakeOver(l.Context(), l.Client, l.workflow, addr(l.T, "job.a"), id, Owner{"v", addr(l.T, "job.x")}, planner.Options{}, StateChange{Operation: "import", LockTimeout: -1})
			var locked *LockedError
			if !errors.As(err, &locked) || locked.Workflow != name {
				l.Errorf("with %s locked: %v", name, err)
			}
			l.ok(lock.release(l.Context()))
		}
	})
}
