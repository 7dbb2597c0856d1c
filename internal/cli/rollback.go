package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

func (a *app) rollbackCommand() *cobra.Command {
	p := &applying{planning: planning{a: a, refresh: true}}
	cmd := &cobra.Command{
		Use: "rollback N | REVISION [DIR | FILES]", Short: "Apply a configuration of the history again",
		Long: `Plans and applies the configuration that revision N of "waybill history" applied, or
the latest one of a commit, as apply does: it shows the plan, asks, and follows the
jobs. The files in the directory are not changed, and the next apply of them undoes
the rollback; "waybill reconcile" does not, until its source shows something new.

Values of variables are those of the revision. Sensitive ones are not kept: give them
again, with -var, -var-file or in the environment. Workers run programs and scripts
as they are in their own directory; where these differ from what the revision had,
rollback says so.`,
		Example: `waybill rollback 12
waybill rollback 3f9c2a1b examples/sales
waybill rollback 12 -auto-approve -var api_key=...`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) == 0 {
				return fail("Wrong number of arguments", "rollback takes the number of a revision, as \"waybill history\" lists them, or a commit.")
			}
			p.rollback = args[0]
			return p.run(cmd.Context(), args[1:])
		},
	}
	p.redis.flags(cmd)
	p.variables.flags(cmd)
	p.policy.flags(cmd)
	f := cmd.Flags()
	a.compactFlag(cmd)
	f.BoolVar(&p.json, "json", false, "Write one JSON object a line, as Terraform does.")
	f.BoolVar(&p.input, "input", true, "With -input=false, ask for nothing: what would have been asked for is an error.")
	f.BoolVar(&p.plain, "plain", false, "Write lines on a terminal too, instead of views that fill the screen. The WAYBILL_PLAIN variable does the same.")
	f.BoolVar(&p.autoApprove, "auto-approve", false, "Do not ask for approval.")
	f.DurationVar(&p.lockTimeout, "lock-timeout", applier.DefaultLockTimeout, "Wait so long for a lock that somebody else holds, as in `30s`. Default: 20s.")
	f.BoolVar(&p.detach, "detach", false, "Return when everything is submitted, without following the jobs.")
	f.BoolVar(&p.worker, "worker", false, "Run jobs in this process too. The embedded store's apply always does.")
	f.IntVar(&p.parallelism, "parallelism", max(4, 2*runtime.NumCPU()), "Run at most `N` jobs at a time in this process.")
	p.secrets.flags(cmd)
	return cmd
}

// recall takes the configuration of a revision in place of that of the files, of which only the settings were read.
func (p *applying) recall(ctx context.Context) error {
	h, err := applier.ReadHistory(ctx, p.store.client, p.workflow.Name)
	if err != nil {
		return err
	}
	r, err := h.Find(p.rollback)
	if errors.Is(err, applier.ErrNoRevision) {
		return fail("No such revision", "%s of workflow %q. \"waybill history%s\" lists them.", capital(err.Error()), p.workflow.Name, p.store.elsewhere())
	}
	if err != nil {
		return err
	}
	if why := whyNot(h, r); why != "" {
		return fail("Cannot roll back", "Nothing can be rolled back to revision %d: %s. Nothing was changed.", r.Number, why)
	}
	data, err := applier.ReadArchive(ctx, p.store.client, p.keyring, p.workflow.Name, r)
	if err != nil {
		return fail("Cannot roll back", "%s. Nothing was changed.", capital(err.Error()))
	}
	archive, err := config.OpenArchive(data)
	if err != nil {
		return fail("Cannot roll back", "The configuration of revision %d cannot be read: %v. Nothing was changed.", r.Number, err)
	}
	w, diags, err := p.a.complete(&p.variables, func() (*config.Workflow, hcl.Diagnostics, error) {
		w, diags := config.Load(config.Options{
			Archive: archive, Paths: []string{p.workflow.Dir}, Workspace: p.workflow.Workspace, Vars: p.variables.sources, Environ: p.a.p.Environ,
			Version: Version, NeedVariables: true,
		})
		return w, diags, nil
	})
	if err != nil {
		return err
	}
	if err := errorIf(diags, w.Sources); err != nil {
		return err
	}
	if w.Name != p.workflow.Name || w.Namespace != p.workflow.Namespace {
		return fail("Cannot roll back", "Revision %d is of workflow %q in the namespace %q, and the files in %s are of %q in %q. Nothing was changed. A workflow gets its former name by "+
			"moved_from.", r.Number, w.Name, w.Namespace, describeDir(p.workflow.Dir), p.workflow.Name, p.workflow.Namespace)
	}
	p.loaded = append(p.loaded, diags...)
	p.workflow, p.came = w, provenance{source: r.Source, archive: data}
	if p.of = r.Number; r.Of > 0 {
		p.of = r.Of
	}
	return nil
}

// maxUnlike bounds how many files a warning names.
const maxUnlike = 5

// unlike warns of files that the jobs of a plan use and that are not what they were in the revision.
func (p *applying) unlike(plan *planner.Plan) []applier.Warning {
	if p.rollback == "" {
		return nil
	}
	var names []string
	for _, r := range plan.Rows {
		if r.Job == nil || r.Action == planner.NoOp {
			continue
		}
		for _, in := range r.Job.Inputs {
			if filepath.IsAbs(in.Path) || slices.Contains(names, in.Path) {
				continue
			}
			if sum, err := config.HashFile(filepath.Join(p.workflow.Dir, filepath.FromSlash(in.Path))); err != nil || sum != in.SHA256 {
				names = append(names, in.Path)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	more := ""
	if len(names) > maxUnlike {
		more = fmt.Sprintf(" and %d more", len(names)-maxUnlike)
		names = names[:maxUnlike]
	}
	return []applier.Warning{{Summary: "Files are not those of the revision",
		Detail: fmt.Sprintf("The %s has other content by now in %s%s, or lacks it. A rollback declares jobs as they were; what they run is what the workers have: "+
			"bring these files back too, for example by a checkout of the commit.", strings.TrimPrefix(describeDir(p.workflow.Dir), "this "), strings.Join(names, ", "), more)}}
}
