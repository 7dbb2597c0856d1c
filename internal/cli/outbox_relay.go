package cli

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor/metrics"
	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/internal/sqldb"
)

// relaying is one run of outbox relay.
type relaying struct {
	a             *app
	outbox        outboxPlace
	place         place
	leeway        time.Duration
	interval      time.Duration
	batch         int
	once          bool
	metrics       string
	healthTimeout time.Duration
}

func (a *app) outboxRelayCommand() *cobra.Command {
	r := &relaying{a: a}
	cmd := &cobra.Command{
		Use: "relay [DIR | FILES]", Short: "Push the jobs in an outbox",
		Long: `Pushes the jobs in an outbox to the queue, in the order in which they were written,
and removes a row once its job is acknowledged. Any number of relays share an
outbox, on any machine. A relay that dies leaves nothing undone: another, or the
same started again, goes on, and a job that was pushed twice runs once.

The queue is the namespace of the workflow in DIR, or that of -namespace, or
"waybill".

Rows are taken once they are older than -leeway, so that the programs that wrote
them can push them first. On PostgreSQL a relay is told of new rows and takes them
at once; elsewhere, and whenever it was not told, it looks at every -interval.

To start, it needs queue, database and table. From then on it waits for a queue or
a database that is away, for as long as it takes. With -metrics it serves, on the
loopback interface unless a host is given, /metrics for Prometheus, and /livez and
/readyz for whoever supervises it: it is alive unless a round hangs for
-health-timeout, and ready unless rounds fail for so long.

Ctrl-C or SIGTERM finishes the batch in hand. A second one leaves at once.`,
		Example: `waybill outbox relay -dsn postgres://shop@db/shop -redis redis://redis:6379
waybill outbox relay -dsn sqlite:shop.db -namespace shop -metrics 9101
waybill outbox relay -once -leeway 0s examples/sales`,
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args) },
	}
	r.outbox.flags(cmd)
	r.place.flags(cmd)
	f := cmd.Flags()
	f.DurationVar(&r.leeway, "leeway", 5*time.Second, "Leave rows alone that are younger, as in `5s`. 0s takes all.")
	f.DurationVar(&r.interval, "interval", time.Second, "Look for rows every so often, as in `1s`.")
	f.IntVar(&r.batch, "batch", 500, "Take at most `N` rows at a time.")
	f.BoolVar(&r.once, "once", false, "Push what is there and leave. A failure is not waited out, but the exit code.")
	f.StringVar(&r.metrics, "metrics", "", "Serve metrics and health at `[HOST:]PORT`. Without a host: 127.0.0.1. Default: not at all.")
	f.DurationVar(&r.healthTimeout, "health-timeout", metrics.DefaultHealthTimeout, "With -metrics: call the relay dead after a round that takes so long, "+
		"and not ready while rounds have failed for so long, as in `30s`.")
	return cmd
}

func (r *relaying) run(ctx context.Context, args []string) error {
	a := r.a
	if r.leeway <= 0 {
		r.leeway = -1
	}
	switch { // the package takes zeros for its defaults
	case r.interval == 0:
		return fail("Invalid option", "-interval: it is 0s. Look for rows every second, or at most every 10ms.")
	case r.batch == 0:
		return fail("Invalid option", "-batch: it is 0. Take 1 to 10000 rows at a time.")
	}
	o, err := r.outbox.openMade(ctx, a, sqldb.Options{})
	if err != nil {
		return err
	}
	defer o.Close() //nolint:errcheck // nothing is open there any more
	shown, err := expose(r.metrics, r.healthTimeout)
	if err != nil {
		return err
	}
	defer shown.close()
	if shown.metrics != nil {
		a.observer = shown.metrics
	}
	s, err := r.queue(ctx, args)
	if err != nil {
		return err
	}
	defer s.close() //nolint:errcheck // closed below in order
	log := slog.New(slog.NewTextHandler(a.p.Stderr, nil))
	options := outbox.RelayOptions{Leeway: r.leeway, Interval: r.interval, Batch: r.batch, Logger: log}
	if !r.once {
		if options.Wake, err = o.Wake(o.table, log); err != nil {
			return o.explain(err)
		}
	}
	var figures *metrics.Relay
	if shown.metrics != nil {
		shown.metrics.Client(s.client)
		figures = shown.metrics.Outbox(o.table, o)
		options.Observer = figures
	}
	relay, err := outbox.NewRelay(o.DB, o.table, s.client, options)
	if err != nil {
		return fail("Cannot start the relay", "%v.", err)
	}
	if figures != nil {
		figures.Relay(relay)
	}
	shown.serve(log)
	fmt.Fprintf(a.p.Stdout, "Outbox %s, namespace %q, %s.\n", o.name(), s.client.Namespace(), s.name)
	if r.once {
		_, err = relay.Once(ctx)
	} else {
		a.stops.announce("Stopping: the batch in hand is finished. Once more leaves at once.")
		err = relay.Run(ctx)
	}
	done := relay.Stats()
	fmt.Fprintf(a.p.Stdout, "%s pushed, %s.\n", countOf(done.Pushed, "job", "jobs"), countOf(done.Dead, "dead letter", "dead letters"))
	if closing := s.close(); closing != nil && err == nil {
		err = fail("Cannot close the store", "%v.", closing)
	}
	return o.Redact(err)
}

// queue opens the store that the jobs go to.
func (r *relaying) queue(ctx context.Context, args []string) (*store, error) {
	if len(args) == 0 && r.place.namespace == "" {
		r.place.namespace = config.DefaultNamespace
	}
	return r.place.open(ctx, r.a, args, serving)
}
