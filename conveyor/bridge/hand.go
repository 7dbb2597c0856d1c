package bridge

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// attemptLabel carries, in what the fleet gets, how many attempts of the job failed before. A program that does not know a field of a
// message keeps it, so events say which attempt they are of.
const attemptLabel = "waybill-attempt"

// reserve takes as many jobs as there is room for and hands them over.
func (b *Bridge) reserve(ctx context.Context) (more bool, err error) {
	room := min(b.o.Capacity-b.load(), conveyor.MaxBatch)
	if room <= 0 {
		return false, nil
	}
	reply, _, err := b.exchange(ctx, room, nil)
	if err != nil {
		return false, err
	}
	return reply.More || len(reply.Reserved) == room, b.handAll(ctx)
}

// load is how many jobs that this bridge reserved take up capacity. Those that only wait for their children do not: the children may need it.
func (b *Bridge) load() int {
	n := len(b.mine)
	for uuid := range b.mine {
		if b.closing[uuid] {
			n--
		}
	}
	return n
}

// handAll hands over what is reserved, in that order. What cannot be handed over is acknowledged so.
func (b *Bridge) handAll(ctx context.Context) error {
	for len(b.reserved) > 0 {
		r := b.reserved[0]
		b.mine[r.Job.GetUuid()] = true
		ack, err := b.hand(ctx, r)
		if err != nil {
			return err
		}
		b.reserved = b.reserved[1:]
		if ack != nil {
			b.tell(eventOf(Refused, r.Job, ack.Failure))
			delete(b.mine, r.Job.GetUuid())
			b.refused = append(b.refused, *ack)
		}
	}
	if len(b.refused) == 0 {
		return nil
	}
	_, _, err := b.exchange(ctx, 0, b.refused)
	if err == nil {
		b.refused = nil
	}
	return err
}

// hand hands over one attempt, or says how to give it up.
func (b *Bridge) hand(ctx context.Context, r conveyor.Reservation) (*conveyor.Ack, error) {
	job := proto.CloneOf(r.Job) // a call that fails is repeated from the start
	held := conveyor.Ack{UUID: job.GetUuid(), Fence: r.Fence, Verdict: conveyor.VerdictHold}
	if len(job.GetSecrets()) > 0 {
		held.Failure = fmt.Sprintf("not run by bridge %s: it reads secrets of a worker, and a bridge gives none to a fleet", b.o.ID)
		return &held, nil
	}
	payload, err := b.o.Keyring.OpenJob(job)
	switch {
	case errors.Is(err, conveyor.ErrUnknownKey), errors.Is(err, conveyor.ErrNoKey):
		b.o.Logger.Warn("jobs are given back", "bridge", b.o.ID, "uuid", job.GetUuid(), "reason", err)
		held.Verdict, held.Delay = conveyor.VerdictNoHandler, conveyor.BeatEvery
		return &held, nil
	case err != nil:
		held.Failure = fmt.Sprintf("not run by bridge %s: %v", b.o.ID, err)
		return &held, nil
	}
	job.Payload = payload
	if err := b.client.FillResults(ctx, job); err != nil {
		if ctx.Err() != nil || errors.Is(err, conveyor.ErrUnavailable) {
			return nil, err
		}
		ack := r.FailedAck(err)
		return &ack, nil
	}
	bytes, err := theirForm(job, r.Attempts)
	if err != nil {
		held.Failure = fmt.Sprintf("not run by bridge %s: %v", b.o.ID, err)
		return &held, nil
	}
	reply, err := b.push(ctx, r, bytes)
	if err != nil {
		return nil, err
	}
	switch reply {
	case "handed":
		b.tell(eventOf(Handed, job, ""))
	case "kept":
		b.tell(eventOf(Adopted, job, ""))
		b.note(job.GetUuid()) // an outcome may be there already
	default:
		delete(b.mine, job.GetUuid())
	}
	return nil, nil
}

// push has the fleet run an attempt. What clients of theirs had wait for the job before is taken first.
func (b *Bridge) push(ctx context.Context, r conveyor.Reservation, bytes []byte) (reply string, err error) {
	uuid := r.Job.GetUuid()
	keys := []string{b.keys.record(uuid), b.keys.handed(), theirQueue(r.Job.GetQueue()), b.keys.client(uuid), b.keys.open()}
	for {
		if err := b.step(); err != nil {
			return "", err
		}
		reply, err := handScript.Run(ctx, b.o.Fleet, keys, uuid, r.Fence, r.Attempts, r.Job.GetQueue(), bytes, r.Lost).Text()
		if err != nil {
			return "", inFleet("hand over "+uuid, err)
		}
		if reply != "lists" {
			return reply, nil
		}
		for more := true; more; {
			if more, err = b.takeFrom(ctx, ""); err != nil {
				return "", err
			}
		}
		for more := true; more; {
			if more, err = b.addFresh(ctx); err != nil {
				return "", err
			}
		}
	}
}

// theirForm is the job as the fleet gets it: without edges, schedule and labels, and with its retries used up, so that what fails there
// comes back at once and waits by its own policy here.
func theirForm(job *wire.Job, attempts int) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(&wire.Job{
		Uuid: job.GetUuid(), Type: job.GetType(), Queue: job.GetQueue(), Payload: job.GetPayload(), Retry: 1, MaxRetries: 1,
		Status: wire.Status_ENQUEUED, Labels: map[string]string{attemptLabel: strconv.Itoa(attempts)},
	})
}
