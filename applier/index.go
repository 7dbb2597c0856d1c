package applier

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
)

// readWorkflows reads which workflows have ever been applied in a namespace, and the serial number of the state of each.
func readWorkflows(ctx context.Context, c *conveyor.Client) (map[string]int64, error) {
	values, err := c.Redis().HGetAll(ctx, c.Prefix()+workflowsKey).Result()
	if err != nil {
		return nil, fmt.Errorf("list the workflows: %w", storeError(err, workflowsKey))
	}
	serials := make(map[string]int64, len(values))
	for name, value := range values {
		if serials[name], err = metaNumber(workflowsKey, name, value); err != nil {
			return nil, fmt.Errorf("list the workflows: %w", err)
		}
	}
	return serials, nil
}

// searchWorkflows finds the workflows of a namespace that only an earlier version has applied, by the names of all its keys.
func searchWorkflows(ctx context.Context, c *conveyor.Client) ([]string, error) {
	prefix := c.Prefix() + metaKey("")
	var rdb redis.Cmdable = c.Redis()
	if cluster, ok := c.Redis().(*redis.ClusterClient); ok {
		master, err := cluster.MasterForKey(ctx, prefix)
		if err != nil {
			return nil, fmt.Errorf("search for workflows: %w", err)
		}
		rdb = master
	}
	var names []string
	keys := rdb.Scan(ctx, 0, prefix+"*", 1000).Iterator()
	for keys.Next(ctx) {
		names = append(names, strings.TrimPrefix(keys.Val(), prefix))
	}
	if err := keys.Err(); err != nil {
		return nil, fmt.Errorf("search for workflows: %w", err)
	}
	return names, nil
}
