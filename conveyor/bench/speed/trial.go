package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// figures are what one sample of one side gave, by name. Times are in seconds, memory is in bytes.
type figures map[string]float64

// side is one of the programs of a trial; each call of measure is one sample.
type side struct {
	name    string
	measure func(context.Context) (figures, error)
}

// trial is something that several programs do, turn by turn.
type trial struct {
	name   string
	rounds int // at most so many; 0: as many as are asked for
	sides  func(context.Context, *bench) ([]side, error)
}

// sampler is a side that runs in a process of its own, with a store of its own.
type sampler func(context.Context, *store) (figures, error)

// sampled is a trial on Redis.
type sampled struct {
	name      string
	roundTrip time.Duration // between client and server
	sides     sides
}

// sides are the samplers of one trial, by the names of their sides.
type sides []struct {
	name string
	run  sampler
}

// onRedis are the trials of the engine against its peers.
var onRedis = []sampled{
	{name: "submission", sides: sides{
		{"waybill", submission}, {"waybill, one by one", singles(16)}, {"lpush", lpush},
		{"asynq", asynqSubmission(1)}, {"asynq, 16 goroutines", asynqSubmission(16)},
	}},
	{name: "worker", sides: sides{{"waybill", worker(50_000)}, {"asynq", asynqWorker(20_000)}}},
	{name: "worker at 1 ms", roundTrip: time.Millisecond, sides: sides{{"waybill", worker(20_000)}, {"asynq", asynqWorker(2000)}}},
	{name: "namespaces", sides: sides{{"one", onNode(1)}, {"twelve", onNode(12)}, {"one, Cluster", onCluster(1)}, {"twelve, Cluster", onCluster(12)}}},
	{name: "release", sides: sides{{"waybill", release}, {"asynq", asynqWorker(10_000)}}},
	{name: "dispatch", sides: sides{{"waybill", dispatch}, {"brpop", popped}, {"asynq", asynqDispatch}}},
	{name: "idle", sides: sides{{"waybill", idle}, {"asynq", asynqIdle}}},
	{name: "memory", sides: sides{{"waybill, added", memory(false)}, {"waybill, applied", memory(true)}, {"asynq", asynqMemory}}},
	{name: "exec", sides: sides{{"waybill", steps(500)}, {"waybill, 3,000 steps", steps(3000)}, {"fork and exec", forks}}},
	{name: "backlog", sides: sides{{"waybill, 1,000 queued", backlog(1000)}, {"waybill, 1,000,000 queued", backlog(1_000_000)}}},
}

// sample is the first argument of this program when it takes one sample: of the trial and the side that follow.
const sample = "sample"

// trials are all of them, in the order of the report.
func trials() []trial {
	list := planTrials()
	for _, s := range onRedis {
		list = append(list, trial{name: s.name, sides: func(context.Context, *bench) ([]side, error) {
			var out []side
			for _, one := range s.sides {
				out = append(out, side{one.name, func(ctx context.Context) (figures, error) { return apart(ctx, s.name, one.name) }})
			}
			return out, nil
		}})
	}
	return list
}

// apart takes a sample in a new process, so that what one leaves behind costs no other.
func apart(ctx context.Context, name, of string) (got figures, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var problems strings.Builder
	cmd := exec.CommandContext(ctx, self, sample, name, of)
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, problems.String())
	}
	return got, json.Unmarshal(out, &got)
}

// takeSample is what such a process does.
func takeSample(ctx context.Context, name, of string) error {
	for _, t := range onRedis {
		for _, s := range t.sides {
			if t.name != name || s.name != of {
				continue
			}
			store, err := openStore(ctx, t.roundTrip)
			if err != nil {
				return err
			}
			defer store.close()
			got, err := s.run(ctx, store)
			if err != nil {
				return err
			}
			return json.NewEncoder(os.Stdout).Encode(got)
		}
	}
	return fmt.Errorf("there is no trial %q with a side %q", name, of)
}
