package applier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// viewer is an observer that hands what it sees to the test, which drives the jobs meanwhile.
type viewer struct {
	events chan Event
}

func newViewer() *viewer { return &viewer{events: make(chan Event, 10000)} }

func (v *viewer) Observe(e Event) { v.events <- e }

// until reads events up to the first that matches.
func (v *viewer) until(t *testing.T, what string, match func(Event) bool) Event {
	t.Helper()
	for {
		select {
		case e := <-v.events:
			if match(e) {
				return e
			}
			if d, ok := e.(Done); ok {
				t.Fatalf("done before %s: %+v, %v", what, d.Result, d.Err)
			}
		case <-t.Context().Done():
			t.Fatalf("no %s", what)
		}
	}
}

func (v *viewer) untilState(t *testing.T, name string, s conveyor.State) JobChanged {
	t.Helper()
	return v.until(t, fmt.Sprintf("job.%s being %s", name, s), func(e Event) bool {
		c, ok := e.(JobChanged)
		return ok && c.Addr.String() == "job."+name && c.Status.State == s
	}).(JobChanged)
}

func isFollowing(e Event) bool { _, ok := e.(Following); return ok }

// ended is how an apply or a follow ended.
type ended struct {
	result Result
	err    error
}

// following applies and follows in the background.
func (l *lab) following(ctx context.Context, v *viewer) <-chan ended {
	l.run.Detach, l.run.Observer = false, v
	plan := l.plan()
	done := make(chan ended, 1)
	go func() {
		r, err := l.carryOut(ctx, plan)
		done <- ended{r, err}
	}()
	return done
}

// TestFollow sees jobs run, fail and be skipped, and returns when all is settled.
func TestFollow(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("good"), l.job("bad"), l.job("below", l.after("bad")), l.job("child", l.under("good")))
		v := newViewer()
		done := l.following(l.Context(), v)
		f := v.until(l.T, "following", isFollowing).(Following)
		var lines []string
		for _, j := range f.Jobs {
			lines = append(lines, fmt.Sprintf("%s %d %s %s %s", j.Addr, j.Depth, j.Type, j.Queue, j.Status.State))
		}
		want := []string{"job.bad 0 noop q unknown", "job.below 1 noop q unknown", "job.good 0 noop q unknown", "job.child 1 noop q unknown"}
		if diff := cmp.Diff(want, lines); diff != "" {
			l.Errorf("followed (-want +got):\n%s", diff)
		}
		for _, name := range []string{"below", "child"} { // an apply is told from its own first batch on
			v.untilState(l.T, name, conveyor.StateHeld)
		}

		running := l.start(2)
		v.untilState(l.T, "good", conveyor.StateRunning)
		bad := slices.IndexFunc(running, func(r conveyor.Reservation) bool { return r.Job.Name == "job.bad" })
		for i := range 30 {
			l.ok(l.AppendLog(l.Context(), running[bad].Job.Uuid, running[bad].Fence, int64(i+1), fmt.Appendf(nil, "line %d\n", i)))
		}
		l.number++
		_, err := l.Exchange(l.Context(), conveyor.ExchangeRequest{Caller: "lab", Number: l.number, Done: []conveyor.Ack{
			{UUID: running[bad].Job.Uuid, Fence: running[bad].Fence, Verdict: conveyor.VerdictFailed, Failure: "exit status 3"}}})
		l.ok(err)
		failed := v.untilState(l.T, "bad", conveyor.StateFailed)
		var tail []string
		for i := 20; i < 30; i++ {
			tail = append(tail, fmt.Sprintf("line %d", i))
		}
		if failed.Failure != "exit status 3" {
			l.Errorf("failure is %q", failed.Failure)
		}
		if diff := cmp.Diff(tail, failed.LogTail); diff != "" {
			l.Errorf("log tail (-want +got):\n%s", diff)
		}
		l.end(conveyor.VerdictDone, running[1-bad])
		l.work()
		got := <-done
		l.ok(got.err)
		if got.result.Added != 4 || got.result.Detached || got.result.Interrupted {
			l.Errorf("result is %+v", got.result)
		}
		if len(got.result.Bad) != 1 || got.result.Bad[0].Addr.Name != "bad" {
			l.Errorf("bad are %+v, want job.bad alone", got.result.Bad)
		}
		last := v.until(l.T, "done", func(e Event) bool { _, ok := e.(Done); return ok }).(Done)
		if diff := cmp.Diff(got.result, last.Result); diff != "" {
			l.Errorf("the last event differs (-returned +told):\n%s", diff)
		}
	})
}

// TestFollowReturns at once where only the clock could change anything.
func TestFollowReturns(t *testing.T) {
	tests := map[string]func(l *lab) []*config.Job{
		"waits for its time": func(l *lab) []*config.Job {
			at := func(j *config.Job) { j.RunAt = config.RunAt{Set: true, Time: time.Now().Add(time.Hour)} }
			return []*config.Job{l.job("a", at), l.job("b", l.after("a")), l.job("c", l.after("b"))}
		},
		"waits for an hour": func(l *lab) []*config.Job {
			return []*config.Job{l.job("a", func(j *config.Job) { j.RunAt = config.RunAt{Set: true, After: time.Hour} })}
		},
		"no jobs": func(*lab) []*config.Job { return nil },
	}
	for name, jobs := range tests {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(l *lab) {
				l.declare(jobs(l)...)
				l.run.Detach = false
				if r := l.apply(); len(r.Bad) > 0 || r.Interrupted {
					l.Errorf("result is %+v", r)
				}
				// Nothing to change, and still nothing to wait for.
				if r := l.apply(); r.Added+r.Changed+r.Destroyed+len(r.Bad) > 0 {
					l.Errorf("the second result is %+v", r)
				}
			})
		})
	}
}

// TestFollowInterrupted leaves: the jobs go on, and the next apply, which has nothing to change, follows them to their end.
func TestFollowInterrupted(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		ctx, cancel := context.WithCancel(l.Context())
		v := newViewer()
		done := l.following(ctx, v)
		v.until(l.T, "following", isFollowing)
		cancel()
		got := <-done
		if got.err != nil || !got.result.Interrupted || got.result.Added != 1 {
			l.Errorf("ended with %+v, %v", got.result, got.err)
		}
		v = newViewer()
		done = l.following(l.Context(), v)
		v.until(l.T, "following", isFollowing)
		l.work()
		if got := <-done; got.err != nil || got.result.Interrupted || got.result.Added != 0 {
			l.Errorf("the next ended with %+v, %v", got.result, got.err)
		}
	})
}

// TestFollowForgetsDeposed follows a destroy until the job that runs has stopped, and forgets it then.
func TestFollowForgetsDeposed(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b", l.after("a")))
		l.apply()
		running := l.start(1)
		l.run.Options.Destroy = true
		v := newViewer()
		done := l.following(l.Context(), v)
		f := v.until(l.T, "following", isFollowing).(Following)
		if len(f.Jobs) != 1 {
			l.Errorf("follows %+v, want job.a", f.Jobs)
		}
		if told := v.untilState(l.T, "a", conveyor.StateRunning); !told.Status.CancelRequested {
			l.Errorf("job.a is %+v, want it told to stop", told.Status)
		}
		l.end(conveyor.VerdictDone, running...)
		got := <-done
		l.ok(got.err)
		if got.result.Destroyed != 2 || len(got.result.Bad) > 0 {
			l.Errorf("result is %+v, want 2 destroyed and none bad", got.result)
		}
		if n := len(l.state().Records); n > 0 {
			l.Errorf("%d records are left", n)
		}
	})
}

// TestFollowOthersApply keeps following when another apply changes the workflow: by then the new jobs.
func TestFollowOthersApply(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		v := newViewer()
		done := l.following(l.Context(), v)
		v.until(l.T, "following", isFollowing)
		other := l.another()
		other.run.Detach, other.run.Observer = true, nil
		other.declare(l.job("a"), l.job("b", l.after("a")))
		other.apply()
		f := v.until(l.T, "following again", isFollowing).(Following)
		if len(f.Jobs) != 2 {
			l.Errorf("follows %+v, want two jobs", f.Jobs)
		}
		l.work()
		if got := <-done; got.err != nil || got.result.Added != 1 {
			l.Errorf("ended with %+v, %v", got.result, got.err)
		}
	})
}

// TestFollowGap cuts the event log under a follower that has not read it: it goes on from new statuses.
func TestFollowGap(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b"))
		l.apply()
		v := newViewer()
		mail := newMailbox(v)
		f := &follower{client: l.Client, workflow: "w", mail: mail, warned: map[Warning]bool{}, began: time.Now()}
		l.ok(f.load(l.Context()))
		l.work()
		l.ok(l.Redis().XTrimMaxLen(l.Context(), l.Prefix()+"events", 1).Err())
		for !f.jobs.settled() {
			l.ok(f.step(l.Context()))
		}
		mail.post(Done{})
		mail.close()
		v.untilState(l.T, "a", conveyor.StateCompleted)
	})
}

// TestStillRunning is told of a running job when ten seconds have passed since it was last told of.
func TestStillRunning(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		l.apply()
		running := l.start(1)
		v := newViewer()
		mail := newMailbox(v)
		f := &follower{client: l.Client, workflow: "w", mail: mail, warned: map[Warning]bool{}, began: time.Now()}
		l.ok(f.load(l.Context()))
		l.ok(f.turns(l.Context()))
		f.jobs.order[0].stillAt = time.Now().Add(-stillEvery)
		f.turnedAt = time.Time{}
		l.ok(f.turns(l.Context()))
		mail.post(Warning{Summary: "end of the test"})
		mail.close()
		still := 0
		v.until(l.T, "the end", func(e Event) bool {
			if s, ok := e.(StillRunning); ok && s.Addr.Name == "a" && s.Elapsed >= 0 {
				still++
			}
			_, ok := e.(Warning)
			return ok
		})
		if still != 1 {
			l.Errorf("told %d times, want once", still)
		}
		l.end(conveyor.VerdictDone, running...)
	})
}

// TestWatch is Follow on a workflow that somebody else applied, and on none.
func TestWatch(t *testing.T) {
	onBoth(t, func(l *lab) {
		if r, err := Follow(l.Context(), l.Client, "w", FollowOptions{}, nil); err != nil || r.Interrupted {
			l.Errorf("of nothing: %+v, %v", r, err)
		}
		l.declare(l.job("a"))
		l.apply()
		l.end(conveyor.VerdictFailed, l.start(1)...)
		v := newViewer()
		r, err := Follow(l.Context(), l.Client, "w", FollowOptions{}, v)
		l.ok(err)
		if len(r.Bad) != 1 {
			l.Errorf("result is %+v, want a bad job", r)
		}
		v.untilState(l.T, "a", conveyor.StateFailed)
	})
}

func TestUnserved(t *testing.T) {
	onBoth(t, func(l *lab) {
		beat := func(id string, queues, types, keys []string, secrets ...string) {
			_, err := l.Beat(l.Context(), conveyor.WorkerInfo{ID: id, Queues: queues, Types: types, KeyIDs: keys, Secrets: secrets, Capacity: 1})
			l.ok(err)
		}
		beat("w1", []string{"served", "paused"}, []string{"noop", "exec"}, []string{"k1"}, "env:DB_*", "file:/run/*")
		beat("w2", []string{"served"}, []string{"shop.Load"}, nil, "env:ROOT")
		l.ok(l.SetQueue(l.Context(), "paused", conveyor.QueueSettings{Paused: true}))
		tests := map[string]struct {
			need Need
			want string
		}{
			"served":             {Need{"served", "exec", "k1", "", "", false}, ""},
			"served by another":  {Need{"served", "shop.Load", "", "", "", false}, ""},
			"no such queue":      {Need{"lost", "noop", "", "", "", false}, `No worker serves queue "lost"`},
			"no such type":       {Need{"served", "shop.Sell", "", "", "", false}, `No worker of queue "served" handles type "shop.Sell"`},
			"type on other only": {Need{"paused", "shop.Load", "", "", "", false}, `No worker of queue "paused" handles type "shop.Load"`},
			"another key":        {Need{"served", "exec", "k2", "", "", false}, `No worker of queue "served" holds key k2`},
			"key without type":   {Need{"served", "shop.Load", "k1", "", "", false}, `No worker of queue "served" holds key k1`},
			"secret":             {Need{"served", "exec", "k1", "env:DB_PASSWORD", "", false}, ""},
			"another secret":     {Need{"served", "exec", "k1", "env:ROOT", "", false}, `No worker of queue "served" gives the secret env:ROOT`},
			"secret without key": {Need{"served", "exec", "k2", "env:DB_PASSWORD", "", false}, `No worker of queue "served" holds key k2`},
			"delivered":          {Need{"paused", "other", "k3", "", "w2", false}, ""},
			"nobody to get it":   {Need{"served", "exec", "", "", "w9", false}, `Worker "w9" is not there`},
			"paused":             {Need{"paused", "noop", "", "", "", false}, `Queue "paused" is paused`},
			"started":            {Need{"paused", "noop", "", "", "", true}, ""},
			"started by another": {Need{"served", "shop.Sell", "", "", "", true}, `No worker of queue "served" handles type "shop.Sell"`},
		}
		for name, test := range tests {
			warnings, err := Unserved(l.Context(), l.Client, []Need{test.need, test.need})
			l.ok(err)
			var got []string
			for _, w := range warnings {
				got = append(got, w.Summary)
				if w.Detail == "" {
					l.Errorf("%s: no detail", name)
				}
			}
			if strings.Join(got, "; ") != test.want {
				l.Errorf("%s: %q, want %q", name, got, test.want)
			}
		}
	})
}

// TestDetachedWarns tells at once what nobody will run.
func TestDetachedWarns(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		v := newViewer()
		l.run.Observer = v
		l.apply()
		w := v.until(l.T, "warning", func(e Event) bool { _, ok := e.(Warning); return ok }).(Warning)
		if !strings.Contains(w.Summary, `queue "q"`) {
			l.Errorf("warned of %q", w.Summary)
		}
		l.work()
	})
}

func TestApplyRefusesIncompleteRun(t *testing.T) {
	t.Parallel()
	_, err := Apply(t.Context(), nil, Run{})
	for _, part := range []string{"Plan", "Workflow"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want an error that names %s", err, part)
		}
	}
	if errors.Is(err, context.Canceled) {
		t.Error("it is taken for a cancellation")
	}
}

// TestFollowWarns tells once what keeps a job waiting, and once of a job outside the workflow that is not there.
func TestFollowWarns(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b", func(j *config.Job) {
			j.Predecessors = []config.Predecessor{{UUIDs: []string{"11111111-1111-1111-1111-111111111111"}}}
		}))
		l.apply()
		v := newViewer()
		mail := newMailbox(v)
		f := &follower{client: l.Client, workflow: "w", mail: mail, warned: map[Warning]bool{}, began: time.Now().Add(-unservedGrace)}
		l.ok(f.load(l.Context()))
		for range 3 {
			f.turnedAt, f.upkeepAt = time.Time{}, time.Time{}
			l.ok(f.turns(l.Context()))
		}
		mail.post(Done{})
		mail.close()
		var got []string
		v.until(l.T, "the end", func(e Event) bool {
			if w, ok := e.(Warning); ok {
				got = append(got, w.Summary)
			}
			_, ok := e.(Done)
			return ok
		})
		want := []string{`No worker serves queue "q"`, "job.b waits for a job that does not exist"}
		if diff := cmp.Diff(want, got); diff != "" {
			l.Errorf("warned (-want +got):\n%s", diff)
		}
		l.destroy()
	})
}

// TestRetold has warnings come, stay, go and come again: each is told when it comes and when it is over.
func TestRetold(t *testing.T) {
	t.Parallel()
	a, b := Warning{Summary: "a"}, Warning{Summary: "b"}
	told := map[Warning]bool{}
	for _, turn := range []struct {
		name string
		are  []Warning
		want []Event
	}{
		{"none", nil, nil},
		{"one comes, said twice", []Warning{a, a}, []Event{a}},
		{"it stays, another comes", []Warning{a, b}, []Event{b}},
		{"the first is over", []Warning{b}, []Event{WarningOver{a}}},
		{"it comes again, the other is over", []Warning{a}, []Event{a, WarningOver{b}}},
		{"all is well", nil, []Event{WarningOver{a}}},
		{"still", nil, nil},
	} {
		var got []Event
		told = retold(told, turn.are, func(e Event) { got = append(got, e) })
		if diff := cmp.Diff(turn.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", turn.name, diff)
		}
	}
}

// TestFollowThroughOutage kills the server under a follower and starts it again: it goes on.
func TestFollowThroughOutage(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	l := &lab{T: t, Client: newClient(t, server.Client(t)), run: Run{Detach: true}}
	l.declare(l.job("a"))
	l.apply()
	v := newViewer()
	done := make(chan ended, 1)
	go func() {
		r, err := Follow(l.Context(), l.Client, "w", FollowOptions{}, v)
		done <- ended{r, err}
	}()
	v.until(t, "following", isFollowing)
	server.Kill()
	server.Restart(t)
	l.work()
	if got := <-done; got.err != nil || len(got.result.Bad) > 0 {
		t.Errorf("ended with %+v, %v", got.result, got.err)
	}
}
