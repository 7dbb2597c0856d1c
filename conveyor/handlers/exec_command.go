package handlers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

const (
	shell       = "/bin/sh"
	defaultPath = "/usr/local/bin:/usr/bin:/bin"
)

// inherited are the variables that a process gets from the worker's environment. Nothing else of it, and never a key.
var inherited = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// command prepares the process of a job.
func (e *executor) command(job *wire.Job, p Exec, fence int64, files exchanged) (*exec.Cmd, error) {
	args := p.Command
	switch {
	case len(args) > 0 && p.Shell != "":
		return nil, conveyor.Permanent(errors.New("the job has both a command and a shell text: it can have only one"))
	case p.Shell != "":
		args = []string{shell, "-c", p.Shell}
	case len(args) == 0 || args[0] == "":
		return nil, conveyor.Permanent(errors.New("the job has no command"))
	}
	if slices.ContainsFunc(args, func(s string) bool { return strings.ContainsRune(s, 0) }) {
		return nil, conveyor.Permanent(errors.New("the command contains a NUL byte"))
	}
	env, path, err := environment(job, p.Env, fence, files)
	if err != nil {
		return nil, conveyor.Permanent(err)
	}
	dir := p.Dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(e.o.Dir, dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the directory %s is missing on host %s", dir, e.host)
	}
	file, err := lookUp(args[0], dir, path)
	if err != nil {
		return nil, fmt.Errorf("command %q cannot run on host %s: %w", args[0], e.host, err)
	}
	return &exec.Cmd{Path: file, Args: args, Env: env, Dir: dir}, nil
}

// environment is the whole environment of a process, sorted, and the PATH in it. The job's own variables win over inherited
// ones, and those that describe the attempt over all.
func environment(job *wire.Job, declared map[string]string, fence int64, files exchanged) (env []string, path string, err error) {
	vars := map[string]string{"PATH": defaultPath}
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			vars[name] = value
		}
	}
	for name, value := range declared {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return nil, "", fmt.Errorf("%q cannot be a variable of an environment", name)
		}
		vars[name] = value
	}
	vars["WAYBILL_JOB"] = job.GetName()
	vars["WAYBILL_UUID"] = job.GetUuid()
	vars["WAYBILL_ATTEMPT"] = strconv.FormatInt(fence, 10)
	vars["WAYBILL_OUTPUT"], vars["WAYBILL_SYNC"], vars["WAYBILL_DEFER"] = files.output(), files.sync(), files.deferral()
	delete(vars, "WAYBILL_SCHEDULED_FOR")
	if at, ok := scheduledFor(job); ok {
		vars["WAYBILL_SCHEDULED_FOR"] = at
	}
	env = make([]string, 0, len(vars))
	for name, value := range vars {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env, vars["PATH"], nil
}

// scheduledFor is when a job was to start, in RFC 3339 and UTC: the tick of an occurrence, else its run_at; false without either.
func scheduledFor(job *wire.Job) (string, bool) {
	at, ok := conveyor.TickOf(job)
	if !ok && job.GetRunAt() != nil {
		at, ok = job.GetRunAt().AsTime(), true
	}
	return at.UTC().Format("2006-01-02T15:04:05.999Z07:00"), ok
}

// lookUp finds the file of a command: relative to dir when it has a slash, in the directories of path otherwise. Unlike
// exec.LookPath it uses the job's PATH and directory, not the worker's.
func lookUp(name, dir, path string) (string, error) {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, executable(name)
	}
	if runtime.GOOS == "windows" { // extensions
		return exec.LookPath(name)
	}
	denied := error(nil)
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		file := filepath.Join(d, name)
		switch err := executable(file); {
		case err == nil:
			return file, nil
		case !errors.Is(err, fs.ErrNotExist):
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", fmt.Errorf("it is in no directory of PATH (%s)", path)
}

// executable says what keeps a file from being run.
func executable(file string) error {
	switch info, err := os.Stat(file); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist%w", file, silent{fs.ErrNotExist})
	case err != nil:
		return fmt.Errorf("%s: %w", file, reason(err))
	case info.IsDir():
		return fmt.Errorf("%s is a directory", file)
	case info.Mode()&0o111 == 0 && runtime.GOOS != "windows":
		return fmt.Errorf("%s is not executable: chmod +x it", file)
	}
	return nil
}

// silent is a cause for errors.Is that the text has said already.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }
