package conveyor_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Of the live jobs of a type, one has a unique key: who asks twice learns which job is at it already.
func ExampleUniqueError() {
	c, stop := inProcess()
	defer stop()
	ctx := context.Background()
	for _, uuid := range []string{"first", "second"} {
		err := c.Add(ctx, &wire.Job{Uuid: uuid, Type: "Import", Queue: "imports", Unique: "shop-eu"})
		var held *conveyor.UniqueError
		switch {
		case errors.As(err, &held):
			fmt.Println(uuid, "was not added:", held.Holder, "has the key", held.Key)
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println(uuid, "was added")
		}
	}
	// Output:
	// first was added
	// second was not added: first has the key Import:shop-eu
}

// Jobs are found by any of their labels, and by facts that the engine adds under reserved names.
func ExampleClient_List() {
	c, stop := inProcess()
	defer stop()
	ctx := context.Background()
	if err := c.AddMany(ctx, []*wire.Job{
		{Uuid: "a", Type: "Import", Queue: "imports", Labels: map[string]string{"shop": "eu", "team": "sales"}},
		{Uuid: "b", Type: "Import", Queue: "imports", Labels: map[string]string{"shop": "us", "team": "sales"}},
		{Uuid: "c", Type: "Import", Queue: "imports"},
	}); err != nil {
		log.Fatal(err)
	}
	if err := c.Cancel(ctx, "b"); err != nil {
		log.Fatal(err)
	}
	jobs, err := c.List(ctx, conveyor.ListOptions{Labels: map[string]string{"team": "sales", "shop": conveyor.Any}})
	if err != nil {
		log.Fatal(err)
	}
	for _, j := range jobs {
		fmt.Println(j.UUID, j.State, j.Labels["shop"])
	}
	// Output:
	// a queued eu
	// b cancelled us
}

// Whether a live job has some labels takes one command, however many jobs there are.
func ExampleClient_Exists() {
	c, stop := inProcess()
	defer stop()
	ctx := context.Background()
	if err := c.Add(ctx, &wire.Job{Uuid: "a", Type: "Import", Queue: "imports", Labels: map[string]string{"shop": "eu"}}); err != nil {
		log.Fatal(err)
	}
	for _, shop := range []string{"eu", "us"} {
		is, err := c.Exists(ctx, map[string]string{"shop": shop})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(shop, is)
	}
	// Output:
	// eu true
	// us false
}

// A plain queue: what is reserved and not deleted in time is back at its place.
func ExampleClient_MessageQueue() {
	c, stop := inProcess()
	defer stop()
	ctx := context.Background()
	q, err := c.MessageQueue("mail", conveyor.MessageQueueOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, task := range []*wire.Job{
		{Uuid: "newsletter", Priority: proto.Int32(0)}, {Uuid: "welcome", Priority: proto.Int32(1)}, {Uuid: "password", Priority: proto.Int32(2)},
	} {
		if _, err := q.Push(ctx, task); err != nil {
			log.Fatal(err)
		}
	}
	for {
		r, err := q.Reserve(ctx)
		if err != nil {
			log.Fatal(err)
		}
		if r == nil { // nothing is there
			break
		}
		fmt.Println("sends", r.Job.Uuid)
		if err := q.Delete(ctx, r); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// sends password
	// sends welcome
	// sends newsletter
}

// What a queue may do at once is a setting of the queue; a pause by hand is not, and outlives the next SetQueue.
func ExampleClient_PauseQueue() {
	c, stop := inProcess()
	defer stop()
	ctx := context.Background()
	if err := c.PauseQueue(ctx, "imports"); err != nil {
		log.Fatal(err)
	}
	if err := c.SetQueue(ctx, "imports", conveyor.QueueSettings{Concurrency: 2, Fair: true}); err != nil {
		log.Fatal(err)
	}
	queues, err := c.Queues(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, q := range queues {
		fmt.Println(q.Name, "concurrency", q.Settings.Concurrency, "paused by hand", q.ByHand)
	}
	// Output:
	// imports concurrency 2 paused by hand true
}
