package conveyor_test

import (
	"context"
	"fmt"
	"log"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// A job that reads the result of another one: the worker puts the values into its payload before the handler starts.
func ExampleResultValue() {
	client, closeStore := exampleClient()
	defer closeStore()
	ctx, stop := context.WithCancel(context.Background())

	worker, err := conveyor.NewWorker(client, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: "orders"}}})
	if err != nil {
		log.Fatal(err)
	}
	worker.HandleRaw("count", func(ctx context.Context, _ *wire.Job) error {
		return conveyor.FromContext(ctx).SetResult([]byte(`{"rows": 5, "by": {"eu": 3}}`))
	})
	worker.HandleRaw("report", func(_ context.Context, job *wire.Job) error {
		fmt.Println(string(job.GetPayload()))
		stop()
		return nil
	})

	payload := fmt.Sprintf(`{"rows":"%s","text":"%s of them in the EU"}`, conveyor.ResultValue("count-1", "rows"), conveyor.ResultText("count-1", "by", "eu"))
	err = client.AddMany(ctx, []*wire.Job{
		{Uuid: "count-1", Type: "count", Queue: "orders"},
		{Type: "report", Queue: "orders", PredecessorUuid: "count-1", Results: []string{"count-1"}, Payload: []byte(payload)},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := worker.Run(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: {"rows":5,"text":"3 of them in the EU"}
}
