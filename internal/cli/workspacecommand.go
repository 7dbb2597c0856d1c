package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
)

func (a *app) workspaceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "workspace", Short: "Keep several states of one workflow apart",
		Long: `A workspace is another state of the same files: its own records, lock and jobs. The
workflow orders is known as orders@staging in the workspace staging, and its jobs go
to the queue orders.staging unless they name one. Expressions read the workspace as
workflow.workspace.

The workspace default is always there. Which one commands work in say -workspace,
WAYBILL_WORKSPACE, and what was selected last, kept in .waybill/workspace, in this
order. One that is only named is made by its first apply.`,
	}
	group(cmd)
	cmd.AddCommand(a.workspaceListCommand(), a.workspaceNewCommand(), a.workspaceSelectCommand(), a.workspaceShowCommand(), a.workspaceDeleteCommand())
	return cmd
}

func (a *app) workspaceShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show [DIR | FILES]", Short: "Show the name of the current workspace",
		RunE: func(_ *cobra.Command, args []string) error {
			name, err := a.workspaceOf(args)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.p.Stdout, name)
			return err
		},
	}
}

func (a *app) workspaceListCommand() *cobra.Command {
	var r redisFlag
	asJSON := false
	cmd := &cobra.Command{
		Use: "list [DIR | FILES]", Short: "List the workspaces that have a state",
		Long: `Lists the workspaces of a workflow that have a state in its store, and default. A
star marks the current one.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := a.load(args, &variables{}, settingsOnly, nil)
			if err != nil {
				return err
			}
			list, err := a.workspaces(cmd.Context(), r, w)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(a.p.Stdout).Encode(map[string]any{"format_version": "1.0", "current": w.Workspace, "workspaces": list})
			}
			for _, name := range list {
				mark := " "
				if name == w.Workspace {
					mark = "*"
				}
				if _, err := fmt.Fprintln(a.p.Stdout, mark, name); err != nil {
					return err
				}
			}
			return nil
		},
	}
	r.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "Write one JSON object.")
	return cmd
}

// workspaces lists those of a workflow that are there, and writes nothing anywhere.
func (a *app) workspaces(ctx context.Context, r redisFlag, w *config.Workflow) ([]string, error) {
	s, err := a.open(ctx, r, w, reading)
	if err != nil {
		return nil, err
	}
	defer s.close() //nolint:errcheck // nothing was written
	name, _ := config.SplitStateName(w.Name)
	return applier.Workspaces(ctx, s.client, name)
}

// workspaceArgument takes the name of a workspace out of a command's arguments; the rest are paths.
func workspaceArgument(cmd *cobra.Command, args []string) (name string, paths []string, err error) {
	if len(args) == 0 {
		return "", nil, fail("Wrong number of arguments", "%s takes the name of a workspace.", cmd.CommandPath())
	}
	if err := checkWorkspace(args[0]); err != nil {
		return "", nil, fail("Invalid workspace name", "%v.", err)
	}
	return args[0], args[1:], nil
}

func (a *app) workspaceNewCommand() *cobra.Command {
	c := &stateChanging{a: a}
	cmd := &cobra.Command{
		Use: "new NAME [DIR | FILES]", Short: "Make a workspace and select it",
		Long: `Makes a workspace with an empty state, and selects it for the commands that follow
in this directory.`,
		Example: `waybill workspace new staging`,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, paths, err := workspaceArgument(cmd, args)
			if err != nil {
				return err
			}
			return c.newWorkspace(cmd.Context(), name, paths)
		},
	}
	c.redis.flags(cmd)
	c.lockFlag(cmd)
	return cmd
}

// newWorkspace makes a workspace and selects it.
func (c *stateChanging) newWorkspace(ctx context.Context, name string, paths []string) (err error) {
	if err := c.a.notOverridden(); err != nil {
		return err
	}
	if name == config.DefaultWorkspace {
		return fail("Workspace exists", "Workspace %q already exists: every workflow has it.", name)
	}
	w, err := c.a.loadIn(paths, name)
	if err != nil {
		return err
	}
	if c.store, err = c.a.open(ctx, c.redis, w, serving); err != nil {
		return err
	}
	defer c.close(&err)
	err = applier.CreateState(ctx, c.store.client, c.store.workflow, c.options("workspace new"))
	if errors.Is(err, applier.ErrStateExists) {
		return fail("Workspace exists", "Workspace %q already exists. \"waybill workspace select %s\" selects it.", name, name)
	}
	if err != nil {
		return c.explain(err)
	}
	if err := selectWorkspace(c.store.dir, name); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.a.p.Stdout, "Created and switched to workspace %q!\n\nIts state is empty: a plan here knows nothing of the jobs of other workspaces.\n", name)
	return err
}

func (a *app) workspaceSelectCommand() *cobra.Command {
	c := &stateChanging{a: a}
	orCreate := false
	cmd := &cobra.Command{
		Use: "select NAME [DIR | FILES]", Short: "Work in another workspace",
		Long: `Selects a workspace for the commands that follow in this directory. It is noted in
.waybill/workspace, which Git ignores.`,
		Example: `waybill workspace select default
waybill workspace select -or-create staging`,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, paths, err := workspaceArgument(cmd, args)
			if err != nil {
				return err
			}
			if err := a.notOverridden(); err != nil {
				return err
			}
			w, err := a.loadIn(paths, name)
			if err != nil {
				return err
			}
			list, err := a.workspaces(cmd.Context(), c.redis, w)
			if err != nil {
				return err
			}
			if !slices.Contains(list, name) {
				if orCreate {
					return c.newWorkspace(cmd.Context(), name, paths)
				}
				return noWorkspace(name, list)
			}
			if err := selectWorkspace(w.Dir, name); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.p.Stdout, "Switched to workspace %q.\n", name)
			return err
		},
	}
	c.redis.flags(cmd)
	cmd.Flags().BoolVar(&orCreate, "or-create", false, "Make the workspace if it does not exist.")
	c.lockFlag(cmd)
	return cmd
}

func noWorkspace(name string, list []string) error {
	hint := ""
	if near := nearest(name, list); near != "" {
		hint = fmt.Sprintf(" Did you mean %q?", near)
	}
	return fail("No such workspace", "Workspace %q doesn't exist.%s \"waybill workspace new %s\" makes it.", name, hint, name)
}

func (a *app) workspaceDeleteCommand() *cobra.Command {
	c := &stateChanging{a: a}
	force := false
	cmd := &cobra.Command{
		Use: "delete NAME [DIR | FILES]", Short: "Delete a workspace",
		Long: `Deletes the state of a workspace that is neither default nor the current one, and
has no records: "waybill destroy -workspace=NAME" comes first. With -force the
records are forgotten, as by "waybill state rm": their jobs go on without.`,
		Example: `waybill workspace delete staging`,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, paths, err := workspaceArgument(cmd, args)
			if err != nil {
				return err
			}
			return c.deleteWorkspace(cmd.Context(), name, paths, force)
		},
	}
	c.redis.flags(cmd)
	cmd.Flags().BoolVar(&force, "force", false, "Delete also a workspace with records, and leave its jobs alone.")
	c.lockFlag(cmd)
	return cmd
}

func (c *stateChanging) deleteWorkspace(ctx context.Context, name string, paths []string, force bool) (err error) {
	current, err := c.a.workspaceOf(paths)
	if err != nil {
		return err
	}
	selected, err := selectedWorkspace(directoryOf(paths))
	if err != nil {
		return err
	}
	switch name {
	case config.DefaultWorkspace:
		return fail("Workspace cannot be deleted", "Every workflow has the workspace %q. \"waybill destroy\" destroys its jobs.", name)
	case current, selected:
		return fail("Workspace is selected", "Workspace %q is your active workspace, and cannot be deleted. Select another one first, "+
			"as in \"waybill workspace select default\".", name)
	}
	w, err := c.a.loadIn(paths, name)
	if err != nil {
		return err
	}
	list, err := c.a.workspaces(ctx, c.redis, w)
	if err != nil {
		return err
	}
	if !slices.Contains(list, name) {
		return noWorkspace(name, list)
	}
	if c.store, err = c.a.open(ctx, c.redis, w, serving); err != nil {
		return err
	}
	defer c.close(&err)
	forgotten, err := applier.DeleteState(ctx, c.store.client, c.store.workflow, force, c.options("workspace delete"))
	var full *applier.NotEmptyError
	switch {
	case errors.As(err, &full):
		return fail("Workspace is not empty", "Workspace %q has %s of jobs. Destroy them first, with \"waybill destroy -workspace=%s\"; -force deletes the "+
			"workspace and leaves the jobs alone. Nothing was changed.", name, records(full.Records), name)
	case errors.Is(err, applier.ErrNoState):
		return noWorkspace(name, nil)
	case err != nil:
		return c.explain(err)
	}
	if _, err = fmt.Fprintf(c.a.p.Stdout, "Deleted workspace %q!\n", name); err == nil && forgotten > 0 {
		_, err = fmt.Fprintf(c.a.p.Stdout, "\n%s forgotten. The jobs are left alone.\n", wasRecords(forgotten))
	}
	return err
}

func wasRecords(n int) string {
	if n == 1 {
		return "1 record was"
	}
	return records(n) + " were"
}

// lockFlag is the -lock-timeout option.
func (c *stateChanging) lockFlag(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&c.lockTimeout, "lock-timeout", applier.DefaultLockTimeout, "Wait so long for a lock that somebody else holds, as in `30s`. Default: 20s.")
}
