package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) queuePurgeCommand() *cobra.Command {
	var p place
	asJSON, autoApprove := false, false
	cmd := &cobra.Command{
		Use: "purge QUEUE [DIR | FILES]", Short: "Cancel all jobs that are ready in a queue",
		Long: `Cancels all jobs that are ready in a queue. What waits for them is skipped, as if
each had been cancelled by itself. Jobs that run, wait for others or for their
time stay.`,
		Example: `waybill queue purge etl
waybill queue purge -auto-approve etl examples/sales`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			queue, paths, err := queueName("purge", args)
			if err != nil {
				return err
			}
			if asJSON && !autoApprove {
				return fail("Approval is needed", "With -json nobody can be asked. Give -auto-approve.")
			}
			s, err := p.open(ctx, a, paths, serving)
			if err != nil {
				return err
			}
			defer s.close() //nolint:errcheck // the store's own errors came with the command
			if err := knownQueue(ctx, s, queue); err != nil {
				return err
			}
			queues, err := s.client.Queues(ctx)
			if err != nil {
				return err
			}
			var ready int64
			for _, q := range queues {
				if q.Name == queue {
					ready = q.Depth[0] + q.Depth[1] + q.Depth[2]
				}
			}
			if ready == 0 && !asJSON {
				_, err := fmt.Fprintf(a.p.Stdout, "No job is ready in queue %s. Nothing was changed.\n", queue)
				return err
			}
			if !autoApprove {
				ok, err := a.prompt(ctx, "-auto-approve", fmt.Sprintf("Do you really want to purge queue %s?", queue), fmt.Sprintf(
					"Waybill will cancel %s. There is no undo.\nOnly 'yes' will be accepted to confirm.", countOf(ready, "job that is ready in it", "jobs that are ready in it")))
				if err != nil {
					return err
				}
				if !ok {
					fmt.Fprintln(a.p.Stdout, "Purge cancelled. Nothing was changed.")
					return exit(exitError)
				}
			}
			n, err := s.client.PurgeQueue(ctx, queue)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(a.p.Stdout).Encode(map[string]any{"queue": queue, "cancelled": n})
			}
			_, err = fmt.Fprintf(a.p.Stdout, "Queue %s is purged: %s cancelled.\n", queue, countOf(int64(n), "job", "jobs"))
			return err
		},
	}
	p.flags(cmd)
	cmd.Flags().BoolVar(&autoApprove, "auto-approve", false, "Do not ask.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Write one JSON object.")
	return cmd
}

// countOf is a number with its noun.
func countOf(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
