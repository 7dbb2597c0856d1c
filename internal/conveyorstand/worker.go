package conveyorstand

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Worker is one worker of a fleet. It runs one job at a time.
type Worker struct {
	*Fleet
	ID     string
	Queues []string
	Handle func(ctx context.Context, job *wire.Job) error
}

// Run works until ctx ends: it beats, pumps and pushes back every interval, and pops in between.
func (w *Worker) Run(ctx context.Context, interval time.Duration) error {
	var next time.Time
	for ctx.Err() == nil {
		if now := w.now(); now.After(next) {
			next = now.Add(interval)
			if err := errors.Join(w.Beat(ctx), w.Pump(ctx), w.PushBack(ctx)); err != nil {
				return ended(ctx, err)
			}
		}
		if _, err := w.pop(ctx, time.Second); err != nil { // go-redis takes whole seconds
			return ended(ctx, err)
		}
	}
	return nil
}

// ended is nil when ctx was the reason.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// Once pops and runs one job; false: there is none.
func (w *Worker) Once(ctx context.Context) (bool, error) { return w.pop(ctx, 0) }

// pop is BRPOP, with wait 0 RPOP of each queue. Until the job is registered it is nowhere.
func (w *Worker) pop(ctx context.Context, wait time.Duration) (bool, error) {
	if err := w.step("BRPOP"); err != nil {
		return false, err
	}
	var text string
	var err error
	if wait > 0 {
		keys := make([]string, len(w.Queues))
		for i, q := range w.Queues {
			keys[i] = Queue(q)
		}
		var got []string
		if got, err = w.Redis.BRPop(ctx, wait, keys...).Result(); err == nil {
			text = got[1]
		}
	} else {
		err = redis.Nil
		for _, q := range w.Queues {
			if text, err = w.Redis.RPop(ctx, Queue(q)).Result(); err != redis.Nil {
				break
			}
		}
	}
	if err == redis.Nil {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	job, err := unmarshal(text)
	if err != nil {
		return true, w.all(ctx, []any{"LPUSH", Failed, text})
	}
	return true, w.run(ctx, job)
}

func (w *Worker) run(ctx context.Context, job *wire.Job) error {
	job.Status, job.StartedAt = wire.Status_RUNNING, timestamppb.New(w.now())
	if err := w.all(ctx,
		[]any{"SET", Job(job.GetUuid()), marshal(job)},
		[]any{"SADD", WorkerJobs(w.ID), job.GetUuid()},
		[]any{"SADD", ActiveJobs, job.GetUuid()}); err != nil {
		return err
	}
	if err := w.publish(ctx, job, wire.Status_RUNNING); err != nil {
		return err
	}
	if err := w.step("handler"); err != nil {
		return err
	}
	if failure := w.Handle(ctx, job); failure != nil {
		return w.fail(ctx, job, failure)
	}
	if err := w.all(ctx, []any{"SREM", WorkerJobs(w.ID), job.GetUuid()}, []any{"SREM", ActiveJobs, job.GetUuid()}); err != nil {
		return err
	}
	return w.close(ctx, job)
}

// close releases the children one by one; when there are none, and none is active, the heirs, and goes on with the parent.
func (w *Worker) close(ctx context.Context, job *wire.Job) error {
	key, children := Job(job.GetUuid()), 0
	for {
		child, err := w.take(ctx, key+":children")
		if err != nil {
			return err
		}
		if child == nil {
			break
		}
		children++
		if err := w.all(ctx, []any{"SADD", key + ":active", child.GetUuid()}, []any{"LPUSH", Queue(child.GetQueue()), marshal(child)}); err != nil {
			return err
		}
	}
	active, err := w.do(ctx, "SCARD", key+":active")
	if err != nil || children > 0 || active != int64(0) {
		return err
	}
	for {
		heir, err := w.take(ctx, key+":onComplete")
		if err != nil {
			return err
		}
		if heir == nil {
			break
		}
		if err := w.all(ctx, []any{"LPUSH", Queue(heir.GetQueue()), marshal(heir)}); err != nil {
			return err
		}
	}
	if parent := job.GetParentUuid(); parent != "" {
		if err := w.all(ctx, []any{"SREM", Job(parent) + ":active", job.GetUuid()}); err != nil {
			return err
		}
		text, err := w.do(ctx, "GET", Job(parent))
		if err != nil {
			return err
		}
		if stored, ok := text.(string); ok {
			above, err := unmarshal(stored)
			if err != nil {
				return err
			}
			if err := w.close(ctx, above); err != nil {
				return err
			}
		}
	}
	if err := w.all(ctx, []any{"DEL", key}); err != nil {
		return err
	}
	return w.publish(ctx, job, wire.Status_COMPLETED)
}

func (w *Worker) take(ctx context.Context, key string) (*wire.Job, error) {
	text, err := w.do(ctx, "RPOP", key)
	if err != nil || text == nil {
		return nil, err
	}
	return unmarshal(fmt.Sprint(text))
}

// fail deletes the job with its edges, and schedules it again or lists it as failed.
func (w *Worker) fail(ctx context.Context, job *wire.Job, failure error) error {
	key := Job(job.GetUuid())
	job.Retry++
	job.LastFailure = failure.Error()
	if err := w.all(ctx, []any{"SREM", WorkerJobs(w.ID), job.GetUuid()}, []any{"SREM", ActiveJobs, job.GetUuid()},
		[]any{"DEL", key, key + ":children", key + ":onComplete"}); err != nil {
		return err
	}
	if job.GetRetry() < job.GetMaxRetries() {
		job.Status = wire.Status_ENQUEUED
		delay := w.Retry
		if delay == 0 {
			delay = 2 * time.Second
		}
		job.RunAt = timestamppb.New(w.now().Add(delay))
		return w.schedule(ctx, job)
	}
	job.Status = wire.Status_FAILED
	if err := w.all(ctx, []any{"LPUSH", Failed, marshal(job)}); err != nil {
		return err
	}
	return w.publish(ctx, job, wire.Status_FAILED)
}

// Beat says that the worker is alive.
func (w *Worker) Beat(ctx context.Context) error {
	return w.all(ctx, []any{"ZADD", ActiveWorkers, w.now().Unix(), w.ID})
}

// PushBack pushes the jobs of silent workers back to their queues.
func (w *Worker) PushBack(ctx context.Context) error {
	quiet := w.Quiet
	if quiet == 0 {
		quiet = Silence
	}
	before := strconv.FormatInt(w.now().Add(-quiet).Unix(), 10)
	silent, err := w.Redis.ZRangeArgs(ctx, redis.ZRangeArgs{Key: ActiveWorkers, ByScore: true, Start: "-inf", Stop: "(" + before}).Result()
	if err != nil {
		return err
	}
	for _, id := range silent {
		uuids, err := w.Redis.SMembers(ctx, WorkerJobs(id)).Result()
		if err != nil {
			return err
		}
		for _, uuid := range uuids {
			text, err := w.do(ctx, "GET", Job(uuid))
			if err != nil {
				return err
			}
			if stored, ok := text.(string); ok {
				job, err := unmarshal(stored)
				if err != nil {
					return err
				}
				if err := w.all(ctx, []any{"LPUSH", Queue(job.GetQueue()), stored}); err != nil {
					return err
				}
			}
			if err := w.all(ctx, []any{"SREM", WorkerJobs(id), uuid}); err != nil {
				return err
			}
		}
		if err := w.all(ctx, []any{"ZREM", ActiveWorkers, id}); err != nil {
			return err
		}
	}
	return nil
}
