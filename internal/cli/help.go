package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// help writes a command's help in Terraform's manner, with options as they are written here.
func (a *app) help(cmd *cobra.Command, _ []string) {
	w, ink := a.p.Stdout, a.ink(a.p.Stdout)
	fmt.Fprintf(w, "%s waybill%s\n\n", ink.Bold("Usage:"), usage(cmd))
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	fmt.Fprintln(w, indent(strings.TrimSpace(text), "  "))
	if cmd.Example != "" {
		fmt.Fprintf(w, "\n%s\n\n%s\n", ink.Bold("Examples:"), indent(strings.Trim(cmd.Example, "\n"), "  "))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n%s\n\n", ink.Bold("Commands:"))
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-14s%s\n", c.Name(), c.Short)
			}
		}
	}
	if cmd.HasParent() {
		options(w, ink.Bold("Options:"), cmd.LocalNonPersistentFlags(), false)
	}
	if !cmd.HasParent() {
		options(w, ink.Bold("Global options (before or after the command):"), cmd.PersistentFlags(), true)
		fmt.Fprintln(w, "\n  Run \"waybill COMMAND -help\" for the options of a command.")
	}
}

// usage is a command's own part of its usage line.
func usage(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return " [global options] COMMAND [options] [arguments]"
	}
	path := strings.TrimPrefix(cmd.CommandPath(), "waybill")
	if cmd.HasAvailableSubCommands() {
		return path + " COMMAND [options] [arguments]"
	}
	_, arguments, _ := strings.Cut(cmd.Use, " ")
	if arguments != "" {
		arguments = " " + arguments
	}
	return path + " [options]" + arguments
}

// option is how a flag is written, with its value and its short name, and what it does.
func option(f *pflag.Flag) (name, text string) {
	value, text := pflag.UnquoteUsage(f)
	name = "-" + f.Name
	if f.NoOptDefVal == "" && value != "" {
		name += "=" + value
	}
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	return name, text
}

// options lists flags, the explanation beside a short name and below a long one.
func options(w io.Writer, title string, flags *pflag.FlagSet, withHelp bool) {
	const column = 24
	any := false
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" && !withHelp {
			return
		}
		if !any {
			fmt.Fprintf(w, "\n%s\n\n", title)
			any = true
		}
		name, text := option(f)
		lines := strings.Split(wrap(text, 78-column), "\n")
		if len(name) > column-4 {
			lines = append([]string{""}, lines...)
		}
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-*s%s", column-2, name, lines[0]), " "))
		for _, line := range lines[1:] {
			fmt.Fprintf(w, "%*s%s\n", column, "", line)
		}
	})
}

// wrap breaks a text into lines of at most width bytes.
func wrap(text string, width int) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case at+1+len(word) > width:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}

// indent puts a prefix before every line that is not empty.
func indent(text, prefix string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = prefix + line
		}
	}
	return strings.Join(lines, "\n")
}
