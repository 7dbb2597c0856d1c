package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// decision is what is to be done about a job that the fleet has.
type decision struct {
	record *record
	ack    *conveyor.Ack // nil: nothing is said to the engine
	forget bool          // its record goes, once the acknowledgement took effect
	event  Event         // of Kind "": none
}

// settle looks at jobs that the fleet has, acknowledges those with an outcome, and extends the reservation of the others.
func (b *Bridge) settle(ctx context.Context, uuids []string) error {
	for part := range slices.Chunk(uuids, conveyor.MaxBatch) {
		decisions, err := b.decide(ctx, part)
		if err != nil {
			return err
		}
		var acks []conveyor.Ack
		for _, d := range decisions {
			if d.ack != nil {
				acks = append(acks, *d.ack)
			}
		}
		var took []bool
		if len(acks) > 0 {
			if _, took, err = b.exchange(ctx, 0, acks); err != nil {
				for _, uuid := range part {
					b.note(uuid)
				}
				return err
			}
		}
		for _, d := range decisions {
			if d.ack != nil {
				effective := took[0]
				if took = took[1:]; !effective {
					continue // another was faster, or it is reserved anew: the next look says
				}
			}
			if d.forget {
				if err := b.step(); err != nil {
					return err
				}
				if _, err := b.drop(ctx, forgetScript, d.record); err != nil {
					return err
				}
			}
			if d.event.Kind != "" {
				b.tell(d.event)
			}
		}
	}
	return nil
}

// decide compares the records of jobs with what the engine says of them.
func (b *Bridge) decide(ctx context.Context, uuids []string) ([]decision, error) {
	if err := b.step(); err != nil {
		return nil, err
	}
	records, err := b.records(ctx, uuids)
	if err != nil {
		return nil, err
	}
	stored, err := b.client.GetAll(ctx, uuids)
	if err != nil {
		return nil, err
	}
	now, err := b.o.Fleet.Time(ctx).Result()
	if err != nil {
		return nil, fmt.Errorf("the clock of the fleet's store: %w", err)
	}
	var out []decision
	for i, r := range records {
		if r == nil {
			delete(b.mine, uuids[i])
			continue
		}
		if d := judge(r, stored[i].Job, stored[i].Status, now, b.o.Lease); d.ack != nil || d.forget {
			out = append(out, d)
		}
	}
	return out, nil
}

// judge says what a record and the job's status mean together.
func judge(r *record, job *wire.Job, s conveyor.Status, now time.Time, lease time.Duration) decision {
	d := decision{record: r}
	switch {
	case s.State == conveyor.StateRunning && s.Fence == r.fence:
	case s.State == conveyor.StateRunning && s.Attempts == r.attempts && strings.HasPrefix(s.Holder, holderPrefix):
		return d // a bridge reserved it again and is about to find it here
	case s.State == conveyor.StateQueued && s.Attempts == r.attempts:
		return d // its reservation ended while no bridge ran: whoever reserves it finds it here
	default: // over, or another runs it
		d.forget = true
		return d
	}
	d.ack = &conveyor.Ack{UUID: r.uuid, Fence: r.fence}
	event := func(kind Kind, detail string) {
		d.event = eventOf(kind, job, detail)
		d.event.UUID, d.event.Queue, d.forget = r.uuid, r.queue, true
	}
	reservation := conveyor.Reservation{Job: job, Fence: r.fence, Attempts: r.attempts}
	switch limit := job.GetTimeout().AsDuration(); {
	case r.outcome == "completed":
		d.ack.Verdict = conveyor.VerdictDone
		event(Completed, "")
	case s.CancelRequested:
		d.ack.Verdict = conveyor.VerdictBack // the engine ends a job whose cancel was asked for
		event(Cancelled, "")
	case r.outcome == "failed":
		err := errors.New(r.failure)
		if r.final {
			err = conveyor.Permanent(err)
		}
		*d.ack = reservation.FailedAck(err)
		event(Failed, r.failure)
	case limit > 0 && !r.closing && !r.started.IsZero() && now.Sub(r.started) > limit:
		err := fmt.Errorf("%w after %s: the fleet was not told to stop it", conveyor.ErrTimeout, limit)
		*d.ack = reservation.FailedAck(err)
		event(Failed, err.Error())
	default:
		d.ack.Verdict, d.ack.Delay = conveyor.VerdictExtend, lease
	}
	return d
}

// giveBack takes out of the fleet's queues what this bridge handed over and nobody popped, and extends the reservations of the rest.
func (b *Bridge) giveBack(ctx context.Context) error {
	back := b.refused
	for _, r := range b.reserved {
		back = append(back, conveyor.Ack{UUID: r.Job.GetUuid(), Fence: r.Fence, Verdict: conveyor.VerdictBack})
		delete(b.mine, r.Job.GetUuid())
	}
	b.reserved, b.refused = nil, nil
	for part := range slices.Chunk(back, conveyor.MaxBatch) {
		if _, _, err := b.exchange(ctx, 0, part); err != nil {
			return err
		}
	}
	uuids := make([]string, 0, len(b.mine))
	for uuid := range b.mine {
		uuids = append(uuids, uuid)
	}
	slices.Sort(uuids)
	if err := b.settle(ctx, uuids); err != nil {
		return err
	}
	var acks []conveyor.Ack
	for part := range slices.Chunk(uuids, conveyor.MaxBatch) {
		records, err := b.records(ctx, part)
		if err != nil {
			return err
		}
		acks = acks[:0]
		for _, r := range records {
			if r == nil || r.outcome != "" {
				continue
			}
			out, err := b.drop(ctx, retractScript, r)
			if err != nil {
				return err
			}
			if out {
				acks = append(acks, conveyor.Ack{UUID: r.uuid, Fence: r.fence, Verdict: conveyor.VerdictBack})
				b.tell(Event{Kind: Back, UUID: r.uuid, Queue: r.queue})
			}
		}
		if len(acks) == 0 {
			continue
		}
		if _, _, err := b.exchange(ctx, 0, acks); err != nil {
			return err
		}
	}
	return nil
}
