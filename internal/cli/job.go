package cli

import "github.com/spf13/cobra"

func (a *app) jobCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "job", Short: "Look at jobs, run, retry, cancel and release them",
		Long: `These commands work on the jobs of a namespace, whichever workflow or program they
come from. A job is named by its address in the workflow, such as job.load or
'job.load["eu"]', by its uuid, or by the beginning of its uuid.

A job with a schedule or a gate, or downstream of one, is a template: it is never
run itself, and makes one occurrence for each cycle. The address of an occurrence
has the time of its cycle: job.nightly@2026-11-21T02:00:00Z, in the time zone of the
schedule job.nightly@2026-11-21T03:00, if it is the only one of its day
job.nightly@2026-11-21, or job.nightly@latest.`,
	}
	group(cmd)
	cmd.AddCommand(a.jobListCommand(), a.jobShowCommand(), a.jobRetryCommand(), a.jobCancelCommand(), a.jobReleaseCommand(),
		a.jobRunCommand(), a.jobPauseCommand(), a.jobResumeCommand(), a.jobHistoryCommand(), a.jobBackfillCommand())
	return cmd
}
