package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/waybill-dev/waybill/config"
)

func (a *app) docsCommand() *cobra.Command {
	out := ""
	cmd := &cobra.Command{
		Use: "docs", Short: "Write the reference of the language, the functions, policies and the commands",
		Long: `Writes the reference of this version in Markdown: every block and argument, every
function, every rule of policies, every command with its options. It comes from the same tables that
read the files and the command line.

With -out it is written as REFERENCE.md, FUNCTIONS.md, POLICIES.md and COMMANDS.md
into a directory, otherwise to stdout in one.`,
		Example: `waybill docs | less
waybill docs -out reference`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			pages := []struct{ name, text string }{
				{"REFERENCE.md", config.Manual()}, {"FUNCTIONS.md", config.FunctionManual()}, {"POLICIES.md", config.PolicyManual()}, {"COMMANDS.md", commandManual(cmd.Root())},
			}
			if out != "" {
				if err := os.MkdirAll(out, 0o755); err != nil {
					return fail("Cannot write the reference", "%v.", err)
				}
			}
			for i, page := range pages {
				var err error
				switch {
				case out != "":
					if err = os.WriteFile(filepath.Join(out, page.name), []byte(page.text), 0o644); err != nil {
						return fail("Cannot write the reference", "%v.", err)
					}
				case i > 0:
					_, err = fmt.Fprint(a.p.Stdout, "\n", page.text)
				default:
					_, err = fmt.Fprint(a.p.Stdout, page.text)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "Write into the directory `DIR`, which is made where it is missing.")
	return cmd
}

// commandManual is the reference of the commands in Markdown, as their help has it.
func commandManual(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n<!-- Made by `waybill docs` from the commands themselves. -->\n\n")
	prose(&b, root.Long)
	optionTable(&b, "Before or after every command:", root.PersistentFlags())
	b.WriteString("\n| | |\n| :-- | :-- |\n")
	each(root, func(c *cobra.Command) {
		if !c.HasAvailableSubCommands() {
			anchor := strings.ReplaceAll(c.CommandPath(), " ", "-")
			fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", c.CommandPath(), anchor, c.Short)
		}
	})
	each(root, func(c *cobra.Command) {
		if c.HasAvailableSubCommands() {
			return
		}
		fmt.Fprintf(&b, "\n## %s\n\n    waybill%s\n\n", c.CommandPath(), usage(c))
		text := c.Long
		if text == "" {
			text = c.Short + "."
		}
		prose(&b, text)
		optionTable(&b, "", c.LocalNonPersistentFlags())
		if c.Example != "" {
			fmt.Fprintf(&b, "\n```sh\n%s\n```\n", strings.Trim(c.Example, "\n"))
		}
	})
	return b.String()
}

// each visits the commands below one, in the order of the help.
func each(cmd *cobra.Command, visit func(*cobra.Command)) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			visit(c)
			each(c, visit)
		}
	}
}

// prose writes the text of a help. Its paragraphs are broken for a terminal, and those that are indented are meant as they stand.
func prose(b *strings.Builder, text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		if strings.HasPrefix(paragraph, " ") {
			fmt.Fprintf(b, "```\n%s\n```\n", paragraph)
			continue
		}
		b.WriteString(paragraph + "\n")
	}
}

func optionTable(b *strings.Builder, title string, flags *pflag.FlagSet) {
	any := false
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if !any {
			if title != "" {
				fmt.Fprintf(b, "\n%s\n", title)
			}
			b.WriteString("\n| option | |\n| :-- | :-- |\n")
			any = true
		}
		name, text := option(f)
		fmt.Fprintf(b, "| `%s` | %s |\n", name, strings.ReplaceAll(text, "|", `\|`))
	})
}
