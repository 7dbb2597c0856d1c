package conveyor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// The beat of workers: a worker that is silent for DeadAfter is dead and its jobs go back to their places.
const (
	BeatEvery = 2 * time.Second
	DeadAfter = 6 * time.Second
)

// WorkerInfo is a worker as it announces itself with each beat, and as observers see it.
type WorkerInfo struct {
	ID       string
	Host     string
	PID      int
	Team     string
	Queues   []string
	Types    []string // job types it has a handler for
	KeyIDs   []string // keys it can verify and open payloads with
	Secrets  []string // patterns of the secrets that it gives to jobs, see SecretSource
	Capacity int
	Started  time.Time
	// Bridge names what runs the jobs that this one reserves: a bridge runs none itself, gets no deliveries, and its reservations are for
	// its ID instead of its own, see Status.Holder. Its Capacity is 0. Empty for a worker.
	Bridge string

	Running  []Holding // what the worker believes it runs; only sent
	Load     int       // jobs it owns by the store's books; only received
	LastBeat time.Time // by the store's clock; only received
	Alive    bool      // by the store's clock; only received
}

// Holding names one attempt.
type Holding struct {
	UUID  string
	Fence int64
}

// BeatReply answers a Beat.
type BeatReply struct {
	Cancel   []string  // uuids among Running whose cancel was asked for
	Outdated []string  // uuids among Running that are no longer this worker's under that fence: stop them, write nothing
	Unknown  []Holding // attempts the store holds for this worker that are not in Running: one is on its way, or the store has lost its end
	Now      time.Time
}

// Beat registers a worker or renews it, and with it the lease of all its jobs.
func (c *Client) Beat(ctx context.Context, w WorkerInfo) (BeatReply, error) {
	if !validName(w.ID) {
		return BeatReply{}, fmt.Errorf("beat: worker %q: %w", w.ID, ErrUUID)
	}
	fields := []any{
		"host", w.Host, "pid", w.PID, "team", w.Team, "queues", strings.Join(w.Queues, ","), "types", strings.Join(w.Types, ","),
		"keys", strings.Join(w.KeyIDs, ","), "secrets", strings.Join(w.Secrets, ","), "capacity", w.Capacity, "started", w.Started.UnixMilli(),
	}
	if w.Bridge != "" {
		fields = append(fields, "bridge", w.Bridge)
	}
	args := append([]any{w.ID, len(fields) / 2}, fields...)
	for _, h := range w.Running {
		args = append(args, h.UUID, h.Fence)
	}
	reply, err := c.run(ctx, beatScript, args...)
	if err != nil {
		return BeatReply{}, err
	}
	p := texts(reply)
	if len(p) != 4 {
		return BeatReply{}, errors.New("beat: unreadable reply")
	}
	out := BeatReply{Now: time.UnixMilli(integer(p[0])), Cancel: listed(p[1]), Outdated: listed(p[2])}
	for _, pair := range listed(p[3]) {
		uuid, fence, _ := strings.Cut(pair, " ")
		out.Unknown = append(out.Unknown, Holding{UUID: uuid, Fence: integer(fence)})
	}
	c.happened(LeaseExtended, len(w.Running)-len(out.Outdated))
	return out, nil
}

// listed splits a list joined by commas.
func listed(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// Leave hands back what the worker still owns, each job to its place with nothing spent, and deregisters it.
func (c *Client) Leave(ctx context.Context, workerID string) error {
	if !validName(workerID) {
		return fmt.Errorf("leave: worker %q: %w", workerID, ErrUUID)
	}
	for {
		reply, err := c.run(ctx, leaveScript, workerID)
		if err != nil {
			return err
		}
		if done, _ := reply.(int64); done == 1 {
			return nil
		}
	}
}

// WaitWake blocks until something may have become ready for a worker whose last Exchange came back short, until timeout, or
// until ctx ends. It is a hint: false tells only that nothing was heard.
func (c *Client) WaitWake(ctx context.Context, workerID string, timeout time.Duration) (bool, error) {
	_, err := interruptible(ctx, func() ([]string, error) { return c.rdb.BLPop(ctx, timeout, c.keys.wake(workerID)).Result() })
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, read(ctx, "wait for a wake-up", err)
}

// Beats tells when each registered worker beat last, and what time it is, by the store's clock. It is one small read.
func (c *Client) Beats(ctx context.Context) (last map[string]time.Time, now time.Time, err error) {
	pipe := c.rdb.Pipeline()
	beats := c.BeatsIn(ctx, pipe)
	_, _ = pipe.Exec(ctx) // each command is asked for its own error
	return beats()
}

// BeatsIn is Beats as part of a pipeline with other reads: call what it returns after Exec.
func (c *Client) BeatsIn(ctx context.Context, pipe redis.Pipeliner) func() (last map[string]time.Time, now time.Time, err error) {
	ids, beat := pipe.ZRangeWithScores(ctx, c.keys.workers(), 0, -1), pipe.Time(ctx)
	clock := pipe.Get(ctx, c.keys.clock())
	return func() (last map[string]time.Time, now time.Time, err error) {
		for _, cmd := range []redis.Cmder{ids, beat, clock} {
			if err := cmd.Err(); err != nil && !errors.Is(err, redis.Nil) {
				return nil, now, read(ctx, "read "+c.keys.workers(), err)
			}
		}
		last = make(map[string]time.Time, len(ids.Val()))
		for _, z := range ids.Val() {
			id, _ := z.Member.(string)
			last[id] = time.UnixMilli(int64(z.Score))
		}
		return last, testClock(beat.Val(), clock.Val()), nil
	}
}

// Workers lists the registered workers by id.
func (c *Client) Workers(ctx context.Context) ([]WorkerInfo, error) {
	beats, now, err := c.Beats(ctx)
	if err != nil || len(beats) == 0 {
		return []WorkerInfo{}, err
	}
	ids := slices.Sorted(maps.Keys(beats))
	pipe := c.rdb.Pipeline()
	infos, loads := make([]*redis.MapStringStringCmd, len(ids)), make([]*redis.IntCmd, len(ids))
	for i, id := range ids {
		infos[i], loads[i] = pipe.HGetAll(ctx, c.keys.worker(id)), pipe.ZCard(ctx, c.keys.worker(id)+":jobs")
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, read(ctx, "read workers", err)
	}
	out := make([]WorkerInfo, len(ids))
	for i, id := range ids {
		f := infos[i].Val()
		out[i] = WorkerInfo{
			ID: id, Host: f["host"], PID: int(integer(f["pid"])), Team: f["team"], Queues: listed(f["queues"]), Types: listed(f["types"]),
			KeyIDs: listed(f["keys"]), Secrets: listed(f["secrets"]), Capacity: int(integer(f["capacity"])), Load: int(loads[i].Val()),
			Bridge: f["bridge"],
		}
		out[i].Seen(beats[id], now)
		if f["started"] != "" {
			out[i].Started = time.UnixMilli(integer(f["started"]))
		}
	}
	return out, nil
}

// Seen fills in when the worker beat last, and whether it is alive now, both by the store's clock.
func (w *WorkerInfo) Seen(last, now time.Time) {
	w.LastBeat, w.Alive = last, now.Sub(last) < DeadAfter
}
