package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/internal/sqldb"
)

func (a *app) outboxMigrateCommand() *cobra.Command {
	var p outboxPlace
	down, force, show := false, false, false
	cmd := &cobra.Command{
		Use: "migrate", Short: "Make the table of an outbox, or remove it",
		Long: `Makes the table of an outbox and what belongs to it, or whatever of that is
missing. It may be run again at any time, also by several processes at once. A
table of that name which is something else is left alone.

With -print it writes the statements to stdout, for a migration tool of your own,
and does nothing. With -down it removes the table, unless jobs are left in it.`,
		Example: `waybill outbox migrate -dsn postgres://shop@db/shop
waybill outbox migrate -dsn sqlite:shop.db -table jobs_outbox
waybill outbox migrate -dsn mysql://shop@db/shop -print`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if force && !down {
				return fail("Invalid option", "-force is for -down.")
			}
			o, err := p.open(cmd.Context(), a, sqldb.Options{Create: !down && !show, Unconnected: show})
			if err != nil {
				return err
			}
			defer o.Close() //nolint:errcheck // what was done is done
			if show {
				return a.printSchema(o, down)
			}
			if down {
				if err := o.table.Drop(cmd.Context(), o, force); err != nil {
					return o.explain(err)
				}
				_, err = fmt.Fprintf(a.p.Stdout, "The outbox %s is removed.\n", o.name())
				return err
			}
			if err := o.table.Migrate(cmd.Context(), o); err != nil {
				return o.explain(err)
			}
			_, err = fmt.Fprintf(a.p.Stdout, "The outbox %s is ready.\n", o.name())
			return err
		},
	}
	p.flags(cmd)
	cmd.Flags().BoolVar(&show, "print", false, "Write the statements and change nothing.")
	cmd.Flags().BoolVar(&down, "down", false, "Remove the table.")
	cmd.Flags().BoolVar(&force, "force", false, "With -down: also with jobs in it, which are lost.")
	return cmd
}

// printSchema writes statements as a migration tool takes them.
func (a *app) printSchema(o *openOutbox, down bool) error {
	schema := o.table.Schema
	if down {
		schema = o.table.DropSchema
	}
	statements, err := schema()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.p.Stdout, strings.Join(statements, ";\n\n")+";")
	return err
}
