package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/approve"
)

// difference is a plan with all that is to be said about it.
type difference struct {
	plan     *planner.Plan
	diags    hcl.Diagnostics // warnings
	denials  hcl.Diagnostics // by policies
	warnings []applier.Warning
}

// asksInView tells whether a plan is approved in a view that fills the screen.
func (p *applying) asksInView() bool {
	return !p.autoApprove && p.input && !p.json && !p.lines() && p.a.live()
}

// askInView shows a plan in a view until there is an answer. What was approved then stays on the terminal as text. A view
// that fails is no answer: then the plan is shown, and asked about, as text.
func (p *applying) askInView(ctx context.Context, d difference, again string) (bool, error) {
	question, explanation := p.question()
	v := approve.New(approve.Options{In: p.a.p.Stdin, Out: p.a.p.Stdout, NoColor: !p.a.ink(p.a.p.Stdout).On, Plan: d.plan, Store: p.store.name,
		Warnings: d.shortly(), Again: again, Question: question, Explanation: explanation, Suspend: suspendSelf})
	answer, err := p.display.asks(ctx, v)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil:
		p.a.complain(fail("The view of the plan failed", "%v. Going on with text.", err))
		if err := p.show(d); err != nil {
			return false, err
		}
		return p.ask(ctx, again)
	}
	p.interrupted = answer == approve.Interrupted
	if answer != approve.Approved {
		return false, nil
	}
	p.report(d)
	out := p.a.p.Stdout
	fmt.Fprintln(out)
	if err := approve.WriteRecord(out, d.plan, planner.RenderOptions{Color: p.a.ink(out).On, Width: int(width(out))}); err != nil {
		return false, err
	}
	fmt.Fprintf(out, "\n%s\n", p.a.ink(out).Bold("Approved."))
	return true, nil
}

// shortly are the diagnostics and warnings for the view.
func (d difference) shortly() []approve.Warning {
	all := drifted(d.plan)
	if note := d.plan.FormerNote(); note != "" {
		all = append(all, approve.Warning{Summary: fmt.Sprintf("Workflow %q has moved to %q", d.plan.Former, d.plan.Workflow), Detail: sentence(note)})
	}
	for _, diag := range d.diags {
		detail := diag.Detail
		if diag.Subject != nil {
			detail = fmt.Sprintf("%s:%d\n%s", diag.Subject.Filename, diag.Subject.Start.Line, detail)
		}
		all = append(all, approve.Warning{Summary: diag.Summary, Detail: detail})
	}
	for _, w := range d.warnings {
		all = append(all, approve.Warning{Summary: w.Summary, Detail: w.Detail})
	}
	return all
}

// drifted is what happened to jobs outside of Waybill, as one warning for the view.
func drifted(p *planner.Plan) []approve.Warning {
	drift := p.Drift()
	if len(drift) == 0 {
		return nil
	}
	var lines []string
	for i, d := range drift {
		if i == maxDriftShown {
			lines = append(lines, fmt.Sprintf("... and %d more", len(drift)-i))
			break
		}
		lines = append(lines, d.Row.Addr.String()+" "+d.Text())
	}
	return []approve.Warning{{Summary: "Jobs have changed outside of Waybill", Detail: strings.Join(lines, "\n")}}
}

// maxDriftShown is how many jobs that warning names.
const maxDriftShown = 50
