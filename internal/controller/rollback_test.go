package controller

import (
	"fmt"
	"testing"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// keys give a replica the key that the lab's rollbacks use.
func (l *lab) keys() func(*Options) {
	return func(o *Options) { o.Keyring = l.keyring("a secret of a test, long enough") }
}

func (l *lab) keyring(secret string) *conveyor.Keyring {
	l.Helper()
	k, err := conveyor.NewKeyring(secret)
	l.ok(err)
	return k
}

func (l *lab) history() applier.History {
	l.Helper()
	h, err := applier.ReadHistory(l.Context(), l.client, "w")
	l.ok(err)
	return h
}

// rollBack applies the configuration of a revision again, as the command does.
func (l *lab) rollBack(to int64) {
	l.Helper()
	k := l.keyring("a secret of a test, long enough")
	r, err := l.history().Find(fmt.Sprint(to))
	l.ok(err)
	data, err := applier.ReadArchive(l.Context(), l.client, k, "w", r)
	l.ok(err)
	archive, err := config.OpenArchive(data)
	l.ok(err)
	w, diags := config.Load(config.Options{Archive: archive, Paths: []string{l.dir}, NeedVariables: true})
	if diags.HasErrors() {
		l.Fatal(diags)
	}
	plan, diags := planner.Make(w, l.state(), planner.Options{})
	if diags.HasErrors() {
		l.Fatal(diags)
	}
	_, err = applier.Apply(l.Context(), l.client, applier.Run{Plan: plan, Workflow: w, Keyring: k, Source: r.Source, Archive: data, Rollback: to,
		Operation: "rollback", Who: "me@host", Detach: true})
	l.ok(err)
}

// TestRollbackBeforeConsent has a plan that would destroy more than is allowed, of a revision that was rolled back.
func TestRollbackBeforeConsent(t *testing.T) {
	l := newLab(t)
	l.declare("a", "b")
	limit := func(o *Options) { o.MaxDestroy = Limit{N: 1} }
	r := l.replica(limit, l.keys())
	r.steps("revision", "leading", "applied +2 ~0 -0")
	l.declare("x")
	r.steps("revision", "consent -2", "in_sync")
	if ok, err := applier.Consent(t.Context(), l.client, "w", r.waiting, "me@host"); !ok || err != nil {
		t.Fatalf("consent is not taken: %v", err)
	}
	r.turns("applied +1 ~0 -2")
	l.rollBack(1)
	r.steps("waiting", "recalled", "in_sync")
	r.steps()
	if r.waiting != "" || r.figures.waiting {
		t.Errorf("it waits for consent to %q", r.waiting)
	}
	l.stands("a queued", "b queued")
	l.declare("x", "y")
	r.steps("revision", "consent -2", "recalled", "in_sync")
	l.stands("a queued", "b queued")
}
