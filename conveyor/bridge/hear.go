package bridge

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// listen hears the fleet's events until ctx ends. What is said while the connection is away is missed: see look.
func (b *Bridge) listen(ctx context.Context) {
	sub := b.o.Fleet.Subscribe(ctx, theirEvents)
	defer sub.Close() //nolint:errcheck // nothing depends on it any more
	messages := sub.Channel()
	for {
		select {
		case <-ctx.Done():
			return
		case m, ok := <-messages:
			if !ok {
				return
			}
			if err := b.hear(ctx, m.Payload); err != nil && ctx.Err() == nil {
				b.o.Logger.Warn("an event was not noted: the fleet's structures will tell", "bridge", b.o.ID, "error", err)
			}
		}
	}
}

// hear notes what an event tells of a job that a bridge handed over. Others are none of ours.
func (b *Bridge) hear(ctx context.Context, event string) error {
	job := &wire.Job{}
	if err := proto.Unmarshal([]byte(event), job); err != nil {
		return fmt.Errorf("an event of %d bytes is no job: %w", len(event), err)
	}
	kind := ""
	switch job.GetStatus() {
	case wire.Status_RUNNING:
		kind = "running"
	case wire.Status_COMPLETED:
		kind = "completed"
	case wire.Status_FAILED:
		kind = "failed"
	default:
		return nil
	}
	if !slices.Contains(b.o.Queues, job.GetQueue()) {
		return nil
	}
	return b.write(ctx, kind, job)
}

// write puts what is known of a job into its record, if it has one.
func (b *Bridge) write(ctx context.Context, kind string, job *wire.Job) error {
	n, err := noteScript.Run(ctx, b.o.Fleet, []string{b.keys.record(job.GetUuid())}, kind, job.GetLabels()[attemptLabel], failureOf(job)).Int()
	if err != nil {
		return fmt.Errorf("note %s of %s: %w", kind, job.GetUuid(), err)
	}
	if n == 1 && kind != "running" {
		b.note(job.GetUuid())
	}
	return nil
}

func failureOf(job *wire.Job) string {
	if text := job.GetLastFailure(); text != "" {
		return text
	}
	return "it failed in the fleet, which did not say why"
}

// note has the next round settle a job.
func (b *Bridge) note(uuid string) {
	b.mu.Lock()
	b.news[uuid] = true
	b.mu.Unlock()
	select {
	case b.heard <- struct{}{}:
	default:
	}
}

// take returns what was noted since.
func (b *Bridge) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	uuids := make([]string, 0, len(b.news))
	for uuid := range b.news {
		uuids = append(uuids, uuid)
	}
	clear(b.news)
	return uuids
}

// look asks the fleet's structures where jobs are: it finds those whose event was missed, and pushes again what is nowhere. It returns
// those that are done but for their children.
func (b *Bridge) look(ctx context.Context, uuids []string) (closing []string, err error) {
	for part := range slices.Chunk(uuids, lookAtOnce) {
		if err := b.step(); err != nil {
			return nil, err
		}
		args := []any{b.o.Absence.Milliseconds(), b.keys.records()}
		for _, uuid := range part {
			args = append(args, uuid)
		}
		places, err := lookScript.Run(ctx, b.o.Fleet, []string{theirWorkers, theirScheduled, theirFailed}, args...).StringSlice()
		if err != nil {
			return nil, fmt.Errorf("look at the fleet's structures: %w", err)
		}
		for i, place := range places {
			if place == "closing" {
				closing = append(closing, part[i])
			}
			if place == "again" {
				b.tell(Event{Kind: Again, UUID: part[i], Detail: fmt.Sprintf("it was nowhere in the fleet for %s", b.o.Absence.Round(time.Millisecond))})
			}
			if len(place) <= len(failedPlace) || place[:len(failedPlace)] != failedPlace {
				continue
			}
			job := &wire.Job{}
			if err := proto.Unmarshal([]byte(place[len(failedPlace):]), job); err != nil {
				b.o.Logger.Warn("an entry of the fleet's failed jobs cannot be read", "bridge", b.o.ID, "uuid", part[i], "error", err)
				continue
			}
			if err := b.write(ctx, "failed", job); err != nil {
				return nil, err
			}
		}
	}
	return closing, nil
}

// failedPlace begins the reply of look for a job among their failed ones.
const failedPlace = "failed "

// lookAtOnce is how many jobs one script looks for.
const lookAtOnce = 500
