package conveyor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// SubscribeOptions says which jobs a subscription is about. The zero value is all of them.
type SubscribeOptions struct {
	UUIDs []string // only these jobs, known or not
	Queue string   // only jobs of this queue
	// Labels chooses jobs as those of ListOptions do. What a job carries is looked up when an event names it.
	Labels map[string]string
}

// Observation is what a subscription tells: an event, or a snapshot.
type Observation struct {
	// Snapshot tells that Jobs is all there is: what was told before is void. Such an Observation has a Seq and nothing else of an
	// event. With UUIDs it has a status for each of them, in their order, StateUnknown for those without an entry; else it is
	// ordered by uuid.
	Snapshot bool
	Event
}

// Subscribe tells where jobs stand and then everything that happens to them, in order and without a gap, until ctx ends or the
// loop is left:
//
//	for o, err := range client.Subscribe(ctx, conveyor.SubscribeOptions{}) { ... }
//
// It starts with a snapshot. Each event has only the jobs that the subscription is about, and events without any are left
// out; messages are told like jobs, workers only when all jobs are. When the reader is so slow that the bounded log has
// passed it by, or the namespace was emptied, it gets a new snapshot and goes on from there. While Redis is away it waits.
// The last thing told is an error: that of ctx, or data that cannot be read.
//
// No goroutine runs for it between the steps of the loop, so a slow reader holds up nobody.
func (c *Client) Subscribe(ctx context.Context, o SubscribeOptions) iter.Seq2[Observation, error] {
	return func(yield func(Observation, error) bool) {
		s := subscription{c: c, o: o, about: map[string]bool{}, labels: map[string]map[string]string{}}
		if err := s.validate(); err != nil {
			yield(Observation{}, fmt.Errorf("subscribe: %w", err))
			return
		}
		for pause := newPause(); ; {
			told, err := s.next(ctx)
			switch {
			case err == nil:
				pause = newPause()
			case ctx.Err() != nil:
				err = context.Cause(ctx)
			case transient(err):
				c.logger.Warn("a subscription waits for the store", "error", err)
				if pause.wait(ctx) {
					continue
				}
				err = context.Cause(ctx)
			}
			if err != nil {
				yield(Observation{}, fmt.Errorf("subscribe: %w", err))
				return
			}
			for _, o := range told {
				if !yield(o, nil) {
					return
				}
			}
		}
	}
}

// subscription is one run of Subscribe.
type subscription struct {
	c     *Client
	o     SubscribeOptions
	trail trail
	began bool            // false: a snapshot comes next
	about map[string]bool // the jobs it is about, unless it is about all

	filter labelFilter
	labels map[string]map[string]string // by uuid: what the jobs of the latest step carry
}

func (s *subscription) validate() error {
	var problems []error
	for _, uuid := range s.o.UUIDs {
		if !validName(uuid) {
			problems = append(problems, fmt.Errorf("%w: %q", ErrUUID, uuid))
		}
	}
	if s.o.Queue != "" && !validPlace(s.o.Queue) {
		problems = append(problems, fmt.Errorf("%w: %q", ErrQueueName, s.o.Queue))
	}
	var err error
	s.filter, err = newLabelFilter(s.o.Labels)
	return errors.Join(append(problems, err)...)
}

// all tells whether the subscription is about every job.
func (s *subscription) all() bool { return s.o.UUIDs == nil && s.o.Queue == "" && len(s.o.Labels) == 0 }

func (s *subscription) next(ctx context.Context) ([]Observation, error) {
	if !s.began {
		o, err := s.snapshot(ctx)
		s.began = err == nil
		return []Observation{o}, err
	}
	at := s.trail
	batch, err := at.next(ctx, lifeEvery)
	if err != nil {
		s.trail.unsure = true
		return nil, err
	}
	if batch.Gap {
		s.began = false
		return nil, nil
	}
	var named []Status
	for _, e := range batch.Events {
		named = append(named, e.Jobs...)
	}
	if err := s.readLabels(ctx, named); err != nil {
		return nil, err
	}
	s.trail = at
	var told []Observation
	for _, e := range batch.Events {
		if s.keep(&e) {
			told = append(told, Observation{Event: e})
		}
	}
	return told, nil
}

// keep leaves in an event what the subscription is about and tells whether that is anything.
func (s *subscription) keep(e *Event) bool {
	if s.all() {
		return true
	}
	e.Workers = nil
	e.Jobs = slices.DeleteFunc(e.Jobs, func(j Status) bool { return !s.concerns(j) })
	if e.Message != nil && !s.about[e.Message.UUID] {
		e.Message = nil
	}
	if len(e.Jobs) == 0 {
		e.Progress = nil
	}
	return len(e.Jobs) > 0 || e.Message != nil
}

// concerns tells whether a status is told. That of a job which fits no more, or is gone, is the last one told of it.
func (s *subscription) concerns(j Status) bool {
	was := s.about[j.UUID]
	fits := j.State != StateUnknown && (s.o.Queue == "" || j.Queue == s.o.Queue) && s.filter.matches(s.labels[j.UUID], systemLabels(j))
	if s.o.UUIDs != nil {
		return was && (fits || j.State == StateUnknown)
	}
	if fits {
		s.about[j.UUID] = true
	} else {
		delete(s.about, j.UUID)
	}
	return was || fits
}

// readLabels learns what jobs carry, if that matters.
func (s *subscription) readLabels(ctx context.Context, jobs []Status) error {
	clear(s.labels)
	var uuids []string
	for _, j := range jobs {
		if j.Labelled && len(s.filter.own) > 0 {
			uuids = append(uuids, j.UUID)
		}
	}
	for part := range slices.Chunk(uuids, readSlice) {
		packed, err := s.c.rdb.HMGet(ctx, s.c.keys.labels(), part...).Result()
		if err != nil {
			return read(ctx, "read "+s.c.keys.labels(), err)
		}
		for i, uuid := range part {
			if text, ok := packed[i].(string); ok {
				s.labels[uuid] = unpackLabels(text)
			}
		}
	}
	return nil
}

// snapshot starts over.
func (s *subscription) snapshot(ctx context.Context) (Observation, error) {
	clear(s.about)
	var found []Status
	var err error
	if s.o.UUIDs != nil {
		for _, uuid := range s.o.UUIDs {
			s.about[uuid] = true
		}
		s.trail, found, err = s.c.snapshot(ctx, s.o.UUIDs)
	} else {
		var all Survey
		if all, err = s.c.survey(ctx); err == nil && len(all.Damaged) > 0 {
			err = all.Damaged[0]
		}
		s.trail, found = all.trail, all.Jobs
	}
	if err == nil && !s.all() {
		err = s.readLabels(ctx, found)
		found = slices.DeleteFunc(found, func(j Status) bool { return !s.concerns(j) })
	}
	if err != nil {
		return Observation{}, err
	}
	return Observation{Snapshot: true, Event: Event{Seq: s.trail.seq, Jobs: found}}, nil
}
