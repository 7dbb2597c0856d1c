package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// applying is one apply or destroy.
type applying struct {
	planning
	autoApprove bool
	parallelism int
	secrets     secretsFlag
	lockTimeout time.Duration

	interrupted bool   // ctrl+c was the answer
	root        string // the first declared schedule or gate, where nothing else is declared
}

func (p *applying) flags(cmd *cobra.Command) {
	p.planning.flags(cmd)
	cmd.Flags().BoolVar(&p.plain, "plain", false, "Write lines on a terminal too, instead of views that fill the screen. The WAYBILL_PLAIN variable does the same.")
	cmd.Flags().BoolVar(&p.autoApprove, "auto-approve", false, "Do not ask for approval.")
	cmd.Flags().DurationVar(&p.lockTimeout, "lock-timeout", applier.DefaultLockTimeout, "Wait so long for a lock that somebody else holds, as in `30s`. Default: 20s.")
}

func (a *app) applyCommand() *cobra.Command {
	p := &applying{planning: planning{a: a}}
	cmd := &cobra.Command{
		Use: "apply [DIR | FILES | PLAN]", Short: "Submit what differs, and follow the jobs to their end",
		Long: `Makes a plan, asks for approval, submits exactly the difference, and follows the
workflow's jobs until each is settled or waits for its time. A plan that "waybill
plan -out" has saved is carried out without asking, or not at all if the state
has changed since.

On the embedded store apply runs the jobs itself; against a Redis that is done by
the processes of "waybill worker", or with -worker by apply too.

Ctrl-C leaves in order: against a Redis the jobs go on; a worker of apply's own
hands running jobs back first, without spending an attempt. The next apply goes
on where this one stopped.`,
		Example: `waybill apply
waybill apply -auto-approve examples/sales
waybill apply -redis redis://127.0.0.1:6379 -detach`,
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd.Context(), args) },
	}
	p.flags(cmd)
	p.replaceFlags(cmd)
	cmd.Flags().BoolVar(&p.detach, "detach", false, "Return when everything is submitted, without following the jobs.")
	cmd.Flags().BoolVar(&p.worker, "worker", false, "Run jobs in this process too. The embedded store's apply always does.")
	cmd.Flags().IntVar(&p.parallelism, "parallelism", max(4, 2*runtime.NumCPU()), "Run at most `N` jobs at a time in this process.")
	p.secrets.flags(cmd)
	return cmd
}

func (a *app) destroyCommand() *cobra.Command {
	p := &applying{planning: planning{a: a, destroy: true}}
	cmd := &cobra.Command{
		Use: "destroy [DIR | FILES]", Short: "Cancel the workflow's jobs and forget its state",
		Long: `Cancels every job of the workflow that has not ended and removes its state. A job
that runs is told to stop, and is forgotten once it has. What is applied
afterwards runs anew.`,
		Example: `waybill destroy examples/sales`,
		RunE:    func(cmd *cobra.Command, args []string) error { return p.run(cmd.Context(), args) },
	}
	p.flags(cmd)
	return cmd
}

func (p *applying) run(ctx context.Context, args []string) (err error) {
	defer p.close(&err)
	p.a.stops.announce("Interrupted. Leaving in order; once more leaves at once.")
	err = p.apply(ctx, args)
	if p.display != nil {
		p.display.close()
	}
	return p.a.inJSON(p.display, p.json, err)
}

func (p *applying) apply(ctx context.Context, args []string) error {
	if _, err := p.secrets.source(); err != nil {
		return err
	}
	file, args, err := planFiles(args)
	if err != nil {
		return err
	}
	if file != "" {
		if err := p.useSaved(file); err != nil {
			return err
		}
	}
	if p.json && !p.autoApprove && p.saved == nil {
		return fail("Approval is needed", "With -json nobody can be asked. Give -auto-approve, or apply a plan that \"waybill plan -out\" has saved.")
	}
	if err := p.open(ctx, args, serving, displayOptions{plain: p.lines()}); err != nil {
		return err
	}
	if p.secrets.patterns != "" && !p.ownWorker {
		return fail("Invalid option", "-secrets is for the worker in this process, and without -worker there is none: give it to `waybill worker`, or add -worker.")
	}
	if p.rollback != "" {
		if err := p.recall(ctx); err != nil {
			return err
		}
	}
	plan, err := p.approvedPlan(ctx)
	if err != nil {
		return err
	}
	if p.a.outClosed() { // nobody has read the plan to its end
		return exit(exitClosed)
	}
	following, own, observer := ctx, (*ownWorker)(nil), applier.Observer(p.display)
	if p.ownWorker {
		if own, err = p.startWorker(ctx, plan); err != nil {
			return err
		}
		following, observer = own.ctx, own
	}
	p.root = onlyCycles(plan)
	if p.rollback == "" && p.saved == nil && !plan.Empty() {
		p.came = provenanceOf(p.workflow)
	}
	result, err := applier.Apply(following, p.store.client, applier.Run{
		Plan: plan, Workflow: p.workflow, Options: p.options, Keyring: p.keyring, LockTimeout: p.waitForLock(),
		Detach:   p.detach || plan.RefreshOnly,
		Observer: observer, Saved: p.saved != nil, Judge: p.policy.verdict,
		Source: p.came.source, Archive: p.came.archive, WithoutArchive: p.came.without, Rollback: p.of, Operation: p.operation(),
		Approve: func(ctx context.Context, again *planner.Plan) (bool, error) {
			if p.autoApprove {
				return true, nil
			}
			const why = "The state has changed since this plan was made, and so has the plan."
			if p.asksInView() {
				return p.askInView(ctx, difference{plan: again}, why)
			}
			if err := p.render(again); err != nil {
				return false, err
			}
			return p.ask(ctx, why)
		},
	})
	died, workerErr := own.stop()
	p.display.close()
	switch {
	case died:
		return workerErr
	case err != nil:
		return p.explain(err)
	case workerErr != nil:
		p.display.report(hcl.Diagnostics{asDiagnostic(workerErr)}, nil)
	}
	return p.conclude(result)
}

// useSaved takes a saved plan instead of making one.
func (p *applying) useSaved(file string) error {
	switch {
	case p.destroy:
		return fail("Wrong arguments", "destroy makes its own plan. %s is a saved plan: give it to apply.", file)
	case len(p.targets) > 0 || len(p.exclude) > 0 || len(p.replace) > 0 || p.rerun || p.rekey || p.refreshOnly || !p.refresh || len(p.variables.sources) > 0:
		return fail("Wrong arguments", "%s is a saved plan, which stands as it is: -target, -exclude, -replace, -rerun, -rekey, -refresh, -refresh-only and "+
			"variables belong to the plan command.", file)
	}
	k, err := p.a.keyring(true)
	if err != nil {
		return err
	}
	p.saved, err = readPlan(file, k)
	return err
}

// approvedPlan is the plan that is applied: the saved one, or one that is made and approved now. exit ends the command if
// it is not.
func (p *applying) approvedPlan(ctx context.Context) (*planner.Plan, error) {
	if p.saved != nil {
		w, err := planned(p.saved, p.workflow)
		if err != nil {
			return nil, err
		}
		d := difference{plan: p.saved, diags: p.loaded}
		p.policy.judge(&d)
		p.display.report(d.diags, p.sources())
		p.workflow, p.options = w, p.saved.Options(p.options)
		return p.saved, p.denied(d)
	}
	d, err := p.make(ctx)
	if err != nil {
		return nil, err
	}
	d.warnings = append(d.warnings, p.unlike(d.plan)...)
	if len(d.denials) > 0 {
		if err := p.show(d); err != nil {
			return nil, err
		}
		return nil, p.denied(d)
	}
	ok := true
	if !d.plan.Empty() && p.asksInView() {
		ok, err = p.askInView(ctx, d, "")
	} else if err = p.show(d); err == nil && !d.plan.Empty() {
		ok, err = p.ask(ctx, "")
	}
	if err == nil && !ok {
		err = p.declined()
	}
	return d.plan, err
}

// operation names the run for whoever waits for its lock, and in the history; "" is the applier's own name for it.
func (p *applying) operation() string {
	if p.rollback != "" {
		return "rollback"
	}
	return ""
}

// waitForLock translates -lock-timeout: there 0 asks once.
func (p *applying) waitForLock() time.Duration {
	if p.lockTimeout <= 0 {
		return -1
	}
	return p.lockTimeout
}

// declined says that nothing is done, and ends the command.
func (p *applying) declined() error {
	fmt.Fprintf(p.a.p.Stdout, "%s cancelled.\n", p.name())
	if p.interrupted {
		return exit(exitInterrupted)
	}
	return exit(exitError)
}

// lines tells whether the user wants lines even where a view could be shown.
func (p *applying) lines() bool { return p.plain || p.a.getenv("WAYBILL_PLAIN") != "" }

func (p *applying) name() string {
	if p.rollback != "" {
		return "Rollback"
	}
	if p.destroy {
		return "Destroy"
	}
	return "Apply"
}

// ask asks, in lines, for approval of the plan above; why says why it is asked once more.
func (p *applying) ask(ctx context.Context, why string) (bool, error) {
	switch {
	case p.autoApprove:
		return true, nil
	case !p.input:
		return false, p.a.errNoInput("-auto-approve")
	}
	question, explanation := p.question()
	above := "Waybill will perform the actions described above."
	switch {
	case p.refreshOnly:
		above = "Waybill will forget what it recorded of the jobs that are gone, as shown above."
	case p.destroy:
		above = "Waybill will cancel all of its jobs and forget them, as shown above."
	}
	if why != "" {
		above = why + " " + above
	}
	if explanation != "" {
		explanation += " "
	}
	return p.a.prompt(ctx, "-auto-approve", question, above+"\n"+explanation+"Only 'yes' will be accepted to approve.")
}

// question is what is asked, and what to know besides.
func (p *applying) question() (question, explanation string) {
	if p.refreshOnly {
		return "Do you want to forget these records?", "No job is changed by it. There is no undo."
	}
	if p.destroy {
		return fmt.Sprintf("Do you really want to destroy the jobs of workflow %q?", p.workflow.Name), "There is no undo."
	}
	return "Do you want to perform these actions?", ""
}

// explain turns what ended an apply into what is said about it.
func (p *applying) explain(err error) error {
	var interrupted *applier.InterruptedError
	var locked *applier.LockedError
	var stale *applier.StaleError
	var denied *applier.DeniedError
	switch {
	case errors.As(err, &denied):
		return deniedAnew(denied)
	case errors.As(err, &interrupted):
		return fail("Interrupted", "%s.", capital(interrupted.Error()))
	case errors.As(err, &locked):
		return lockFailure(locked, p.store)
	case errors.As(err, &stale):
		return fail("Saved plan is stale", "%s.", stale.Error())
	case errors.Is(err, applier.ErrDeclined):
		return p.declined()
	}
	return err
}

func lockFailure(e *applier.LockedError, s *store) error {
	h := e.Holder
	return fail("Error acquiring the state lock", "Workflow %q is locked by %s, for %s since %s; it stayed so for %s.\n\n"+
		"-lock-timeout waits longer. Only if that process is known to be gone for good:\n\n  waybill force-unlock %s%s",
		e.Workflow, h.Who, h.Operation, h.Since.UTC().Format(time.RFC3339), e.Waited.Round(time.Second), h.Token, s.elsewhere())
}

// conclude says how to go on, and chooses the exit code.
func (p *applying) conclude(r applier.Result) error {
	if !p.json && !p.a.automated() {
		if hint := p.hint(r); hint != "" {
			fmt.Fprintf(p.a.p.Stdout, "\n%s\n", hint)
		}
	}
	switch {
	case r.Interrupted:
		return exit(exitInterrupted)
	case len(r.Bad) > 0:
		return exit(exitError)
	}
	return nil
}

// maxReleases is how many commands an apply names that release a job.
const maxReleases = 10

// hint is what the user may want to do next.
func (p *applying) hint(r applier.Result) string {
	dir := p.store.elsewhere()
	redis := ""
	if p.redis.url != "" {
		redis = " -redis " + p.store.name
	}
	switch {
	case p.refreshOnly || p.saved != nil && p.saved.RefreshOnly:
		return ""
	case r.Detached && p.store.embedded:
		return "The jobs are submitted and run when a worker serves them:\n\n  waybill worker" + dir + p.onwards(r)
	case r.Detached:
		return "The jobs go on without this command. To follow them:\n\n  waybill watch" + redis + dir + p.onwards(r)
	case r.Interrupted && p.ownWorker:
		return "What was running is handed back. To go on:\n\n  waybill apply" + redis + dir
	case r.Interrupted:
		return "The jobs go on without this command. To follow them again:\n\n  waybill watch" + redis + dir
	}
	var hints []string
	var release []string
	for _, j := range r.Bad {
		if j.Status.State == conveyor.StateOnHold {
			release = append(release, "  waybill job release"+redis+" "+shellWord(j.Addr.String())+dir)
		}
	}
	if more := len(release) - maxReleases; more > 0 {
		release = append(release[:maxReleases], fmt.Sprintf("  ... and %d more", more))
	}
	if len(release) > 0 {
		hints = append(hints, "On hold is what somebody has to look at. To let it go on:\n\n"+strings.Join(release, "\n"))
	}
	if r.Scheduled+len(r.Schedules) > 0 && p.ownWorker {
		hints = append(hints, "What waits for its time runs when a worker serves it then:\n\n  waybill worker"+redis+dir)
	}
	return strings.Join(hints, "\n\n")
}

// onlyCycles is the address of the first schedule or gate of a plan all of whose jobs run in cycles, and so are never over; "" if
// some do not.
func onlyCycles(plan *planner.Plan) string {
	root := ""
	for _, r := range plan.Rows {
		switch {
		case r.Job == nil:
		case !r.Recurs():
			return ""
		case root == "":
			root = r.Root.String()
		}
	}
	return root
}

// onwards is how a script goes on from a detached apply.
func (p *applying) onwards(r applier.Result) string {
	if r.From == nil {
		return ""
	}
	redis := ""
	if p.redis.url != "" {
		redis = " -redis " + p.store.name
	}
	if p.root != "" {
		return fmt.Sprintf("\n\nIts jobs run in cycles, again and again. To see what becomes of those:\n\n  waybill job history%s %s%s", redis, shellWord(p.root), p.store.elsewhere())
	}
	return fmt.Sprintf("\n\nTo wait for their end in a script:\n\n  waybill wait -after=%s%s%s", r.From, redis, p.store.elsewhere())
}
