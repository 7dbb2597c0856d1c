package cli

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/internal/sqldb"
)

func (a *app) outboxCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "outbox", Short: "Push the jobs that programs commit with their own rows",
		Long: `A program writes a job into the table of an outbox, in the transaction that writes
what the job is about: either both are there, or none. A relay pushes such jobs
and removes their rows. "go doc github.com/waybill-dev/waybill/conveyor/outbox"
tells how programs write them.

What cannot be a job, or is refused by the queue for good, stays in the table as a
dead letter with the reason.

The database is named by -dsn or, so that no password is seen in the list of
processes, by the variable WAYBILL_OUTBOX_DSN.`,
	}
	group(cmd)
	cmd.AddCommand(a.outboxMigrateCommand(), a.outboxRelayCommand(), a.outboxListCommand(), a.outboxRetryCommand(), a.outboxDeleteCommand())
	return cmd
}

// outboxPlace is which outbox a command is about.
type outboxPlace struct{ dsn, table string }

func (p *outboxPlace) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.dsn, "dsn", "", "The database at `ADDRESS`: "+sqldb.Forms+". Default: WAYBILL_OUTBOX_DSN.")
	cmd.Flags().StringVar(&p.table, "table", outbox.DefaultTable, "The table `NAME`, or SCHEMA.NAME.")
}

// openOutbox is an outbox in an open database.
type openOutbox struct {
	*sqldb.Database
	table outbox.Table
}

// name is the outbox for people.
func (o *openOutbox) name() string { return o.table.String() + " of " + o.Database.Name }

// open opens the database.
func (p *outboxPlace) open(ctx context.Context, a *app, options sqldb.Options) (*openOutbox, error) {
	dsn := p.dsn
	if dsn == "" {
		dsn = a.getenv("WAYBILL_OUTBOX_DSN")
	}
	if dsn == "" {
		return nil, fail("No database is named", "Name it with -dsn or WAYBILL_OUTBOX_DSN, as %s.", sqldb.Forms)
	}
	db, err := sqldb.Open(ctx, dsn, options)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, sqldb.ErrAddress):
		return nil, fail("Invalid database address", "-dsn: %v.", err)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fail("No such database", "%v. \"waybill outbox migrate\" makes it.", err)
	case err != nil:
		return nil, fail("Cannot reach the database", "%v.", err)
	}
	o := &openOutbox{db, outbox.Table{Dialect: db.Dialect, Name: p.table}}
	if _, err := o.table.Schema(); err != nil {
		_ = db.Close() // the first error says it
		return nil, fail("Invalid option", "-table: %v.", err)
	}
	return o, nil
}

// openMade opens an outbox that has to be there.
func (p *outboxPlace) openMade(ctx context.Context, a *app, options sqldb.Options) (*openOutbox, error) {
	o, err := p.open(ctx, a, options)
	if err != nil {
		return nil, err
	}
	if err := o.table.Check(ctx, o); err != nil {
		_ = o.Close() // the first error says it
		return nil, o.explain(err)
	}
	return o, nil
}

// explain says what to do about an error of the outbox.
func (o *openOutbox) explain(err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, outbox.ErrNoTable):
		return fail("There is no outbox", "%s has no table %s. Make it with \"waybill outbox migrate\", given the same -dsn and -table.", o.Database.Name, o.table)
	case errors.Is(err, outbox.ErrOtherTable):
		return fail("Not an outbox", "%v.", o.Redact(err))
	case errors.Is(err, outbox.ErrNotEmpty):
		return fail("The outbox is not empty", "%v. With -force they are lost.", o.Redact(err))
	}
	return fail("The database refused", "%s: %v.", o.Database.Name, o.Redact(err))
}
