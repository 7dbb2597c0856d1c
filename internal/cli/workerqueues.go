package cli

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
)

// How a worker learns that there are other queues to serve: from the next event in the namespace, which every apply makes, but not more
// often than now and then.
const (
	queuesBlock = 5 * time.Second
	queuesPause = 300 * time.Millisecond
)

// follow has the queues served that names tells, as they change, by the weights that are declared. What cannot be read is told once, until
// it changes.
func follow(ctx context.Context, client *conveyor.Client, names func(context.Context, []conveyor.QueueInfo) ([]string, error),
	serve func([]conveyor.QueueShare) error, log *slog.Logger) {
	var serving []conveyor.QueueShare
	told := ""
	for ctx.Err() == nil {
		var declared []conveyor.QueueInfo
		var found []string
		seen, err := client.LastEvent(ctx)
		if err == nil {
			declared, err = client.Queues(ctx)
		}
		if err == nil {
			found, err = names(ctx, declared)
		}
		switch wanted := shares(found, declared); {
		case ctx.Err() != nil:
			return
		case err != nil:
			if told != err.Error() {
				log.Warn("the queues to serve could not be read", "error", err)
				told = err.Error()
			}
		case !slices.Equal(wanted, serving):
			told = ""
			if err := serve(wanted); err != nil {
				log.Warn("queues could not be served", "queues", found, "error", err)
				break
			}
			log.Info("serving queues", "queues", weighted(wanted))
			serving = wanted
		}
		if err == nil {
			client.Events(ctx, seen, queuesBlock) //nolint:errcheck // the next round meets the error
		}
		pause := time.NewTimer(queuesPause)
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		pause.Stop()
	}
}

// queuesOfWorkflow are those that the workflow's state names, and before the first apply the default of its jobs.
func queuesOfWorkflow(s *store) func(context.Context, []conveyor.QueueInfo) ([]string, error) {
	var names []string
	var serial int64 = -1
	return func(ctx context.Context, _ []conveyor.QueueInfo) ([]string, error) {
		read, now, err := applier.Queues(ctx, s.client, s.workflow, serial)
		if err == nil && now != serial {
			if names, serial = read, now; len(names) == 0 {
				names = []string{s.queue}
			}
		}
		return names, err
	}
}

// queuesOfNamespace are all that were seen in a namespace. One that is empty just now is still served, and so starts its next job at once.
func queuesOfNamespace() func(context.Context, []conveyor.QueueInfo) ([]string, error) {
	seen := map[string]bool{}
	return func(_ context.Context, there []conveyor.QueueInfo) ([]string, error) {
		for _, q := range there {
			seen[q.Name] = true
		}
		return slices.Sorted(maps.Keys(seen)), nil
	}
}
