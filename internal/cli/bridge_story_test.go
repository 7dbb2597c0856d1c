package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/conveyorstand"
)

// fleetWorker is a worker of a fleet as a process of a story: conveyorstand QUEUE. It fails the first run of each job and writes what
// it ran otherwise.
func fleetWorker() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	rdb := fleetStore()
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

// fleetClient is a client of a fleet as a process of a story: conveyorclient QUEUE JOB... enqueues jobs, in this order, and waits until the
// fleet tells that they are completed. A JOB is its uuid; UUID:child:PARENT; UUID:heir:PREDECESSOR; or "-" for what is no job.
func fleetClient() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	rdb := fleetStore()
	defer rdb.Close() //nolint:errcheck // the process ends
	events := rdb.Subscribe(ctx, conveyorstand.Events)
	defer events.Close() //nolint:errcheck // the process ends
	_, err := events.Receive(ctx)
	fleet, open := &conveyorstand.Fleet{Redis: rdb}, map[string]bool{}
	for _, text := range os.Args[2:] {
		if text == "-" {
			err = errors.Join(err, rdb.LPush(ctx, conveyorstand.Queue(os.Args[1]), "-").Err())
			continue
		}
		f := append(strings.Split(text, ":"), "", "")
		job := &wire.Job{Uuid: f[0], Type: os.Args[1], Queue: os.Args[1], Payload: []byte("{}"), MaxRetries: 3}
		switch f[1] {
		case "child":
			job.ParentUuid = f[2]
		case "heir":
			job.PredecessorUuid = f[2]
		}
		open[f[0]] = true
		err = errors.Join(err, fleet.Add(ctx, job, false))
	}
	for err == nil && len(open) > 0 {
		var m *redis.Message
		if m, err = events.ReceiveMessage(ctx); err != nil {
			break
		}
		told := &wire.Job{}
		if err = proto.Unmarshal([]byte(m.Payload), told); err == nil && told.GetStatus() == wire.Status_COMPLETED && open[told.GetUuid()] {
			fmt.Printf("completed %s\n", told.GetUuid())
			delete(open, told.GetUuid())
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func fleetStore() *redis.Client {
	options, err := redis.ParseURL(os.Getenv("WAYBILL_REDIS"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return redis.NewClient(options)
}
