// Command outbox is a small web shop in which an order and the job that confirms it are committed together.
//
// The steps that matter are in order.go; the rest is a page, a database, a queue and what runs beside them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/outbox"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "outbox:", err)
		os.Exit(1)
	}
}

// run opens what the flags name and keeps the shop open until ctx ends.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("outbox", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:8080", "`address` of the shop")
	dir := flags.String("dir", ".shop", "`directory` of the database and the embedded store")
	dsn := flags.String("dsn", "", "a PostgreSQL instead of SQLite: `postgres://...`")
	redisURL := flags.String("redis", "", "a Redis instead of the embedded store: `redis://...`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no flag: see -help", flags.Arg(0))
	}
	db, err := openDatabase(ctx, *dir, *dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	client, closeQueue, err := openQueue(ctx, *dir, *redisURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeQueue()) }()
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	s := &shop{database: db, client: client, out: out, unplug: func() { os.Exit(1) }, relay: outbox.RelayOptions{Wake: db.wake}}
	fmt.Fprintf(out, "The shop is open at http://%s, with %s and %s. Ctrl-C closes it.\n", listener.Addr(), db.place, queuePlace(*dir, *redisURL))
	return s.open(ctx, listener)
}

// open serves the page and runs, beside it, a worker that confirms orders and a relay that pushes what was left behind. Any of them could
// be a program of its own, and there could be several of each.
func (s *shop) open(ctx context.Context, listener net.Listener) error {
	worker, err := conveyor.NewWorker(s.client, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: mailQueue}}})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	conveyor.HandleJSON(worker, confirmType, s.confirm)
	relay, err := outbox.NewRelay(s.database.DB, s.database.outbox, s.client, s.relay)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second}

	ctx, closeShop := context.WithCancel(ctx)
	defer closeShop()
	var parts sync.WaitGroup
	ends := make(chan error, 4)
	begin := func(part func() error) {
		parts.Go(func() {
			defer closeShop() // one that ends, ends all
			err := part()
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				err = nil // the shop was closed before it was open
			}
			ends <- err
		})
	}
	begin(func() error { return worker.Run(ctx) })
	begin(func() error { return relay.Run(ctx) })
	begin(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	begin(func() error {
		<-ctx.Done()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return server.Shutdown(ctx)
	})
	parts.Wait()
	close(ends)
	var all []error
	for err := range ends {
		all = append(all, err)
	}
	return errors.Join(all...)
}
