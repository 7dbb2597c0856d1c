package conveyor_test

import (
	"context"
	"fmt"
	"log"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// A listener hears the built-in events of a job and what its handler sends; the handler hears what is broadcast to the job.
func ExampleClient_On() {
	client, closeStore := exampleClient()
	defer closeStore()
	ctx, stop := context.WithCancel(context.Background())

	done := make(chan struct{})
	unlisten, err := client.On(ctx, "brew", conveyor.AnyEvent, conveyor.Global, func(m conveyor.Message) {
		fmt.Printf("%s %q\n", m.Name, m.Data)
		switch m.Name {
		case "ready":
			if err := client.Broadcast(context.Background(), m.UUID, "sugar", []byte("two, please")); err != nil {
				log.Fatal(err)
			}
		case conveyor.EventSuccess:
			close(done)
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	defer unlisten()

	worker, err := conveyor.NewWorker(client, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: "kitchen"}}})
	if err != nil {
		log.Fatal(err)
	}
	worker.HandleRaw("brew", func(ctx context.Context, _ *wire.Job) error {
		attempt := conveyor.FromContext(ctx)
		wishes := make(chan string, 1)
		if _, err := attempt.On(ctx, "sugar", func(m conveyor.Message) { wishes <- string(m.Data) }); err != nil {
			return err
		}
		if err := attempt.Emit(ctx, "ready", []byte("sugar?")); err != nil {
			return err
		}
		return attempt.Emit(ctx, "served", []byte("with sugar: "+<-wishes))
	})
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	if err := client.Add(ctx, &wire.Job{Uuid: "brew", Type: "brew", Queue: "kitchen"}); err != nil {
		log.Fatal(err)
	}
	<-done
	stop() // the worker drains
	if err := <-ended; err != nil {
		log.Fatal(err)
	}
	// Output:
	// started ""
	// ready "sugar?"
	// sugar "two, please"
	// served "with sugar: two, please"
	// success ""
}

// Whoever submits jobs can wait for them to be over.
func ExampleClient_Wait() {
	client, closeStore := exampleClient()
	defer closeStore()
	ctx, stop := context.WithCancel(context.Background())

	worker, err := conveyor.NewWorker(client, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: "sums"}}})
	if err != nil {
		log.Fatal(err)
	}
	conveyor.HandleJSON(worker, "divide", func(ctx context.Context, by int) error {
		if by == 0 {
			return conveyor.Permanent(fmt.Errorf("cannot divide by %d", by))
		}
		return conveyor.FromContext(ctx).SetResult(fmt.Append(nil, 12/by))
	})
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()

	err = client.AddMany(ctx, []*wire.Job{
		{Uuid: "a", Type: "divide", Queue: "sums", Payload: []byte("3")},
		{Uuid: "b", Type: "divide", Queue: "sums", Payload: []byte("0")},
	})
	if err != nil {
		log.Fatal(err)
	}
	statuses, err := client.Wait(ctx, "a", "b")
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range statuses {
		fmt.Println(s.UUID, s.State)
	}
	result, _ := client.Result(ctx, "a")   //nolint:errcheck // shown below
	failure, _ := client.Failure(ctx, "b") //nolint:errcheck // shown below
	fmt.Println(string(result), "and", failure)
	stop()
	if err := <-ended; err != nil {
		log.Fatal(err)
	}
	// Output:
	// a completed
	// b failed
	// 4 and cannot divide by 0
}

// A subscription starts with where the jobs stand and goes on with what happens to them.
func ExampleClient_Subscribe() {
	client, stop := inProcess()
	defer stop()
	ctx := context.Background()

	if err := client.Add(ctx, &wire.Job{Uuid: "a", Type: "step", Queue: "q"}); err != nil {
		log.Fatal(err)
	}
	for o, err := range client.Subscribe(ctx, conveyor.SubscribeOptions{Queue: "q"}) {
		if err != nil {
			log.Fatal(err)
		}
		for _, s := range o.Jobs {
			fmt.Println(o.Snapshot, s.UUID, s.State)
		}
		if o.Snapshot {
			if err := client.Cancel(ctx, "a"); err != nil {
				log.Fatal(err)
			}
			continue
		}
		break
	}
	// Output:
	// true a queued
	// false a cancelled
}
