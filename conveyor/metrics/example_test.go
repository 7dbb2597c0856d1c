package metrics_test

import (
	"fmt"
	"io"
	"log"
	"net/http/httptest"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/metrics"
)

// The figures and the health of a worker, served on one address.
func Example() {
	store, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	rdb := redis.NewClient(&redis.Options{Addr: store.Addr(), MaxRetries: -1})
	defer func() { _ = rdb.Close() }()

	m := metrics.New()
	client, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: "shop", Observer: m})
	if err != nil {
		log.Fatal(err)
	}
	worker, err := conveyor.NewWorker(client, conveyor.WorkerOptions{ID: "w1", Queues: []conveyor.QueueShare{{Name: "mail"}}})
	if err != nil {
		log.Fatal(err)
	}
	m.Client(client)
	m.Worker(worker)
	server := httptest.NewServer(m.Handler(metrics.HandlerOptions{}))
	defer server.Close()

	for _, path := range []string{"/livez", "/readyz"} {
		r, err := server.Client().Get(server.URL + path)
		if err != nil {
			log.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			log.Fatal(err)
		}
		_ = r.Body.Close()
		fmt.Printf("%s %d %s", path, r.StatusCode, body)
	}
	// Output:
	// /livez 200 ok
	// /readyz 503 worker w1 has not registered yet
}
