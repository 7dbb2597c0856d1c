package cli

import (
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/config"
)

// variables are the -var and -var-file options of a command, in their order: the later wins.
type variables struct {
	sources []config.VarSource
	cmd     *cobra.Command // that they are options of, and that may ask for more; nil for one that asks for nothing
}

func (v *variables) flags(cmd *cobra.Command) {
	v.cmd = cmd
	cmd.Flags().Var(&variableFlag{v, false}, "var", "Set the variable `NAME=VALUE`. May be given several times.")
	cmd.Flags().Var(&variableFlag{v, true}, "var-file", "Take the values of variables from `FILE`. May be given several times.")
}

// variableFlag is one of the two options. Both append to one list.
type variableFlag struct {
	to   *variables
	file bool
}

func (f *variableFlag) Type() string   { return "string" }
func (f *variableFlag) String() string { return "" }

func (f *variableFlag) Set(s string) error {
	switch name, _, ok := strings.Cut(s, "="); {
	case f.file && s == "":
		return fail("Invalid option", "-var-file needs the name of a file.")
	case f.file:
		f.to.sources = append(f.to.sources, config.VarSource{File: s})
	case !ok || strings.TrimSpace(name) == "":
		return fail("Invalid option", "-var needs a name, an equals sign and a value, as in -var=day=2026-11-20, and got %q.", s)
	default:
		f.to.sources = append(f.to.sources, config.VarSource{Assign: s})
	}
	return nil
}

// depth is how much of a workflow a command needs.
type depth uint8

const (
	settingsOnly depth = iota // the workflow block
	protected                 // likewise, and which jobs must not be destroyed
	declared                  // jobs too, with the variables that they refer to
	everything                // jobs, with all variables
)

// load reads the workflow of a command's arguments and shows what is to be said about it on stderr, if report is nil. Values of variables
// that are needed and that it lacks are asked for, where somebody is there to answer, and added to v.
func (a *app) load(paths []string, v *variables, d depth, report func(hcl.Diagnostics, map[string]*hcl.File)) (*config.Workflow, error) {
	w, diags, err := a.complete(v, func() (*config.Workflow, hcl.Diagnostics, error) { return a.read(paths, *v, d) })
	if err != nil {
		return nil, err
	}
	if err := errorIf(diags, w.Sources); err != nil {
		return nil, err
	}
	if report == nil {
		report = a.show
	}
	report(diags, w.Sources)
	return w, nil
}

// read is load for who shows the diagnostics as they come: with errors among them the workflow serves for its Sources alone.
func (a *app) read(paths []string, v variables, d depth) (*config.Workflow, hcl.Diagnostics, error) {
	workspace, err := a.workspaceOf(paths)
	if err != nil {
		return nil, nil, err
	}
	w, diags := config.Load(config.Options{
		Paths: paths, Workspace: workspace, Vars: v.sources, Environ: a.p.Environ, Version: Version, NeedVariables: d == everything, Quick: d <= protected,
		Protected: d == protected,
	})
	if len(w.Name) > config.MaxStateName && !diags.HasErrors() {
		return nil, nil, fail("Workspace name too long", "%q has %d bytes, and a workflow's name and its workspace have %d together at most.", w.Name, len(w.Name), config.MaxStateName-1)
	}
	return w, diags, nil
}

// addresses takes the addresses out of a command's arguments; the rest are paths. A file that is called like an address
// is an address all the same: ./job.hcl is not.
func addresses(args []string) (addrs []config.Addr, paths []string, err error) {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "job.") && !strings.HasPrefix(arg, "module.") {
			paths = append(paths, arg)
			continue
		}
		if _, statErr := os.Stat(arg); statErr == nil && strings.HasSuffix(arg, ".hcl") {
			paths = append(paths, arg)
			continue
		}
		addr, err := config.ParseTarget(arg)
		if err != nil {
			return nil, nil, fail("Invalid address", "%v.", err)
		}
		addrs = append(addrs, addr)
	}
	return addrs, paths, nil
}

// parseAddrs reads the addresses of an option.
func parseAddrs(option string, values []string) ([]config.Addr, error) {
	addrs := make([]config.Addr, 0, len(values))
	for _, v := range values {
		addr, err := config.ParseTarget(v)
		if err != nil {
			return nil, fail("Invalid address", "-%s: %v.", option, err)
		}
		addrs = append(addrs, addr)
	}
	return addrs, nil
}
