package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use: "completion SHELL", Short: "Write a completion script for a shell", ValidArgs: shells,
		Long: `Writes a script that completes commands, options and files in your shell to
stdout. SHELL is bash, zsh, fish or powershell.`,
		Example: `source <(waybill completion bash)
waybill completion zsh > "${fpath[1]}/_waybill"
waybill completion fish > ~/.config/fish/completions/waybill.fish`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fail("Wrong number of arguments", "completion takes the name of one shell: bash, zsh, fish or powershell.")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), a.p.Stdout
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			hint := ""
			if n := nearest(args[0], shells); n != "" {
				hint = fmt.Sprintf(" Did you mean %q?", n)
			}
			return fail("Unknown shell", "There is no completion script for %q: bash, zsh, fish and powershell have one.%s", args[0], hint)
		},
	}
}
