package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

func (a *app) explainCommand() *cobra.Command {
	p := &planning{a: a, refresh: true}
	cmd := &cobra.Command{
		Use: "explain ADDR... [DIR | FILES | PLAN]", Short: "Say why a job runs again, or why it does not",
		Long: `Makes a plan and says of each address what apply would do with it and why, with the
chain of causes, what differs, and what its job waits for now: other jobs, its time,
a gate, a paused queue, or a worker that is not there. Where a controller ("waybill
reconcile") leads, it says what that does about a job that failed, was cancelled or is
on hold. An address without a key, such as job.clean, means all instances of its block.

Of a plan that "waybill plan -out" has saved, explain says what was so when it was made.`,
		Example: `waybill explain job.report
waybill explain 'job.clean["eu"]' examples/sales
waybill explain -json job.report saved.wbplan`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			defer p.close(&err)
			file, args, err := planFiles(args)
			if err != nil {
				return err
			}
			addrs, paths, err := addresses(args)
			if err != nil {
				return err
			}
			if len(addrs) == 0 {
				return fail("Wrong arguments", "explain needs the address of a job, as in: waybill explain job.report")
			}
			if file != "" {
				return p.explainSaved(file, addrs)
			}
			return p.explainNow(cmd.Context(), addrs, paths)
		},
	}
	p.redis.flags(cmd)
	p.variables.flags(cmd)
	cmd.Flags().BoolVar(&p.json, "json", false, "Write one JSON object a line, for each address.")
	return cmd
}

// explained is an explanation with what its job does now.
type explained struct {
	planner.Explanation
	now      *jobView          // nil when nobody looked, or there is nothing to see
	warnings []applier.Warning // of what its job needs and nobody gives
	tended   *tended           // what the controller does about it; nil when none leads, or there is nothing to tell
	saved    bool              // of a saved plan
}

// maxLooks is how many jobs are looked at one by one; of more, only the plan's side is told.
const maxLooks = 50

func (p *planning) explainNow(ctx context.Context, addrs []config.Addr, paths []string) error {
	var err error
	if p.workflow, err = p.a.load(paths, &p.variables, everything, nil); err != nil {
		return err
	}
	if p.options, err = p.planOptions(false); err != nil {
		return err
	}
	if p.store, err = p.a.open(ctx, p.redis, p.workflow, reading); err != nil {
		return err
	}
	state, err := applier.ReadStateFor(ctx, p.store.client, p.workflow)
	if err != nil {
		return err
	}
	plan, diags := planner.Make(p.workflow, state, p.options)
	if err := errorIf(diags, p.workflow.Sources); err != nil {
		return err
	}
	found, missing := plan.Explain(addrs)
	if len(missing) > 0 {
		return unknownRow(missing[0], plan)
	}
	tended, err := p.tended(ctx, state, found)
	if err != nil {
		return err
	}
	r := callRoll(ctx, p.store)
	all := make([]explained, len(found))
	for i, x := range found {
		all[i].Explanation, all[i].tended = x, tended[x.Row.Addr]
		if i >= maxLooks {
			continue
		}
		if all[i].now, err = p.lookAtRow(ctx, r, x.Row); err != nil {
			return err
		}
		if row := x.Row; row.Job != nil && !(p.store.embedded && builtIn(row.Job.Type)) && (row.Action == planner.Create || row.Action == planner.Replace || row.Live.Status.Waits()) {
			if all[i].warnings, err = applier.Unserved(ctx, p.store.client, applier.NeedsOf(row.Job, p.keyring)); err != nil {
				return err
			}
		}
	}
	return p.writeExplained(all)
}

// lookAtRow reads how the job of a row stands that is not over; nil for others.
func (p *planning) lookAtRow(ctx context.Context, r roll, row *planner.Row) (*jobView, error) {
	if row.Prior == nil || row.Live.Status == planner.Lost {
		return nil, nil
	}
	return lookAt(ctx, p.store, r, row.Prior.UUID.String())
}

func (p *planning) explainSaved(file string, addrs []config.Addr) error {
	k, err := p.a.keyring(false)
	if err != nil {
		return err
	}
	plan, err := readPlan(file, k)
	if err != nil {
		return err
	}
	found, missing := plan.Explain(addrs)
	if len(missing) > 0 {
		return unknownRow(missing[0], plan)
	}
	all := make([]explained, len(found))
	for i := range found {
		all[i].Explanation, all[i].saved = found[i], true
	}
	return p.writeExplained(all)
}

func (p *planning) writeExplained(all []explained) error {
	if p.json {
		return explainedJSON(p.a.p.Stdout, all)
	}
	for i := range all {
		if i > 0 {
			fmt.Fprintln(p.a.p.Stdout)
		}
		all[i].write(p.a)
	}
	return nil
}

// unknownRow says that an address is neither declared nor recorded.
func unknownRow(addr config.Addr, p *planner.Plan) error {
	hint := "Run \"waybill state list\" for what is recorded."
	if n := p.Near(addr); n != "" {
		hint = "Did you mean " + n + "?"
	}
	return fail("No such job", "%s is neither declared nor recorded. %s", addr, hint)
}

// write tells people.
func (x *explained) write(a *app) {
	out, ink, r := a.p.Stdout, a.ink(a.p.Stdout), x.Row
	fmt.Fprintln(out, ink.Bold(clean(r.Sentence()))+".")
	for _, note := range r.Besides() {
		fmt.Fprintln(out, capital(clean(note))+".")
	}
	part := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(out, "\n  %s\n", ink.Bold(title))
		for _, l := range lines {
			fmt.Fprintf(out, "    %s\n", clean(l))
		}
	}
	if len(x.Chain) > 1 {
		part("Causes", planner.ChainText(x.Chain, x.Whole))
	}
	part("What differs", x.changed())
	if x.Drift != "" {
		part("Outside of Waybill", []string{"it " + x.Drift})
	}
	part(map[bool]string{true: "When the plan was made", false: "Now"}[x.saved], x.standing())
	part("Waits for", x.waits())
	part("Once applied, waits for", x.Awaits)
	if x.tended != nil {
		part("The controller", []string{x.tended.text()})
	}
	var warnings []string
	for _, w := range x.warnings {
		warnings = append(warnings, w.Summary)
	}
	part("Nobody would run it", warnings)
}

// maxDiffer is how many differences people are told.
const maxDiffer = 20

func (x *explained) changed() []string {
	var lines []string
	for i, d := range x.Changes {
		if i == maxDiffer {
			lines = append(lines, fmt.Sprintf("... and %d more", len(x.Changes)-i))
			break
		}
		lines = append(lines, d.Sign+" "+d.Path)
	}
	return lines
}

// standing says how the recorded job stands.
func (x *explained) standing() []string {
	r := x.Row
	switch {
	case r.Prior == nil:
		return []string{"nothing was submitted yet"}
	case r.Live.Status == planner.Lost:
		return []string{fmt.Sprintf("generation %d was submitted, and the store does not hold it any more", r.Prior.Generation)}
	}
	text := fmt.Sprintf("generation %d is %s", r.Prior.Generation, standingWord(r.Live))
	if x.now == nil {
		return []string{text}
	}
	s := x.now.Status
	if m := moment(x.now.now, s); m != "-" && s.State != conveyor.StateHeld {
		text += ", " + m
	}
	if s.Owner != "" {
		text += ", on worker " + s.Owner
	}
	lines := []string{text}
	if x.now.template != nil {
		for _, l := range x.now.template.lines() {
			lines = append(lines, fmt.Sprintf("%-9s %s", l[0], l[1])) // one without a name goes on with the entry above
		}
	}
	if x.now.failure != "" {
		first, _, _ := strings.Cut(x.now.failure, "\n")
		lines = append(lines, "its last failure: "+shortened(first, 200))
	}
	return lines
}

func standingWord(l planner.Live) string {
	switch {
	case l.Status == planner.Closing:
		return "done with its own work and waits for its children"
	case l.Status == planner.Template:
		return "a template"
	case l.Status == planner.Failed && l.ChildFailed:
		return "failed through its children"
	case l.Status == planner.Running && l.CancelAsked:
		return "running, told to stop"
	}
	return l.Status.String()
}

// waits are what the recorded job waits for now.
func (x *explained) waits() []string {
	if x.now == nil || x.Row.Live.Status == planner.Closing && len(x.now.waits) == 0 {
		return nil
	}
	return x.now.waits
}
