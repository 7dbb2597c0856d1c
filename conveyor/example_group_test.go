package conveyor_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"sync"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// One process works for several namespaces, with ten attempts at a time of all together.
func ExampleWorkerGroup() {
	shop, closeStore := exampleClient()
	defer closeStore()
	ctx, stop := context.WithCancel(context.Background())
	stock, err := conveyor.NewClient(shop.Redis(), conveyor.Options{Namespace: "stock"})
	if err != nil {
		log.Fatal(err)
	}

	var both sync.WaitGroup
	both.Add(2)
	group, err := conveyor.NewWorkerGroup([]*conveyor.Client{shop, stock}, conveyor.WorkerGroupOptions{
		Concurrency: 10,
		Worker:      conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: "mail"}}},
		Setup: func(worker *conveyor.Worker) error { // called for each namespace
			worker.HandleRaw("welcome", func(context.Context, *wire.Job) error {
				both.Done()
				return nil
			})
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, client := range []*conveyor.Client{shop, stock} {
		if err := client.Add(ctx, &wire.Job{Type: "welcome", Queue: "mail"}); err != nil {
			log.Fatal(err)
		}
	}
	go func() {
		both.Wait()
		stop() // all drain at the same time
	}()
	if err := group.Run(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("worked for", strings.Join(group.Namespaces(), " and "))
	// Output: worked for stock and waybill
}
