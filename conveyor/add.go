package conveyor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// AddOption changes how Add and AddMany treat their jobs.
type AddOption func(*addOptions)

type addOptions struct {
	parentDead bool
	strict     bool
	within     map[string]bool // uuids added by the same call
}

// ParentDead tells Add that the job's parent is over: no list of an upstream is used. A job that is not due is scheduled;
// another enters its parent's active set, then its queue.
func ParentDead() AddOption { return func(o *addOptions) { o.parentDead = true } }

// Strict refuses, with ErrUnknownUpstream, edges to a uuid that is neither stored nor part of the same call. Without it
// such a job is held as an orphan until its upstream arrives.
func Strict() AddOption { return func(o *addOptions) { o.strict = true } }

// Bounds of one script call beside MaxBatch.
const (
	batchBytes = 4 << 20
	batchEdges = 2000
)

// Add stores one job by the specification's order of steps, in one atomic script: a job with a living parent only joins
// that parent's children list; one with a predecessor only its onComplete list, both when it has both; one whose run_at is
// ahead is scheduled; any other is pushed to its queue. An upstream that is over decides its edge at once. An empty Uuid is
// generated and set in job before anything is sent. Adding an existing uuid is a no-op.
//
// What goroutines add on one Client while a call is on its way goes together in the next, at most MaxBatch jobs: sixteen of them add
// several times as much as one after the other. Each has its own outcome. One whose ctx ends while its job is on its way does not learn
// whether it was stored, and may repeat the call.
func (c *Client) Add(ctx context.Context, job *wire.Job, opts ...AddOption) error {
	return c.AddMany(ctx, []*wire.Job{job}, opts...)
}

// AddMany adds jobs in order, in atomic chunks of at most MaxBatch. Upstreams may come before or after their dependents;
// a graph that must never start half stored comes dependents first. An error says how many jobs the chunks before it
// stored; repeating the call with the same uuids stores the rest.
func (c *Client) AddMany(ctx context.Context, jobs []*wire.Job, opts ...AddOption) error {
	var o addOptions
	for _, opt := range opts {
		opt(&o)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("add: %w", context.Cause(ctx))
	}
	subs, err := c.submissions(ctx, jobs, &o)
	if err != nil {
		return fmt.Errorf("add: %w", err)
	}
	for stored := 0; stored < len(subs); {
		n, bytes, edges := 0, 0, 0
		for _, s := range subs[stored:] {
			bytes, edges = bytes+len(s.bytes), edges+s.count
			if n == MaxBatch || n > 0 && (bytes > batchBytes || edges > batchEdges) {
				break
			}
			n++
		}
		if err := c.adds.add(ctx, subs[stored:stored+n]); err != nil {
			if len(subs) == 1 {
				return fmt.Errorf("add: %w", err)
			}
			return fmt.Errorf("add: %d of %d jobs stored: %w", stored, len(subs), err)
		}
		stored += n
	}
	return nil
}

// Check joins what Add would refuse in jobs without asking the store, at most ten problems. It changes nothing in them, and what
// it finds nothing wrong with can still be refused for what is stored: ErrUnique, ErrUnknownUpstream or ErrTemplate.
func Check(jobs ...*wire.Job) error {
	jobs = slices.Clone(jobs)
	for i, job := range jobs {
		if job != nil && job.Uuid == "" {
			jobs[i] = proto.CloneOf(job) // gets the uuid
		}
	}
	_, err := checked(jobs, addOptions{})
	return err
}

// submissions checks all jobs before any is sent.
func (c *Client) submissions(ctx context.Context, jobs []*wire.Job, o *addOptions) ([]submission, error) {
	if o.strict {
		o.within = make(map[string]bool, len(jobs))
		for _, job := range jobs {
			if job != nil && job.Uuid != "" {
				o.within[job.Uuid] = true
			}
		}
	}
	subs, err := checked(jobs, *o)
	if err != nil {
		return nil, err
	}
	if o.strict && len(jobs) > MaxBatch {
		if err := c.checkUpstreams(ctx, jobs, o); err != nil {
			return nil, err
		}
	}
	return subs, nil
}

// checked joins what is wrong with jobs by themselves and among each other.
func checked(jobs []*wire.Job, o addOptions) ([]submission, error) {
	subs := make([]submission, len(jobs))
	var problems []error
	for i, job := range jobs {
		sub, err := newSubmission(job, o)
		if err == nil && (job.TemplateUuid != "" || job.Tick != "" || job.Delivery.GetOf() != "") {
			err = fmt.Errorf("job %s: %w", label(job), ErrEmitted)
		}
		if err != nil && len(problems) < 10 {
			problems = append(problems, err)
		}
		subs[i] = sub
	}
	problems = append(problems, checkFamilies(jobs))
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return subs, nil
}

// checkUpstreams looks at all upstreams of a call that takes several scripts, so that a bad one refuses the call whole.
func (c *Client) checkUpstreams(ctx context.Context, jobs []*wire.Job, o *addOptions) error {
	var outside []string
	for _, job := range jobs {
		for _, u := range upstreamsOf(job) {
			if !o.within[u] {
				outside = append(outside, u)
			}
		}
	}
	found, err := c.Statuses(ctx, outside)
	if err != nil {
		return err
	}
	for _, s := range found {
		if s.State == StateUnknown {
			return fmt.Errorf("%w: %s", ErrUnknownUpstream, s.UUID)
		}
	}
	return nil
}
