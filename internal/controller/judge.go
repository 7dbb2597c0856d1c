package controller

import (
	"context"
	"maps"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/planner"
)

// judge says whether plans of one round may be applied: the first one, and those that take its place under the lock.
type judge struct {
	l         *Loop
	reading   *reading
	consented string // name of the destruction that somebody has consented to; "" for none
	asks      bool   // for consent

	allowed map[string]bool // ends of jobs that were consented to; nil for none
}

// begun is a destruction that was consented to, until the revision is applied completely: if the store goes away in the middle of it,
// what is left goes without another consent.
type begun struct {
	of   string          // the revision
	ends map[string]bool // ends of jobs, as in judge
}

// judge fails with a *refusal for a plan that must not be applied.
func (j *judge) judge(ctx context.Context, plan *planner.Plan) error {
	if check := j.l.o.Check; check != nil {
		diags, files := check(plan)
		all := map[string]*hcl.File{}
		maps.Copy(all, j.reading.workflow.Sources)
		maps.Copy(all, files)
		if diags.HasErrors() {
			return &refusal{why: "a policy denies it", diags: diags, files: all}
		}
		for _, d := range diags {
			j.l.warn(Event{Text: "a policy warns of the plan", Revision: j.reading.source(), Diags: hcl.Diagnostics{d}, Files: all}, "policy "+j.reading.id+" "+d.Error())
		}
	}
	d := destroys(plan)
	name := d.name(j.l.site.workflow, j.reading.id)
	switch {
	case !j.l.o.MaxDestroy.exceeded(d) || j.covers(d):
		return nil
	case name == j.consented:
		j.allowed = map[string]bool{}
		for _, r := range d.rows {
			j.allowed[r.Addr.String()+" "+r.Prior.UUID.String()] = true
		}
		j.l.begun = begun{j.reading.id, j.allowed}
		return nil
	}
	text := d.text()
	refused := &refusal{why: "it would destroy " + text + ", and -max-destroy allows " + j.l.o.MaxDestroy.String()}
	if !j.asks {
		return refused
	}
	if err := j.l.lease.Ask(ctx, applier.Waiting{Name: name, Text: text}); err != nil {
		return err
	}
	j.l.waiting = name
	added, changed, destroyed := plan.Summary()
	j.l.figures.waits(true)
	j.l.once(KindConsent, Event{Plan: name, Added: added, Changed: changed, Destroyed: destroyed, Revision: j.reading.source(),
		Text: "the plan waits for consent: " + refused.why}, name)
	return refused
}

// covers tells whether a plan that took the place of one which was consented to destroys nothing else.
func (j *judge) covers(d destruction) bool {
	for _, r := range d.rows {
		if !j.allowed[r.Addr.String()+" "+r.Prior.UUID.String()] {
			return false
		}
	}
	return j.allowed != nil
}
