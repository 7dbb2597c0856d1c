package controller

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
)

// healHistory makes the store equal once more to what was applied last, as the history has it: by a controller that knows no good
// revision of its own, or while a rollback stands.
func (l *Loop) healHistory(ctx context.Context) error {
	if l.o.Recall == nil {
		return nil
	}
	r, no, err := l.recall(ctx)
	switch {
	case err != nil:
		return err
	case no != nil:
		l.recalled = nil
		l.figures.heals(false)
		l.warn(Event{Text: "nothing is healed meanwhile: " + no.why, Diags: no.diags, Files: no.files}, "recall "+no.why)
		return nil
	case r.of.Of == 0 && l.newest.valid() && r.id == l.newest.id:
		return nil // the very revision that is denied by now
	}
	l.recalled = r
	l.figures.heals(true)
	text := fmt.Sprintf("revision %d of the history (%s) goes on being healed", r.of.Number, short(r.id))
	if r.of.Of > 0 {
		text = fmt.Sprintf("revision %d of the history (%s), which was rolled back to, goes on being healed", r.of.Of, short(r.id))
	}
	l.once(KindRecalled, Event{Revision: r.source(), Text: text}, fmt.Sprint(r.of.Number))
	err = l.apply(ctx, r, false)
	var refused *refusal
	switch {
	case errors.Is(err, applier.ErrNotLatest):
		return nil // the next round looks again
	case errors.As(err, &refused):
		l.warn(Event{Revision: r.source(), Diags: refused.diags, Files: refused.files,
			Text: fmt.Sprintf("revision %d of the history cannot be healed either: %s", r.of.Number, refused.why)}, "recalled "+refused.why)
		return nil
	case err == nil:
		l.failures = 0
		l.over(KindFailed)
	}
	return err
}

// recall reads the configuration that was applied last, completely: that of the rollback, where one stands. A *refusal says why there
// is none.
func (l *Loop) recall(ctx context.Context) (*reading, *refusal, error) {
	h, err := applier.ReadHistory(ctx, l.site.Client, l.site.workflow)
	if err != nil {
		return nil, nil, err
	}
	rev, why := lastComplete(h)
	if why != "" {
		return nil, &refusal{why: why}, nil
	}
	if known := l.recalled; known != nil && known.of.Number == rev.Number && known.of.Config == rev.Config {
		known.latest = h.Revisions[0].Number
		return known, nil, nil
	}
	cannot := func(format string, args ...any) (*reading, *refusal, error) {
		return nil, &refusal{why: fmt.Sprintf("revision %d of the history ", rev.Number) + fmt.Sprintf(format, args...)}, ctx.Err()
	}
	data, err := applier.ReadArchive(ctx, l.site.Client, l.o.Keyring, l.site.workflow, rev)
	if err != nil {
		return cannot("cannot be read: %v", err)
	}
	archive, err := config.OpenArchive(data)
	if err != nil {
		return cannot("cannot be read: %v", err)
	}
	w, diags := l.o.Recall(archive, l.newest.dir)
	if diags.HasErrors() {
		r, no, err := cannot("cannot be evaluated again")
		no.diags, no.files = diags, w.Sources
		for _, d := range diags {
			if d.Severity == hcl.DiagError {
				no.why += ": " + d.Summary
				break
			}
		}
		return r, no, err
	}
	if w.Name != l.site.workflow || w.Namespace != l.site.Client.Namespace() {
		return cannot("is of workflow %q in the namespace %q", w.Name, w.Namespace)
	}
	r := &reading{dir: l.newest.dir, workflow: w, diags: diags, archived: data, of: &rev, latest: h.Revisions[0].Number, id: rev.Source.Revision}
	if r.id == "" {
		r.id = rev.Config
	}
	return r, nil, nil
}

// lastComplete is the revision that the store was last made equal to, or why there is none with a configuration. What was applied
// after it in part is passed over, unless that took it back.
func lastComplete(h applier.History) (applier.Revision, string) {
	for _, r := range h.Revisions {
		switch {
		case r.Config == "":
			return r, fmt.Sprintf("revision %d of the history has no configuration: %s", r.Number, r.Without)
		case !h.Archives[r.Config]:
			return r, fmt.Sprintf("the configuration of revision %d of the history is not kept any more", r.Number)
		case !r.Complete:
			continue
		case r.Of != h.Revisions[0].Of:
			return r, fmt.Sprintf("revision %d of the history, the latest, was applied in part only", h.Revisions[0].Number)
		}
		return r, ""
	}
	return applier.Revision{}, "the history has no revision that was applied completely"
}
