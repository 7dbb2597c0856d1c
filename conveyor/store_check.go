package conveyor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// ErrStore says that a store answers, but cannot keep jobs safely.
var ErrStore = errors.New("this Redis cannot keep jobs safely")

// minRedis is the oldest major version with what the scripts need. Valkey tells the version of Redis that it stands for.
const minRedis = 7

// CheckStore wants a store that keeps what it was given: of version 7 or newer, not a read-only replica, and not one that
// throws keys away when its memory is full (maxmemory with an allkeys policy; those that evict only keys with a TTL do no
// harm, since no job has one). It joins all that is wrong under ErrStore, with what to do about it. It only asks INFO, which
// needs no right to CONFIG; what a server does not tell is not held against it. On a Cluster the nodes of other slots are looked at, too,
// since slots move, but they may be down.
func (c *Client) CheckStore(ctx context.Context) error {
	cluster, ok := c.rdb.(*redis.ClusterClient)
	if !ok {
		return checkServer(ctx, c.rdb)
	}
	var mu sync.Mutex
	seen := map[string]bool{}
	var problems []error
	own, err := cluster.MasterForKey(ctx, c.keys.status())
	if err != nil {
		return read(ctx, "check the store", err)
	}
	err = cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		err := checkServer(ctx, node)
		if errors.Is(err, ErrUnavailable) && node.Options().Addr != own.Options().Addr {
			return nil
		}
		if !errors.Is(err, ErrStore) {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if !seen[err.Error()] { // nodes are set up alike
			seen[err.Error()] = true
			problems = append(problems, err)
		}
		return nil
	})
	return errors.Join(append(problems, read(ctx, "check the store", err))...)
}

func checkServer(ctx context.Context, rdb redis.Cmdable) error {
	text, err := rdb.Info(ctx).Result()
	if redis.HasErrorPrefix(err, "NOPERM") {
		return nil
	}
	if err != nil {
		return read(ctx, "check the store", err)
	}
	problems := serverInfo(text).problems()
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrStore, strings.Join(problems, "; "))
}

// serverInfo is what INFO tells, by field.
func serverInfo(text string) serverFacts {
	facts := serverFacts{}
	for line := range strings.Lines(text) {
		if field, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			facts[field] = value
		}
	}
	return facts
}

type serverFacts map[string]string

func (f serverFacts) problems() []string {
	var out []string
	major, _, _ := strings.Cut(f["redis_version"], ".")
	if n, err := strconv.Atoi(major); err == nil && n < minRedis {
		out = append(out, fmt.Sprintf("it is version %s: version %d or newer is needed, or Valkey", f["redis_version"], minRedis))
	}
	if policy := f["maxmemory_policy"]; f["maxmemory"] != "" && f["maxmemory"] != "0" && strings.HasPrefix(policy, "allkeys-") {
		out = append(out, fmt.Sprintf("its maxmemory-policy %s throws jobs away once maxmemory (%s bytes) is reached: set maxmemory-policy noeviction", policy, f["maxmemory"]))
	}
	if f["role"] == "slave" && f["slave_read_only"] != "0" {
		out = append(out, fmt.Sprintf("it is a read-only replica of %s:%s: name the primary", f["master_host"], f["master_port"]))
	}
	return out
}
