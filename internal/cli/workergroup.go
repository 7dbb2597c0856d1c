package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
)

// Connections that a group of workers needs: of each namespace one that waits for wake-ups, one that waits for events and one for calls,
// and some that all share.
const (
	namespaceConnections = 3
	groupConnections     = 10
)

// runGroup serves the namespaces that -namespace names, over one pool of connections.
func (w *working) runGroup(ctx context.Context, options conveyor.WorkerOptions, shown *exposure) (err error) {
	namespaces := strings.Split(w.namespaces, ",")
	w.redis.connections = namespaceConnections*len(namespaces) + groupConnections
	s, rdb, err := w.a.connect(ctx, w.redis, &config.Workflow{Namespace: namespaces[0]}, serving)
	if err != nil {
		return err
	}
	defer s.close() //nolint:errcheck // closed below in order
	if s.embedded && len(namespaces) > 1 {
		return fail("Several namespaces need a Redis", "-namespace names %d, and the embedded store is that of one workflow. "+
			"Name a Redis with -redis or WAYBILL_REDIS.", len(namespaces))
	}
	clients := make([]*conveyor.Client, len(namespaces))
	for i := range namespaces {
		namespaces[i] = strings.TrimSpace(namespaces[i])
		if namespaces[i] == "" {
			return fail("Invalid option", "-namespace: %q has an empty name in it.", w.namespaces)
		}
		if clients[i], err = conveyor.NewClient(rdb, conveyor.Options{Namespace: namespaces[i], Observer: w.a.observer}); err != nil {
			return fail("Invalid option", "-namespace: %v.", err)
		}
	}
	if err := s.fitFor(ctx, clients); err != nil {
		return err
	}
	dir := w.dir
	if dir == "" {
		dir = s.dir
	}
	log := options.Logger
	group, err := conveyor.NewWorkerGroup(clients, conveyor.WorkerGroupOptions{
		Worker: options, Concurrency: w.concurrency,
		Setup: func(worker *conveyor.Worker) error {
			return equip(worker, dir, log.With("namespace", worker.Namespace()))
		},
	})
	if err != nil {
		return fail("Cannot start the worker", "%v.", err)
	}
	what := "Namespaces"
	if len(namespaces) == 1 {
		what = "Namespace"
	}
	w.announce(fmt.Sprintf("%s %s, %s.", what, strings.Join(namespaces, ", "), s.name), log)
	if shown.metrics != nil {
		for _, c := range clients {
			shown.metrics.Client(c)
		}
		shown.metrics.Group(group)
	}
	shown.serve(log)
	following, end := context.WithCancel(ctx)
	var followers sync.WaitGroup
	if w.queues == "" {
		for _, c := range clients {
			followers.Go(func() {
				serve := func(queues []conveyor.QueueShare) error { return group.SetQueues(c.Namespace(), queues) }
				follow(following, c, queuesOfNamespace(), serve, log.With("namespace", c.Namespace()))
			})
		}
	}
	err = group.Run(ctx)
	end()
	if closing := s.close(); closing != nil && err == nil { // which also ends what the followers wait for
		err = fail("Cannot close the store", "%v.", closing)
	}
	followers.Wait()
	return err
}

// fitFor is an error when none of the namespaces can be served. Those that cannot while others can are told of by the group.
func (s *store) fitFor(ctx context.Context, clients []*conveyor.Client) error {
	if s.embedded {
		return nil
	}
	var all sync.WaitGroup
	checks := make([]error, len(clients))
	for i, c := range clients {
		all.Go(func() { checks[i] = c.CheckStore(ctx) })
	}
	all.Wait()
	for _, err := range checks {
		if err == nil {
			return nil
		}
	}
	return s.unfit(checks[0])
}
