package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// slots is how many slots every Cluster has.
const slots = 16384

// ClusterOptions says what a Cluster is made of.
type ClusterOptions struct {
	// Primaries share the slots evenly. Default 3.
	Primaries int
	// Replicas is how many each primary has. Default none.
	Replicas int
	// NodeTimeout is after how long without an answer a node is taken for dead. The default of 60 s is more than a loaded machine
	// makes a node wait; a test of failover wants less.
	NodeTimeout time.Duration
	// Args are given to every node, after the defaults and so over them.
	Args []string
}

func (o ClusterOptions) withDefaults() ClusterOptions {
	if o.Primaries == 0 {
		o.Primaries = 3
	}
	if o.NodeTimeout == 0 {
		o.NodeTimeout = time.Minute
	}
	return o
}

// Cluster is a Redis Cluster on ports of the loopback interface.
type Cluster struct {
	nodes []*Server // the primaries, in the order of their slots, then their replicas
}

// StartCluster runs a Cluster until the end of the test. It returns when every node serves all slots, which takes
// two to three seconds: a new primary waits two before it serves.
func StartCluster(tb testing.TB, o ClusterOptions) *Cluster {
	tb.Helper()
	c, err := startCluster(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.remove)
	return c
}

func startCluster(o ClusterOptions) (*Cluster, error) {
	o = o.withDefaults()
	c := &Cluster{}
	for range o.Primaries * (1 + o.Replicas) {
		node, err := startNode(o)
		if err != nil {
			c.remove()
			return nil, err
		}
		c.nodes = append(c.nodes, node)
	}
	if err := c.join(o); err != nil {
		c.remove()
		return nil, fmt.Errorf("make a Cluster: %w", err)
	}
	return c, nil
}

func startNode(o ClusterOptions) (*Server, error) {
	bus, err := freePort()
	if err != nil {
		return nil, err
	}
	return startTCP(append([]string{
		"--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", strconv.FormatInt(o.NodeTimeout.Milliseconds(), 10),
		"--repl-diskless-sync-delay", "0",
	}, o.Args...))
}

// join gives the slots to the primaries, lets all nodes meet and makes the rest replicas.
func (c *Cluster) join(o ClusterOptions) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	admin := c.nodes[0].bare()
	defer func() { _ = admin.Close() }()
	for i, node := range c.nodes {
		rdb := node.bare()
		defer func() { _ = rdb.Close() }()
		if i < o.Primaries {
			from, to := i*slots/o.Primaries, (i+1)*slots/o.Primaries-1
			// Epochs that differ from the start on, so that none has to be settled later.
			if err := errors.Join(rdb.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(), rdb.ClusterAddSlotsRange(ctx, from, to).Err()); err != nil {
				return err
			}
		}
		if i > 0 {
			if err := node.meet(ctx, admin); err != nil {
				return err
			}
		}
	}
	for i, node := range c.nodes[o.Primaries:] {
		if err := node.replicate(c.nodes[i%o.Primaries]); err != nil {
			return err
		}
	}
	for _, node := range c.nodes {
		if err := node.await(func(ctx context.Context, rdb *redis.Client) error { return serves(ctx, rdb, len(c.nodes)) }); err != nil {
			return err
		}
	}
	return nil
}

// meet introduces a node to another one.
func (s *Server) meet(ctx context.Context, admin *redis.Client) error {
	rdb := s.bare()
	defer func() { _ = rdb.Close() }()
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return err
	}
	bus, err := rdb.ConfigGet(ctx, "cluster-port").Result()
	if err != nil {
		return err
	}
	return admin.Do(ctx, "CLUSTER", "MEET", host, port, bus["cluster-port"]).Err()
}

// replicate makes a node the replica of a primary once the two know of each other.
func (s *Server) replicate(primary *Server) error {
	id, err := primary.nodeID(context.Background())
	if err != nil {
		return err
	}
	if err := s.await(func(ctx context.Context, rdb *redis.Client) error { return rdb.ClusterReplicate(ctx, id).Err() }); err != nil {
		return err
	}
	return s.await(replicates)
}

// serves wants a node to know all nodes and to serve all slots.
func serves(ctx context.Context, rdb *redis.Client, nodes int) error {
	info, err := rdb.ClusterInfo(ctx).Result()
	if err != nil {
		return err
	}
	for _, want := range []string{"cluster_state:ok\r", "cluster_slots_ok:16384\r", fmt.Sprintf("cluster_known_nodes:%d\r", nodes)} {
		if !strings.Contains(info, want) {
			return fmt.Errorf("CLUSTER INFO has no %s", strings.TrimSpace(want))
		}
	}
	return nil
}

// replicates wants a replica to have all data of its primary.
func replicates(ctx context.Context, rdb *redis.Client) error {
	info, err := rdb.Info(ctx, "replication").Result()
	if err == nil && !strings.Contains(info, "master_link_status:up") {
		err = errors.New("it has no link to its primary yet")
	}
	return err
}

// AwaitReplicas waits until n replicas have all that the server was sent.
func (s *Server) AwaitReplicas(n int) error {
	return s.await(func(ctx context.Context, rdb *redis.Client) error {
		acknowledged, err := rdb.Wait(ctx, n, time.Second).Result()
		if err == nil && acknowledged < int64(n) {
			err = fmt.Errorf("%d of %d replicas have everything", acknowledged, n)
		}
		return err
	})
}

// Isolate has a primary's replica get nothing any more, while both stay connected to all others: what the primary is told from now on
// is lost with it. The replica may still be promoted, as long as it has been without its primary for less than ten times what
// it takes to take that for dead.
func (s *Server) Isolate(tb testing.TB, replica *Server) {
	tb.Helper()
	rdb := s.Client(tb)
	ctx := tb.Context()
	err := errors.Join(
		rdb.Do(ctx, "ACL", "SETUSER", "default", "-psync", "-sync").Err(), // the replica's next try is refused
		rdb.Do(ctx, "CLIENT", "KILL", "TYPE", "replica").Err(),
		replica.await(func(ctx context.Context, rdb *redis.Client) error {
			if replicates(ctx, rdb) == nil {
				return errors.New("it still has its primary")
			}
			return nil
		}))
	if err != nil {
		tb.Fatal(err)
	}
}

// nodeID is the name that a Cluster knows its node by.
func (s *Server) nodeID(ctx context.Context) (string, error) {
	rdb := s.bare()
	defer func() { _ = rdb.Close() }()
	return rdb.Do(ctx, "CLUSTER", "MYID").Text()
}

// bare is a client of this one server that the caller closes.
func (s *Server) bare() *redis.Client { return redis.NewClient(s.Options()) }

// await asks the server until it answers without an error.
func (s *Server) await(ask func(context.Context, *redis.Client) error) error {
	rdb := s.bare()
	defer func() { _ = rdb.Close() }()
	s.mu.Lock()
	proc := s.proc
	s.mu.Unlock()
	if proc == nil {
		return fmt.Errorf("%s does not run", s.addr)
	}
	return proc.Await(startTimeout, func(ctx context.Context) error { return ask(ctx, rdb) })
}

func (c *Cluster) remove() {
	for _, node := range c.nodes {
		node.remove()
	}
}

// Nodes are the servers: the primaries at the start in the order of their slots, then the replicas.
func (c *Cluster) Nodes() []*Server { return c.nodes }

// Options are fresh client options for the Cluster, free for the caller to change.
func (c *Cluster) Options() *redis.ClusterOptions {
	o := &redis.ClusterOptions{}
	for _, node := range c.nodes {
		o.Addrs = append(o.Addrs, node.addr)
	}
	return o
}

// URL is the Cluster's address in the form that redis.ParseClusterURL reads.
func (c *Cluster) URL() string {
	query := url.Values{}
	for _, node := range c.nodes[1:] {
		query.Add("addr", node.addr)
	}
	return "redis://" + c.nodes[0].addr + "?" + query.Encode()
}

// Client is a new client with the default options, closed at the end of the test.
func (c *Cluster) Client(tb testing.TB) *redis.ClusterClient {
	tb.Helper()
	rdb := redis.NewClusterClient(c.Options())
	tb.Cleanup(func() { _ = rdb.Close() }) // a test may have closed it already
	return rdb
}

// Owner is the node that the first node that answers takes for the primary of a key's slot.
func (c *Cluster) Owner(tb testing.TB, key string) *Server {
	tb.Helper()
	owner, err := c.owner(tb.Context(), key)
	if err != nil {
		tb.Fatal(err)
	}
	return owner
}

func (c *Cluster) owner(ctx context.Context, key string) (*Server, error) {
	var last error
	for _, node := range c.nodes {
		rdb := node.bare()
		slot, err := rdb.ClusterKeySlot(ctx, key).Result()
		shards := []redis.ClusterShard{}
		if err == nil {
			shards, err = rdb.ClusterShards(ctx).Result()
		}
		_ = rdb.Close()
		if err != nil {
			last = err
			continue
		}
		for _, shard := range shards {
			if i := slices.IndexFunc(shard.Slots, func(r redis.SlotRange) bool { return r.Start <= slot && slot <= r.End }); i < 0 {
				continue
			}
			for _, node := range shard.Nodes {
				if node.Role == "master" && node.Health == "online" {
					return c.at(net.JoinHostPort(node.IP, strconv.FormatInt(node.Port, 10)))
				}
			}
		}
		last = fmt.Errorf("nobody serves slot %d", slot)
	}
	return nil, last
}

func (c *Cluster) at(addr string) (*Server, error) {
	for _, node := range c.nodes {
		if node.addr == addr {
			return node, nil
		}
	}
	return nil, fmt.Errorf("%s is no node of this Cluster", addr)
}
