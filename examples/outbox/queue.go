package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/embedded"
)

// namespace keeps the shop's jobs apart from others on the same Redis.
const namespace = "shop"

// openQueue opens the queue: the embedded store in dir unless a Redis is named.
func openQueue(ctx context.Context, dir, redisURL string) (client *conveyor.Client, closeQueue func() error, err error) {
	var rdb redis.UniversalClient
	if redisURL == "" {
		store, err := embedded.Open(ctx, storeDir(dir), embedded.Options{})
		if err != nil {
			return nil, nil, fmt.Errorf("open the embedded store: %w", err)
		}
		rdb, closeQueue = store.Client(), store.Close
	} else {
		o, err := redis.ParseURL(redisURL)
		if err != nil {
			return nil, nil, fmt.Errorf("-redis: %w", err)
		}
		o.MaxRetries = -1              // the client of package conveyor repeats what may be repeated
		o.ContextTimeoutEnabled = true // so that a silent Redis holds up nobody
		rdb = redis.NewClient(o)
		closeQueue = rdb.Close
	}
	client, err = conveyor.NewClient(rdb, conveyor.Options{Namespace: namespace})
	if err != nil {
		_ = closeQueue() // the error that led here says more
		return nil, nil, err
	}
	return client, closeQueue, nil
}

func storeDir(dir string) string { return filepath.Join(dir, "jobs") }

// queuePlace says where jobs are, to people.
func queuePlace(dir, redisURL string) string {
	if redisURL != "" {
		return "jobs in Redis"
	}
	return "jobs in " + storeDir(dir)
}
