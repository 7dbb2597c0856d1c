package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
)

// defaultHistory is how many cycles job history lists, and shownCycles how many job show does.
const (
	defaultHistory = 20
	shownCycles    = 5
)

func (a *app) jobHistoryCommand() *cobra.Command {
	var p place
	limit, asJSON := defaultHistory, false
	cmd := &cobra.Command{
		Use: "history ADDR | UUID [DIR | FILES]", Short: "List the cycles of a job with a schedule or a gate",
		Long: `Lists the cycles of a job with a schedule or a gate, the latest first: those that
run, and of those that are over the newest 100 that are kept.

TICK is the time that a cycle stands for: with it the occurrences of the cycle have
addresses, such as job.nightly@2026-11-21T02:00:00Z. A cycle is completed when all of
its jobs ended well. It was skipped where an earlier one was still running (overlap
= "skip"), replaced where a later one took its place (overlap = "replace"), and missed
where nobody was there at its time (catchup).

A job downstream of another has the cycles of that.`,
		Example: `waybill job history job.nightly
waybill job history -limit 5 -json job.nightly examples/nightly`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			job, paths, err := target("job history", args)
			if err != nil {
				return err
			}
			if limit < 1 {
				return fail("Invalid option", "-limit is a number from 1 on, and got %d.", limit)
			}
			s, err := p.open(ctx, a, paths, reading)
			if err != nil {
				return err
			}
			defer s.close() //nolint:errcheck // nothing was written
			r := callRoll(ctx, s)
			c, err := r.findCyclic(ctx, s, job)
			if err != nil {
				return err
			}
			cycles, err := c.cycles(ctx, s, limit)
			if err != nil {
				return err
			}
			if asJSON {
				return a.historyJSON(s, c, cycles)
			}
			return a.history(c, cycles)
		},
	}
	p.flags(cmd)
	cmd.Flags().IntVar(&limit, "limit", defaultHistory, "List at most `N` cycles.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Write one JSON object.")
	return cmd
}

func (a *app) history(c *cyclic, cycles []conveyor.Cycle) error {
	if c.Root != c.UUID {
		fmt.Fprintf(a.p.Stderr, "%s runs in the cycles of %s, which are these:\n", clean(c.name), clean(c.over))
	}
	if len(cycles) == 0 {
		fmt.Fprintf(a.p.Stderr, "%s has had no cycle yet. %s\n", clean(c.over), clean(c.upcoming()))
		return nil
	}
	return table(a.p.Stdout, c.cycleRows(cycles))
}

// cycleRows are cycles as a table, with the names of its columns.
func (c *cyclic) cycleRows(cycles []conveyor.Cycle) [][]string {
	rows := [][]string{{"TICK", "OUTCOME", "STARTED", "TOOK", "JOBS", "FAILED"}}
	for _, x := range cycles {
		row := []string{tickText(x.Tick), board.OutcomeText(x), "-", "-", "-", "-"}
		if x.Jobs > 0 || x.Outcome == conveyor.CycleLive {
			end := x.Ended
			if x.Outcome == conveyor.CycleLive {
				end = c.now
			}
			row = append(row[:2], since(c.now, x.Began), board.Took(end.Sub(x.Began)), fmt.Sprint(x.Jobs), fmt.Sprint(x.Failed))
		}
		rows = append(rows, row)
	}
	return rows
}

// shownCycle is a cycle in JSON.
type shownCycle struct {
	Tick     string `json:"tick"`
	Outcome  string `json:"outcome"`
	Began    string `json:"began_at,omitempty"`
	Ended    string `json:"ended_at,omitempty"`
	Jobs     int    `json:"jobs"`
	Failed   int    `json:"failed"`
	Missed   int    `json:"missed,omitempty"`   // ticks in a row up to this one
	Replaced bool   `json:"replaced,omitempty"` // it is live, and a later one takes its place
}

func cyclesJSON(cycles []conveyor.Cycle) []shownCycle {
	list := []shownCycle{}
	for _, x := range cycles {
		list = append(list, shownCycle{Tick: tickText(x.Tick), Outcome: strings.ReplaceAll(x.Outcome.String(), "live", "running"), Began: stamp(x.Began),
			Ended: stamp(x.Ended), Jobs: x.Jobs, Failed: x.Failed, Missed: x.Missed, Replaced: x.Replaced && x.Outcome == conveyor.CycleLive})
	}
	return list
}

func (a *app) historyJSON(s *store, c *cyclic, cycles []conveyor.Cycle) error {
	return json.NewEncoder(a.p.Stdout).Encode(struct {
		Format    string       `json:"format_version"`
		Namespace string       `json:"namespace"`
		Address   string       `json:"address"`
		UUID      string       `json:"uuid"`
		Root      string       `json:"root,omitempty"`
		Cycles    []shownCycle `json:"cycles"`
	}{"1.0", s.client.Namespace(), c.name, c.UUID, c.rootName(), cyclesJSON(cycles)})
}

// rootName is the root's name; "" for a root.
func (c *cyclic) rootName() string {
	if c.Root == c.UUID {
		return ""
	}
	return c.over
}
