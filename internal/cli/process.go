package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/mattn/go-isatty"

	"github.com/waybill-dev/waybill/tui"

	"github.com/waybill-dev/waybill/conveyor"
)

// The exit codes of every command.
const (
	exitOK          = 0
	exitError       = 1
	exitChanges     = 2   // plan -detailed-exitcode: there are changes
	exitFormat      = 3   // fmt -check: a file is not formatted
	exitTimeout     = 124 // wait -timeout: the jobs are not settled; as timeout(1) has it
	exitInterrupted = 130 // Ctrl-C, as shells count it
)

// Process is what a command line gets from the process it runs in.
type Process struct {
	Args    []string // without the program's name
	Environ []string // name=value
	Stdin   io.Reader
	// Stdout may be a pipe whose reader leaves: the process must not die of SIGPIPE then, but get the error of the write.
	Stdout, Stderr io.Writer
	// Interrupts tells each wish of the user or the system to stop: the first one orderly, the second one at once.
	Interrupts <-chan os.Signal
	// Exit ends the process at once; default os.Exit.
	Exit func(code int)
}

// app is one run of the command line.
type app struct {
	p      Process
	stops  *stops
	pauses *pauses

	chdir     string
	workspace string // -workspace
	noColor   bool
	compact   bool              // -compact-warnings
	observer  conveyor.Observer // of the stores that are opened; nil for none
	role      string            // whose rights the command needs; "" for those that follow from how it opens the store
	rights    rights            // of the store that was opened last

	keys     *conveyor.Keyring  // see ring; nil until it is read
	keysFrom conveyor.KeySource // of keys
}

// Run runs one command line and returns the exit code.
func Run(p Process) int {
	if p.Exit == nil {
		p.Exit = os.Exit
	}
	if !terminal(p.Stdout) {
		p.Stdout = &outlet{Writer: p.Stdout}
	}
	a := &app{p: p, pauses: &pauses{}}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	a.stops = newStops(cancel, p)
	defer a.stops.listen(p.Interrupts)()

	root := a.root(only(p.Args))
	root.SetArgs(normalise(root, p.Args))
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	err := root.ExecuteContext(ctx)
	var code exit
	switch {
	case a.outClosed() && !a.stops.interrupted():
		return exitClosed
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case a.stops.interrupted() && errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	a.complain(err)
	if a.stops.interrupted() {
		return exitInterrupted
	}
	return exitCode(err)
}

// exitCode is the code of an error.
func exitCode(err error) int {
	if f := (*failure)(nil); errors.As(err, &f) && f.code != 0 {
		return f.code
	}
	return exitError
}

// exit ends a command with this code when all that is worth saying has been said.
type exit int

func (exit) Error() string { return "" }

// getenv reads a variable of the process; the last one wins, as for the operating system's own lookup.
func (a *app) getenv(name string) string {
	for _, pair := range slices.Backward(a.p.Environ) {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// terminal tells whether a stream is one.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// ink colours what goes to a stream, if its reader wants colours.
func (a *app) ink(stream io.Writer) tui.Ink {
	return tui.Ink{On: !a.noColor && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb" && terminal(stream)}
}

// live tells whether a full-screen view may be shown: somebody looks, and it is no pipeline (CI, which those set by themselves).
func (a *app) live() bool {
	return terminal(a.p.Stdin) && terminal(a.p.Stdout) && a.getenv("CI") == "" && !a.automated() && a.getenv("TERM") != "dumb"
}
