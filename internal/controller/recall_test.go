package controller

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// denying has a policy that denies the job of a name.
func denying(name string) func(*Options) {
	return func(o *Options) {
		o.Check = func(p *planner.Plan) (diags hcl.Diagnostics, _ map[string]*hcl.File) {
			for _, row := range p.Rows {
				if row.Addr.String() == "job."+name {
					diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Denied", Detail: "No."})
				}
			}
			return diags, nil
		}
	}
}

// appliedBefore has a controller apply two jobs and go away.
func (l *lab) appliedBefore() {
	l.Helper()
	l.declare("a", "b")
	first := l.replica(l.keys())
	first.steps("revision", "leading", "applied +2 ~0 -0")
	l.ok(first.close(l.Context()))
}

// TestStartOnRejected starts a controller on a configuration that cannot be applied: it heals what the history has.
func TestStartOnRejected(t *testing.T) {
	for _, test := range []struct {
		name string
		bad  func(l *lab)
		told []string
	}{
		{"does not parse", func(l *lab) {
			l.write(fmt.Sprintf("workflow \"w\" {\n  namespace = %q\n}\njob \"a\" {", l.client.Namespace()))
		}, []string{"revision", "rejected", "leading", "recalled", "in_sync"}},
		{"does not validate", func(l *lab) { l.declare("a nope") }, []string{"revision", "rejected", "leading", "recalled", "in_sync"}},
		{"is denied", func(l *lab) { l.declare("a", "denied") }, []string{"revision", "leading", "rejected", "recalled", "in_sync"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t)
			l.appliedBefore()
			test.bad(l)
			r := l.replica(l.keys(), denying("denied"))
			r.steps(test.told...)
			r.steps()
			l.work()
			l.lose("b")
			r.steps("healed +1 ~0 -0")
			if err := r.Ready(time.Hour); err != nil {
				t.Errorf("not ready: %v", err)
			}
			r.steps("in_sync")
			r.steps()
			if n := len(l.history().Revisions); n != 1 {
				t.Errorf("there are %d revisions, want the one that is healed", n)
			}
			l.declare("a", "b", "c")
			r.steps("revision", "applied +1 ~0 -0")
			l.work()
			l.stands("a completed", "b completed", "c completed")
		})
	}
}

// TestNothingToRecall starts on a configuration that cannot be applied where the history has nothing to heal, or nothing that can be read.
func TestNothingToRecall(t *testing.T) {
	for _, test := range []struct {
		name  string
		key   string
		after func(l *lab)
	}{
		{"another key", "another secret of a test, long too", func(*lab) {}},
		{"no key", "", func(*lab) {}},
		{"no archive", "a secret of a test, long enough", func(l *lab) {
			l.ok(l.client.Redis().Del(l.Context(), l.client.Prefix()+"archives:w").Err())
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t)
			l.appliedBefore()
			test.after(l)
			l.declare("a nope")
			r := l.replica(func(o *Options) {
				if test.key != "" {
					o.Keyring = l.keyring(test.key)
				}
			})
			r.steps("revision", "rejected", "leading")
			l.work()
			l.lose("b")
			r.steps()
			if err := r.Ready(time.Hour); err == nil {
				t.Error("it is ready, with nothing that it heals")
			}
			if s := l.state(); s.Live["job.b"].Status == planner.Queued {
				t.Error("something was healed")
			}
		})
	}
}

// TestRecallAsksForSensitive has a configuration in the history that lacks what is sensitive until it is given again.
func TestRecallAsksForSensitive(t *testing.T) {
	l := newLab(t)
	l.declare("a", "b")
	write(t, filepath.Join(l.dir, "token.hcl"), "variable \"token\" {\n  sensitive = true\n  type      = string\n}\n")
	given := func(o *Options) {
		o.Load = func(dir string) (*config.Workflow, hcl.Diagnostics) {
			return config.Load(config.Options{Paths: []string{dir}, NeedVariables: true, Environ: []string{"WAYBILL_VAR_token=x"}})
		}
	}
	first := l.replica(l.keys(), given)
	first.steps("revision", "leading", "applied +2 ~0 -0")
	l.ok(first.close(t.Context()))
	l.declare("a nope")
	r := l.replica(l.keys(), given)
	r.steps("revision", "rejected", "leading")
	l.work()
	l.lose("b")
	r.steps()
	l.environ = []string{"WAYBILL_VAR_token=x"}
	r.steps("recalled", "healed +1 ~0 -0")
	l.stands("a completed", "b queued")
}

// TestDestroyedStaysSo heals nothing that was destroyed by hand.
func TestDestroyedStaysSo(t *testing.T) {
	l := newLab(t)
	l.declare("a", "b")
	first := l.replica(l.keys())
	first.steps("revision", "leading", "applied +2 ~0 -0")
	l.ok(first.close(t.Context()))
	w := first.newest.workflow
	o := planner.Options{Destroy: true}
	plan, diags := planner.Make(w, l.state(), o)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	_, err := applier.Apply(t.Context(), l.client, applier.Run{Plan: plan, Workflow: w, Options: o, Keyring: l.keyring("a secret of a test, long enough"), Detach: true})
	l.ok(err)
	l.declare("a nope")
	r := l.replica(l.keys())
	r.steps("revision", "rejected", "leading")
	l.stands()
}

// TestRolledBackIsHealed keeps what was rolled back to while the rollback stands, whichever controller leads.
func TestRolledBackIsHealed(t *testing.T) {
	l := newLab(t)
	l.declare("a", "b")
	r := l.replica(l.keys())
	r.steps("revision", "leading", "applied +2 ~0 -0")
	l.declare("a", "b", "c")
	r.steps("revision", "applied +1 ~0 -0")
	l.rollBack(1)
	r.steps("waiting", "recalled", "in_sync")
	r.steps()
	for range 3 {
		l.work()
		l.lose("b")
		r.steps("healed +1 ~0 -0")
		r.steps("in_sync")
	}
	l.ok(r.close(t.Context()))
	r = l.replica(l.keys())
	l.work()
	l.lose("a")
	r.steps("revision", "leading", "waiting", "recalled", "healed +1 ~0 -0")
	if h := l.history(); len(h.Revisions) != 3 {
		t.Errorf("history: %+v", h.Revisions)
	}
	l.declare("a nope") // the rollback stands all the same
	r.steps("revision", "rejected", "recalled", "in_sync")
	l.work()
	l.lose("a")
	r.steps("healed +1 ~0 -0")
	l.declare("a", "b", "d")
	r.steps("revision", "applied +1 ~0 -0")
	l.work()
	l.stands("a completed", "b completed", "d completed")
}
