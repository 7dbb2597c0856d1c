package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// planning is what plan, apply and destroy have in common: where the workflow and its store are, and which difference
// between them is asked for.
type planning struct {
	a           *app
	variables   variables
	redis       redisFlag
	policy      policyFlag
	targets     []string
	exclude     []string
	replace     []string
	rerun       bool
	rekey       bool
	refresh     bool // else the live statuses are not read
	refreshOnly bool
	destroy     bool
	format
	input  bool
	detach bool   // apply
	worker bool   // apply
	out    string // plan: the file to save it in; sensitive values are sealed with the key
	plain  bool   // apply: lines on a terminal too

	rollback string     // the revision to apply again, in place of the files; "" for none
	of       int64      // its number
	came     provenance // of what is applied

	ownWorker bool          // apply runs, or would run, jobs itself
	saved     *planner.Plan // to apply, instead of a new one
	workflow  *config.Workflow
	loaded    hcl.Diagnostics // warnings of the configuration, told with the plan
	store     *store
	display   *display
	keyring   *conveyor.Keyring
	options   planner.Options
}

func (p *planning) flags(cmd *cobra.Command) {
	p.redis.flags(cmd)
	p.variables.flags(cmd)
	p.policy.flags(cmd)
	cmd.Flags().StringArrayVar(&p.targets, "target", nil, "Plan only for the job at `ADDR` and what it waits for. May be given several times.")
	cmd.Flags().StringArrayVar(&p.exclude, "exclude", nil, "Leave out the job at `ADDR` and what waits for it. May be given several times, but not with -target.")
	cmd.Flags().BoolVar(&p.refresh, "refresh", true, "With -refresh=false, do not read how the jobs stand: compare the configuration with the records alone.")
	p.a.compactFlag(cmd)
	cmd.Flags().BoolVar(&p.json, "json", false, "Write one JSON object a line, as Terraform does.")
	cmd.Flags().BoolVar(&p.input, "input", true, "With -input=false, ask for nothing: what would have been asked for is an error.")
}

func (p *planning) replaceFlags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&p.replace, "replace", nil, "Run the job at `ADDR` again, and what follows from it. May be given several times.")
	cmd.Flags().BoolVar(&p.rerun, "rerun", false, "Run every declared job again.")
	cmd.Flags().BoolVar(&p.rekey, "rekey", false, "Write what another key than the first one here has signed or sealed anew, under the first one. Nothing runs again.")
	cmd.Flags().BoolVar(&p.refreshOnly, "refresh-only", false, "Only look for what happened to jobs outside of Waybill. Applied, it forgets the records of jobs that are gone.")
}

// open reads the workflow of the arguments and opens its store; close it afterwards.
func (p *planning) open(ctx context.Context, args []string, how access, so displayOptions) (err error) {
	if p.out != "" {
		if err := makeRoomForPlan(p.out); err != nil {
			return err
		}
	}
	if err := p.agree(); err != nil {
		return err
	}
	if err := p.policy.load(p.a); err != nil {
		return err
	}
	d := everything
	if p.refreshOnly || p.destroy || p.saved != nil || p.rollback != "" {
		d = settingsOnly
	}
	if p.destroy && p.saved == nil {
		d = protected
	}
	keep := func(diags hcl.Diagnostics, _ map[string]*hcl.File) { p.loaded = diags }
	if p.workflow, err = p.a.load(args, &p.variables, d, keep); err != nil {
		return err
	}
	if p.options, err = p.planOptions(how == serving || p.out != ""); err != nil {
		return err
	}
	if p.store, err = p.a.open(ctx, p.redis, p.workflow, how); err != nil {
		return err
	}
	p.ownWorker = !p.detach && !p.destroy && !p.refreshOnly && (p.saved == nil || !p.saved.RefreshOnly) && (p.store.embedded || p.worker)
	so.json, so.destroy, so.ownWorker = p.json, p.destroy, p.ownWorker
	p.display = p.a.newDisplay(p.store, so)
	switch {
	case p.json:
		p.display.json.Version(Version, p.store.name, p.workflow.Name)
	case !p.markdown():
		fmt.Fprintln(p.a.p.Stdout, p.store.line())
	}
	return nil
}

func (p *planning) planOptions(makeKey bool) (planner.Options, error) {
	var err error
	if p.keyring, err = p.a.keyring(makeKey); err != nil {
		return planner.Options{}, err
	}
	o := planOptions(p.keyring)
	o.Destroy, o.Rerun, o.Rekey, o.RefreshOnly = p.destroy, p.rerun, p.rekey, p.refreshOnly
	if o.Targets, err = parseAddrs("target", p.targets); err != nil {
		return o, err
	}
	if o.Exclude, err = parseAddrs("exclude", p.exclude); err != nil {
		return o, err
	}
	o.Replace, err = parseAddrs("replace", p.replace)
	return o, err
}

// agree refuses options that ask for two things.
func (p *planning) agree() error {
	switch {
	case len(p.targets) > 0 && len(p.exclude) > 0:
		return fail("Wrong arguments", "-target says what a plan is limited to, and -exclude what it leaves out. Give one of the two.")
	case p.destroy && (p.rerun || len(p.replace) > 0):
		return fail("Wrong arguments", "-destroy ends jobs, and -replace and -rerun run them again. Give one of the two.")
	case p.refreshOnly && !p.refresh:
		return fail("Wrong arguments", "-refresh-only looks at how the jobs stand and at nothing else, and -refresh=false does not look at it. Give one of the two.")
	case p.refreshOnly && p.destroy:
		return fail("Wrong arguments", "-refresh-only changes no job, and -destroy ends them all. Give one of the two.")
	case p.refreshOnly && (p.rerun || p.rekey || len(p.replace) > 0):
		return fail("Wrong arguments", "-refresh-only runs and writes no job, so -replace, -rerun and -rekey do not go with it.")
	}
	return nil
}

// close gives the terminal and the store back.
func (p *planning) close(err *error) {
	if p.display != nil {
		p.display.close()
	}
	if p.store != nil {
		if closing := p.store.close(); closing != nil && *err == nil {
			*err = fail("Cannot close the store", "%v.", closing)
		}
	}
}

// make makes the plan.
func (p *planning) make(ctx context.Context) (d difference, err error) {
	read := applier.ReadStateFor
	if !p.refresh {
		read = applier.ReadRecordsFor
	}
	state, err := read(ctx, p.store.client, p.workflow)
	if err != nil {
		return d, err
	}
	plan, diags := planner.Make(p.workflow, state, p.options)
	diags = slices.Concat(p.loaded, diags)
	if err := errorIf(diags, p.workflow.Sources); err != nil {
		return d, err
	}
	d.plan, d.diags = plan, diags
	p.policy.judge(&d)
	d.warnings, err = p.warnings(ctx, plan)
	return d, err
}

// show writes a plan, and what is to be said about it.
func (p *planning) show(d difference) error {
	if p.markdown() {
		p.report(d)
		return d.plan.WriteMarkdown(p.a.p.Stdout, planner.MarkdownOptions{Notes: d.notes(p.sources()), File: p.out})
	}
	if p.a.compact && !p.json {
		if err := p.render(d.plan); err != nil {
			return err
		}
		p.report(d)
		return nil
	}
	p.display.report(d.diags, p.sources())
	if err := p.render(d.plan); err != nil {
		return err
	}
	p.tell(d.warnings)
	return nil
}

// report writes what is to be said about a plan that was seen.
func (p *planning) report(d difference) {
	if p.a.compact && !p.json {
		p.a.show(slices.Concat(d.diags, asWarnings(d.warnings)), p.sources())
		return
	}
	p.display.report(d.diags, p.sources())
	p.tell(d.warnings)
}

func (p *planning) tell(warnings []applier.Warning) {
	if !p.json && len(warnings) > 0 {
		fmt.Fprintln(p.a.p.Stderr)
	}
	for _, w := range warnings {
		p.display.Observe(w)
	}
}

// asWarnings makes what the applier warns of look like what the configuration is warned of.
func asWarnings(warnings []applier.Warning) (diags hcl.Diagnostics) {
	for _, w := range warnings {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: w.Summary, Detail: w.Detail})
	}
	return diags
}

func (p *planning) render(plan *planner.Plan) error {
	if p.json {
		p.display.json.Plan(plan)
		return nil
	}
	out := p.a.p.Stdout
	fmt.Fprintln(out)
	return plan.Render(out, planner.RenderOptions{Color: p.a.ink(out).On, Width: int(width(out))})
}

// warnings tell about jobs that would wait for a worker that is not there. An apply with a worker of its own handles the
// built-in types.
func (p *planning) warnings(ctx context.Context, plan *planner.Plan) ([]applier.Warning, error) {
	var needs []applier.Need
	for _, r := range plan.Rows {
		needs = append(needs, p.needs(r)...)
	}
	warnings, err := applier.Unserved(ctx, p.store.client, needs)
	if err != nil {
		return nil, err
	}
	if n := len(plan.Rows); p.store.embedded && n > manyEmbedded {
		warnings = append(warnings, applier.Warning{Summary: "Workflow is large for the embedded store",
			Detail: fmt.Sprintf("It has %d jobs. The embedded store is for trying out and for a few thousand jobs; a Redis (-redis=URL) is many times faster.", n)})
	}
	return warnings, nil
}

// needs is what a row's job will ask of its worker; none for one that nobody is going to ask for, or that this process runs. One that
// stands goes on asking for the key that it was signed with, which may be another than that of today.
func (p *planning) needs(r *planner.Row) []applier.Need {
	if r.Job == nil {
		return nil
	}
	switch r.Action {
	case planner.Create, planner.Replace, planner.Update:
		if !p.ownWorker || !builtIn(r.Job.Type) {
			return applier.NeedsOf(r.Job, p.keyring)
		}
	case planner.NoOp:
		if r.Prior == nil || r.Prior.Deposed || r.Prior.NeedsKey() == "" || !r.Live.Status.Waits() {
			return nil
		}
		if key := r.Prior.NeedsKey(); key != p.keyring.ID() && (!p.ownWorker || !p.keyring.Holds(key)) {
			needs := applier.NeedsOf(r.Job, p.keyring)
			for i := range needs {
				needs[i].KeyID = key
			}
			return needs
		}
	}
	return nil
}

// manyEmbedded is how many jobs the embedded store takes without a word.
const manyEmbedded = 5000

func (a *app) planCommand() *cobra.Command {
	p := &planning{a: a}
	detailed := false
	cmd := &cobra.Command{
		Use: "plan [DIR | FILES]", Short: "Show what apply would change",
		Long: `Compares the workflow with its state and the live status of its jobs, and shows
what apply would submit, change and cancel, each with its reason. plan takes no
lock and writes nothing.

With -detailed-exitcode the exit code is 0 for no changes, 1 for an error and 2
for changes, also with -out and -format.

-format=markdown is for a comment below a change that is under review: the summary,
warnings and checks that failed, and each job in a part that opens by a click, what
is destroyed or runs again first. Of a plan that is larger than such a comment may
be, the jobs that are not shown are counted. What the plan fails for is written in
its place.

-out removes an older plan in FILE first. Where no plan can be made, nothing is left
there that would be applied by mistake.

With -policy the plan is held against the rules of a policy. One that they deny is
shown, and why, and the command fails: nothing is saved, and apply would submit
nothing of it.

In pipelines set WAYBILL_IN_AUTOMATION (to anything): then no command asks for
anything, fills the screen or says which command to type next. Where CI is set, as
it is in most pipelines, nothing fills the screen either.`,
		Example: `waybill plan
waybill plan examples/sales -var day=2026-11-19
waybill plan -policy=policy/production.hcl
waybill plan -target='job.clean["eu"]' -replace=job.report
waybill plan -out=saved.wbplan -format=markdown -detailed-exitcode > comment.md`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			defer p.close(&err)
			if err := p.settle(); err != nil {
				return err
			}
			shown := false // what fails later is not what a plan fails for
			defer func() { err = p.a.inMarkdown(p.markdown() && !shown, err) }()
			if err := p.open(cmd.Context(), args, reading, displayOptions{plain: true}); err != nil {
				return p.a.inJSON(p.display, p.json, err)
			}
			d, err := p.make(cmd.Context())
			if err == nil {
				shown = true
				err = p.show(d)
			}
			if err != nil {
				return p.a.inJSON(p.display, p.json, err)
			}
			plan := d.plan
			if err := p.denied(d); err != nil {
				return p.a.inJSON(p.display, p.json, err)
			}
			if p.out != "" {
				if err := p.save(plan, p.out); err != nil {
					return p.a.inJSON(p.display, p.json, err)
				}
			}
			if detailed && (!plan.Empty() || plan.RefreshOnly && len(plan.Drift()) > 0) {
				return exit(exitChanges)
			}
			return nil
		},
	}
	p.flags(cmd)
	p.replaceFlags(cmd)
	p.format.flags(cmd)
	cmd.Flags().BoolVar(&p.destroy, "destroy", false, "Plan what destroy would do.")
	cmd.Flags().StringVar(&p.out, "out", "", "Save the plan in `FILE`, for apply.")
	cmd.Flags().BoolVar(&detailed, "detailed-exitcode", false, "Exit with 2 if there are changes.")
	return cmd
}

// save writes the plan to a file, and says how to apply it.
func (p *planning) save(plan *planner.Plan, file string) error {
	came := provenanceOf(p.workflow)
	plan.Source, plan.Archive = came.source, came.archive
	if err := writePlan(file, plan, p.keyring); err != nil {
		return err
	}
	switch {
	case p.json || p.markdown():
		return nil
	case p.a.automated():
		_, err := fmt.Fprintf(p.a.p.Stdout, "\nSaved the plan to %s.\n", file)
		return err
	}
	_, err := fmt.Fprintf(p.a.p.Stdout, "\nSaved the plan to %s. To perform exactly these actions:\n\n  waybill apply %s%s\n", file, file, p.store.elsewhere())
	return err
}
