package conveyor_test

import (
	"context"
	"fmt"
	"log"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// inProcess is a client on a server inside this process, so that the examples run anywhere.
func inProcess() (c *conveyor.Client, stop func()) {
	m, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	rdb := redis.NewClient(&redis.Options{Addr: m.Addr(), MaxRetries: -1})
	if c, err = conveyor.NewClient(rdb, conveyor.Options{Namespace: "shop"}); err != nil {
		log.Fatal(err)
	}
	return c, func() {
		if err := rdb.Close(); err != nil {
			log.Print(err)
		}
		m.Close()
	}
}

// A parent, two children and the heir of the parent: the heir starts when all of them are done.
func ExampleClient_AddMany() {
	c, stop := inProcess()
	defer stop()
	ctx := context.Background()
	err := c.AddMany(ctx, []*wire.Job{
		{Uuid: "report", Type: "Report", Queue: "sales", PredecessorUuid: "load"},
		{Uuid: "clean-eu", Type: "Clean", Queue: "sales", ParentUuid: "load"},
		{Uuid: "clean-us", Type: "Clean", Queue: "sales", ParentUuid: "load"},
		{Uuid: "load", Type: "Load", Queue: "sales"},
	})
	if err != nil {
		log.Fatal(err)
	}
	statuses, err := c.Statuses(ctx, []string{"load", "clean-eu", "report"})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range statuses {
		fmt.Println(s.UUID, s.State)
	}
	// Output:
	// load queued
	// clean-eu held
	// report held
}

// A loop without a Worker: each call acknowledges what was done and reserves the next.
func ExampleClient_Exchange() {
	c, stop := inProcess()
	defer stop()
	ctx := context.Background()
	if err := c.AddMany(ctx, []*wire.Job{
		{Uuid: "b", Type: "Step", Queue: "q", PredecessorUuid: "a"}, {Uuid: "a", Type: "Step", Queue: "q"},
	}); err != nil {
		log.Fatal(err)
	}
	request := conveyor.ExchangeRequest{Worker: "me", Queues: []string{"q"}, Want: 1}
	for {
		request.Number++
		reply, err := c.Exchange(ctx, request)
		if err != nil {
			log.Fatal(err)
		}
		if len(reply.Reserved) == 0 {
			break
		}
		request.Done = nil
		for _, r := range reply.Reserved {
			fmt.Println("runs", r.Job.Uuid)
			request.Done = append(request.Done, conveyor.Ack{UUID: r.Job.Uuid, Fence: r.Fence, Verdict: conveyor.VerdictDone})
		}
	}
	// Output:
	// runs a
	// runs b
}

// Job and record are written by one script, or neither.
func ExampleClient_Apply() {
	c, stop := inProcess()
	defer stop()
	ctx := context.Background()
	batch := conveyor.Batch{Changes: []conveyor.Change{{
		Kind:   conveyor.ChangeAdd,
		Job:    &wire.Job{Uuid: "a", Type: "Step", Queue: "q"},
		Attach: &conveyor.Attach{Key: "state:orders", Field: "job.a", Value: []byte("1 the record")},
	}}}
	fmt.Println(c.Apply(ctx, batch))
	fmt.Println(c.Apply(ctx, batch)) // the reply was lost: repeating what was done is no error

	batch.Changes[0].Job = &wire.Job{Uuid: "b", Type: "Step", Queue: "q"}
	batch.Changes[0].Attach = &conveyor.Attach{Key: "state:orders", Field: "job.a", Value: []byte("1 another record")}
	fmt.Println(c.Apply(ctx, batch))
	// Output:
	// <nil>
	// <nil>
	// apply: refused, nothing changed: change 0 met version 1
}

// Whoever follows the events from a number on misses nothing.
func ExampleClient_Events() {
	c, stop := inProcess()
	defer stop()
	ctx := context.Background()
	if err := c.Add(ctx, &wire.Job{Uuid: "a", Type: "Step", Queue: "q"}); err != nil {
		log.Fatal(err)
	}
	if err := c.Cancel(ctx, "a"); err != nil {
		log.Fatal(err)
	}
	batch, err := c.Events(ctx, 0, 0)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range batch.Events {
		fmt.Println(e.Seq, e.Kind, e.Jobs[0].UUID, e.Jobs[0].State)
	}
	// Output:
	// 1 add a queued
	// 2 cancel a cancelled
}
