package bridge

import (
	"context"
	"errors"
	"slices"

	"github.com/waybill-dev/waybill/conveyor"
)

// caller numbers the calls of a bridge: one without an answer is repeated before any other, so no reservation is lost with its reply.
type caller struct {
	id     string
	number int64
	open   *conveyor.ExchangeRequest // without an answer so far
}

// exchange acknowledges and reserves. It returns which acknowledgements took effect, by their place in done.
func (b *Bridge) exchange(ctx context.Context, want int, done []conveyor.Ack) (conveyor.ExchangeReply, []bool, error) {
	if b.calls.open != nil {
		if _, err := b.send(ctx); err != nil {
			return conveyor.ExchangeReply{}, nil, err
		}
	}
	b.calls.number++
	b.calls.open = &conveyor.ExchangeRequest{
		Caller: b.calls.id, Number: b.calls.number, Lease: b.o.Lease, Holder: b.o.ID, Queues: b.o.Queues, Want: want, Done: done,
	}
	reply, err := b.send(ctx)
	if err != nil {
		return conveyor.ExchangeReply{}, nil, err
	}
	took := make([]bool, len(done))
	for i := range done {
		took[i] = !slices.Contains(reply.Outdated, i)
	}
	return reply, took, nil
}

// send makes the open call, and keeps what it reserved.
func (b *Bridge) send(ctx context.Context) (conveyor.ExchangeReply, error) {
	if err := b.step(); err != nil {
		return conveyor.ExchangeReply{}, err
	}
	reply, err := b.client.Exchange(ctx, *b.calls.open)
	if err != nil && !errors.Is(err, conveyor.ErrUnavailable) && ctx.Err() == nil {
		b.calls.open = nil // refused: nothing was changed
	}
	if err == nil {
		b.calls.open = nil
		b.reserved = append(b.reserved, reply.Reserved...)
		b.refused = append(b.refused, reply.Broken...)
	}
	return reply, err
}
