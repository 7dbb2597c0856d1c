package rig

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// Durability is what a store does so that its data survives.
type Durability string

// The durability settings.
const (
	Always   Durability = "always"   // appendfsync always
	EverySec Durability = "everysec" // appendfsync everysec
	None     Durability = "none"     // memory only
	Replica  Durability = "replica"  // memory, a replica that takes over, and WAIT 1 after each apply
	Journal  Durability = "journal"  // the embedded store's
)

// Redis is a redis-server, with a replica under Replica. The conductor alone calls it, one call at a time, but for Dial and Client.
type Redis struct {
	durability Durability
	tail       *tail // nil without a journal

	mu      sync.Mutex // guards which of servers is first, the primary; the rest is the conductor's
	servers []*server
}

// StartRedis starts a store in a directory.
func StartRedis(dir string, d Durability) (*Redis, error) {
	r := &Redis{durability: d}
	var args []string
	switch d {
	case Always, EverySec:
		args = []string{"--appendonly", "yes", "--appendfsync", string(d), "--auto-aof-rewrite-percentage", "0"}
	case None:
	case Replica:
		args = []string{"--repl-backlog-size", "16mb"}
	default:
		return nil, fmt.Errorf("durability %q is none of redis-server's: choose always, everysec, none or replica", d)
	}
	n := 1
	if d == Replica {
		n = 2
	}
	for i := range n {
		s, err := newServer(filepath.Join(dir, fmt.Sprintf("redis-%d", i)), args...)
		if s != nil {
			r.servers = append(r.servers, s)
		}
		if err != nil {
			r.Close()
			return nil, err
		}
	}
	if d == EverySec {
		r.tail = follow(r.servers[0].journal)
	}
	if d == Replica {
		if err := r.replicate(); err != nil {
			r.Close()
			return nil, err
		}
	}
	return r, nil
}

// Close ends the servers.
func (r *Redis) Close() {
	if r.tail != nil {
		r.tail.close()
	}
	for _, s := range r.servers {
		s.kill()
		_ = s.rdb.Close()
	}
}

func (r *Redis) primary() *server {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.servers[0]
}

// Dial connects to the primary.
func (r *Redis) Dial() (net.Conn, error) {
	return net.DialTimeout("tcp", r.primary().addr, time.Second)
}

// Client leads to the primary of this moment, without a fault between.
func (r *Redis) Client() *redis.Client { return r.primary().rdb }

// Kill ends the primary as a crash would.
func (r *Redis) Kill() { r.primary().kill() }

// Restart starts it again over what it saved.
func (r *Redis) Restart() error { return r.primary().start() }

// Pause stops the primary (SIGSTOP), and Resume lets it go on.
func (r *Redis) Pause() { r.primary().signal(syscall.SIGSTOP) }

// Resume ends Pause.
func (r *Redis) Resume() { r.primary().signal(syscall.SIGCONT) }

// PowerCut kills the primary and takes from its journal what came in the last second, which the disk need not have had. It tells since
// when everything is lost.
func (r *Redis) PowerCut() (time.Time, error) {
	r.Kill()
	return r.tail.cut(time.Second)
}

// Failover kills the primary, has the replica take its place, and starts the former primary again as its replica, empty.
func (r *Redis) Failover(ctx context.Context) error {
	former := r.primary()
	former.kill()
	r.mu.Lock()
	r.servers[0], r.servers[1] = r.servers[1], r.servers[0]
	r.mu.Unlock()
	if err := r.primary().rdb.Do(ctx, "REPLICAOF", "NO", "ONE").Err(); err != nil {
		return fmt.Errorf("promote the replica: %w", err)
	}
	if err := former.start(); err != nil {
		return err
	}
	return r.replicate()
}

// replicate makes the second server a replica of the first, and waits until it has everything.
func (r *Redis) replicate() error {
	host, port, err := net.SplitHostPort(r.primary().addr)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	replica := r.servers[1].rdb
	if err := replica.Do(ctx, "REPLICAOF", host, port).Err(); err != nil {
		return fmt.Errorf("make a replica: %w", err)
	}
	for {
		if err := WaitReplica(ctx, r.Client()); err == nil {
			return nil
		} else if ctx.Err() != nil {
			return fmt.Errorf("the replica does not follow: %w", err)
		}
	}
}

// ErrUnreplicated says that no replica has confirmed what was written.
var ErrUnreplicated = errors.New("no replica has confirmed it within two seconds")

// WaitReplica returns once a replica has all that the primary wrote before. WAIT speaks for the writes of its own connection alone, so
// that one writes first: the log of replication is one, in order.
func WaitReplica(ctx context.Context, rdb redis.UniversalClient) error {
	pipe := rdb.Pipeline()
	pipe.Set(ctx, "soak:wait", time.Now().UnixNano(), 0)
	confirmed := pipe.Do(ctx, "WAIT", 1, 2000)
	if _, err := pipe.Exec(ctx); err != nil {
		return err
	}
	if n, err := confirmed.Int(); err != nil || n < 1 {
		return errors.Join(ErrUnreplicated, err)
	}
	return nil
}
