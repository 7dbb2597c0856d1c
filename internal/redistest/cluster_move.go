package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Migration is a slot on its way from one node to another, as an administrator moves it: the two ends are told of it, then its keys
// move, then every node is told of the new owner.
type Migration struct {
	cluster  *Cluster
	slot     int64
	from, to *Server
	ids      [2]string
}

// Migrate begins to move the slot of a key to another node: from now on the old owner redirects whoever asks for a key that it does
// not have (ASK), and refuses what needs keys of both sides (TRYAGAIN).
func (c *Cluster) Migrate(tb testing.TB, key string, to *Server) *Migration {
	tb.Helper()
	m, err := c.migrate(tb.Context(), key, to)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func (c *Cluster) migrate(ctx context.Context, key string, to *Server) (*Migration, error) {
	from, err := c.owner(ctx, key)
	if err != nil {
		return nil, err
	}
	m := &Migration{cluster: c, from: from, to: to}
	for i, node := range []*Server{from, to} {
		if m.ids[i], err = node.nodeID(ctx); err != nil {
			return nil, err
		}
	}
	source, target := from.bare(), to.bare()
	defer func() { _, _ = source.Close(), target.Close() }()
	if m.slot, err = source.ClusterKeySlot(ctx, key).Result(); err != nil {
		return nil, err
	}
	// The receiver first: a client that the other end sends here must be served.
	return m, errors.Join(
		target.Do(ctx, "CLUSTER", "SETSLOT", m.slot, "IMPORTING", m.ids[0]).Err(),
		source.Do(ctx, "CLUSTER", "SETSLOT", m.slot, "MIGRATING", m.ids[1]).Err())
}

// Keys moves up to n keys of the slot and tells whether any are left.
func (m *Migration) Keys(tb testing.TB, n int) (more bool) {
	tb.Helper()
	more, err := m.keys(tb.Context(), n)
	if err != nil {
		tb.Fatal(err)
	}
	return more
}

func (m *Migration) keys(ctx context.Context, n int) (more bool, err error) {
	source := m.from.bare()
	defer func() { _ = source.Close() }()
	names, err := source.ClusterGetKeysInSlot(ctx, int(m.slot), n).Result()
	if err != nil || len(names) == 0 {
		return false, err
	}
	host, port, err := net.SplitHostPort(m.to.addr)
	if err != nil {
		return false, err
	}
	args := []any{"MIGRATE", host, port, "", 0, startTimeout.Milliseconds(), "KEYS"}
	for _, name := range names {
		args = append(args, name)
	}
	return true, source.Do(ctx, args...).Err()
}

// Settle tells all nodes of the new owner: first it, then the old one, then the rest.
func (m *Migration) Settle(tb testing.TB) {
	tb.Helper()
	nodes := append([]*Server{m.to, m.from}, slices.DeleteFunc(slices.Clone(m.cluster.nodes), func(s *Server) bool { return s == m.to || s == m.from })...)
	for _, node := range nodes {
		err := node.await(func(ctx context.Context, rdb *redis.Client) error {
			return rdb.Do(ctx, "CLUSTER", "SETSLOT", m.slot, "NODE", m.ids[1]).Err()
		})
		if err != nil {
			tb.Fatal(fmt.Errorf("tell %s of the owner of slot %d: %w", node.addr, m.slot, err))
		}
	}
}
