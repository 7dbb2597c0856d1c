package bridge

import (
	"context"
	"errors"
	"slices"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// addition is a batch of clients' jobs on their way into the engine.
type addition struct {
	jobs  []*wire.Job
	uuids []string
	gone  []string // that have no record any more: another bridge saw them through
}

// addBatch asks, adds and notes, in this order: see takeUp.
func (b *Bridge) addBatch(ctx context.Context, a *addition) error {
	if len(a.jobs) > 0 {
		if err := b.step(); err != nil {
			return err
		}
		if err := askScript.Run(ctx, b.o.Fleet, nil, append([]any{b.keys.clients()}, anys(a.uuids)...)...).Err(); err != nil {
			return inFleet("note what the engine was asked", err)
		}
		if err := b.step(); err != nil {
			return err
		}
		if err := b.addJobs(ctx, a); err != nil {
			return err
		}
	}
	if len(a.uuids)+len(a.gone) == 0 {
		return nil
	}
	if err := b.step(); err != nil {
		return err
	}
	noted, err := addedScript.Run(ctx, b.o.Fleet, []string{b.keys.fresh()}, append([]any{b.keys.clients()}, anys(append(a.uuids, a.gone...))...)...).Int64Slice()
	if err != nil {
		return inFleet("note what was added", err)
	}
	for i, job := range a.jobs {
		if noted[i] > 0 {
			b.tell(eventOf(Taken, job, ""))
		}
	}
	return nil
}

// addJobs adds all at once. When the engine refuses that, it adds each by itself, and sets aside those that are the reason.
func (b *Bridge) addJobs(ctx context.Context, a *addition) error {
	err := b.client.AddMany(ctx, a.jobs)
	if err == nil || !ofJob(ctx, err) {
		return err
	}
	for i := 0; i < len(a.jobs); {
		err := b.client.Add(ctx, a.jobs[i])
		switch {
		case err == nil:
			i++
		case !ofJob(ctx, err):
			return err
		default:
			if err := b.setAside(ctx, &clientJob{uuid: a.uuids[i]}, err, true); err != nil {
				return err
			}
			a.jobs, a.uuids = slices.Delete(a.jobs, i, i+1), slices.Delete(a.uuids, i, i+1)
		}
	}
	return nil
}

// ofJob tells whether a job is refused for what it is. Otherwise the store is the reason, and the call is repeated.
func ofJob(ctx context.Context, err error) bool {
	for _, reason := range []error{conveyor.ErrUnavailable, conveyor.ErrFull, conveyor.ErrCorrupt, conveyor.ErrStore} {
		if errors.Is(err, reason) {
			return false
		}
	}
	return ctx.Err() == nil
}

func anys(texts []string) []any {
	out := make([]any, len(texts))
	for i, t := range texts {
		out[i] = t
	}
	return out
}
