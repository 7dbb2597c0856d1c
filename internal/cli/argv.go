package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// normalise rewrites arguments so that -flag works like --flag, as in Terraform: a single dash before the name of a
// known flag of more than one letter is doubled. Values, what follows "--" and one-letter flags stay as they are.
func normalise(root *cobra.Command, args []string) []string {
	out := make([]string, 0, len(args))
	cmd := root
	descend := true // further words may still name a subcommand
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			return append(out, args[i:]...)
		case arg == "-" || !strings.HasPrefix(arg, "-"):
			if descend {
				if sub := child(cmd, arg); sub != nil {
					cmd = sub
				} else {
					descend = false
				}
			}
			out = append(out, arg)
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		flag := lookup(cmd, name)
		if len(name) > 1 && !strings.HasPrefix(arg, "--") && (flag != nil || !letters(cmd, name)) {
			arg = "-" + arg
		}
		out = append(out, arg)
		if flag != nil && flag.NoOptDefVal == "" && !hasValue && i+1 < len(args) {
			i++
			out = append(out, args[i])
		}
	}
	return out
}

// child is the subcommand called name; nil without one.
func child(cmd *cobra.Command, name string) *cobra.Command {
	i := slices.IndexFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Name() == name || c.HasAlias(name) })
	if i < 0 {
		return nil
	}
	return cmd.Commands()[i]
}

// lookup finds the flag that a name or a letter means for a command: one of its own, or a global one.
func lookup(cmd *cobra.Command, name string) *pflag.Flag {
	for _, set := range flagSets(cmd) {
		if f := set.Lookup(name); f != nil {
			return f
		}
		if len(name) == 1 {
			if f := set.ShorthandLookup(name); f != nil {
				return f
			}
		}
	}
	return nil
}

// letters tells whether a word could be one-letter flags in one, like -fh.
func letters(cmd *cobra.Command, word string) bool {
	for _, r := range word {
		if lookup(cmd, string(r)) == nil {
			return false
		}
	}
	return true
}

func flagSets(cmd *cobra.Command) []*pflag.FlagSet {
	cmd.InitDefaultHelpFlag()
	sets := []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()}
	for c := cmd.Parent(); c != nil; c = c.Parent() {
		sets = append(sets, c.PersistentFlags())
	}
	return sets
}
