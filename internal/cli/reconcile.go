package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/metrics"
	"github.com/waybill-dev/waybill/internal/controller"
	"github.com/waybill-dev/waybill/planner"
)

// reconciling is one run of the reconcile command.
type reconciling struct {
	a             *app
	redis         redisFlag
	variables     variables
	policy        policyFlag
	interval      time.Duration
	maxDestroy    string
	retryFailed   bool
	once          bool
	approve       string
	json          bool
	git           gitFlags
	metrics       string
	healthTimeout time.Duration

	keyring *conveyor.Keyring
	report  *controllerReport
}

func (a *app) reconcileCommand() *cobra.Command {
	r := &reconciling{a: a}
	cmd := &cobra.Command{
		Use: "reconcile [DIR...]", Short: "Keep the jobs equal to the files, again and again",
		Long: `Plans and submits what differs between the files and the jobs, at once when a file
changes and every -interval besides. So a change of the files is applied without
anybody typing apply, and what disappears from the Redis comes back. It follows no
jobs and runs none: that is done by "waybill worker".

It submits missing, new and changed jobs. A job that failed, was cancelled or
expired, or is on hold, is left alone until what is declared of it changes. With
-retry-failed it runs again after a minute, then after two, up to once an hour.

A revision that does not validate, or that is denied, is rejected: the last good one
goes on being healed. A plan that would destroy more jobs than -max-destroy waits
for consent: "waybill apply" by hand, or -approve=PLAN with the name that is told.

Any number of them may run for one workflow: one leads, and another takes over
within seconds when it is gone. Applies by hand are kept from clashing with it by
the lock of the workflow, as with each other.

With -git it follows a branch of a Git repository: each commit is fetched and applied
as a whole, also where the branch was rewritten. That needs a Redis. A commit
that cannot be used, such as one with a symbolic link that leads out of the
repository, is told, and the one before it goes on being healed.

With -metrics it serves, on the loopback interface unless a host is given,
/metrics for Prometheus, and /livez and /readyz for whoever supervises it. Ctrl-C or
SIGTERM ends the submission in hand and gives up the lead.`,
		Example: `waybill reconcile -redis redis://127.0.0.1:6379 examples/sales
waybill reconcile -interval=1m -max-destroy=5 -metrics 9101 orders billing
waybill reconcile -approve=3b2f81c0d94e6a75 orders
waybill reconcile -once orders
waybill reconcile -git https://example.com/jobs.git -branch main -path orders`,
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args) },
	}
	r.redis.flags(cmd)
	r.variables.flags(cmd)
	r.policy.flags(cmd)
	r.git.flags(cmd)
	f := cmd.Flags()
	f.DurationVar(&r.interval, "interval", controller.DefaultInterval, "Look so often, also when no file has changed, as in `30s`.")
	f.StringVar(&r.maxDestroy, "max-destroy", controller.DefaultLimit.String(), "Ask for consent before more than `N` jobs, or N% of those recorded, are destroyed "+
		"by one plan.")
	f.BoolVar(&r.retryFailed, "retry-failed", false, "Run jobs again that failed, were cancelled or expired, or are on hold, later each time.")
	f.StringVar(&r.approve, "approve", "", "Consent to the `PLAN` that waits for it, and do nothing else.")
	f.BoolVar(&r.once, "once", false, "Do one round, and exit with 1 if the files could not be applied.")
	f.StringVar(&r.metrics, "metrics", "", "Serve metrics and health at `[HOST:]PORT`. Without a host: 127.0.0.1. Default: not at all.")
	f.DurationVar(&r.healthTimeout, "health-timeout", metrics.DefaultHealthTimeout, "With -metrics: call the controller dead when the store did not "+
		"answer it for so long, as in `30s`.")
	f.BoolVar(&r.json, "json", false, "Write one JSON object a line.")
	return cmd
}

func (r *reconciling) run(ctx context.Context, args []string) (err error) {
	r.report = r.a.newControllerReport(r.json)
	defer func() { err = r.a.inJSON(nil, r.json, err) }()
	limit, err := controller.ParseLimit(r.maxDestroy)
	if err != nil {
		return fail("Invalid option", "-max-destroy: %v.", err)
	}
	if r.interval < time.Second {
		return fail("Invalid option", "-interval: %s is too short: it has to be at least 1s.", r.interval)
	}
	if err := r.git.check(args); err != nil {
		return err
	}
	if r.git.remote != "" && r.approve != "" {
		return r.consentInGit(ctx)
	}
	dirs, err := directories(args)
	if err != nil {
		return err
	}
	if r.approve != "" {
		return r.consent(ctx, dirs)
	}
	if err := r.policy.load(r.a); err != nil {
		return err
	}
	if r.keyring, err = r.a.keyring(true); err != nil {
		return err
	}
	shown, err := expose(r.metrics, r.healthTimeout)
	if err != nil {
		return err
	}
	defer shown.close()
	if shown.metrics != nil {
		r.a.observer = shown.metrics
	}
	var loops []*controller.Loop
	for _, dir := range dirs {
		source := controller.Source(controller.NewFiles(dir))
		if r.git.remote != "" {
			if source, err = r.source(); err != nil {
				return err
			}
		}
		loop, err := controller.New(controller.Options{
			Source: source, Load: r.load, Settings: r.settings, Recall: r.recall, Open: r.open, Check: r.check, Plan: planOptions(r.keyring), Keyring: r.keyring,
			Interval: r.interval, MaxDestroy: limit, RetryFailed: r.retryFailed, Observe: r.report.observe,
		})
		if err != nil {
			return err
		}
		loops = append(loops, loop)
	}
	if shown.metrics != nil {
		subjects := make([]metrics.Subject, len(loops))
		for i, l := range loops {
			subjects[i] = l
		}
		shown.metrics.Show(controller.Collector(loops), subjects...)
	}
	shown.serve(r.report.log)
	r.a.stops.announce("Stopping: the submission in hand is ended first. Once more leaves at once.")
	return r.all(ctx, loops)
}

// all runs the loops side by side.
func (r *reconciling) all(ctx context.Context, loops []*controller.Loop) error {
	errs := make([]error, len(loops))
	var running sync.WaitGroup
	for i, l := range loops {
		running.Go(func() {
			if r.once {
				errs[i] = l.Once(ctx, applier.DefaultLockTimeout)
			} else {
				errs[i] = l.Run(ctx)
			}
		})
	}
	running.Wait()
	told := false
	for i, err := range errs {
		if errors.Is(err, controller.ErrNotApplied) {
			told, errs[i] = true, nil
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if told {
		return exit(exitError)
	}
	return nil
}

// directories are those of the arguments, each once.
func directories(args []string) ([]string, error) {
	if len(args) == 0 {
		args = []string{"."}
	}
	known := map[string]string{}
	for _, dir := range args {
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			return nil, fail("Wrong arguments", "reconcile takes directories, since files come and go, and %s is a file.", dir)
		}
		path := absolute(dir)
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		if other, twice := known[path]; twice {
			return nil, fail("Wrong arguments", "%s and %s are the same directory.", other, dir)
		}
		known[path] = dir
	}
	return args, nil
}

// load reads the configuration in a directory.
func (r *reconciling) load(dir string) (*config.Workflow, hcl.Diagnostics) {
	w, diags, err := r.a.read([]string{dir}, r.variables, everything)
	if err != nil {
		return &config.Workflow{}, append(diags, asDiagnostic(err))
	}
	return w, diags
}

// settings reads the workflow block of the configuration in a directory.
func (r *reconciling) settings(dir string) (*config.Workflow, hcl.Diagnostics) {
	w, diags, err := r.a.read([]string{dir}, r.variables, settingsOnly)
	if err != nil {
		return &config.Workflow{}, append(diags, asDiagnostic(err))
	}
	return w, diags
}

// recall evaluates a configuration of the history. What is sensitive comes from the same places as for that of the directory.
func (r *reconciling) recall(archive *config.Archive, dir string) (*config.Workflow, hcl.Diagnostics) {
	workspace, err := r.a.workspaceOf([]string{dir})
	if err != nil {
		return &config.Workflow{}, hcl.Diagnostics{asDiagnostic(err)}
	}
	return config.Load(config.Options{
		Archive: archive, Paths: []string{dir}, Workspace: workspace, Vars: r.variables.sources, Environ: r.a.p.Environ, Version: Version, NeedVariables: true,
	})
}

// check holds a plan against the policies.
func (r *reconciling) check(p *planner.Plan) (hcl.Diagnostics, map[string]*hcl.File) {
	return p.Judge(r.policy.loaded), r.policy.loaded.Sources()
}

// open opens the store of a workflow, and says which it is.
func (r *reconciling) open(ctx context.Context, w *config.Workflow) (*controller.Store, error) {
	if err := r.outlasts(w); err != nil {
		return nil, err
	}
	s, err := r.a.open(ctx, r.redis, w, serving)
	if err != nil {
		return nil, err
	}
	r.report.opened(s)
	return &controller.Store{Client: s.client, Name: s.name, Close: s.close}, nil
}

// consent consents to the plan that waits for it.
func (r *reconciling) consent(ctx context.Context, dirs []string) error {
	if len(dirs) != 1 {
		return fail("Wrong arguments", "A consent is for one workflow. Name its directory alone.")
	}
	w, err := r.a.load(dirs, &variables{sources: r.variables.sources}, settingsOnly, nil)
	if err != nil {
		return err
	}
	s, err := r.a.open(ctx, r.redis, w, serving)
	if err != nil {
		return err
	}
	defer s.close() //nolint:errcheck // nothing is left to be written
	memory, err := applier.ReadMemory(ctx, s.client, s.workflow)
	if err != nil {
		return err
	}
	ok, err := applier.Consent(ctx, s.client, s.workflow, r.approve, "")
	switch {
	case err != nil:
		return err
	case ok:
		r.report.log.Info("consent is given: the controller that leads applies the plan", "workflow", s.workflow, "plan", r.approve, "destroys", memory.Waiting.Text)
		return nil
	case memory.Waiting.Name == "":
		return fail("No plan waits for consent", "No plan of workflow %q waits for consent; nothing was changed.", s.workflow)
	default:
		return fail("Another plan waits for consent", "Of workflow %q waits %s, which would destroy %s. Nothing was changed; to consent to that:\n\n  waybill reconcile -approve=%s%s",
			s.workflow, memory.Waiting.Name, memory.Waiting.Text, memory.Waiting.Name, s.elsewhere())
	}
}
