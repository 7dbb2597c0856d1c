package conveyor

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"weak"

	"github.com/redis/go-redis/v9"
)

// failovers is a hook that keeps the client of a Cluster up with failovers. By itself that asks who serves which slot when a node
// redirects it, and otherwise once a minute; but a node that died redirects nobody, and its replica takes over within seconds.
type failovers struct{ cluster *redis.ClusterClient }

// followed are the clients that have the hook, as long as they exist: go-redis does not tell which hooks a client has, and Clients of
// many namespaces may share one.
var followed sync.Map // weak.Pointer[redis.ClusterClient] to struct{}

// followFailovers gives a client the hook, if it has none yet.
func followFailovers(cluster *redis.ClusterClient) (given bool) {
	key := weak.Make(cluster)
	if _, has := followed.LoadOrStore(key, struct{}{}); has {
		return false
	}
	runtime.AddCleanup(cluster, func(key weak.Pointer[redis.ClusterClient]) { followed.Delete(key) }, key)
	cluster.AddHook(&failovers{cluster})
	return true
}

func (*failovers) DialHook(next redis.DialHook) redis.DialHook { return next }

func (f *failovers) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		f.met(ctx, err)
		return err
	}
}

func (f *failovers) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		f.met(ctx, err)
		return err
	}
}

// met has the slots looked up again after a call that failed, but not since its caller gave up. That goes on beside the call, and once
// for all that fail meanwhile.
func (f *failovers) met(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil && errors.Is(unavailable(err), ErrUnavailable) {
		f.cluster.ReloadState(ctx)
	}
}
