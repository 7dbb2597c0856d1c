// Command worker runs the jobs of this example in the place of a fleet: go run ./examples/conveyor-fleet/worker redis://127.0.0.1:6379
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	ordersv1 "github.com/waybill-dev/waybill/examples/conveyor-fleet/protos/orders/v1"
)

//go:generate go run ../../../conveyor/wire/gen ../protos orders/v1/orders.proto

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

// run works until ctx ends.
func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("name the Redis that jobs are in, such as redis://127.0.0.1:6379")
	}
	o, err := redis.ParseURL(args[0])
	if err != nil {
		return err
	}
	o.MaxRetries = -1              // the client of package conveyor repeats what may be repeated
	o.ContextTimeoutEnabled = true // so that a silent Redis holds up nobody
	rdb := redis.NewClient(o)
	defer rdb.Close() //nolint:errcheck // nothing to lose
	client, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: "orders"})
	if err != nil {
		return err
	}
	worker, err := conveyor.NewWorker(client, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{
		{Name: "orders.v1.Order"}, {Name: "orders.v1.Invoice"}, {Name: "orders.v1.Reminder"},
	}})
	if err != nil {
		return err
	}
	conveyor.Handle(worker, func(_ context.Context, m *ordersv1.Order) error {
		_, err := fmt.Fprintf(out, "packed %s: %d lines\n", m.GetNumber(), len(m.GetLines()))
		return err
	})
	conveyor.Handle(worker, func(_ context.Context, m *ordersv1.Invoice) error {
		_, err := fmt.Fprintf(out, "invoiced %s: %d.%02d %s\n", m.GetOrder(), m.GetCents()/100, m.GetCents()%100, m.GetCurrency())
		return err
	})
	conveyor.Handle(worker, func(_ context.Context, m *ordersv1.Reminder) error {
		_, err := fmt.Fprintf(out, "reminded of %s\n", m.GetOrder())
		return err
	})
	return worker.Run(ctx)
}
