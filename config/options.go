package config

import (
	"errors"
	"fmt"
	"strings"
)

// Options say what to load and where the values of variables come from.
type Options struct {
	// Paths is one directory, or files of one directory. Default: the current directory.
	Paths []string
	// Vars are the -var and -var-file options in the order of the command line: the later wins.
	Vars []VarSource
	// Archive is what to load in place of what is on the disk; Paths is only what the directory is called. The values of variables are
	// those in the archive, and Vars and Environ give those that it lacks. Default: none.
	Archive *Archive
	// Workspace is the one whose state is meant. Default: DefaultWorkspace.
	Workspace string
	// Environ holds NAME=value entries as os.Environ gives them; only WAYBILL_VAR_name counts.
	Environ []string
	// Version is this program's, compared with required_version. "" and versions without a leading number, such
	// as "dev", satisfy every constraint.
	Version string
	// NeedVariables reports every variable without a value. Otherwise only those that some evaluated expression
	// refers to are reported.
	NeedVariables bool
	// unchecked leaves conditions alone: preconditions and checks.
	unchecked bool
	// Quick evaluates the workflow block and what it refers to, and nothing else: the Workflow has no jobs,
	// queues and outputs.
	Quick bool
	// Protected makes a Quick load find the jobs with prevent_destroy all the same.
	Protected bool
	// Messages makes a Quick load read the proto block all the same.
	Messages bool
}

// VarSource is one -var or -var-file option. Exactly one of Assign and File is set.
type VarSource struct {
	Assign string // name=value
	File   string // a path as given, relative to the current directory

	Asked bool // the value of Assign was asked for, so no option is to be blamed for it
}

func (o Options) withDefaults() Options {
	if len(o.Paths) == 0 {
		o.Paths = []string{"."}
	}
	if o.Workspace == "" {
		o.Workspace = DefaultWorkspace
	}
	return o
}

// conditions tells whether preconditions and checks are evaluated. They are conditions of a plan: commands that make none may
// lack the values of variables.
func (o Options) conditions() bool { return o.NeedVariables && !o.unchecked }

func (o Options) validate() error {
	var errs []error
	for i, v := range o.Vars {
		if (v.Assign == "") == (v.File == "") {
			errs = append(errs, fmt.Errorf("config.Options.Vars[%d]: exactly one of Assign and File has to be set", i))
		}
	}
	for i, p := range o.Paths {
		if p == "" || strings.ContainsRune(p, 0) {
			errs = append(errs, fmt.Errorf("config.Options.Paths[%d]: %q is not a path", i, p))
		}
	}
	if !IsWorkspace(o.Workspace) {
		errs = append(errs, fmt.Errorf("config.Options.Workspace: %q is no name of letters, digits, underscores and dashes", clip(o.Workspace)))
	}
	return errors.Join(errs...)
}
