package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// root is the command line as a tree, with all commands, or only with the one of this name.
func (a *app) root(only string) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:   "waybill",
		Short: "Terraform for job workflows",
		Long: `Waybill is Terraform for job workflows. HCL files declare jobs; plan shows what
differs from the state; apply submits exactly that difference; workers run the
jobs, and you see it live.

Commands take the workflow's directory, or its *.hcl files, as arguments; the
default is the current directory. Without a Redis they use an embedded store in
the directory's .waybill/ folder.`,
		SilenceUsage: true, SilenceErrors: true,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case version:
				return a.printVersion(false)
			case len(args) > 0:
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.enter() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(&cobra.Command{Use: "help [COMMAND]", Hidden: true, RunE: func(cmd *cobra.Command, args []string) error {
		about, rest, err := cmd.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return unknownCommand(about, rest[0])
		}
		return about.Help()
	}})
	root.SetHelpFunc(a.help)
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().SortFlags = false
	root.PersistentFlags().StringVar(&a.chdir, "chdir", "", "Switch to the directory `DIR` before doing anything else.")
	root.PersistentFlags().BoolVar(&a.noColor, "no-color", false, "Write no colours. The NO_COLOR variable does the same.")
	a.workspaceFlags(root)
	root.Flags().BoolVar(&version, "version", false, "Print the version, as the version command does.")
	for _, c := range commands {
		if only == "" || only == c.name {
			root.AddCommand(c.make(a))
		}
	}
	for _, cmd := range root.Commands() {
		cmd.Flags().SortFlags = false
	}
	return root
}

// command is a command of the first level.
type command struct {
	name string
	make func(*app) *cobra.Command
}

// commands are all commands, in the order of the help. Each takes time and memory to make, which for a plan of a few jobs is much: a
// command line that begins with the name of one makes that one alone.
var commands = []command{
	{"init", (*app).initCommand},
	{"validate", (*app).validateCommand},
	{"plan", (*app).planCommand},
	{"explain", (*app).explainCommand},
	{"apply", (*app).applyCommand},
	{"destroy", (*app).destroyCommand},
	{"history", (*app).historyCommand},
	{"rollback", (*app).rollbackCommand},
	{"worker", (*app).workerCommand},
	{"reconcile", (*app).reconcileCommand},
	{"watch", (*app).watchCommand},
	{"wait", (*app).waitCommand},
	{"logs", (*app).logsCommand},
	{"output", (*app).outputCommand},
	{"show", (*app).showCommand},
	{"graph", (*app).graphCommand},
	{"console", (*app).consoleCommand},
	{"state", (*app).stateCommand},
	{"import", (*app).importCommand},
	{"workspace", (*app).workspaceCommand},
	{"job", (*app).jobCommand},
	{"queue", (*app).queueCommand},
	{"doctor", (*app).doctorCommand},
	{"keys", (*app).keysCommand},
	{"outbox", (*app).outboxCommand},
	{"bridge", (*app).bridgeCommand},
	{"fmt", (*app).fmtCommand},
	{"proto", (*app).protoCommand},
	{"force-unlock", (*app).forceUnlockCommand},
	{"schema", (*app).schemaCommand},
	{"docs", (*app).docsCommand},
	{"completion", (*app).completionCommand},
	{"version", (*app).versionCommand},
}

// only is the command that a command line begins with; "" where it begins with anything else, and for what looks at all of them.
func only(args []string) string {
	if len(args) == 0 || args[0] == "docs" || args[0] == "completion" || !slices.ContainsFunc(commands, func(c command) bool { return c.name == args[0] }) {
		return ""
	}
	return args[0]
}

// enter changes to the directory of -chdir.
func (a *app) enter() error {
	if a.chdir == "" {
		return nil
	}
	if err := os.Chdir(a.chdir); err != nil {
		return fail("Cannot switch to the directory of -chdir", "%v.", err)
	}
	return nil
}

// group makes a command that only has subcommands say so.
func group(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		return cmd.Help()
	}
}

func unknownCommand(cmd *cobra.Command, name string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	hint := ""
	if n := nearest(name, names); n != "" {
		hint = fmt.Sprintf("Did you mean %q? ", n)
	}
	return fail("Unknown command", "%s has no command %q. %sRun %q for the list.", cmd.CommandPath(), name, hint, cmd.CommandPath()+" -help")
}

// flagError says flags as they are written here, with one dash, and names a near one.
func flagError(cmd *cobra.Command, err error) error {
	help := fmt.Sprintf("Run %q for the options of this command.", cmd.CommandPath()+" -help")
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var said *failure
	if errors.As(err, &invalid) && errors.As(invalid.Unwrap(), &said) {
		return fail(said.summary, "%s %s", said.detail, help)
	}
	if !errors.As(err, &unknown) {
		return fail("Invalid option", "%s. %s", strings.TrimSuffix(capital(strings.ReplaceAll(err.Error(), "--", "-")), "."), help)
	}
	var names []string
	for _, set := range flagSets(cmd) {
		set.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	}
	name := longer(unknown.GetSpecifiedName(), unknown.GetSpecifiedShortnames())
	hint := ""
	if n := nearest(name, names); n != "" {
		hint = fmt.Sprintf("Did you mean -%s? ", n)
	}
	return fail("Unknown option", "%s has no option -%s. %s%s", cmd.CommandPath(), name, hint, help)
}

func longer(a, b string) string {
	if len(a) > len(b) {
		return a
	}
	return b
}

// nearest is the name that a misspelt one most likely means; "" when none is near.
func nearest(name string, names []string) string {
	slices.Sort(names)
	best, at := "", 1+len(name)/3
	if len(name) > 3 {
		at = max(at, 3) // two letters that changed places are two changes
	}
	for _, n := range names {
		if d := levenshtein.Distance(name, n, nil); d < at {
			best, at = n, d
		}
	}
	return best
}

// noArgs refuses arguments of a command that takes none.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fail("Too many arguments", "%s takes no arguments, and got %q.", cmd.CommandPath(), args)
}
