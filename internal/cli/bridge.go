package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor/bridge"
	"github.com/waybill-dev/waybill/conveyor/metrics"
	"github.com/waybill-dev/waybill/tui/screen"
)

func (a *app) bridgeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "bridge", Short: "Have workers of other systems run jobs",
		Long: `A bridge has workers run jobs that know nothing of Waybill. They keep running as
they are.`,
	}
	group(cmd)
	cmd.AddCommand(a.bridgeConveyorCommand())
	return cmd
}

// bridging is one run of bridge conveyor.
type bridging struct {
	a        *app
	place    place
	queues   string
	theirs   string
	id       string
	clients  bool
	capacity int
	json     bool

	metrics       string
	healthTimeout time.Duration
}

func (a *app) bridgeConveyorCommand() *cobra.Command {
	b := &bridging{a: a}
	cmd := &cobra.Command{
		Use: "conveyor -queues TYPE,... [DIR | FILES]", Short: "Have a fleet of the conveyor library run jobs",
		Long: `Has workers that are built on the conveyor library run the jobs of the queues that
-queues names. In such a fleet a queue and its type of jobs have one name, the full
name of a protobuf message: declare jobs with both.

The fleet gets single jobs. Edges, schedules, priorities and retries stay here, so
plan, apply and watch treat these jobs as any others. A job whose end the fleet did
not tell, and that is nowhere in its store, runs again: at least once.

With -from-clients, what clients of the fleet enqueue for these queues becomes jobs
here, under the same uuid: what is queued or scheduled, with all that waits for it.
Workers of Waybill and of the fleet then run it. Once a job has ended here it is
closed in the fleet as one of its workers would, so that what hangs on it there goes
on. Give all bridges of a fleet the same queues then. What is no job is set aside in a
list of the fleet's store, and told. With -capacity=0 nothing is handed over: that is
for when workers of Waybill have taken the fleet's place and its clients are left.

Jobs are those of the namespace of the workflow in DIR, or of -namespace, or of
"waybill". The fleet's store is the same Redis, unless -their-redis names another.

Any number of bridges share a fleet, on any machine. When one dies the others, or
the next, go on with what it handed over.

With -metrics it serves, on the loopback interface unless a host is given,
/metrics for Prometheus, and /livez and /readyz for whoever supervises it: 200, or
503 with the reason. It is alive while a round of it succeeded within -health-timeout.

Ctrl-C or SIGTERM takes back what no worker of the fleet has begun. What the fleet
runs stays reserved for half a minute, for the next bridge. A second one leaves at
once, and loses nothing either.`,
		Example: `waybill bridge conveyor -queues shop.Order,shop.Invoice examples/sales
waybill bridge conveyor -queues shop.Order -redis redis://queue:6379 -their-redis redis://fleet:6379
waybill bridge conveyor -queues shop.Order -from-clients examples/sales
waybill bridge conveyor -queues shop.Order -from-clients -capacity=0 examples/sales
waybill bridge conveyor -queues shop.Order -namespace shop -json`,
		RunE: func(cmd *cobra.Command, args []string) error { return b.run(cmd.Context(), args) },
	}
	b.place.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&b.queues, "queues", "", "Hand over the jobs of these queues, as in `A,B`.")
	f.BoolVar(&b.clients, "from-clients", false, "Make jobs here of what clients of the fleet enqueue for the queues.")
	f.StringVar(&b.theirs, "their-redis", "", "The fleet's store is the Redis at `URL`. Default: the one that jobs are in.")
	f.IntVar(&b.capacity, "capacity", bridge.DefaultCapacity, "Have at most `N` jobs with the fleet at a time, waiting in its queues or running. 0, with -from-clients: hand nothing over.")
	f.StringVar(&b.id, "id", "", "Reserve as bridge-`ID`. Default: a random one.")
	f.BoolVar(&b.json, "json", false, "Write one JSON object a line. \"waybill schema -lines bridge\" describes it.")
	f.StringVar(&b.metrics, "metrics", "", "Serve metrics and health at `[HOST:]PORT`. Without a host: 127.0.0.1. Default: not at all.")
	f.DurationVar(&b.healthTimeout, "health-timeout", metrics.DefaultHealthTimeout, "With -metrics: call the bridge dead when no round of it "+
		"succeeded for so long, as in `30s`.")
	return cmd
}

func (b *bridging) run(ctx context.Context, args []string) (err error) {
	defer func() { err = b.a.inJSON(nil, b.json, err) }()
	if b.queues == "" {
		return fail("No queue is named", "Name the queues whose jobs the fleet runs, as in -queues shop.Order,shop.Invoice.")
	}
	if b.capacity == 0 && !b.clients {
		return fail("Invalid option", "-capacity: it is 0. Have 1 to %d jobs with the fleet at a time; with -from-clients, 0 hands nothing over.", bridge.MaxCapacity)
	}
	keyring, err := b.a.keyring(true)
	if err != nil {
		return err
	}
	shown, err := expose(b.metrics, b.healthTimeout)
	if err != nil {
		return err
	}
	defer shown.close()
	if shown.metrics != nil {
		b.a.observer = shown.metrics
	}
	if len(args) == 0 && b.place.namespace == "" {
		b.place.namespace = config.DefaultNamespace
	}
	s, err := b.place.open(ctx, b.a, args, serving)
	if err != nil {
		return err
	}
	defer s.close() //nolint:errcheck // closed below in order
	fleet, err := b.fleet(ctx, s)
	if err != nil {
		return err
	}
	defer fleet.close() //nolint:errcheck // nothing is written there any more
	log := slog.New(slog.NewTextHandler(b.a.p.Stderr, nil))
	options := bridge.Options{Fleet: fleet.rdb, FromClients: b.clients, TakeOnly: b.capacity == 0, Capacity: b.capacity, Keyring: keyring, Logger: log, Observe: b.tell}
	for _, q := range strings.Split(b.queues, ",") {
		options.Queues = append(options.Queues, strings.TrimSpace(q))
	}
	if b.id != "" {
		options.ID = "bridge-" + b.id
	}
	br, err := bridge.New(s.client, options)
	if err != nil {
		return fail("Cannot start the bridge", "%v.", err)
	}
	aside, err := br.SetAsideCount(ctx)
	if err != nil {
		return fail("Cannot start the bridge", "%v.", err)
	}
	if aside > 0 {
		log.Warn("entries of the fleet's clients are set aside: they could be no jobs", "count", aside, "list", br.SetAsideKey())
	}
	if !b.json {
		fmt.Fprintf(b.a.p.Stdout, "Bridge %s: namespace %q, %s; the fleet's store is %s.\n", br.ID(), s.client.Namespace(), s.name, fleet.name)
	}
	if shown.metrics != nil {
		shown.metrics.Client(s.client)
		shown.metrics.Show(bridge.Collector(br), br)
	}
	shown.serve(log)
	b.a.stops.announce("Stopping: what the fleet has not begun is taken back. Once more leaves at once.")
	err = br.Run(ctx)
	if closing := s.close(); closing != nil && err == nil {
		err = fail("Cannot close the store", "%v.", closing)
	}
	return err
}

// fleetStore is the store of the fleet.
type fleetStore struct {
	rdb   redis.UniversalClient
	name  string
	close func() error
}

func (b *bridging) fleet(ctx context.Context, s *store) (*fleetStore, error) {
	if b.theirs == "" {
		if s.embedded {
			return nil, fail("The fleet's store is not named", "Jobs are in the %s, which no fleet can reach. Name the fleet's Redis with -their-redis, "+
				"or one for both with -redis.", s.name)
		}
		return &fleetStore{rdb: s.client.Redis(), name: "the same", close: func() error { return nil }}, nil
	}
	other := &store{pauses: b.a.pauses}
	rdb, err := other.openRedis(ctx, b.theirs, 0)
	if err != nil {
		return nil, err
	}
	return &fleetStore{rdb: rdb, name: other.name, close: other.close}, nil
}

// bridgeLine is an event of a bridge as -json writes it: see tui.BridgeSchema.
type bridgeLine struct {
	Time   time.Time `json:"time"`
	Event  string    `json:"event"`
	UUID   string    `json:"uuid,omitempty"`
	Queue  string    `json:"queue,omitempty"`
	Name   string    `json:"name,omitempty"`
	Detail string    `json:"detail,omitempty"`
}

// tell writes what a bridge did. What comes from the store is made safe to show.
func (b *bridging) tell(e bridge.Event) {
	now := time.Now()
	if b.json {
		line, err := json.Marshal(bridgeLine{Time: now.UTC(), Event: string(e.Kind), UUID: e.UUID, Queue: e.Queue, Name: e.Name, Detail: e.Detail})
		if err == nil {
			fmt.Fprintf(b.a.p.Stdout, "%s\n", line)
		}
		return
	}
	text := fmt.Sprintf("%s  %-9s  %s", now.Format(time.TimeOnly), e.Kind, e.UUID)
	for _, part := range []string{e.Name, e.Queue, e.Detail} {
		if part != "" {
			text += "  " + part
		}
	}
	fmt.Fprintln(b.a.p.Stdout, screen.Clean(text))
}
