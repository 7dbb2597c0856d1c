package redistest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/internal/redistest"
)

func TestClusterServesAtItsURL(t *testing.T) {
	t.Parallel()
	c := redistest.SharedCluster(t)
	o, err := redis.ParseClusterURL(c.URL())
	if err != nil {
		t.Fatal(err)
	}
	rdb := redis.NewClusterClient(o)
	defer func() { _ = rdb.Close() }()
	owners := map[*redistest.Server]int{}
	for i := range 50 {
		key := fmt.Sprintf("{%s-%d}:k", redistest.Namespace(), i)
		if err := rdb.Set(t.Context(), key, "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
		owner := c.Owner(t, key)
		owners[owner]++
		if got, err := owner.Client(t).Get(t.Context(), key).Result(); err != nil || got != "v" {
			t.Fatalf("GET %s at its owner is %q, %v, want v", key, got, err)
		}
	}
	if len(owners) != 3 {
		t.Errorf("fifty keys are on %d nodes, want 3", len(owners))
	}
}

func TestSlotMoves(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{})
	rdb := c.Client(t)
	for i := range 10 {
		if err := rdb.Set(t.Context(), fmt.Sprintf("{moving}:%d", i), i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	from := c.Owner(t, "{moving}")
	to := c.Nodes()[0]
	if to == from {
		to = c.Nodes()[1]
	}
	m := c.Migrate(t, "{moving}", to)
	for m.Keys(t, 3) {
		for i := range 10 {
			if got, err := rdb.Get(t.Context(), fmt.Sprintf("{moving}:%d", i)).Int(); err != nil || got != i {
				t.Fatalf("GET on the way is %d, %v, want %d", got, err, i)
			}
		}
	}
	m.Settle(t)
	if owner := c.Owner(t, "{moving}"); owner != to {
		t.Fatal("the slot has its old owner")
	}
	if got, err := to.Client(t).Get(t.Context(), "{moving}:7").Int(); err != nil || got != 7 {
		t.Fatalf("GET at the new owner is %d, %v, want 7", got, err)
	}
}

func TestReplicaTakesOver(t *testing.T) {
	t.Parallel()
	failover := map[string]func() (rdb redis.UniversalClient, primary *redistest.Server, suspect func()){
		"sentinel": func() (redis.UniversalClient, *redistest.Server, func()) {
			s := redistest.StartSentinels(t, redistest.SentinelOptions{})
			return s.Client(t), s.Primary(), func() { s.Suspect(t, time.Second) }
		},
		"cluster": func() (redis.UniversalClient, *redistest.Server, func()) {
			c := redistest.StartCluster(t, redistest.ClusterOptions{Replicas: 1, NodeTimeout: time.Second})
			o := c.Options()
			o.ClusterStateReloadInterval = 100 * time.Millisecond // a minute otherwise
			rdb := redis.NewClusterClient(o)
			t.Cleanup(func() { _ = rdb.Close() })
			return rdb, c.Owner(t, "{k}"), func() {}
		},
	}
	for name, start := range failover {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rdb, primary, suspect := start()
			if err := rdb.Set(t.Context(), "{k}", "v", 0).Err(); err != nil {
				t.Fatal(err)
			}
			if err := primary.AwaitReplicas(1); err != nil {
				t.Fatal(err)
			}
			primary.Kill()
			suspect()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for rdb.Set(ctx, "{k}:2", "v", 0).Err() != nil && ctx.Err() == nil { // until somebody has taken over
			}
			if got, err := rdb.Get(ctx, "{k}").Result(); err != nil || got != "v" {
				t.Fatalf("GET is %q, %v, want v", got, err)
			}
		})
	}
}
