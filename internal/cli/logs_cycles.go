package cli

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
)

// followCycles follows what templates have made, and what they make from the event number from on. It ends when all of that is over
// and no other cycle can begin: the schedules and gates are paused, off, on hold or gone.
func (t *logTeam) followCycles(ctx context.Context, from int64) error {
	if err := t.lookAtCycles(ctx); err != nil {
		return err
	}
	for {
		// It is read before the log: what led to it is then in there.
		last, err := t.lastCycles(ctx)
		if err != nil {
			return err
		}
		wait := followWait
		if last {
			wait = 0
		}
		batch, err := t.store.client.Events(ctx, from, wait)
		if err != nil {
			return err
		}
		from = batch.Seq
		switch {
		case batch.Gap:
			if err := t.lookAtCycles(ctx); err != nil {
				return err
			}
		case last && len(batch.Events) == 0 && !t.anyMade():
			t.mu.Lock()
			defer t.mu.Unlock()
			t.templates = nil
			t.moved()
			return nil
		}
		for _, e := range batch.Events {
			t.sawMade(e.Jobs)
		}
	}
}

// lastCycles tells whether none of the templates will make anything beside what is live.
func (t *logTeam) lastCycles(ctx context.Context) (bool, error) {
	t.mu.Lock()
	uuids := slices.Sorted(maps.Keys(t.templates))
	t.mu.Unlock()
	for range 2 { // what is downstream makes something when its root does
		found, err := t.store.client.Templates(ctx, uuids)
		if err != nil {
			return false, err
		}
		uuids = nil
		for _, x := range found {
			switch {
			case x.Kind == 0: // it is gone
			case x.Root != x.UUID:
				uuids = append(uuids, x.Root)
			case board.Stopped(x) == "" || len(x.Live) > 0 || x.Backlog > 0:
				return false, nil
			}
		}
	}
	return true, nil
}

// lookAtCycles reads how all occurrences stand that are kept.
func (t *logTeam) lookAtCycles(ctx context.Context) error {
	t.mu.Lock()
	templates, named := slices.Sorted(maps.Keys(t.templates)), slices.Sorted(maps.Keys(t.made))
	t.mu.Unlock()
	jobs, err := t.store.client.Statuses(ctx, named)
	if err != nil {
		return err
	}
	for _, uuid := range templates {
		c, err := t.roll.cyclic(ctx, t.store, uuid)
		var gone *failure
		if errors.As(err, &gone) {
			continue
		}
		if err != nil {
			return err
		}
		made, err := c.occurrences(ctx, t.store, t.roll)
		if err != nil {
			return err
		}
		jobs = append(jobs, made...)
	}
	slices.SortStableFunc(jobs, func(x, y conveyor.Status) int { return x.Started.Compare(y.Started) })
	t.sawMade(jobs)
	return nil
}

// sawMade notes the statuses of those that are followed: occurrences that were named, and those of the templates.
func (t *logTeam) sawMade(jobs []conveyor.Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range jobs {
		name, key := t.made[s.UUID], config.Addr{Name: s.UUID}
		if template := t.templates[s.Template]; name == "" && template != "" {
			name = conveyor.OccurrenceName(template, s.Tick)
			t.made[s.UUID] = name
		}
		switch {
		case name == "":
		case s.State == conveyor.StateUnknown && t.jobs[key] == nil:
			delete(t.made, s.UUID) // nothing is left of it
		default:
			t.run(key, name, s)
		}
	}
	t.moved()
}

// anyMade tells whether an occurrence is live.
func (t *logTeam) anyMade() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for uuid := range t.made {
		if j := t.jobs[config.Addr{Name: uuid}]; j != nil && !j.source.over(j.status) {
			return true
		}
	}
	return false
}
