package conveyor_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/embedded"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// exampleClient is a client of an embedded store in a temporary directory. With a Redis it would be
// conveyor.NewClient(redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379", MaxRetries: -1}), conveyor.Options{}).
func exampleClient() (client *conveyor.Client, closeStore func()) {
	dir, err := os.MkdirTemp("", "conveyor-example-")
	if err != nil {
		log.Fatal(err)
	}
	store, err := embedded.Open(context.Background(), dir, embedded.Options{})
	if err != nil {
		log.Fatal(err)
	}
	client, err = conveyor.NewClient(store.Client(), conveyor.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return client, func() { _ = errors.Join(store.Close(), os.RemoveAll(dir)) }
}

// A handler of a protobuf message. The job's type is the message's full name.
func ExampleHandle() {
	client, closeStore := exampleClient()
	defer closeStore()
	ctx, stop := context.WithCancel(context.Background())

	worker, err := conveyor.NewWorker(client, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: "greetings"}}})
	if err != nil {
		log.Fatal(err)
	}
	conveyor.Handle(worker, func(_ context.Context, name *wrapperspb.StringValue) error {
		fmt.Println("Hello,", name.GetValue())
		stop() // the worker drains: this job is still acknowledged
		return nil
	})

	payload, err := proto.Marshal(wrapperspb.String("world"))
	if err != nil {
		log.Fatal(err)
	}
	err = client.Add(ctx, &wire.Job{Type: "google.protobuf.StringValue", Queue: "greetings", Payload: payload})
	if err != nil {
		log.Fatal(err)
	}
	if err := worker.Run(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: Hello, world
}

// A handler of JSON payloads that adds a child from inside the job: the order is complete once its items are packed.
func ExampleHandleJSON() {
	client, closeStore := exampleClient()
	defer closeStore()
	ctx, stop := context.WithCancel(context.Background())

	worker, err := conveyor.NewWorker(client, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: "orders"}}, Concurrency: 1})
	if err != nil {
		log.Fatal(err)
	}
	type order struct {
		Items []string
	}
	conveyor.HandleJSON(worker, "order", func(ctx context.Context, o order) error {
		fmt.Println("order of", len(o.Items), "items")
		for _, item := range o.Items {
			err := conveyor.FromContext(ctx).AddChild(ctx, &wire.Job{Type: "pack", Queue: "orders", Payload: fmt.Appendf(nil, "%q", item)})
			if err != nil {
				return err
			}
		}
		return nil
	})
	conveyor.HandleJSON(worker, "pack", func(_ context.Context, item string) error {
		fmt.Println("packed", item)
		return nil
	})
	conveyor.HandleJSON(worker, "ship", func(context.Context, struct{}) error {
		fmt.Println("shipped")
		stop()
		return nil
	})

	// The heir goes first, so that nothing can end before it is in place.
	err = client.AddMany(ctx, []*wire.Job{
		{Type: "ship", Queue: "orders", PredecessorUuid: "order-1"},
		{Uuid: "order-1", Type: "order", Queue: "orders", Payload: []byte(`{"items":["lamp","chair"]}`)},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := worker.Run(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// order of 2 items
	// packed lamp
	// packed chair
	// shipped
}

// Errors steer what comes after them.
func ExamplePermanent() {
	handler := func(_ context.Context, job *wire.Job) error {
		if len(job.GetPayload()) == 0 {
			return conveyor.Permanent(errors.New("no payload")) // trying again cannot help
		}
		return nil
	}
	fmt.Println(handler(context.Background(), &wire.Job{}))
	// Output: no payload
}
