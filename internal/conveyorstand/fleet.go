package conveyorstand

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// The keys and the channel of a fleet.
const (
	Scheduled     = "conv:scheduled"
	Failed        = "conv:failed"
	Events        = "conv:events"
	ActiveJobs    = "conv:jobs:active"
	ActiveWorkers = "conv:workers:active"
	ActiveQueues  = "conv:queues:active"
)

// Queue is the list of a queue's jobs.
func Queue(name string) string { return "conv:queue:" + name }

// Job is the job while it runs, and what the keys of its relatives begin with.
func Job(uuid string) string { return "conv:job:" + uuid }

// WorkerJobs is the set of what a worker runs.
func WorkerJobs(id string) string { return "conv:worker:active:" + id }

// Silence is how long a worker is silent until its jobs are pushed back, unless a Fleet says otherwise.
const Silence = 30 * time.Second

// Fleet is what workers and clients of one store share. Redis is set, the rest may be zero.
type Fleet struct {
	Redis redis.UniversalClient
	Now   func() time.Time        // default time.Now
	Step  func(name string) error // called before each command; an error is a kill at that place. nil: none
	Retry time.Duration           // from a failed run to the next; default 2 s
	Quiet time.Duration           // silence after which a worker's jobs are pushed back; default Silence
}

func (f *Fleet) now() time.Time {
	if f.Now == nil {
		return time.Now()
	}
	return f.Now()
}

func (f *Fleet) step(name string) error {
	if f.Step == nil {
		return nil
	}
	return f.Step(name)
}

// do is one command of theirs.
func (f *Fleet) do(ctx context.Context, args ...any) (any, error) {
	if err := f.step(fmt.Sprint(args[0])); err != nil {
		return nil, err
	}
	reply, err := f.Redis.Do(ctx, args...).Result()
	if err == redis.Nil {
		return nil, nil
	}
	return reply, err
}

// all does commands in order, each a step of its own.
func (f *Fleet) all(ctx context.Context, commands ...[]any) error {
	for _, c := range commands {
		if _, err := f.do(ctx, c...); err != nil {
			return err
		}
	}
	return nil
}

func (f *Fleet) publish(ctx context.Context, job *wire.Job, status wire.Status) error {
	told := proto.CloneOf(job)
	told.Status = status
	return f.all(ctx, []any{"PUBLISH", Events, marshal(told)})
}

func marshal(job *wire.Job) string {
	b, err := proto.Marshal(job)
	if err != nil {
		panic(err) // a job of a test that cannot be marshalled is a mistake in the test
	}
	return string(b)
}

func unmarshal(text string) (*wire.Job, error) {
	job := &wire.Job{}
	if err := proto.Unmarshal([]byte(text), job); err != nil {
		return nil, fmt.Errorf("the stand-in met what is no job: %w", err)
	}
	return job, nil
}
