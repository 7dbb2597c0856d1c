package cli

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/handlers"
	"github.com/waybill-dev/waybill/conveyor/metrics"
)

// working is one run of the worker command.
type working struct {
	a             *app
	redis         redisFlag
	queues        string
	namespaces    string
	id, team      string
	dir           string
	concurrency   int
	drain         time.Duration
	allowUnsigned bool
	trust         string
	secrets       secretsFlag
	metrics       string
	healthTimeout time.Duration
}

func (a *app) workerCommand() *cobra.Command {
	w := &working{a: a}
	cmd := &cobra.Command{
		Use: "worker [DIR | FILES]", Short: "Run jobs",
		Long: `Runs the jobs of a workflow: of the queues that its state names, also of those that
later applies add. It may be started before the first apply, any number of times,
on any machine that reaches the Redis, with the same WAYBILL_KEY or key file as
the user who applies.

With -queues it serves these queues instead, by weight: -queues critical=6,default=3
takes critical jobs twice as often as default ones while there are both.

With -namespace it serves one or several namespaces of a Redis, whatever workflows are
there: -namespace shop,stock,mail. They share -concurrency: a slot that comes free goes
to the namespace that has the fewest of those with ready jobs. One that fails, as its
node of a Cluster is down, is told of and tried again, and the others go on.

exec, http, sleep and noop jobs are handled; commands run in -dir, by default the
workflow's directory. Other types are left to workers that know them.

With -metrics it serves, on the loopback interface unless a host is given,
/metrics for Prometheus, and /livez and /readyz for whoever supervises it: 200, or
503 with the reason. It is alive while it reserved jobs or did its tick within
-health-timeout, and ready while it takes jobs too. Nobody is asked for credentials
there, and the names of queues are shown.

With several keys it runs what any of them signed; -trust names those that may.

Jobs with secret_env() and secret_file() get variables of this process and files of
this machine, those that -secrets names, when they start, and only if they are signed;
nobody else reads them. Without -secrets they are left to other workers.

Ctrl-C or SIGTERM takes no new jobs, lets running ones end for -shutdown-timeout,
and hands back the rest. A second one leaves at once.`,
		Example: `waybill worker examples/sales
waybill worker -redis redis://127.0.0.1:6379 -concurrency 20
waybill worker -queues critical=6,default=3
waybill worker -namespace shop,stock,mail -concurrency 20
waybill worker -secrets 'env:DB_*,file:/run/secrets/*'
waybill worker -metrics 9100 examples/sales`,
		RunE: func(cmd *cobra.Command, args []string) error { return w.run(cmd.Context(), args) },
	}
	w.redis.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&w.queues, "queues", "", "Serve these queues, each with its weight, as in `a=6,b=3`. A queue without one has weight 1.")
	f.IntVar(&w.concurrency, "concurrency", max(4, 2*runtime.NumCPU()), "Run at most `N` jobs at a time.")
	f.StringVar(&w.dir, "dir", "", "Run commands in `DIR`. Default: the workflow's directory, without one this directory.")
	f.StringVar(&w.namespaces, "namespace", "", "Without a workflow: serve these Redis key namespaces, `NAMES` as in a,b, of which all queues, or those "+
		"of -queues. Default, with -queues: waybill.")
	f.StringVar(&w.id, "id", "", "Register as `ID`, which no other worker has. Default: the host's name and a random part.")
	f.StringVar(&w.team, "team", "", "Register with the team `NAME`, for whoever watches.")
	f.DurationVar(&w.drain, "shutdown-timeout", conveyor.DefaultShutdownTimeout, "On Ctrl-C, let running jobs go on for so long, as in `30s`.")
	f.BoolVar(&w.allowUnsigned, "allow-unsigned", false, "Run exec and http jobs that carry no signature. Whoever can write to the Redis can then run "+
		"commands on this machine.")
	f.StringVar(&w.trust, "trust", "", "Of the keys here, use only those with these `IDS`, as in 5b1f9c02,0e77d1a4: jobs that others signed or sealed are left to other workers.")
	w.secrets.flags(cmd)
	f.StringVar(&w.metrics, "metrics", "", "Serve metrics and health at `[HOST:]PORT`. Without a host: 127.0.0.1. Default: not at all.")
	f.DurationVar(&w.healthTimeout, "health-timeout", metrics.DefaultHealthTimeout, "With -metrics: call the worker dead when the store did not "+
		"answer it for so long, as in `30s`.")
	return cmd
}

func (w *working) run(ctx context.Context, args []string) (err error) {
	w.a.role = roleWorker
	shares, err := parseShares(w.queues)
	if err != nil {
		return err
	}
	workflow, err := w.workflow(args)
	if err != nil {
		return err
	}
	keyring, err := w.a.keyring(true)
	if err != nil {
		return err
	}
	if keyring, err = w.trusted(keyring); err != nil {
		return err
	}
	secrets, err := w.secrets.source()
	if err != nil {
		return err
	}
	shown, err := expose(w.metrics, w.healthTimeout)
	if err != nil {
		return err
	}
	defer shown.close()
	if shown.metrics != nil {
		w.a.observer = shown.metrics
	}
	log := slog.New(slog.NewTextHandler(w.a.p.Stderr, nil))
	options := conveyor.WorkerOptions{
		Queues: shares, ID: w.id, Team: w.team, Concurrency: w.concurrency, ShutdownTimeout: w.shutdown(), Keyring: keyring,
		AllowUnsigned: w.allowUnsigned, Secrets: secrets, Logger: log,
	}
	if w.namespaces != "" {
		return w.runGroup(ctx, options, shown)
	}
	s, err := w.a.open(ctx, w.redis, workflow, serving)
	if err != nil {
		return err
	}
	defer s.close() //nolint:errcheck // closed below in order
	worker, err := conveyor.NewWorker(s.client, options)
	if err != nil {
		return fail("Cannot start the worker", "%v.", err)
	}
	dir := w.dir
	if dir == "" {
		dir = s.dir
	}
	if err := equip(worker, dir, log); err != nil {
		return fail("Cannot start the worker", "%v.", err)
	}
	w.announce(s.line(), log)
	if shown.metrics != nil {
		shown.metrics.Client(s.client)
		shown.metrics.Worker(worker)
	}
	shown.serve(log)
	following, end := context.WithCancel(ctx)
	var follower sync.WaitGroup
	if w.queues == "" {
		follower.Go(func() {
			follow(following, s.client, queuesOfWorkflow(s), worker.SetQueues, log.With("workflow", s.workflow))
		})
	}
	err = worker.Run(ctx)
	end()
	if closing := s.close(); closing != nil && err == nil { // which also ends what the follower waits for
		err = fail("Cannot close the store", "%v.", closing)
	}
	follower.Wait()
	return err
}

// equip gives a worker what the command line's workers can run.
func equip(worker *conveyor.Worker, dir string, log *slog.Logger) error {
	if err := handlers.Register(worker, handlers.Options{Dir: dir, Logger: log}); err != nil {
		return err
	}
	worker.Use(logJobs(log))
	return nil
}

// announce says what is served, and prepares what is said at the end.
func (w *working) announce(line string, log *slog.Logger) {
	w.a.stops.announce(fmt.Sprintf("Stopping: running jobs may end within %s, the rest is handed back. Once more leaves at once.", w.drain))
	fmt.Fprintln(w.a.p.Stdout, line)
	if w.allowUnsigned {
		log.Warn("unsigned jobs are run: whoever can write to the store can run commands here")
	}
}

// trusted is the ring without the keys that -trust does not name.
func (w *working) trusted(keyring *conveyor.Keyring) (*conveyor.Keyring, error) {
	if w.trust == "" {
		return keyring, nil
	}
	if w.allowUnsigned {
		return nil, fail("Invalid option", "-trust says whose jobs are run, and -allow-unsigned runs anybody's. Give one of the two.")
	}
	ids := strings.Split(w.trust, ",")
	for i := range ids {
		if ids[i] = strings.TrimSpace(ids[i]); !keyring.Holds(ids[i]) {
			return nil, w.a.noSuchKey(keyring, ids[i])
		}
	}
	only, err := keyring.Only(ids...)
	if err != nil {
		return nil, fail("Invalid option", "-trust: %v.", err)
	}
	return only, nil
}

// shutdown translates -shutdown-timeout: there 0 hands back at once.
func (w *working) shutdown() time.Duration {
	if w.drain <= 0 {
		return -1
	}
	return w.drain
}

// workflow reads the workflow that is worked for. With -queues there need not be one, with -namespace there is none.
func (w *working) workflow(args []string) (*config.Workflow, error) {
	switch {
	case w.namespaces != "" && len(args) > 0:
		return nil, fail("Invalid option", "-namespace serves namespaces, whatever workflows are there, and %q names a workflow, whose namespace its files tell. "+
			"Give one of the two.", args)
	case (w.namespaces != "" || w.queues != "") && len(args) == 0:
		if w.a.workspace != "" {
			return nil, fail("Invalid option", "-workspace is one of a workflow, and -queues or -namespace without one serves namespaces. Name the workflow's directory.")
		}
		return &config.Workflow{Dir: "", Namespace: config.DefaultNamespace}, nil
	}
	return w.a.load(args, &variables{}, settingsOnly, nil)
}

// weighted is how shares are written after -queues.
func weighted(shares []conveyor.QueueShare) string {
	parts := make([]string, len(shares))
	for i, q := range shares {
		if parts[i] = q.Name; q.Weight > 1 {
			parts[i] += "=" + strconv.Itoa(q.Weight)
		}
	}
	return strings.Join(parts, ",")
}

// parseShares reads -queues.
func parseShares(text string) ([]conveyor.QueueShare, error) {
	list := []conveyor.QueueShare{}
	if text == "" {
		return list, nil
	}
	for _, part := range strings.Split(text, ",") {
		name, weight, weighted := strings.Cut(strings.TrimSpace(part), "=")
		q := conveyor.QueueShare{Name: name}
		if weighted {
			n, err := strconv.Atoi(weight)
			if err != nil || n < 1 {
				return nil, fail("Invalid option", "-queues: %q is no queue with a weight: write NAME or NAME=WEIGHT, with a weight from 1 on.", part)
			}
			q.Weight = n
		}
		list = append(list, q)
	}
	return list, nil
}
