package conveyor

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
)

// Survey is where all jobs of a namespace stand at one place in the event log, and reads on from there. Subscribe does all of
// that by itself: this is for a reader that does other things between two readings. It belongs to one goroutine.
type Survey struct {
	Jobs []Status // by uuid
	// Damaged tells of entries that cannot be read, an error each that wraps ErrCorrupt. They are not among Jobs; Verify names them too.
	Damaged []error

	trail trail
}

// Survey reads the statuses of all jobs: a command for every thousand of them.
func (c *Client) Survey(ctx context.Context) (*Survey, error) {
	s, err := c.survey(ctx)
	if err != nil {
		return nil, err
	}
	return &s, nil
}

// Seq is the number of the last event that was read; at first that of the last one before the survey.
func (s *Survey) Seq() int64 { return s.trail.seq }

// Next returns the events that follow, up to some hundreds, waiting up to block for the first one; block 0 never waits, and
// whoever waits returns at once when ctx ends. Nobody but a reader that is told of a Gap misses any: the bounded log has passed
// it by, or the namespace was emptied, and it takes a new Survey. That is noticed within some seconds. After an error it goes on
// where it was.
func (s *Survey) Next(ctx context.Context, block time.Duration) (EventBatch, error) {
	at := s.trail
	batch, err := at.next(ctx, block)
	if err == nil {
		s.trail = at
	} else {
		s.trail.unsure = true
	}
	return batch, err
}

// survey reads the statuses of all jobs, and the place in the log that they belong to. They cannot be read at one moment, so
// what happened meanwhile is taken from the log.
func (c *Client) survey(ctx context.Context) (Survey, error) {
	for {
		t, err := c.here(ctx)
		if err != nil {
			return Survey{}, err
		}
		found, damaged := map[string]Status{}, map[string]error{}
		err = scan(ctx, c.rdb.HScan(ctx, c.keys.status(), 0, "", readSlice), 2, func(v []string) {
			s, err := decodeStatus(v[0], v[1])
			if err != nil {
				damaged[v[0]] = err
				return
			}
			found[v[0]] = s
		})
		if err != nil {
			return Survey{}, read(ctx, "read "+c.keys.status(), err)
		}
		end, err := c.here(ctx)
		if err != nil {
			return Survey{}, err
		}
		gap := false
		for t.seq < end.seq && !gap {
			batch, err := t.next(ctx, 0)
			if err != nil {
				return Survey{}, err
			}
			for _, e := range batch.Events {
				for _, s := range e.Jobs {
					delete(damaged, s.UUID)
					if found[s.UUID] = s; s.State == StateUnknown {
						delete(found, s.UUID)
					}
				}
			}
			gap = batch.Gap || len(batch.Events) == 0
		}
		if gap || end.life != t.life {
			continue
		}
		s := Survey{trail: t, Jobs: slices.SortedFunc(maps.Values(found), func(a, b Status) int { return strings.Compare(a.UUID, b.UUID) })}
		for _, uuid := range slices.Sorted(maps.Keys(damaged)) {
			s.Damaged = append(s.Damaged, damaged[uuid])
		}
		return s, nil
	}
}
