package conveyorstand

import (
	"context"
	"strconv"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Add adds a job by the order of steps of the specification.
func (f *Fleet) Add(ctx context.Context, job *wire.Job, deadParent bool) error {
	bytes := marshal(job)
	switch {
	case job.GetParentUuid() != "" && !deadParent:
		return f.all(ctx, []any{"LPUSH", Job(job.GetParentUuid()) + ":children", bytes})
	case job.GetPredecessorUuid() != "" && !deadParent:
		return f.all(ctx, []any{"LPUSH", Job(job.GetPredecessorUuid()) + ":onComplete", bytes})
	case job.GetRunAt() != nil && job.GetRunAt().AsTime().After(f.now()):
		return f.schedule(ctx, job)
	}
	if job.GetParentUuid() != "" {
		if err := f.all(ctx, []any{"SADD", Job(job.GetParentUuid()) + ":active", job.GetUuid()}); err != nil {
			return err
		}
	}
	return f.all(ctx, []any{"LPUSH", Queue(job.GetQueue()), bytes})
}

func (f *Fleet) schedule(ctx context.Context, job *wire.Job) error {
	score := strconv.FormatFloat(float64(job.GetRunAt().AsTime().UnixMilli())/1000, 'f', 3, 64)
	return f.all(ctx, []any{"ZADD", Scheduled, score, marshal(job)})
}

// Pump moves what is due through Add, as each worker does every second: it reads, adds and then removes, so two that do so at once add
// twice, and a retried child goes to its parent's list, dead or not.
func (f *Fleet) Pump(ctx context.Context) error {
	due, err := f.do(ctx, "ZRANGEBYSCORE", Scheduled, "-inf", strconv.FormatFloat(float64(f.now().UnixMilli())/1000, 'f', 3, 64))
	if err != nil {
		return err
	}
	entries, _ := due.([]any)
	for _, e := range entries {
		text, _ := e.(string)
		job, err := unmarshal(text)
		if err != nil {
			return err
		}
		if err := f.Add(ctx, job, false); err != nil {
			return err
		}
		if err := f.all(ctx, []any{"ZREM", Scheduled, text}); err != nil {
			return err
		}
	}
	return nil
}
