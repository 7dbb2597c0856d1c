package conveyor

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/redis/go-redis/v9"
)

// How many jobs List returns at most.
const (
	DefaultListLimit = 1000
	MaxListLimit     = 10_000
)

// ListOptions chooses jobs. The zero value is all of them.
type ListOptions struct {
	// Labels must all be carried; "*" is any name or any value. The reserved names object (uuid), worker (who runs it),
	// expiry (end of its waiting limit, RFC 3339) and method (any, worker or all) stand for facts of the engine; "*" as a name does not.
	Labels map[string]string
	States []State // nil: any
	Queue  string  // "": any; "@<worker>": a worker's inbox
	Limit  int     // 0: DefaultListLimit; at most MaxListLimit
	After  string  // only uuids after this one: the last of the page before
}

// Listed is a job that List found.
type Listed struct {
	Status
	Labels map[string]string // its own and the facts
}

// LiveStates are the states of jobs that are not over.
func LiveStates() []State {
	var out []State
	for s := StateHeld; s <= StateExpired; s++ {
		if s.live() {
			out = append(out, s)
		}
	}
	return out
}

// List returns jobs in the order of their uuids. With labels, or with the worker that runs them, it looks only at jobs that have
// them; without, it walks over all status entries. Entries that cannot be decoded are left out: Verify names them. While jobs
// change, a page may have fewer than Limit although there are more: the last page is the empty one.
func (c *Client) List(ctx context.Context, o ListOptions) ([]Listed, error) {
	l := listing{client: c, options: o}
	if l.options.Limit == 0 {
		l.options.Limit = DefaultListLimit
	}
	if n := l.options.Limit; n < 0 || n > MaxListLimit {
		return nil, fmt.Errorf("list: limit %d is not between 1 and %d", n, MaxListLimit)
	}
	if o.Queue != "" && !validPlace(o.Queue) {
		return nil, fmt.Errorf("list: %w: %q", ErrQueueName, o.Queue)
	}
	var err error
	if l.filter, err = newLabelFilter(o.Labels); err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	uuids, narrow, err := l.candidates(ctx)
	if err == nil && !narrow {
		uuids, err = l.walk(ctx)
	}
	if err != nil {
		return nil, err
	}
	return l.among(ctx, uuids)
}

// listing is one call of List.
type listing struct {
	client  *Client
	options ListOptions
	filter  labelFilter
}

// candidates are the uuids that the most telling index names; false: there is none to ask.
func (l *listing) candidates(ctx context.Context) ([]string, bool, error) {
	keys := l.client.keys
	if uuid, ok := l.filter.facts[labelObject]; ok && uuid != Any {
		return []string{uuid}, true, nil
	}
	if len(l.filter.own) > 0 {
		pipe := l.client.moment(ctx) // a job that ends is in either set
		var cmds []*redis.StringSliceCmd
		if l.options.States == nil || slices.ContainsFunc(l.options.States, State.live) {
			cmds = append(cmds, pipe.SInter(ctx, l.filter.sets(keys, "label")...), pipe.SInter(ctx, l.filter.sets(keys, "kind")...))
		}
		if l.options.States == nil || slices.ContainsFunc(l.options.States, State.Ended) {
			cmds = append(cmds, pipe.SInter(ctx, l.filter.sets(keys, "past")...))
		}
		if len(cmds) == 0 {
			return nil, true, nil
		}
		if err := transact(ctx, pipe); err != nil {
			return nil, false, read(ctx, "list", err)
		}
		var uuids []string
		for _, cmd := range cmds {
			uuids = append(uuids, cmd.Val()...)
		}
		return uuids, true, nil
	}
	if worker, ok := l.filter.facts[labelWorker]; ok && worker != Any {
		if !validName(worker) {
			return nil, true, nil
		}
		pipe := l.client.moment(ctx)
		jobs, leased := pipe.ZRange(ctx, keys.worker(worker)+":jobs", 0, -1), pipe.ZRange(ctx, keys.leases(), 0, -1)
		err := transact(ctx, pipe)
		return append(jobs.Val(), leased.Val()...), true, read(ctx, "list", err)
	}
	return nil, false, nil
}

// walk reads all status entries and returns the first uuids that fit, as far as an entry can tell.
func (l *listing) walk(ctx context.Context) ([]string, error) {
	var uuids []string
	cut := func(n int) {
		slices.Sort(uuids)
		uuids = slices.Compact(uuids)
		uuids = uuids[:min(n, len(uuids))]
	}
	err := scan(ctx, l.client.rdb.HScan(ctx, l.client.keys.status(), 0, "", censusSlice), 2, func(v []string) {
		if v[0] <= l.options.After {
			return
		}
		if s, err := decodeStatus(v[0], v[1]); err == nil && l.fits(s) && matchLabels(l.filter.facts, systemLabels(s)) {
			if uuids = append(uuids, v[0]); len(uuids) > 4*l.options.Limit {
				cut(l.options.Limit)
			}
		}
	})
	cut(l.options.Limit)
	return uuids, read(ctx, "list", err)
}

func (l *listing) fits(s Status) bool {
	return (l.options.Queue == "" || s.Queue == l.options.Queue) && (l.options.States == nil || slices.Contains(l.options.States, s.State))
}

// among reads jobs in the order of their uuids until enough of them fit.
func (l *listing) among(ctx context.Context, uuids []string) ([]Listed, error) {
	uuids = slices.DeleteFunc(uuids, func(u string) bool { return u <= l.options.After })
	slices.Sort(uuids)
	uuids = slices.Compact(uuids)
	var out []Listed
	for from := 0; from < len(uuids) && len(out) < l.options.Limit; from += readSlice {
		part := uuids[from:min(from+readSlice, len(uuids))]
		pipe := l.client.rdb.Pipeline()
		entries, labels := pipe.HMGet(ctx, l.client.keys.status(), part...), pipe.HMGet(ctx, l.client.keys.labels(), part...)
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, read(ctx, "list", err)
		}
		for i, uuid := range part {
			entry, ok := entries.Val()[i].(string)
			s, err := decodeStatus(uuid, entry)
			if !ok || err != nil || !l.fits(s) {
				continue
			}
			packed, _ := labels.Val()[i].(string)
			own, facts := unpackLabels(packed), systemLabels(s)
			if l.filter.matches(own, facts) && len(out) < l.options.Limit {
				maps.Copy(facts, own)
				out = append(out, Listed{Status: s, Labels: facts})
			}
		}
	}
	return out, nil
}
