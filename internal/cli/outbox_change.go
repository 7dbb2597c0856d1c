package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/internal/sqldb"
)

func (a *app) outboxRetryCommand() *cobra.Command {
	var p outboxPlace
	all := false
	cmd := &cobra.Command{
		Use: "retry UUID...", Short: "Make dead letters pending again",
		Long: `Makes dead letters pending again, once what they were refused for is over. A relay
takes them with its next round, and those that are refused again are dead letters
again.`,
		Example: `waybill outbox retry -dsn sqlite:shop.db 4b0d5cde-95c1-4e0e-9d8c-9c4a4d0f4f4f
waybill outbox retry -all`,
		RunE: func(cmd *cobra.Command, uuids []string) error {
			if all == (len(uuids) > 0) {
				return fail("Wrong number of arguments", "waybill outbox retry takes the uuids of dead letters, or -all. \"waybill outbox list -dead\" shows them.")
			}
			o, err := p.openMade(cmd.Context(), a, sqldb.Options{})
			if err != nil {
				return err
			}
			defer o.Close() //nolint:errcheck // what was done is done
			var n int64
			if all {
				n, err = o.table.RetryAll(cmd.Context(), o)
			} else {
				n, err = o.table.Retry(cmd.Context(), o, uuids...)
			}
			if err != nil {
				return o.explain(err)
			}
			if n == 0 && all {
				_, err = fmt.Fprintln(a.p.Stdout, "There is no dead letter. Nothing was changed.")
				return err
			}
			fmt.Fprintf(a.p.Stdout, "%s pending again.\n", countOf(n, "dead letter is", "dead letters are"))
			if missing := int64(len(distinct(uuids))) - n; !all && missing > 0 {
				return fail("No such dead letter", "%d of %s no dead letter in the outbox %s. \"waybill outbox list -dead\" shows those that are there.",
					missing, countOf(int64(len(distinct(uuids))), "uuid is", "uuids are"), o.name())
			}
			return nil
		},
	}
	p.flags(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "All dead letters.")
	return cmd
}

func (a *app) outboxDeleteCommand() *cobra.Command {
	var p outboxPlace
	autoApprove := false
	cmd := &cobra.Command{
		Use: "delete UUID...", Short: "Delete jobs from an outbox",
		Long: `Deletes jobs from an outbox, dead letters and pending ones. They are never run,
unless they were pushed already: "waybill job cancel" is for those.`,
		Example: `waybill outbox delete -dsn sqlite:shop.db 4b0d5cde-95c1-4e0e-9d8c-9c4a4d0f4f4f`,
		RunE: func(cmd *cobra.Command, uuids []string) error {
			ctx := cmd.Context()
			if len(uuids) == 0 {
				return fail("Wrong number of arguments", "waybill outbox delete takes the uuids of jobs. \"waybill outbox list\" shows them.")
			}
			uuids = distinct(uuids)
			o, err := p.openMade(ctx, a, sqldb.Options{})
			if err != nil {
				return err
			}
			defer o.Close() //nolint:errcheck // what was done is done
			if !autoApprove {
				ok, err := a.prompt(ctx, "-auto-approve", fmt.Sprintf("Do you really want to delete %s from the outbox %s?", countOf(int64(len(uuids)), "job", "jobs"), o.name()),
					"What the database says of them, and what they were to do about it, will disagree. There is no undo.\nOnly 'yes' will be accepted to confirm.")
				if err != nil {
					return err
				}
				if !ok {
					fmt.Fprintln(a.p.Stdout, "Deletion cancelled. Nothing was changed.")
					return exit(exitError)
				}
			}
			n, err := o.table.Delete(ctx, o, uuids...)
			if err != nil {
				return o.explain(err)
			}
			fmt.Fprintf(a.p.Stdout, "%s deleted.\n", countOf(n, "job is", "jobs are"))
			if missing := int64(len(uuids)) - n; missing > 0 {
				return fail("No such job", "%d of %s not in the outbox %s: pushed or deleted before, or never there.",
					missing, countOf(int64(len(uuids)), "uuid is", "uuids are"), o.name())
			}
			return nil
		},
	}
	p.flags(cmd)
	cmd.Flags().BoolVar(&autoApprove, "auto-approve", false, "Do not ask.")
	return cmd
}

// distinct are texts without repetitions, in their order.
func distinct(texts []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range texts {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
