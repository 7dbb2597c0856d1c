package conveyor

import (
	"context"
	"errors"
	"fmt"
)

// Wait returns when all these jobs are over, with their statuses in the order of uuids. A job that was removed since counts as
// it ended. A job on hold is not over, and one that was retried or reopened meanwhile is waited for again.
//
// A job that has no entry is ErrNotFound, at once; so is, when it happens, one that vanishes without having ended, as all do when
// the namespace is emptied. While Redis is away Wait waits too. It needs somebody who runs the jobs.
func (c *Client) Wait(ctx context.Context, uuids ...string) ([]Status, error) {
	w := waiting{latest: make(map[string]Status, len(uuids))}
	for o, err := range c.Subscribe(ctx, SubscribeOptions{UUIDs: append([]string{}, uuids...)}) {
		if err != nil {
			return nil, fmt.Errorf("wait: %w", err)
		}
		if err := w.observe(o); err != nil {
			return nil, fmt.Errorf("wait: %w", err)
		}
		if w.live == 0 {
			break
		}
	}
	statuses := make([]Status, len(uuids))
	for i, uuid := range uuids {
		statuses[i] = w.latest[uuid]
	}
	return statuses, nil
}

// waiting is how far a Wait is.
type waiting struct {
	latest map[string]Status
	live   int // jobs of latest that are not over
}

func (w *waiting) observe(o Observation) error {
	var problems []error
	for _, s := range o.Jobs {
		prior, known := w.latest[s.UUID]
		if s.State == StateUnknown {
			switch {
			case known && prior.State.Ended():
				continue
			case known:
				problems = append(problems, fmt.Errorf("job %s is gone, it was %s: %w", s.UUID, prior.State, ErrNotFound))
			default:
				problems = append(problems, fmt.Errorf("job %s: %w", s.UUID, ErrNotFound))
			}
		}
		if known && !prior.State.Ended() {
			w.live--
		}
		if !s.State.Ended() {
			w.live++
		}
		w.latest[s.UUID] = s
	}
	return errors.Join(problems...)
}
