package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// planFiles takes the saved plan, told by its content, out of a command's arguments; "" when there is none.
func planFiles(args []string) (file string, paths []string, err error) {
	for _, arg := range args {
		switch {
		case !isPlanFile(arg):
			paths = append(paths, arg)
		case file != "":
			return "", nil, fail("Too many arguments", "%s and %s are both saved plans; one can be taken at a time.", file, arg)
		default:
			file = arg
		}
	}
	return file, paths, nil
}

func isPlanFile(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read
	head := make([]byte, 16)
	n, _ := io.ReadFull(f, head)
	return planner.IsPlanFile(head[:n])
}

// writePlan saves a plan, as a whole or not at all, readable by its user alone: it holds the commands of jobs.
func writePlan(path string, p *planner.Plan, k *conveyor.Keyring) error {
	var b bytes.Buffer
	if err := planner.WritePlan(&b, p, sealer(k)); err != nil {
		return fail("Cannot save the plan", "%v.", err)
	}
	if err := replaceFile(path, b.Bytes(), 0o600); err != nil {
		return fail("Cannot save the plan", "%v.", err)
	}
	return nil
}

// makeRoomForPlan fails where no plan may be saved: one is where nothing is, in place of another plan, or of an empty file. Nothing
// else is overwritten, since one of the workflow's own files is easily named by mistake. Another plan is removed at once, so that
// nothing is left to be applied when no new one can be made.
func makeRoomForPlan(path string) error {
	if dir, err := os.Stat(filepath.Dir(path)); err != nil || !dir.IsDir() {
		return fail("Cannot save the plan", "-out=%s: the directory %q does not exist.", path, filepath.Dir(path))
	}
	info, err := os.Stat(path)
	switch {
	case err != nil || info.Mode().IsRegular() && info.Size() == 0:
		return nil
	case isPlanFile(path):
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fail("Cannot save the plan", "-out=%s: the plan that is there cannot be removed: %v.", path, err)
		}
		return nil
	case info.IsDir():
		return fail("Cannot save the plan", "-out=%s is a directory. Name a file, such as %s.", path, filepath.Join(path, "saved.wbplan"))
	case !info.Mode().IsRegular():
		return fail("Cannot save the plan", "-out=%s is no regular file. Name another one.", path)
	}
	return fail("Cannot save the plan", "-out=%s would overwrite a file that is no saved plan. Name another file, or remove this one first.", path)
}

func readPlan(path string, k *conveyor.Keyring) (*planner.Plan, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fail("Cannot read the plan", "%v.", err)
	}
	defer f.Close() //nolint:errcheck // only read
	p, err := planner.ReadPlan(f, sealer(k))
	if errors.Is(err, planner.ErrPlanFile) {
		return nil, fail("Cannot read the plan", "%s: %v. Make a new plan.", path, err)
	}
	if err != nil {
		return nil, fail("Cannot read the plan", "%s: %v.", path, err)
	}
	return p, nil
}

// sealer is a keyring as the planner takes it; no keyring is no sealer.
func sealer(k *conveyor.Keyring) planner.Sealer {
	if k == nil {
		return nil
	}
	return k
}

// planned is the workflow that a saved plan holds: what its rows were made from.
func planned(p *planner.Plan, settings *config.Workflow) (*config.Workflow, error) {
	of, workspace := config.SplitStateName(p.Workflow)
	if current, _ := config.SplitStateName(settings.Name); current == of && workspace != settings.Workspace {
		return nil, fail("Plan of another workspace", "The plan is of the workspace %q of workflow %q, and the current one is %q. Give -workspace=%s, or select it first.",
			workspace, of, settings.Workspace, workspace)
	}
	if p.Workflow != settings.Name {
		return nil, fail("Plan of another workflow", "The plan is of workflow %q, and %s holds workflow %q. Name the directory that it was made for.",
			p.Workflow, describeDir(settings.Dir), settings.Name)
	}
	w := *settings
	if p.Former != "" {
		w.MovedFrom = p.Former
	}
	w.Removed, w.Imports = nil, nil
	w.Jobs, w.Moved, w.Protected = nil, p.Moves(), p.Protected
	for _, r := range p.Rows {
		if r.Job != nil {
			w.Jobs = append(w.Jobs, r.Job)
		}
		if r.Importing() {
			w.Imports = append(w.Imports, config.Import{To: r.Addr, ID: r.Prior.UUID.String()})
		}
		if r.Reason == planner.ReasonForgotten {
			w.Removed = append(w.Removed, config.Removed{From: r.Addr})
		}
	}
	return &w, nil
}

func describeDir(dir string) string {
	if dir == "." || dir == "" {
		return "this directory"
	}
	return fmt.Sprintf("directory %s", dir)
}
