package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
)

// askWithin bounds one question for the lead.
const askWithin = 3 * time.Second

// open opens the store of a workflow, if another one is open or none.
func (l *Loop) open(ctx context.Context, w *config.Workflow) error {
	of := fmt.Sprintf("%q %q %q", w.Redis, w.Namespace, w.Name)
	if l.site != nil && l.site.of == of {
		return nil
	}
	if err := l.leave(ctx); err != nil {
		l.tell(Event{Kind: KindWarning, Text: err.Error()})
	}
	store, err := l.o.Open(ctx, w)
	if err != nil {
		return err
	}
	l.site = &site{Store: store, workflow: w.Name, of: of, candidate: applier.NewCandidate(store.Client, w.Name, l.o.Who)}
	l.figures.opened(w.Name)
	return nil
}

// lead tells whether this replica leads, and asks for the lead if it does not.
func (l *Loop) lead(ctx context.Context) (bool, error) {
	if l.lease != nil {
		if l.lease.Held().Err() == nil {
			return true, nil
		}
		l.lease.Release(ctx) //nolint:errcheck // it is lost
		l.lease = nil
		l.figures.leads(false)
		l.figures.holds(nil)
		l.site.leader = ""
	}
	asking, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	lease, holder, err := l.site.candidate.Lead(asking)
	if err != nil {
		return false, err
	}
	l.figures.reached(time.Now())
	l.over(KindFailed)
	if holder != nil {
		if l.site.leader != holder.Token {
			l.site.leader = holder.Token
			l.tell(Event{Kind: KindStandby, Text: fmt.Sprintf("%s leads since %s; this one stands by", holder.Who, holder.Since.UTC().Format(time.RFC3339))})
		}
		l.failures = 0
		l.figures.standsBy()
		return false, nil
	}
	l.lease, l.site.leader = lease, ""
	l.figures.leads(true)
	l.figures.holds(lease)
	l.tell(Event{Kind: KindLeading, Text: "this controller leads"})
	return true, nil
}

// leave gives up the lead and closes the store.
func (l *Loop) leave(ctx context.Context) (err error) {
	if l.lease != nil {
		err = l.lease.Release(ctx)
		l.lease = nil
	}
	if l.site != nil {
		err = errors.Join(err, l.site.Close())
		l.site = nil
	}
	l.figures.leads(false)
	l.figures.holds(nil)
	return err
}
