package applier

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// TestEndsOfDeclaredJobs: what is declared stays known as finished after its payload and logs were removed, and one that
// expired runs again with the next apply.
func TestEndsOfDeclaredJobs(t *testing.T) {
	onBoth(t, func(l *lab) {
		clock := int64(1_800_000_000_000)
		pass := func(d time.Duration) {
			l.Helper()
			clock += d.Milliseconds()
			setClock(l.T, l.Client, clock)
			for {
				reply, err := l.Tick(l.Context())
				l.ok(err)
				if !reply.More {
					return
				}
			}
		}
		pass(0)
		l.declare(
			l.job("soon", func(j *config.Job) { j.RemoveAfter = time.Minute }),
			l.job("late", func(j *config.Job) { j.Retention = 20 * time.Minute }, l.after("slow")),
			l.job("slow"), l.job("heir", l.after("late")),
		)
		l.workflow.Queues = []*config.Queue{{Name: "q", KeepFor: time.Second}}
		l.apply()
		started := l.start(2)
		for _, r := range started {
			if r.Job.Name == "job.soon" {
				l.end(conveyor.VerdictDone, r)
			}
		}
		pass(40 * time.Minute)
		if diff := cmp.Diff("completed running expired skipped", l.live("soon")+" "+l.live("slow")+" "+l.live("late")+" "+l.live("heir")); diff != "" {
			l.Errorf("after a while (-want +got):\n%s", diff)
		}
		got := map[string]string{}
		for _, r := range changes(l.plan()) {
			got[r.Addr.Name] = r.Action.String() + " " + string(r.Reason)
		}
		if diff := cmp.Diff(map[string]string{"late": "replace expired", "heir": "replace upstream_runs_again"}, got); diff != "" {
			l.Errorf("the next plan (-want +got):\n%s", diff)
		}
		for _, r := range started {
			if r.Job.Name == "job.slow" {
				l.end(conveyor.VerdictDone, r)
			}
		}
		l.apply()
		if diff := cmp.Diff([]string{"late", "heir"}, l.work()); diff != "" {
			l.Errorf("runs (-want +got):\n%s", diff)
		}
		pass(30 * 24 * time.Hour)
		l.noChanges()
		l.destroy()
		pass(30 * 24 * time.Hour)
		if s := l.state(); len(s.Records) > 0 {
			l.Errorf("%d records are left", len(s.Records))
		}
	})
}

// TestLimitsInPlace edits what waits, runs and has ended: none of it runs again, and the engine follows.
func TestLimitsInPlace(t *testing.T) {
	onBoth(t, func(l *lab) {
		limits := func(change bool) func(*config.Job) {
			return func(j *config.Job) {
				if change {
					j.Unique, j.Labels = j.Addr.Name, map[string]string{"team": "sales"}
					j.RemoveAfter, j.Retention = time.Hour, 24*time.Hour
				}
			}
		}
		declare := func(change bool) {
			l.declare(l.job("done", limits(change)), l.job("runs", limits(change)), l.job("waits", limits(change)))
		}
		declare(false)
		l.apply()
		l.end(conveyor.VerdictDone, l.start(1)...)
		running := l.start(1)
		for _, change := range []bool{true, false} {
			declare(change)
			got := map[string]planner.Action{}
			for _, r := range changes(l.plan()) {
				got[r.Addr.Name] = r.Action
			}
			want := map[string]planner.Action{"done": planner.Rerecord, "runs": planner.Update, "waits": planner.Update}
			if diff := cmp.Diff(want, got); diff != "" {
				l.Errorf("plan (-want +got):\n%s", diff)
			}
			l.apply()
			l.noChanges()
			for _, name := range []string{"runs", "waits"} {
				s, err := l.Statuses(l.Context(), []string{l.record(name).UUID.String()})
				l.ok(err)
				key, keep := "", time.Duration(0)
				if change {
					key, keep = "noop:"+name, time.Hour
				}
				if s[0].Unique != key || s[0].RemoveAfter != keep || s[0].ExpiresAt.IsZero() == (change && name == "waits") {
					l.Errorf("%s follows as %+v", name, s[0])
				}
			}
		}
		l.end(conveyor.VerdictDone, running...)
		l.work()
		l.noChanges()
	})
}
