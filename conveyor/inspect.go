package conveyor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Decision is what came of one edge.
type Decision string

// The decisions.
const (
	EdgeUndecided Decision = "undecided"
	EdgeSuccess   Decision = "success" // the upstream ended, or as a parent did its own work, with success
	EdgeFailure   Decision = "failure"
	EdgeSkipped   Decision = "skipped" // the upstream was skipped by a success, and this job with it
	EdgeCut       Decision = "cut"     // the upstream was withdrawn: the edge counts no more and holds the job
)

// JobEdge is an edge of a job as the engine keeps it. Those of a job that is over are kept only as far as a retry needs them.
type JobEdge struct {
	Upstream Status // StateUnknown: never seen, or nothing is left of it
	Kind     wire.Edge_Kind
	RunIf    wire.Edge_RunIf // of a predecessor
	Ignore   bool            // of a parent: this job's failure does not fail it
	Opening  int64
	Decision Decision
}

// Inspection is what observers may want to know of one job beside its status.
type Inspection struct {
	Status   Status
	Edges    []JobEdge
	Children []Status // released and unfinished: the job ends after them
	Holder   string   // who holds its unique key, itself included; "" for none
	// ObsoleteIf are the labels of which a live job that has them all makes it obsolete; nil for none.
	ObsoleteIf map[string]string
	// Delivered is what workers got of a job for all, by their ids: of those that are known still.
	Delivered []Status
}

// Inspect reads a job's status, its edges with how their upstreams stand, and the children it waits for. ErrNotFound means no
// status entry.
func (c *Client) Inspect(ctx context.Context, uuid string) (*Inspection, error) {
	if !validName(uuid) {
		return nil, fmt.Errorf("inspect: %w: %q", ErrUUID, uuid)
	}
	pipe := c.moment(ctx)
	entry, hash := pipe.HGet(ctx, c.keys.status(), uuid), pipe.HGetAll(ctx, c.keys.edges(uuid))
	active, roots := pipe.SMembers(ctx, c.keys.active(uuid)), pipe.HGet(ctx, c.keys.key("roots"), uuid)
	if err := transact(ctx, pipe); passOver(err) != nil {
		return nil, read(ctx, "inspect "+uuid, err)
	}
	if entry.Val() == "" {
		return nil, fmt.Errorf("inspect %s: %w", uuid, ErrNotFound)
	}
	s, err := decodeStatus(uuid, entry.Val())
	if err != nil {
		return nil, err
	}
	in := &Inspection{Status: s}
	if roots.Val() != "" {
		in.ObsoleteIf = unpackLabels(roots.Val())
	}
	if s.Broadcast {
		if in.Delivered, err = c.delivered(ctx, uuid); err != nil {
			return nil, err
		}
	}
	edges, related := storedEdges(entry.Val(), hash.Val()), []string{}
	for _, e := range edges {
		related = append(related, e.upstream)
	}
	statuses, err := c.Statuses(ctx, append(related, active.Val()...))
	if err != nil {
		return nil, err
	}
	for i, e := range edges {
		in.Edges = append(in.Edges, e.shown(statuses[i]))
	}
	slices.SortFunc(in.Edges, func(x, y JobEdge) int {
		if x.Kind != y.Kind {
			return int(x.Kind) - int(y.Kind)
		}
		return strings.Compare(x.Upstream.UUID, y.Upstream.UUID)
	})
	if s.State == StateClosing {
		in.Children = statuses[len(edges):]
		slices.SortFunc(in.Children, func(x, y Status) int { return strings.Compare(x.UUID, y.UUID) })
	}
	if y := tagOf(entry.Val(), 'y'); y != "" {
		if in.Holder, err = c.rdb.HGet(ctx, c.keys.unique(), y).Result(); passOver(err) != nil {
			return nil, read(ctx, "inspect "+uuid, err)
		}
	}
	return in, nil
}

// delivered is what the workers that are known have got of a job for all.
func (c *Client) delivered(ctx context.Context, uuid string) ([]Status, error) {
	workers, err := c.Workers(ctx)
	if err != nil {
		return nil, err
	}
	var uuids []string
	for _, w := range workers {
		uuids = append(uuids, DeliveryUUID(uuid, w.ID))
	}
	found, err := c.Statuses(ctx, uuids)
	return slices.DeleteFunc(found, func(s Status) bool { return s.State == StateUnknown }), err
}

// shown is an edge for observers.
func (e storedEdge) shown(upstream Status) JobEdge {
	out := JobEdge{Upstream: upstream, Opening: e.opening, Ignore: e.kind == 'i' || e.kind == 'l'}
	out.Decision = map[byte]Decision{'?': EdgeUndecided, '+': EdgeSuccess, '-': EdgeFailure, '=': EdgeSkipped, '~': EdgeCut}[e.mark]
	if !e.parent() {
		out.Kind = wire.Edge_PREDECESSOR
		out.RunIf = map[byte]wire.Edge_RunIf{'s': wire.Edge_SUCCESS, 'f': wire.Edge_FAILURE, 'a': wire.Edge_ALWAYS}[e.kind]
	}
	return out
}
