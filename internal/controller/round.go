package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/planner"
)

// refusal is why a configuration is not applied as it is, which trying again does not change.
type refusal struct {
	why   string
	diags hcl.Diagnostics
	files map[string]*hcl.File // that diags are about
	parks bool                 // it was rolled back
}

func (r *refusal) Error() string { return r.why }

// turnRound does one round: the newest revision, or the last good one where that cannot be applied.
func (l *Loop) turnRound(ctx context.Context) (err error) {
	began := time.Now()
	l.keeping = map[string]string{}
	defer func() {
		if err != nil {
			maps.Copy(l.keeping, l.kept) // as far as it is known
		}
		l.kept = l.keeping
		if ctx.Err() == nil {
			l.figures.round(time.Since(began), err)
		}
	}()
	if l.newest.valid() {
		err := l.apply(ctx, l.newest, true)
		var refused *refusal
		switch {
		case err == nil:
			l.good, l.recalled = l.newest, nil
			l.failures = 0
			l.over(KindRejected, KindRecalled, KindConsent, KindWaiting, KindFailed)
			l.figures.accepted()
			return l.unask(ctx)
		case !errors.As(err, &refused):
			return err
		case refused.parks:
			return l.healHistory(ctx)
		case refused.diags != nil:
			l.reject(l.newest, refused)
		}
		if l.good != nil && l.good.id == l.newest.id {
			return nil
		}
	}
	if l.good == nil {
		return l.healHistory(ctx)
	}
	err = l.apply(ctx, l.good, false)
	var refused *refusal
	if errors.As(err, &refused) {
		if refused.parks {
			return l.healHistory(ctx)
		}
		l.warn(Event{Revision: l.good.source(), Diags: refused.diags, Files: refused.files,
			Text: "the last good revision cannot be healed either: " + refused.why}, "good "+refused.why)
		return nil
	}
	if err == nil {
		l.failures = 0
		l.over(KindFailed)
	}
	return err
}

// reject tells that a revision cannot be applied, once for each thing to say about it.
func (l *Loop) reject(r *reading, because *refusal) {
	text := "the revision is rejected: " + because.why
	switch {
	case l.good == nil:
		text += "; nothing of it is applied"
	case l.good.id == r.id:
		text += "; nothing is healed until that is over"
	default:
		text += "; revision " + short(l.good.id) + " goes on being healed"
	}
	l.figures.rejected(l.good != nil && l.good.id != r.id || l.recalled != nil)
	l.once(KindRejected, Event{Text: text, Diags: because.diags, Files: because.files}, r.id+" "+because.diags.Error())
}

// short is an identifier as people see it.
func short(id string) string { return id[:min(len(id), 12)] }

// apply submits what differs from a configuration: a *refusal where that is not allowed. asks tells whether consent may be asked for.
func (l *Loop) apply(ctx context.Context, r *reading, asks bool) error {
	client := l.site.Client
	held := l.lease.Held()
	state, err := applier.ReadStateFor(ctx, client, r.workflow)
	if err != nil {
		return err
	}
	if r.of == nil {
		passed, err := l.passedOver(ctx, r, state)
		if err != nil {
			return err
		}
		if passed != nil {
			return l.park(ctx, r, passed, asks)
		}
	}
	memory, err := applier.ReadMemory(ctx, client, l.recorded(state))
	if err != nil {
		return err
	}
	again := retries{}
	if l.o.RetryFailed {
		now, err := client.Now(ctx)
		if err != nil {
			return err
		}
		again = findRetries(r.workflow, state, memory.Notes, now)
		if err := l.lease.Note(ctx, again.notes); err != nil {
			return err
		}
		clear(again.notes)
	} else if err := l.lease.Note(ctx, forgetRetries(memory.Notes)); err != nil {
		return err
	}
	o := l.o.Plan
	o.KeepEnded, o.Retry = true, again.due
	plan, diags := planner.Make(r.workflow, state, o)
	if diags.HasErrors() {
		return &refusal{why: "it cannot be planned", diags: diags, files: r.workflow.Sources}
	}
	l.figures.saw(state)
	l.tellKept(plan, again)
	if plan.Empty() {
		l.settled(r)
		return nil
	}
	j := &judge{l: l, reading: r, consented: memory.Consent.Name, asks: asks}
	if l.begun.of == r.id {
		j.allowed = l.begun.ends
	}
	if err := j.judge(ctx, plan); err != nil {
		return err
	}
	heard := &written{}
	archive, without := r.archive()
	submitting, end := l.submitting(ctx, held)
	defer end()
	result, err := applier.Apply(submitting, client, applier.Run{
		Plan: plan, Workflow: r.workflow, Options: o, Keyring: l.o.Keyring, Source: r.source(), Archive: archive, WithoutArchive: without, KeepRollback: r.of == nil, Latest: r.latest,
		Operation: "reconcile", Who: l.o.Who, LockTimeout: -1, Detach: true, Observer: heard,
		Judge: func(p *planner.Plan) error { return j.judge(submitting, p) },
	})
	for _, w := range heard.warnings {
		l.once(KindWarning, Event{Text: w.Summary + ": " + w.Detail}, w.Summary+w.Detail)
	}
	l.submitted(r, result, heard.rows, &again, err != nil)
	if len(again.notes) > 0 {
		if err := l.lease.Note(submitting, again.notes); err != nil {
			l.tell(Event{Kind: KindWarning, Text: fmt.Sprintf("what was retried could not be noted, so a job may be retried again early: %v", err)})
		}
	}
	var rolledBack *applier.RolledBackError
	switch {
	case errors.As(err, &rolledBack):
		return l.park(ctx, r, rolledBack, asks)
	case err != nil && held.Err() != nil && ctx.Err() == nil:
		return applier.ErrLeaseLost
	}
	return err
}

// recorded is the name under which the store has what was recorded of the workflow so far: the former one until the next apply carries
// history and memory over with the state.
func (l *Loop) recorded(state *planner.State) string {
	if state.Former != "" {
		return state.Former
	}
	return l.site.workflow
}

// passedOver is the rollback that stands against a configuration; nil for none.
func (l *Loop) passedOver(ctx context.Context, r *reading, state *planner.State) (*applier.RolledBackError, error) {
	h, err := applier.ReadHistory(ctx, l.site.Client, l.recorded(state))
	if err != nil || len(h.Revisions) == 0 || h.Revisions[0].Of == 0 {
		return nil, err
	}
	archive, _ := r.archive()
	passed := h.PassedOver(r.source(), applier.ConfigName(l.o.Keyring, archive))
	if passed != nil {
		passed.Workflow = l.site.workflow
	}
	return passed, nil
}

// park takes note that a revision was rolled back: a *refusal, unless the store fails. If it is the newest, that is told, and no plan
// of it waits for consent any more.
func (l *Loop) park(ctx context.Context, r *reading, passed *applier.RolledBackError, newest bool) error {
	refused := &refusal{why: passed.Error(), parks: true}
	if !newest {
		return refused
	}
	if err := l.unask(ctx); err != nil {
		return err
	}
	l.over(KindConsent)
	l.once(KindWaiting, Event{Revision: r.source(), Text: passed.Error() + "; it is not applied again until the source shows another revision"}, passed.Error())
	return refused
}

// submitting is the context of a submission: one that has begun is ended, also when the process is to stop, if that does not take
// too long. It ends with the lease.
func (l *Loop) submitting(ctx, held context.Context) (context.Context, func()) {
	submitting, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	if held.Err() != nil {
		cancel(context.Cause(held)) // at once: what is told of an end comes a little later
	}
	stopped := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(stopWithin):
			cancel(context.Cause(ctx))
		case <-submitting.Done():
		}
	})
	lost := context.AfterFunc(held, func() { cancel(context.Cause(held)) })
	return submitting, func() {
		stopped()
		lost()
		cancel(nil)
	}
}

// consented tells whether the plan that waits has been consented to.
func (l *Loop) consented(ctx context.Context) bool {
	m, err := applier.ReadMemory(ctx, l.site.Client, l.site.workflow)
	return err == nil && m.Consent.Name == l.waiting
}

// unask says that no plan waits any more, and forgets the consent to one that was applied.
func (l *Loop) unask(ctx context.Context) error {
	m, err := applier.ReadMemory(ctx, l.site.Client, l.site.workflow)
	if err != nil {
		return err
	}
	if m.Waiting.Name != "" || m.Consent.Name != "" {
		if err := l.lease.Ask(ctx, applier.Waiting{}); err != nil {
			return err
		}
	}
	l.waiting, l.begun = "", begun{}
	l.figures.waits(false)
	return nil
}
