package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/config"
)

// workspaceVariable names the workspace for all commands of a shell.
const workspaceVariable = "WAYBILL_WORKSPACE"

// workspaceFlags is the -workspace option, which all commands have.
func (a *app) workspaceFlags(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&a.workspace, "workspace", "", "Work in the workspace `NAME`. Without it: WAYBILL_WORKSPACE, then what \"workspace select\" chose, "+
		"then default.")
}

// namedWorkspace is what the option or the variable says, and which of them; "" where neither does.
func (a *app) namedWorkspace() (name, by string) {
	if a.workspace != "" {
		return a.workspace, "-workspace"
	}
	return a.getenv(workspaceVariable), workspaceVariable
}

// workspaceOf is the workspace in which a command works on a workflow.
func (a *app) workspaceOf(paths []string) (string, error) {
	name, by := a.namedWorkspace()
	if name == "" {
		return selectedWorkspace(directoryOf(paths))
	}
	if err := checkWorkspace(name); err != nil {
		return "", fail("Invalid workspace name", "%s: %v.", by, err)
	}
	return name, nil
}

func checkWorkspace(name string) error {
	if !config.IsWorkspace(name) {
		return fmt.Errorf("%q cannot be the name of a workspace. Names have 1 to 128 of the letters a to z and A to Z, digits, underscores and dashes, "+
			"and do not begin with a dash", name)
	}
	return nil
}

// directoryOf is the directory of a workflow that is named by it or by its files.
func directoryOf(paths []string) string {
	if len(paths) == 0 {
		return "."
	}
	if info, err := os.Stat(paths[0]); err == nil && info.IsDir() {
		return paths[0]
	}
	return filepath.Dir(paths[0])
}

// selectionFile holds the name of the workspace that is selected in a directory.
func selectionFile(dir string) string { return filepath.Join(dir, ".waybill", "workspace") }

// selectedWorkspace is the one that "workspace select" chose in a directory.
func selectedWorkspace(dir string) (string, error) {
	file := selectionFile(dir)
	data, err := os.ReadFile(file)
	switch name := strings.TrimSpace(string(data)); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), err == nil && name == "":
		return config.DefaultWorkspace, nil
	case err != nil:
		return "", fail("Cannot read the selected workspace", "%v. -workspace names one instead.", err)
	default:
		if err := checkWorkspace(name); err != nil {
			return "", fail("Cannot read the selected workspace", "%s: %v. \"waybill workspace select default\" writes it anew.", file, err)
		}
		return name, nil
	}
}

// selectWorkspace makes a workspace the selected one of a directory.
func selectWorkspace(dir, name string) error {
	file := selectionFile(dir)
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = ignoreStore(filepath.Dir(file))
	}
	if err == nil {
		err = replaceFile(file, []byte(name+"\n"), 0o644)
	}
	if err != nil {
		return fail("Cannot select the workspace", "%v. The selection is kept beside the workflow's files; -workspace=%s and %s=%s do without.",
			err, name, workspaceVariable, name)
	}
	return nil
}

// notOverridden refuses a selection that would have no effect.
func (a *app) notOverridden() error {
	if name, by := a.namedWorkspace(); name != "" {
		return fail("Workspace is overridden", "%s says %q, so a selection would have no effect. Leave it out, or unset it, first.", by, name)
	}
	return nil
}

// loadIn is load of the settings, for a workspace that need not be the current one.
func (a *app) loadIn(paths []string, workspace string) (*config.Workflow, error) {
	before := a.workspace
	a.workspace = workspace
	defer func() { a.workspace = before }()
	return a.load(paths, &variables{}, settingsOnly, nil)
}
