package controller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/internal/redistest"
	"github.com/waybill-dev/waybill/planner"
)

// TestDriftIsHealed keeps the store equal to the files: what is deleted there comes back, what is changed here is changed there.
func TestDriftIsHealed(t *testing.T) {
	l := newLab(t)
	l.declare("a", "b a", "c")
	r := l.replica()
	r.steps("revision", "leading", "applied +3 ~0 -0")
	r.steps("in_sync")
	r.steps()
	l.stands("a queued", "b held", "c queued")
	l.work()
	r.steps()
	l.stands("a completed", "b completed", "c completed")

	l.lose("c")
	r.steps("healed +1 ~0 -0")
	r.steps("in_sync")
	l.ok(l.client.Redis().HDel(t.Context(), l.client.Prefix()+"state:w", "job.b").Err()) // with redis-cli
	r.steps("healed +1 ~0 -0")
	l.work()
	l.stands("a completed", "b completed", "c completed")

	l.declare("a", "b a", "c payload=2", "d")
	r.steps("revision", "applied +2 ~0 -1") // c runs again
	l.work()
	l.declare("a", "b a", "c payload=2", "d") // the same
	r.steps("in_sync")
	if h, err := applier.ReadHistory(t.Context(), l.client, "w"); err != nil || len(h.Revisions) != 4 || h.Revisions[0].Operation != "reconcile" ||
		h.Revisions[0].Source.Revision != r.newest.id {
		t.Errorf("history: %+v, error %v", h.Revisions, err)
	}
}

// TestLastGoodRevision goes on with the last good revision while the newest cannot be applied, and says so once.
func TestLastGoodRevision(t *testing.T) {
	for _, test := range []struct {
		name string
		bad  func(l *lab)
	}{
		{"does not parse", func(l *lab) { l.write("job \"a\" {") }},
		{"does not validate", func(l *lab) { l.declare("a nope") }},
		{"waits for itself", func(l *lab) { l.declare("a b", "b a") }},
		{"is denied", func(l *lab) { l.declare("a", "denied") }},
		{"is gone", func(l *lab) { remove(l.T, filepath.Join(l.dir, "main.hcl")) }},
		{"has lost its directory", func(l *lab) { remove(l.T, l.dir) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t)
			denying := func(o *Options) {
				o.Check = func(p *planner.Plan) (diags hcl.Diagnostics, _ map[string]*hcl.File) {
					for _, row := range p.Rows {
						if row.Addr.String() == "job.denied" {
							diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Denied", Detail: "No."})
						}
					}
					return diags, nil
				}
			}
			l.declare("a", "b")
			r := l.replica(denying)
			r.steps("revision", "leading", "applied +2 ~0 -0")
			l.work()
			r.steps("in_sync")
			test.bad(l)
			r.steps("revision", "rejected", "in_sync")
			r.steps()
			l.lose("b")
			r.steps("healed +1 ~0 -0")
			if err := r.Ready(time.Hour); err != nil {
				t.Errorf("not ready: %v", err)
			}
			r.steps("in_sync")
			l.declare("a", "b", "c")
			r.steps("revision", "applied +1 ~0 -0")
			r.steps("in_sync")
		})
	}
}

// TestNothingGood starts with a configuration that cannot be applied.
func TestNothingGood(t *testing.T) {
	l := newLab(t)
	l.write("job \"a\" {")
	r := l.replica()
	r.steps("revision", "rejected")
	r.steps()
	if err := r.Ready(time.Hour); err == nil {
		t.Error("it is ready without a configuration")
	}
	if err := r.Live(time.Hour); err != nil {
		t.Errorf("it counts as dead: %v", err)
	}
	l.declare("a")
	r.steps("revision", "leading", "applied +1 ~0 -0")
	if err := r.Ready(time.Hour); err != nil {
		t.Errorf("not ready: %v", err)
	}
}

// TestConsent lets nothing be destroyed beyond the limit until somebody consents to exactly that.
func TestConsent(t *testing.T) {
	l := newLab(t)
	l.declare("a", "b", "c", "d")
	limit := func(o *Options) { o.MaxDestroy = Limit{N: 2} }
	r := l.replica(limit)
	r.steps("revision", "leading", "applied +4 ~0 -0")
	consents := func(name string) bool {
		t.Helper()
		ok, err := applier.Consent(t.Context(), l.client, "w", name, "me@host")
		l.ok(err)
		return ok
	}
	if consents("anything") {
		t.Error("consent to a plan that does not wait")
	}
	l.work()
	l.declare("a")
	r.steps("revision", "consent -3", "in_sync")
	r.steps()
	l.stands("a completed", "b completed", "c completed", "d completed")
	l.lose("a")
	r.steps("healed +1 ~0 -0") // of the revision before
	r.steps("in_sync")
	if consents(r.waiting[1:] + "0") {
		t.Error("consent to another plan")
	}

	other := l.replica(limit) // somebody else takes over: the question stands
	l.ok(r.lease.Release(t.Context()))
	r.lease = nil
	other.steps("revision", "leading", "consent -3")
	if other.waiting != r.waiting {
		t.Errorf("the other replica asks for %s, want %s", other.waiting, r.waiting)
	}
	if !consents(other.waiting) {
		t.Error("consent is not taken")
	}
	other.turns("applied +0 ~0 -3") // at once, since nothing else is due
	l.work()
	l.stands("a completed")
	if m, err := applier.ReadMemory(t.Context(), l.client, "w"); err != nil || m.Waiting.Name != "" || m.Consent.Name != "" {
		t.Errorf("memory: %+v, error %v", m, err)
	}
}

// TestConsentOutlivesFailure: a destruction that was consented to is ended without another consent when the store went away in the
// middle of it. What nobody consented to is asked for.
func TestConsentOutlivesFailure(t *testing.T) {
	l := newLab(t)
	many := []string{"a"}
	for n := range 300 { // two batches
		many = append(many, fmt.Sprintf("b%03d", n))
	}
	l.declare(many...)
	fails := &failing{after: func() bool { return len(l.state().Records) < len(many) }}
	r := l.replica(func(o *Options) {
		o.MaxDestroy = Limit{N: 50}
		o.Open = func(_ context.Context, w *config.Workflow) (*Store, error) {
			c := l.connect(w.Namespace)
			c.Redis().(*redis.Client).AddHook(fails)
			return &Store{Client: c, Name: "redis", Close: func() error { return nil }}, nil
		}
	})
	r.steps("revision", "leading", "applied +301 ~0 -0")
	l.declare("a")
	r.steps("revision", "consent -300", "in_sync")
	ok, err := applier.Consent(t.Context(), l.client, "w", r.waiting, "me@host")
	l.ok(err)
	if !ok {
		t.Fatal("consent is not taken")
	}
	fails.armed.Store(true)
	r.steps("applied +0 ~0 -200", "failed")
	if n := len(l.state().Records); n != 101 {
		t.Fatalf("%d records are left, want 101", n)
	}
	fails.armed.Store(false)
	r.steps("applied +0 ~0 -100")
	l.stands("a queued")
	r.steps("in_sync")
	l.declare(many...)
	r.steps("revision", "applied +300 ~0 -0")
	l.declare("a")
	r.steps("revision", "consent -300", "in_sync") // other submissions, and another destruction
}

// failing is a hook that, once it is armed, lets no batch through after something is so.
type failing struct {
	armed atomic.Bool
	after func() bool
}

func (f *failing) DialHook(next redis.DialHook) redis.DialHook { return next }

func (f *failing) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (f *failing) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if f.armed.Load() && redistest.IsScript(cmd) && slices.ContainsFunc(cmd.Args(), func(a any) bool { return fmt.Sprint(a) == "lock:w" }) && f.after() {
			return errors.New("the store is out of order")
		}
		return next(ctx, cmd)
	}
}

// TestFailedIsLeftAlone leaves a job that failed alone until what is declared of it changes.
func TestFailedIsLeftAlone(t *testing.T) {
	l := newLab(t)
	l.declare("a", "b a", "c")
	r := l.replica()
	r.steps("revision", "leading", "applied +3 ~0 -0")
	l.work("a")
	l.stands("a failed", "b skipped", "c completed")
	r.steps("kept job.a", "in_sync")
	l.move(24 * time.Hour)
	r.steps()
	l.lose("c")
	r.steps("healed +1 ~0 -0")
	l.stands("a failed", "b skipped", "c queued")
	l.declare("a payload=2", "b a", "c")
	r.steps("revision", "applied +2 ~0 -2")
	if diff := cmp.Diff([]string{"c", "a", "b"}, l.work()); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
	l.stands("a completed", "b completed", "c completed")
}

// TestFailedIsRetried runs a job again that failed, later each time, also when another replica leads by then.
func TestFailedIsRetried(t *testing.T) {
	l := newLab(t)
	l.declare("a", "b a")
	retrying := func(o *Options) { o.RetryFailed = true }
	r := l.replica(retrying)
	r.steps("revision", "leading", "applied +2 ~0 -0")
	for n := range 8 {
		l.work("a")
		r.steps("kept job.a", "in_sync")
		wait := min(time.Minute<<n, time.Hour)
		l.move(wait - time.Millisecond)
		r.steps()
		l.ok(r.lease.Release(t.Context()))
		r.lease = nil
		r = l.replica(retrying)
		r.steps("revision", "leading", "kept job.a", "in_sync")
		l.stands("a failed", "b skipped")
		l.move(time.Millisecond)
		r.steps("retried job.a", "applied +2 ~0 -2")
		l.stands("a queued", "b held")
	}
	l.work()
	r.steps("in_sync")
	if m, err := applier.ReadMemory(t.Context(), l.client, "w"); err != nil || len(m.Notes) > 0 {
		t.Errorf("notes of a job that ended well: %v, error %v", m.Notes, err)
	}
}

// TestRetriesGivenUp: what one controller was going to retry, the next one, which retries nothing, does not remember.
func TestRetriesGivenUp(t *testing.T) {
	l := newLab(t)
	l.declare("a")
	r := l.replica(func(o *Options) { o.RetryFailed = true })
	r.steps("revision", "leading", "applied +1 ~0 -0")
	l.work("a")
	r.steps("kept job.a", "in_sync")
	row := &planner.Row{Addr: l.workflow().Jobs[0].Addr, Prior: l.state().Records["job.a"], Live: l.state().Live["job.a"]}
	retried := func() (time.Time, int, bool) {
		t.Helper()
		m, err := applier.ReadMemory(t.Context(), l.client, "w")
		l.ok(err)
		return RetryOf(m.Notes, row)
	}
	if at, before, ok := retried(); !ok || before != 0 || !at.Equal(l.now.Add(time.Minute)) {
		t.Errorf("retried at %s, after %d times, %t", at, before, ok)
	}
	another := *row
	another.Live.Fence++
	m, err := applier.ReadMemory(t.Context(), l.client, "w")
	l.ok(err)
	if _, _, ok := RetryOf(m.Notes, &another); ok {
		t.Error("what is noted of one end is told of another")
	}
	l.ok(r.lease.Release(t.Context()))
	r.lease = nil
	r = l.replica()
	r.steps("revision", "leading", "kept job.a", "in_sync")
	if _, _, ok := retried(); ok {
		t.Error("the retry is remembered by a controller that retries nothing")
	}
}

// TestRetriesCarried gives a workflow another name while a failed job waits to be retried: it is retried when it would have been.
func TestRetriesCarried(t *testing.T) {
	l := newLab(t)
	l.declare("a")
	r := l.replica(func(o *Options) { o.RetryFailed = true })
	r.steps("revision", "leading", "applied +1 ~0 -0")
	l.work("a")
	r.steps("kept job.a", "in_sync")
	l.move(time.Minute)
	r.steps("retried job.a", "applied +1 ~0 -1")
	l.work("a")
	r.steps("kept job.a", "in_sync") // for two minutes
	l.move(time.Minute)
	text, err := os.ReadFile(filepath.Join(l.dir, "main.hcl"))
	l.ok(err)
	l.write(strings.Replace(string(text), "workflow \"w\" {", "workflow \"v\" {\n  moved_from = \"w\"", 1))
	r.steps("revision", "leading")
	r.steps("in_sync")
	l.move(time.Minute - time.Millisecond)
	r.steps()
	l.move(time.Millisecond)
	r.steps("retried job.a", "applied +1 ~0 -1")
	if n, err := l.client.Redis().Exists(t.Context(), l.client.Prefix()+"controller:w").Result(); n != 0 || err != nil {
		t.Errorf("the controller of the former name is still remembered, error %v", err)
	}
}

// TestOneOfTwoLeads lets one replica die and another be silent for too long.
func TestOneOfTwoLeads(t *testing.T) {
	l := newLab(t)
	l.declare("a")
	one, two := l.replica(), l.replica()
	one.steps("revision", "leading", "applied +1 ~0 -0")
	two.steps("revision", "standby")
	two.steps()
	if err := two.Ready(time.Hour); err != nil {
		t.Errorf("a standby is not ready: %v", err)
	}
	l.declare("a", "b")
	two.steps("revision")
	l.stands("a queued")
	l.move(2 * applier.LeaderLease) // the other one was silent
	two.steps("leading", "applied +1 ~0 -0")
	l.work()
	<-one.lease.Held().Done()
	one.steps("revision", "standby")
	l.write("job {")
	one.steps("revision", "rejected")
	l.ok(two.close(t.Context()))
	l.lose("a")
	one.steps("leading", "applied +1 ~0 -0") // a standby knows the last good revision, too
}

// TestLeaseLostMeanwhile takes the lease from a leader between its plan and its first write.
func TestLeaseLostMeanwhile(t *testing.T) {
	l := newLab(t)
	l.declare("a")
	var r *replica
	r = l.replica(func(o *Options) {
		o.Check = func(*planner.Plan) (hcl.Diagnostics, map[string]*hcl.File) {
			l.move(2 * applier.LeaderLease)
			_, holder, err := applier.NewCandidate(l.client, "w", "other@host").Lead(context.Background())
			if err != nil || holder != nil {
				t.Errorf("the lease cannot be taken: %v, %v", holder, err)
			}
			<-r.lease.Held().Done()
			return nil, nil
		}
	})
	r.steps("revision", "leading")
	r.steps("standby")
	l.stands()
}

// TestLocked waits for somebody's apply.
func TestLocked(t *testing.T) {
	l := newLab(t)
	l.declare("a")
	lock := l.client.Prefix() + "lock:w"
	l.ok(l.client.Redis().HSet(t.Context(), lock, "token", "x", "who", "me@host", "operation", "apply", "since", "1",
		"expires", fmt.Sprint(l.now.Add(time.Minute).UnixMilli()), "fence", "7").Err())
	r := l.replica()
	r.steps("revision", "leading", "waiting")
	r.steps()
	l.ok(l.client.Redis().HDel(t.Context(), lock, "token").Err())
	r.steps("applied +1 ~0 -0")
}

// TestFailuresAreRepeated has a store that cannot be opened, and one that does not answer.
func TestFailuresAreRepeated(t *testing.T) {
	l := newLab(t)
	l.declare("a")
	broken := errors.New("no route to host")
	r := l.replica(func(o *Options) {
		open := o.Open
		o.Open = func(ctx context.Context, w *config.Workflow) (*Store, error) {
			if broken != nil {
				return nil, broken
			}
			return open(ctx, w)
		}
	})
	r.steps("revision", "failed")
	r.steps("failed")
	if r.failures != 2 || !strings.Contains(fmt.Sprint(r.Ready(time.Hour)), "no route to host") {
		t.Errorf("%d failures; ready: %v", r.failures, r.Ready(time.Hour))
	}
	r.turns() // it is not due
	l.declare("a", "b")
	r.steps("revision", "failed")
	if r.failures != 1 {
		t.Errorf("%d failures of a new revision, want 1", r.failures)
	}
	broken = nil
	r.steps("leading", "applied +2 ~0 -0")
	if r.failures != 0 || r.Ready(time.Hour) != nil {
		t.Errorf("%d failures; ready: %v", r.failures, r.Ready(time.Hour))
	}
}

// TestKeptIsSaidOnce has a job that failed, and which the newest revision lacks, while that one's plan waits for consent.
func TestKeptIsSaidOnce(t *testing.T) {
	l := newLab(t)
	l.declare("a", "b", "c", "d")
	r := l.replica(func(o *Options) { o.MaxDestroy = Limit{N: 1} })
	r.steps("revision", "leading", "applied +4 ~0 -0")
	l.work("c", "d")
	r.steps("kept job.c", "kept job.d", "in_sync")
	l.declare("a", "c")
	r.steps("revision", "consent -2", "in_sync")
	r.steps()
	r.steps()
	l.lose("a")
	r.steps("healed +1 ~0 -0")
	r.steps("in_sync")
	l.ok(l.client.Retry(t.Context(), l.state().Records["job.c"].UUID.String()))
	l.work("c")
	r.steps("kept job.c")
	r.steps()
}
