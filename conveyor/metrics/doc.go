// Package metrics shows what a conveyor client, its workers and outbox relays do to Prometheus, and whether a worker or relay is
// healthy to whoever supervises it.
//
// A Metrics is made first, given to the client as its Observer, and then told of the client and the worker:
//
//	m := metrics.New()
//	client, err := conveyor.NewClient(rdb, conveyor.Options{Observer: m})
//	...
//	m.Client(client)
//	m.Worker(worker)
//	err = http.Serve(listener, m.Handler(metrics.HandlerOptions{}))
//
// Several clients may have one Metrics, and a conveyor.WorkerGroup is told of with Metrics.Group: what is of one namespace has its name
// as a label. Metrics.Outbox adds the figures of a relay.
//
// What happens in this process is counted as it happens. What the namespace holds, depths and slots of queues, is read from
// the store by each scrape; any number of workers show the same, so that it may be taken from one of them.
//
// It never writes to the store, and a store that is away costs a scrape those figures and nothing else.
package metrics
