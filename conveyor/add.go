package conveyor

import (
	"context"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// AddOption changes how Add and AddMany treat their jobs.
type AddOption func(*addOptions)

type addOptions struct {
	parentDead bool
	strict     bool
}

// ParentDead tells Add that the job's parent is over: no list of an upstream is used. A job that is not due is scheduled;
// another enters its parent's active set, then its queue.
func ParentDead() AddOption { return func(o *addOptions) { o.parentDead = true } }

// Strict refuses, with ErrUnknownUpstream, edges to a uuid that is neither stored nor part of the same call. Without it
// such a job is held as an orphan until its upstream arrives.
func Strict() AddOption { return func(o *addOptions) { o.strict = true } }

// Add stores one job by the specification's order of steps. An empty Uuid is generated and set in job before anything is
// sent. Adding an existing uuid is a no-op.
func (c *Client) Add(ctx context.Context, job *wire.Job, opts ...AddOption) error {
	return c.AddMany(ctx, []*wire.Job{job}, opts...)
}

// AddMany adds jobs in order, in chunks of MaxBatch, each chunk atomic. Upstreams may come before or after
// their dependents; for a graph that must never start half stored put the dependents first.
func (c *Client) AddMany(ctx context.Context, jobs []*wire.Job, opts ...AddOption) error {
	return errUnbuilt
}
