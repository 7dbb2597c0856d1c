package applier

import (
	"context"

	"github.com/waybill-dev/waybill/conveyor"
)

// maxCalled bounds the names that a watch keeps of jobs without record: beyond, those of jobs that are gone are forgotten.
const maxCalled = 10_000

// called are the names that jobs of no workflow go by with people: the address that a job had while it was recorded, or the name
// that it was added under; occurrences have those of their templates.
type called struct {
	names map[string]string // by uuid
	asked map[string]bool   // templates that are not known, whose occurrences were asked for it
}

func newCalled() called { return called{names: map[string]string{}, asked: map[string]bool{}} }

// noteCalled keeps the address of a job whose record goes.
func (w *watcher) noteCalled(j *watchedJob) {
	if len(w.called.names) >= maxCalled {
		for uuid := range w.called.names {
			if w.jobs[uuid] == nil && w.cycles.made[uuid] == nil {
				delete(w.called.names, uuid)
			}
		}
		clear(w.called.asked)
	}
	if len(w.called.names) < maxCalled {
		w.called.names[j.status.UUID] = j.addr.String()
	}
}

// namesOf are the names of jobs of no workflow, as far as they have any. Of templates that were deleted before the watch began
// the name stands in those occurrences whose bytes the store still has: one that lives or has failed is asked, once.
func (w *watcher) namesOf(ctx context.Context, jobs []conveyor.Status) map[string]string {
	var ask []string
	for _, s := range jobs {
		if t := s.Template; t != "" && (!s.State.Ended() || s.State == conveyor.StateFailed) && w.called.names[t] == "" && !w.called.asked[t] && len(ask) < maxTexts {
			w.called.asked[t] = true
			ask = append(ask, s.UUID)
		}
	}
	found, err := w.client.GetAll(ctx, ask)
	if err != nil {
		found = nil // as everywhere: names are for people, and told where they can be read
	}
	for _, x := range found {
		if name := x.Job.GetName(); name != "" {
			w.called.names[x.Status.Template] = name
		}
	}
	names := map[string]string{}
	for _, s := range jobs {
		switch name, template := w.called.names[s.UUID], w.called.names[s.Template]; {
		case name != "":
			names[s.UUID] = name
		case template != "":
			names[s.UUID] = conveyor.OccurrenceName(template, s.Tick)
		}
	}
	return names
}
