package task_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/embedded"
	"github.com/waybill-dev/waybill/conveyor/task"
)

// cleaner deletes objects.
type cleaner struct{}

func (cleaner) Filter(t *task.Task) bool {
	return t.Meta.Has(map[string]string{"x.example/action": "delete", "x.example/object": task.Any})
}

func (cleaner) Ensure(_ context.Context, t *task.Task) error {
	fmt.Println("delete", t.Meta["x.example/object"])
	return nil
}

// A task is created by whoever knows what is to be done, and done by a worker whose filter takes it.
func ExampleEngine() {
	dir, err := os.MkdirTemp("", "task-example-")
	if err != nil {
		log.Fatal(err)
	}
	store, err := embedded.Open(context.Background(), dir, embedded.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = errors.Join(store.Close(), os.RemoveAll(dir)) }()
	client, err := conveyor.NewClient(store.Client(), conveyor.Options{})
	if err != nil {
		log.Fatal(err)
	}
	engine, err := task.New(client, task.Options{Worker: "worker-1"})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()

	created := &task.Task{Meta: task.Labels{"x.example/action": "delete", "x.example/object": "1234"}}
	if err := engine.Create(ctx, created); err != nil {
		log.Fatal(err)
	}
	for {
		worked, err := engine.Work(ctx, cleaner{})
		if err != nil {
			log.Fatal(err)
		}
		if !worked {
			break // a worker waits a moment here, calls Expire and Ticker, and goes on
		}
	}
	exists, err := engine.Exists(ctx, &task.Task{Core: created.Core.All(task.Object)})
	fmt.Println("exists:", exists, err)
	// Output:
	// delete 1234
	// exists: false <nil>
}
