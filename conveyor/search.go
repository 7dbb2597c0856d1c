package conveyor

import (
	"context"
	"fmt"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

const (
	searchPage   = 100       // entries that one request reads: each may have a MiB of payload
	searchAtMost = 1_000_000 // entries that are read of one list
)

// Search fills in the bytes of jobs that GetAll returned without: of those that wait. It reads the lists that they stand in, page by page,
// until all of them are found, so its cost is that of the list and not of the job: for people, and for what is done once. A job that
// moves on meanwhile may be missed, and then keeps its nil Job.
func (c *Client) Search(ctx context.Context, stored []Stored) error {
	lists := map[string]map[string]*Stored{} // by key, then by uuid
	for i := range stored {
		s := &stored[i]
		key := ""
		switch {
		case s.Job != nil:
		case s.Status.State == StateQueued:
			key = c.keys.queue(s.Status.Queue, s.Status.Priority)
		case s.Status.State == StateScheduled:
			if err := c.searchScheduled(ctx, s); err != nil {
				return err
			}
		case s.Status.State == StateHeld:
			var err error
			if key, err = c.heldIn(ctx, s.Status.UUID); err != nil {
				return err
			}
		}
		if key == "" {
			continue
		}
		if lists[key] == nil {
			lists[key] = map[string]*Stored{}
		}
		lists[key][s.Status.UUID] = s
	}
	for key, wanted := range lists {
		if err := c.searchList(ctx, key, wanted); err != nil {
			return err
		}
	}
	return nil
}

// heldIn is the list that a job waits in; "" for one that several may hold, whose bytes are kept by themselves.
func (c *Client) heldIn(ctx context.Context, uuid string) (string, error) {
	entry, err := c.rdb.HGet(ctx, c.keys.status(), uuid).Result()
	if passOver(err) != nil {
		return "", read(ctx, "search "+uuid, err)
	}
	edges := storedEdges(entry, nil)
	if len(edges) != 1 {
		return "", nil
	}
	return c.keys.waiting(edges[0].upstream, edges[0].class(), edges[0].opening), nil
}

// searchList reads a list from its left end on: what is pushed there meanwhile comes twice, and nothing is passed over.
func (c *Client) searchList(ctx context.Context, key string, wanted map[string]*Stored) error {
	for from := int64(0); from < searchAtMost && len(wanted) > 0; from += searchPage {
		page, err := c.rdb.LRange(ctx, key, from, from+searchPage-1).Result()
		if err != nil {
			return read(ctx, "search "+key, err)
		}
		take(page, wanted)
		if len(page) < searchPage {
			break
		}
	}
	return nil
}

// searchScheduled reads what is due at the same time as a job.
func (c *Client) searchScheduled(ctx context.Context, s *Stored) error {
	wanted := map[string]*Stored{s.Status.UUID: s}
	due, text := float64(s.Status.DueAt.UnixMilli())/1000, func(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) }
	for from := int64(0); from < searchAtMost && len(wanted) > 0; from += searchPage {
		page, err := c.rdb.ZRangeArgs(ctx, redis.ZRangeArgs{Key: c.keys.scheduled(), ByScore: true, Start: text(due - 0.001), Stop: text(due + 0.001),
			Offset: from, Count: searchPage}).Result()
		if err != nil {
			return read(ctx, fmt.Sprintf("search %s in %s", s.Status.UUID, c.keys.scheduled()), err)
		}
		take(page, wanted)
		if len(page) < searchPage {
			break
		}
	}
	return nil
}

// take gives wanted jobs their bytes. What cannot be read is passed over: it is somebody else's matter.
func take(page []string, wanted map[string]*Stored) {
	for _, entry := range page {
		job := &wire.Job{}
		if proto.Unmarshal([]byte(entry), job) != nil {
			continue
		}
		if s := wanted[job.GetUuid()]; s != nil {
			s.Job = job
			delete(wanted, job.GetUuid())
		}
	}
}
