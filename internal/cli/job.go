package cli

import "github.com/spf13/cobra"

func (a *app) jobCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "job", Short: "Look at jobs, retry, cancel and release them",
		Long: `These commands work on the jobs of a namespace, whichever workflow or program they
come from. A job is named by its address in the workflow, such as job.load or
'job.load["eu"]', by its uuid, or by the beginning of its uuid.`,
	}
	group(cmd)
	cmd.AddCommand(a.jobListCommand(), a.jobShowCommand(), a.jobRetryCommand(), a.jobCancelCommand(), a.jobReleaseCommand())
	return cmd
}
