package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// spreadJobs is how many no-op jobs a group of workers runs, over all its namespaces.
const spreadJobs = 36_000

// onNode has a group of 50 run jobs that lie in so many namespaces of one server.
func onNode(namespaces int) sampler {
	return func(ctx context.Context, s *store) (figures, error) { return group(ctx, s.client(), namespaces) }
}

// onCluster is onNode on three nodes of a Cluster.
func onCluster(namespaces int) sampler {
	return func(ctx context.Context, s *store) (figures, error) {
		rdb, end, err := openCluster(ctx, s.dir)
		defer end()
		if err != nil {
			return nil, err
		}
		return group(ctx, rdb, namespaces)
	}
}

// group measures the rate at which one process runs what is queued in its namespaces.
func group(ctx context.Context, rdb redis.UniversalClient, namespaces int) (figures, error) {
	clients := make([]*conveyor.Client, namespaces)
	for i := range clients {
		var err error
		if clients[i], err = conveyor.NewClient(rdb, conveyor.Options{Namespace: fmt.Sprintf("n%d", i)}); err != nil {
			return nil, err
		}
		if err := submit(ctx, clients[i], newJobs(spreadJobs/namespaces), false); err != nil {
			return nil, err
		}
	}
	var left atomic.Int64
	left.Store(spreadJobs)
	done := make(chan struct{})
	g, err := conveyor.NewWorkerGroup(clients, conveyor.WorkerGroupOptions{
		Concurrency: 50, Worker: conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: queue}}, AllowUnsigned: true},
		Setup: func(w *conveyor.Worker) error {
			w.HandleRaw(jobType, func(context.Context, *wire.Job) error {
				if left.Add(-1) == 0 {
					close(done)
				}
				return nil
			})
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	begin := time.Now()
	go func() { ended <- g.Run(running) }()
	select {
	case <-done:
	case err := <-ended:
		return nil, fmt.Errorf("the workers ended early: %w", err)
	}
	got := figures{"jobs/s": rate(spreadJobs, begin)}
	stop()
	all := []error{<-ended}
	for _, c := range clients {
		all = append(all, verify(ctx, c))
	}
	return got, errors.Join(all...)
}

const (
	clusterNodes = 3
	allSlots     = 16384
	clusterWait  = 30 * time.Second
)

// openCluster starts three nodes that share all slots, in folders of dir, and waits until each serves. They end with the process, or by end.
func openCluster(ctx context.Context, dir string) (_ *redis.ClusterClient, end func(), err error) {
	var running []*exec.Cmd
	end = func() {
		for _, cmd := range running {
			_ = cmd.Process.Kill() // it holds nothing of worth
			_ = cmd.Wait()
		}
	}
	ctx, cancel := context.WithTimeout(ctx, clusterWait)
	defer cancel()
	var addresses []string
	var nodes []*redis.Client
	for i := range clusterNodes {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, end, err
		}
		address := l.Addr().String()
		_ = l.Close()
		_, port, _ := net.SplitHostPort(address)
		cmd := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--cluster-enabled", "yes", "--cluster-config-file",
			filepath.Join(dir, "nodes-"+port+".conf"), "--dir", dir, "--save", "", "--appendonly", "no", "--loglevel", "warning")
		if err := cmd.Start(); err != nil {
			return nil, end, err
		}
		running, addresses = append(running, cmd), append(addresses, address)
		node := redis.NewClient(&redis.Options{Addr: address})
		defer node.Close() //nolint:errcheck // it only sets up
		nodes = append(nodes, node)
		if err := until(ctx, func() bool { return node.Ping(ctx).Err() == nil }); err != nil {
			return nil, end, err
		}
		if err := node.ClusterAddSlotsRange(ctx, i*allSlots/clusterNodes, (i+1)*allSlots/clusterNodes-1).Err(); err != nil {
			return nil, end, err
		}
		if i > 0 {
			if err := nodes[0].ClusterMeet(ctx, "127.0.0.1", port).Err(); err != nil {
				return nil, end, err
			}
		}
	}
	for _, node := range nodes {
		if err := until(ctx, func() bool {
			info, err := node.ClusterInfo(ctx).Result()
			return err == nil && strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:3")
		}); err != nil {
			return nil, end, err
		}
	}
	return redis.NewClusterClient(&redis.ClusterOptions{Addrs: addresses, MaxRetries: -1, PoolSize: 50}), end, nil
}

// until asks again and again.
func until(ctx context.Context, is func() bool) error {
	for !is() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the Cluster does not come up: %w", ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}
