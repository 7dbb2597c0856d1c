// Command worker runs the typed jobs of this example: go run ./examples/typed/worker examples/typed
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/embedded"
	shopv1 "github.com/waybill-dev/waybill/examples/typed/protos/shop/v1"
)

//go:generate go run ../../../conveyor/wire/gen ../protos shop/v1/load.proto

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

// run works until ctx ends.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("worker", flag.ContinueOnError)
	redisURL := flags.String("redis", "", "the Redis that jobs are in, instead of the store in DIR: `redis://...`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("name the directory of the workflow, such as examples/typed")
	}
	rdb, closeStore, err := openStore(ctx, flags.Arg(0), *redisURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	client, err := conveyor.NewClient(rdb, conveyor.Options{})
	if err != nil {
		return err
	}
	worker, err := conveyor.NewWorker(client, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: "loads"}}})
	if err != nil {
		return err
	}
	conveyor.Handle(worker, func(_ context.Context, load *shopv1.Load) error {
		_, err := fmt.Fprintf(out, "%s of %s from %s into %s, up to %s late\n", load.GetMode(), load.GetDay(), strings.Join(load.GetRegions(), " and "),
			load.GetTable(), load.GetWindow().AsDuration())
		return err
	})
	return worker.Run(ctx)
}

// openStore opens the store that waybill uses for the workflow in dir.
func openStore(ctx context.Context, dir, redisURL string) (redis.UniversalClient, func() error, error) {
	if redisURL == "" {
		store, err := embedded.Open(ctx, filepath.Join(dir, ".waybill"), embedded.Options{})
		if err != nil {
			return nil, nil, err
		}
		return store.Client(), store.Close, nil
	}
	o, err := redis.ParseURL(redisURL)
	if err != nil {
		return nil, nil, fmt.Errorf("-redis: %w", err)
	}
	o.MaxRetries = -1              // the client of package conveyor repeats what may be repeated
	o.ContextTimeoutEnabled = true // so that a silent Redis holds up nobody
	rdb := redis.NewClient(o)
	return rdb, rdb.Close, nil
}
