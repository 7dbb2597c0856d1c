package bridge

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
)

// takeAtOnce is how many entries one script takes, apart from the lists of one job, which it takes whole.
const takeAtOnce = conveyor.MaxBatch

// takeUp makes jobs of ours of what clients of theirs enqueued: due tells to look among the scheduled ones too. Whoever ends at any
// instant leaves each entry in their structures, or in a record that the next bridge goes on with:
//
//   - take: the entry leaves its place and gets its record in one script. A worker of theirs that pops at the same time gets it, or we do.
//   - ask, add, note that it is added: a bridge that ends before the note leaves the job among the fresh ones, and the next adds
//     it again under the same uuid, which changes nothing. That the engine knows it then is no surprise, since the record says that
//     the engine was asked and did not know it before: so one whose uuid was another job's all along is told apart, and set aside.
//   - the job ends and is closed on their side: see finish. Before the note nobody does that, since it takes the record away, and
//     the job would be taken for one that has yet to be added.
func (b *Bridge) takeUp(ctx context.Context, due bool) (more bool, err error) {
	var sources []string
	if b.o.FromClients {
		for _, q := range b.o.Queues {
			sources = append(sources, theirQueue(q))
		}
		if due {
			sources = append(sources, theirScheduled)
		}
	}
	for _, source := range sources {
		again, err := b.takeFrom(ctx, source)
		if err != nil {
			return false, err
		}
		more = more || again
	}
	again, err := b.addFresh(ctx)
	return more || again, err
}

// takeFrom takes what is in a key of theirs, or goes on with what waits for jobs that are taken, with no key.
func (b *Bridge) takeFrom(ctx context.Context, source string) (more bool, err error) {
	if err := b.step(); err != nil {
		return false, err
	}
	args := []any{b.keys.prefix, takeAtOnce, source}
	for _, q := range b.o.Queues {
		args = append(args, q)
	}
	reply, err := takeScript.Run(ctx, b.o.Fleet, []string{b.keys.open(), b.keys.fresh(), b.keys.taken(), b.keys.setAside()}, args...).Slice()
	if err != nil {
		return false, inFleet("take jobs of clients "+source, err)
	}
	aside, _ := reply[1].([]any)
	for _, key := range aside {
		b.tell(Event{Kind: SetAside, Detail: fmt.Sprintf("an entry of %v is no job", key)})
	}
	return reply[0] == int64(1), nil
}

// addFresh adds what was taken, dependents first: they are held until what they wait for is added.
func (b *Bridge) addFresh(ctx context.Context) (more bool, err error) {
	if err := b.step(); err != nil {
		return false, err
	}
	uuids, err := b.o.Fleet.LRange(ctx, b.keys.fresh(), 0, conveyor.MaxBatch-1).Result()
	if err != nil || len(uuids) == 0 {
		return false, inFleet("read "+b.keys.fresh(), err)
	}
	more = len(uuids) == conveyor.MaxBatch
	uuids = unique(uuids)
	taken, err := b.clientJobs(ctx, uuids)
	if err != nil {
		return false, err
	}
	known, err := b.client.Statuses(ctx, uuids)
	if err != nil {
		return false, err
	}
	batch := &addition{}
	for i, c := range taken {
		if c == nil {
			batch.gone = append(batch.gone, uuids[i])
			continue
		}
		job, err := c.ourForm()
		if err == nil && !c.asked && known[i].State != conveyor.StateUnknown {
			err = fmt.Errorf("a job of this uuid is here already, and is %s: \"waybill job retry\" runs one again that failed", known[i].State)
		}
		if err != nil {
			if err := b.setAside(ctx, c, err, false); err != nil {
				return false, err
			}
			continue
		}
		batch.jobs, batch.uuids = append(batch.jobs, job), append(batch.uuids, c.uuid)
	}
	return more, b.addBatch(ctx, batch)
}

// inFleet says what was done when a command of the fleet's store failed.
func inFleet(what string, err error) error {
	if err != nil {
		return fmt.Errorf("the fleet's store: %s: %w", what, err)
	}
	return nil
}

// unique is uuids without those that come again, in their order.
func unique(uuids []string) []string {
	seen := make(map[string]bool, len(uuids))
	return slices.DeleteFunc(uuids, func(uuid string) bool {
		again := seen[uuid]
		seen[uuid] = true
		return again
	})
}

// clientJobs reads the records of jobs of clients; nil: there is none.
func (b *Bridge) clientJobs(ctx context.Context, uuids []string) ([]*clientJob, error) {
	pipe := b.o.Fleet.Pipeline()
	replies := make([]*redis.SliceCmd, len(uuids))
	for i, uuid := range uuids {
		replies[i] = pipe.HMGet(ctx, b.keys.client(uuid), clientFields...)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, inFleet("read "+b.keys.clients()+"*", err)
	}
	out := make([]*clientJob, len(uuids))
	for i, reply := range replies {
		out[i] = clientJobOf(uuids[i], reply.Val())
	}
	return out, nil
}

// setAside keeps an entry that cannot become a job of ours out of the way. refused: the engine did not take it. Otherwise one that a bridge
// may have added stays.
func (b *Bridge) setAside(ctx context.Context, c *clientJob, why error, refused bool) error {
	if err := b.step(); err != nil {
		return err
	}
	n, err := setAsideScript.Run(ctx, b.o.Fleet, []string{b.keys.client(c.uuid), b.keys.fresh(), b.keys.taken(), b.keys.setAside()}, c.uuid, refused).Int()
	if err != nil {
		return inFleet("set "+c.uuid+" aside", err)
	}
	if n == 1 {
		b.tell(Event{Kind: SetAside, UUID: c.uuid, Detail: why.Error()})
	}
	return nil
}

// SetAsideCount is how many entries of clients bridges of the namespace have set aside, since they can be no jobs.
func (b *Bridge) SetAsideCount(ctx context.Context) (int64, error) {
	n, err := b.o.Fleet.LLen(ctx, b.keys.setAside()).Result()
	return n, inFleet("read "+b.keys.setAside(), err)
}

// SetAsideKey is the list of what is set aside: entries are "<key that it was in> <bytes>".
func (b *Bridge) SetAsideKey() string { return b.keys.setAside() }
