// Command scale takes one large workflow through its life, and tells how long each step took and how much memory the client and Redis
// had: plan, apply, a run of all jobs, a plan that finds nothing to do, and destroy. Each step is the waybill command as a user gives it.
// It needs redis-server; a million jobs need about 10 GB of memory and some minutes.
//
//	go run ./scale -n 100000
//	go run ./scale -n 1000000 -write SCALE.md
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// least is the smallest workflow that has both halves.
const least = 2

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	n := flags.Int("n", 1_000_000, "how many jobs, an even `number`; waybill takes at most 1,000,000")
	concurrency := flags.Int("concurrency", 50, "how many `jobs` the worker runs at a time")
	waybill := flags.String("waybill", "", "measure this `program` instead of building one")
	page := flags.String("write", "", "replace the figures in this `page`")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if *n < least || *n%2 != 0 {
		return fmt.Errorf("-n is %d: it must be an even number of at least %d", *n, least)
	}
	l := &life{n: *n, concurrency: *concurrency, waybill: *waybill}
	defer l.close()
	if err := l.open(ctx); err != nil {
		return err
	}
	begun := time.Now()
	steps, err := l.live(ctx)
	fmt.Print(table(steps))
	if err != nil {
		return err
	}
	if *page == "" {
		return nil
	}
	return writePage(*page, steps, *n, begun)
}
