package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/conveyorstand"
)

// fleetWorker is a worker of a fleet as a process of a story: conveyorstand QUEUE. It fails the first run of each job and writes what
// it ran otherwise.
func fleetWorker() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	options, err := redis.ParseURL(os.Getenv("WAYBILL_REDIS"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	rdb := redis.NewClient(options)
	defer rdb.Close() //nolint:errcheck // the process ends
	runs := map[string]int{}
	w := &conveyorstand.Worker{Fleet: &conveyorstand.Fleet{Redis: rdb}, ID: fmt.Sprint("theirs-", os.Getpid()), Queues: os.Args[1:],
		Handle: func(_ context.Context, job *wire.Job) error {
			if runs[job.GetUuid()]++; runs[job.GetUuid()] == 1 {
				return errors.New("no paper")
			}
			fmt.Printf("ran %s\n", job.GetPayload())
			return nil
		}}
	if err := w.Run(ctx, time.Second); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
