package conveyor

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Server is the server that serves a namespace at the moment.
type Server struct {
	// Version names the program and its version, as in "Redis 7.0.15" or "Valkey 8.0.1"; "" when the user may not ask.
	Version string
	// Address is that of the node which has the namespace's slot on a Cluster, and of the primary that the Sentinels name now; of a single
	// server the one where it was reached. "" when the user may not ask, and on the embedded store.
	Address string
}

// Server asks who serves the namespace.
func (c *Client) Server(ctx context.Context) (s Server, err error) {
	rdb := redis.Cmdable(c.rdb)
	if cluster, ok := c.rdb.(*redis.ClusterClient); ok {
		node, err := cluster.MasterForKey(ctx, c.keys.status())
		if err != nil {
			return s, read(ctx, "ask for the server", err)
		}
		rdb, s.Address = node, node.Options().Addr
	}
	info, err := rdb.Info(ctx, "server").Result()
	switch {
	case err == nil:
		s.Version = serverInfo(info).version()
	case !redis.HasErrorPrefix(err, "NOPERM"):
		return s, read(ctx, "ask for the server", err)
	}
	if s.Address != "" {
		return s, nil
	}
	told, err := rdb.ClientInfo(ctx).Result() // the server's end of this connection
	switch {
	case err == nil:
		s.Address = told.LAddr
	case redis.HasErrorPrefix(err, "NOPERM"), isUnknownCommand(err): // the embedded store
	default:
		return s, read(ctx, "ask for the server", err)
	}
	return s, nil
}

func isUnknownCommand(err error) bool {
	return strings.Contains(strings.ToLower(err.Error()), "unknown")
}

// version is the program's own: Valkey tells that of the Redis it stands for, too.
func (f serverFacts) version() string {
	for _, name := range []string{"valkey", "redis"} {
		if v := f[name+"_version"]; v != "" {
			return strings.ToUpper(name[:1]) + name[1:] + " " + v
		}
	}
	return ""
}
