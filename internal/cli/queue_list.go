package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/conveyor"
)

func (a *app) queueListCommand() *cobra.Command {
	var p place
	asJSON := false
	cmd := &cobra.Command{
		Use: "list [DIR | FILES]", Short: "List the queues",
		Long: `Lists the queues that have jobs or settings, or that a worker serves: how many jobs
are ready in them by priority, how many run, how many may, and how many workers
serve them.`,
		Example: `waybill queue list
waybill queue list -json examples/sales`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := p.open(cmd.Context(), a, args, reading)
			if err != nil {
				return err
			}
			defer s.close() //nolint:errcheck // nothing was written
			queues, err := s.client.Queues(cmd.Context())
			if err != nil {
				return err
			}
			workers, err := s.client.Workers(cmd.Context())
			if err != nil {
				return err
			}
			list := listQueues(queues, workers)
			if asJSON {
				return json.NewEncoder(a.p.Stdout).Encode(struct {
					Format string        `json:"format_version"`
					Queues []listedQueue `json:"queues"`
				}{"1.0", list})
			}
			if len(list) == 0 {
				fmt.Fprintln(a.p.Stderr, "There are no queues: no job is ready, none has settings, and no worker is there.")
				return nil
			}
			return writeQueues(a.p.Stdout, list)
		},
	}
	p.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "Write one JSON object.")
	return cmd
}

// listedQueue is a queue in queue list.
type listedQueue struct {
	Name        string   `json:"name"`
	High        int64    `json:"high"`
	Normal      int64    `json:"normal"`
	Low         int64    `json:"low"`
	Running     int64    `json:"running"`
	Concurrency int      `json:"concurrency"` // 0: unlimited
	Weight      int      `json:"weight"`
	Fair        bool     `json:"fair"`
	Paused      string   `json:"paused"` // "", "declared", "by hand" or both
	DeclaredBy  []string `json:"declared_by"`
	Workers     int      `json:"workers"`
}

func listQueues(queues []conveyor.QueueInfo, workers []conveyor.WorkerInfo) []listedQueue {
	serving := map[string]int{}
	for _, w := range workers {
		if w.Alive {
			for _, q := range w.Queues {
				serving[q]++
			}
		}
	}
	list := []listedQueue{}
	for _, q := range queues {
		l := listedQueue{Name: q.Name, High: q.Depth[2], Normal: q.Depth[1], Low: q.Depth[0], Running: q.Running,
			Concurrency: q.Settings.Concurrency, Weight: max(q.Settings.Weight, 1), Fair: q.Settings.Fair,
			DeclaredBy: append([]string{}, q.DeclaredBy...), Workers: serving[q.Name]}
		switch {
		case q.ByHand && q.Settings.Paused:
			l.Paused = "by hand and declared"
		case q.ByHand:
			l.Paused = "by hand"
		case q.Settings.Paused:
			l.Paused = "declared"
		}
		list = append(list, l)
		delete(serving, q.Name)
	}
	for name, n := range serving {
		if !slices.ContainsFunc(list, func(l listedQueue) bool { return l.Name == name }) {
			list = append(list, listedQueue{Name: name, Weight: 1, DeclaredBy: []string{}, Workers: n})
		}
	}
	slices.SortFunc(list, func(x, y listedQueue) int { return strings.Compare(x.Name, y.Name) })
	return list
}

func writeQueues(out io.Writer, list []listedQueue) error {
	rows := [][]string{{"QUEUE", "READY", "HIGH", "NORMAL", "LOW", "RUNNING", "LIMIT", "WEIGHT", "WORKERS", "STATE"}}
	for _, q := range list {
		limit, state := "none", "open"
		if q.Concurrency > 0 {
			limit = fmt.Sprint(q.Concurrency)
		}
		if q.Fair {
			state = "open, fair"
		}
		if q.Paused != "" {
			state = "paused " + q.Paused
		}
		rows = append(rows, []string{q.Name, fmt.Sprint(q.High + q.Normal + q.Low), fmt.Sprint(q.High), fmt.Sprint(q.Normal), fmt.Sprint(q.Low),
			fmt.Sprint(q.Running), limit, fmt.Sprint(q.Weight), fmt.Sprint(q.Workers), state})
	}
	return table(out, rows)
}
