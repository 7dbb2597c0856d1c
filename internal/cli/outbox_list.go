package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/internal/sqldb"
)

func (a *app) outboxListCommand() *cobra.Command {
	var p outboxPlace
	dead, asJSON, limit := false, false, 0
	cmd := &cobra.Command{
		Use: "list", Short: "List the jobs in an outbox",
		Long: `Lists the jobs that wait in an outbox to be pushed, the oldest first, and then the
dead letters with the reasons why they are ones.`,
		Example: `waybill outbox list -dsn sqlite:shop.db
waybill outbox list -dead -json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return fail("Invalid option", "-limit: %d is no number of jobs.", limit)
			}
			o, err := p.openMade(cmd.Context(), a, sqldb.Options{})
			if err != nil {
				return err
			}
			defer o.Close() //nolint:errcheck // nothing was written
			list, err := o.list(cmd.Context(), dead, limit)
			if err != nil {
				return o.explain(err)
			}
			if asJSON {
				return json.NewEncoder(a.p.Stdout).Encode(list)
			}
			return a.writeOutbox(o, list, dead)
		},
	}
	p.flags(cmd)
	cmd.Flags().BoolVar(&dead, "dead", false, "List dead letters alone.")
	cmd.Flags().IntVar(&limit, "limit", 100, "List at most `N` jobs.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Write one JSON object.")
	return cmd
}

// outboxList is what outbox list writes with -json.
type outboxList struct {
	Format  string      `json:"format_version"`
	Table   string      `json:"table"`
	Pending int64       `json:"pending"` // at most outbox.MaxCount
	Dead    int64       `json:"dead"`
	Jobs    []outboxJob `json:"jobs"`
}

type outboxJob struct {
	UUID   string  `json:"uuid"`
	Type   string  `json:"type"` // "" when the row holds no job
	Queue  string  `json:"queue"`
	Age    float64 `json:"age_seconds"`
	Dead   bool    `json:"dead"`
	Reason string  `json:"reason"`
}

func (o *openOutbox) list(ctx context.Context, onlyDead bool, limit int) (outboxList, error) {
	list := outboxList{Format: "1.0", Table: o.table.String(), Jobs: []outboxJob{}}
	b, err := o.table.Backlog(ctx, o)
	if err != nil {
		return list, err
	}
	list.Pending, list.Dead = b.Pending, b.Dead
	for _, dead := range []bool{false, true} {
		if onlyDead && !dead {
			continue
		}
		for after := int64(0); len(list.Jobs) < limit; {
			page, err := o.table.List(ctx, o, dead, after, limit-len(list.Jobs))
			if err != nil {
				return list, err
			}
			if len(page) == 0 {
				break
			}
			for _, e := range page {
				list.Jobs = append(list.Jobs, outboxJob{e.UUID, e.Job.GetType(), e.Job.GetQueue(), e.Age.Seconds(), e.Dead, e.Reason})
			}
			after = page[len(page)-1].ID
		}
	}
	return list, nil
}

func (a *app) writeOutbox(o *openOutbox, list outboxList, onlyDead bool) error {
	total := list.Dead
	if !onlyDead {
		total += list.Pending
	}
	if len(list.Jobs) == 0 {
		what := "no job"
		if onlyDead {
			what = "no dead letter"
		}
		fmt.Fprintf(a.p.Stderr, "There is %s in the outbox %s.\n", what, o.name())
		return nil
	}
	rows := [][]string{{"UUID", "TYPE", "QUEUE", "AGE", "STATE"}}
	for _, j := range list.Jobs {
		state := "pending"
		if j.Dead {
			state = "dead: " + j.Reason
		}
		age := short(time.Duration(j.Age * float64(time.Second)))
		rows = append(rows, []string{j.UUID, orDash(j.Type), orDash(j.Queue), age, state})
	}
	if err := table(a.p.Stdout, rows); err != nil {
		return err
	}
	if more := total - int64(len(list.Jobs)); more > 0 {
		least := ""
		if list.Pending >= outbox.MaxCount || list.Dead >= outbox.MaxCount {
			least = "at least "
		}
		fmt.Fprintf(a.p.Stderr, "There are %s%d more; -limit shows more of them.\n", least, more)
	}
	return nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
