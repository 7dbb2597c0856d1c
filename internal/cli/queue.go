package cli

import "github.com/spf13/cobra"

func (a *app) queueCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "queue", Short: "Look at queues, pause, resume and purge them",
		Long: `A queue holds the jobs that are ready. These commands work on all queues of a
namespace, whichever workflow they come from.

A pause by hand lasts until the queue is resumed: no apply ends it, and no plan
shows it as a difference.`,
	}
	group(cmd)
	cmd.AddCommand(a.queueListCommand(), a.queuePauseCommand(), a.queueResumeCommand(), a.queuePurgeCommand())
	return cmd
}
