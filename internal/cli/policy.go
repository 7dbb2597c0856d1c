package cli

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// policyFlag is the policies by which a command judges its plans: those of -policy and those of WAYBILL_POLICY, which no option takes
// away.
type policyFlag struct {
	files  []string
	loaded *config.Policy
}

func (f *policyFlag) flags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.files, "policy", nil, "Deny the plan, or warn of it, by the rules in `FILE`. May be given several times. The WAYBILL_POLICY variable names more files, with a colon "+
		"between them (a semicolon on Windows), which hold besides.")
}

// load reads the files. What is wrong with them is an error before anything else is looked at.
func (f *policyFlag) load(a *app) error {
	var paths []string
	for _, path := range f.files {
		if path == "" {
			return fail("Invalid option", "-policy needs the name of a file.")
		}
		paths = append(paths, path)
	}
	for _, path := range filepath.SplitList(a.getenv("WAYBILL_POLICY")) {
		if path != "" {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	policy, diags := config.LoadPolicy(paths)
	if err := errorIf(diags, policy.Sources()); err != nil {
		return err
	}
	f.loaded = policy
	a.show(diags, policy.Sources())
	return nil
}

// judge adds to a difference what the policies say of its plan.
func (f *policyFlag) judge(d *difference) {
	for _, diag := range d.plan.Judge(f.loaded) {
		if diag.Severity == hcl.DiagError {
			d.denials = append(d.denials, diag)
		} else {
			d.diags = append(d.diags, diag)
		}
	}
}

// verdict is judge for a plan that an apply has made anew. Warnings were told of the first one.
func (f *policyFlag) verdict(p *planner.Plan) error {
	d := difference{plan: p}
	f.judge(&d)
	return errorIf(d.denials, f.loaded.Sources())
}

// denied is what a plan fails for that policies deny.
func (p *planning) denied(d difference) error { return errorIf(d.denials, p.sources()) }

// sources are the files that diagnostics of a plan may be about.
func (p *planning) sources() map[string]*hcl.File {
	policies := p.policy.loaded.Sources()
	if len(policies) == 0 {
		return p.workflow.Sources
	}
	all := make(map[string]*hcl.File, len(policies)+len(p.workflow.Sources))
	maps.Copy(all, p.workflow.Sources)
	maps.Copy(all, policies)
	return all
}

// deniedAnew says, besides why, how far an apply was that is denied on its way.
func deniedAnew(e *applier.DeniedError) error {
	var d *diagnosed
	if !errors.As(e.Cause, &d) {
		return e
	}
	text := "The state has changed since the plan was made. Made anew it is denied, and nothing was submitted."
	if e.Done > 0 {
		text = "Jobs have moved on while the plan was carried out. What is left of it is denied. What was submitted stands."
	}
	all := slices.Clone(d.diags)
	all = append(all, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "The plan made anew is denied", Detail: text})
	return &diagnosed{diags: all, files: d.files}
}
