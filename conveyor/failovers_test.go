package conveyor

import (
	"testing"

	"github.com/redis/go-redis/v9"
)

// TestOneFailoverHook: a client of a Cluster has one hook, however many namespaces use it.
func TestOneFailoverHook(t *testing.T) {
	t.Parallel()
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	defer rdb.Close() //nolint:errcheck // it was never connected
	for i, namespace := range []string{"a", "b", "c"} {
		if _, err := NewClient(rdb, Options{Namespace: namespace}); err != nil {
			t.Fatal(err)
		}
		if followFailovers(rdb) {
			t.Errorf("after client %d there was no hook", i+1)
		}
	}
	other := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	defer other.Close() //nolint:errcheck // it was never connected
	if !followFailovers(other) {
		t.Error("another client had the hook already")
	}
}
