package bridge

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// record is what the fleet's store remembers of a job of ours that the fleet has. It is written together with the entry in their queue,
// names the attempt by its fence and by how many failed before, and gets the outcome from whichever bridge hears of it. So every
// bridge of the namespace can settle every job, and a job reserved again is found instead of pushed again.
type record struct {
	uuid     string
	fence    int64
	attempts int
	queue    string
	outcome  string // "completed", "failed", or "" so far
	failure  string
	started  time.Time // when it was first seen running; zero: not seen
	closing  bool      // its own work is done
	final    bool      // its failure is one of a child: it is not tried again
}

func (b *Bridge) records(ctx context.Context, uuids []string) ([]*record, error) {
	pipe := b.o.Fleet.Pipeline()
	replies := make([]*redis.SliceCmd, len(uuids))
	for i, uuid := range uuids {
		replies[i] = pipe.HMGet(ctx, b.keys.record(uuid), "fence", "attempts", "queue", "outcome", "failure", "started", "closing", "final")
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("read %s: %w", b.keys.records(), err)
	}
	out := make([]*record, len(uuids))
	for i, reply := range replies {
		f := make([]string, 8)
		for j, v := range reply.Val() {
			f[j], _ = v.(string)
		}
		if f[0] == "" {
			continue // nil: settled
		}
		r := &record{uuid: uuids[i], queue: f[2], outcome: f[3], failure: f[4], closing: f[6] != "", final: f[7] != ""}
		r.fence, _ = strconv.ParseInt(f[0], 10, 64)
		r.attempts, _ = strconv.Atoi(f[1])
		if s, err := strconv.ParseInt(f[5], 10, 64); err == nil {
			r.started = time.Unix(s, 0)
		}
		out[i] = r
	}
	return out, nil
}

// drop runs one of the scripts that remove a record, and tells whether it did.
func (b *Bridge) drop(ctx context.Context, s *redis.Script, r *record) (bool, error) {
	n, err := s.Run(ctx, b.o.Fleet, []string{b.keys.record(r.uuid), b.keys.handed(), theirQueue(r.queue)}, r.uuid, r.fence).Int()
	if err != nil {
		return false, fmt.Errorf("remove the record of %s: %w", r.uuid, err)
	}
	if n == 1 {
		delete(b.mine, r.uuid)
	}
	return n == 1, nil
}
