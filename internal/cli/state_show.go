package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

func (a *app) stateShowCommand() *cobra.Command {
	var r redisFlag
	asJSON := false
	cmd := &cobra.Command{
		Use: "show ADDR [DIR | FILES]", Short: "Show what is recorded of one job",
		Long: `Shows the record of one address: the submission, what it was made of, and how the
job stands. Sensitive values are not shown.`,
		Example: `waybill state show job.report
waybill state show -json 'job.clean["eu"]' examples/sales`,
		RunE: func(cmd *cobra.Command, args []string) error {
			addrs, paths, err := addresses(args)
			if err != nil {
				return err
			}
			if len(addrs) != 1 {
				return fail("Wrong number of arguments", "state show takes one address, such as job.load or 'job.load[\"eu\"]', and got %d. waybill show shows several.", len(addrs))
			}
			state, err := a.readState(cmd.Context(), paths, r)
			if err != nil {
				return err
			}
			if state.Records[addrs[0].String()] == nil {
				return unknownJob(addrs[0], state)
			}
			if asJSON {
				return showJSON(a.p.Stdout, state, addrs)
			}
			return a.showState(state, addrs)
		},
	}
	r.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "Write one JSON object.")
	return cmd
}

func (a *app) statePullCommand() *cobra.Command {
	var r redisFlag
	cmd := &cobra.Command{
		Use: "pull [DIR | FILES]", Short: "Write the whole state as JSON",
		Long: `Writes all records of a workflow as one JSON object: lineage, floor, and for each
address its submission, digests, edges and definition as they are stored. Sensitive
values are not in the state, and so not in what is written. "waybill schema -lines
state" describes the object.`,
		Example: `waybill state pull >state.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			state, err := a.readState(cmd.Context(), args, r)
			if err != nil {
				return err
			}
			e := json.NewEncoder(a.p.Stdout)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			return e.Encode(pulled(state))
		},
	}
	r.flags(cmd)
	return cmd
}

// pulledState is what state pull writes.
type pulledState struct {
	Format   string                 `json:"format_version"`
	Workflow string                 `json:"workflow"`
	Lineage  string                 `json:"lineage,omitempty"`
	Floor    int64                  `json:"floor"`
	Records  []pulledRecord         `json:"records"`
	Outputs  map[string]shownOutput `json:"outputs"`
}

type pulledRecord struct {
	Address    string          `json:"address"`
	Version    int64           `json:"version"`
	UUID       string          `json:"uuid"`
	Generation int64           `json:"generation"`
	Opening    int64           `json:"opening"`
	Status     string          `json:"status"`
	Deposed    bool            `json:"deposed,omitempty"`
	Type       string          `json:"type"`
	Queue      string          `json:"queue"`
	Work       planner.Digest  `json:"work"`
	Handling   planner.Digest  `json:"handling"`
	KeyID      string          `json:"key_id,omitempty"`
	SignKey    string          `json:"sign_key,omitempty"`
	Edges      []pulledEdge    `json:"edges"`
	ReplacedBy []pulledEdge    `json:"replace_triggered_by,omitempty"`
	Definition json.RawMessage `json:"definition"`
}

type pulledEdge struct {
	Kind    string `json:"kind,omitempty"`
	Group   int    `json:"group,omitempty"`
	Address string `json:"address,omitempty"`
	UUID    string `json:"uuid"`
	Opening int64  `json:"opening,omitempty"`
}

func pulled(state *planner.State) pulledState {
	s := pulledState{Format: "1.0", Workflow: state.Workflow, Floor: state.Floor, Records: []pulledRecord{}, Outputs: shownOutputs(state.Outputs)}
	if state.Lineage != [16]byte{} {
		s.Lineage = state.Lineage.String()
	}
	for _, addr := range sortedAddrs(state) {
		r := state.Records[addr.String()]
		p := pulledRecord{Address: addr.String(), Version: r.Version, UUID: r.UUID.String(), Generation: r.Generation, Opening: r.Opening,
			Status: state.Live[addr.String()].Status.String(), Deposed: r.Deposed, Type: r.Type, Queue: r.Queue, Work: r.Work, Handling: r.Handling,
			KeyID: r.KeyID, SignKey: r.SignKey, Edges: []pulledEdge{}, Definition: json.RawMessage("{}")}
		if json.Valid(r.Definition) {
			p.Definition = r.Definition
		}
		for _, e := range r.Edges {
			edge := pulledEdge{Kind: e.Kind.String(), Group: e.Group, UUID: e.UUID, Opening: e.Opening}
			if e.Addr != (config.Addr{}) {
				edge.Address = e.Addr.String()
			}
			p.Edges = append(p.Edges, edge)
		}
		for _, t := range r.Triggers {
			p.ReplacedBy = append(p.ReplacedBy, pulledEdge{Address: t.Addr.String(), UUID: t.UUID})
		}
		s.Records = append(s.Records, p)
	}
	return s
}

// records counts records for a sentence.
func records(n int) string {
	if n == 1 {
		return "1 record"
	}
	return fmt.Sprintf("%d records", n)
}
