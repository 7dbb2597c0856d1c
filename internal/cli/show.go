package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui"
)

func (a *app) showCommand() *cobra.Command {
	var r redisFlag
	var f format
	cmd := &cobra.Command{
		Use: "show [ADDR...] [DIR | FILES] | PLAN", Short: "Show the state of a workflow, or a saved plan",
		Long: `Shows what is recorded of a workflow's jobs, how each of them stands, and the
outputs; or the plan in a file that "waybill plan -out" has saved. Sensitive values
are not shown.

With -json, a plan is one object with all its jobs, before and after, what drifted,
schedules, outputs and the forecast: "waybill schema -lines plan" describes it. With
-format=markdown it is what "plan -format=markdown" writes, without the warnings,
which are not saved.`,
		Example: `waybill show
waybill show job.report examples/sales
waybill show -json
waybill show -json saved.wbplan | jq '.resource_changes[] | select(.action != "noop").resource.addr'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.settle(); err != nil {
				return err
			}
			file, args, err := planFiles(args)
			if err != nil {
				return err
			}
			if file != "" {
				return a.showPlan(file, f)
			}
			if f.markdown() {
				return fail("Wrong arguments", "-format=markdown is for a plan that \"waybill plan -out\" has saved. Name its file, or leave the option out to see the state.")
			}
			addrs, paths, err := addresses(args)
			if err != nil {
				return err
			}
			state, err := a.readState(cmd.Context(), paths, r)
			if err != nil {
				return err
			}
			if f.json {
				return showJSON(a.p.Stdout, state, addrs)
			}
			return a.showState(state, addrs)
		},
	}
	r.flags(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "Write one JSON object.")
	f.flags(cmd)
	return cmd
}

// showPlan writes a saved plan.
func (a *app) showPlan(file string, f format) error {
	k, err := a.keyring(false)
	if err != nil {
		return err
	}
	plan, err := readPlan(file, k)
	if err != nil {
		return err
	}
	switch {
	case f.json:
		return plan.WriteJSON(a.p.Stdout)
	case f.markdown():
		return plan.WriteMarkdown(a.p.Stdout, planner.MarkdownOptions{File: file})
	}
	return plan.Render(a.p.Stdout, planner.RenderOptions{Color: a.ink(a.p.Stdout).On, Width: int(width(a.p.Stdout))})
}

// showState writes a state for people.
func (a *app) showState(state *planner.State, wanted []config.Addr) error {
	out, ink := a.p.Stdout, a.ink(a.p.Stdout)
	if len(state.Records) == 0 {
		_, err := fmt.Fprintf(out, "The state of workflow %q is empty: nothing was applied yet, or it was destroyed.\n", state.Workflow)
		return err
	}
	shown := 0
	for _, addr := range sortedAddrs(state) {
		if !selected(addr, wanted) {
			continue
		}
		shown++
		record := state.Records[addr.String()]
		fmt.Fprintf(out, "%s\n%s = %s\n\n", ink.Faint("# "+addr.String()+": "+standing(record, state.Live[addr.String()])),
			ink.Bold(addr.String()), tui.FormatDocument(string(record.Document())))
	}
	if shown == 0 {
		return unknownJob(wanted[0], state)
	}
	if len(wanted) > 0 || len(state.Outputs) == 0 {
		return nil
	}
	fmt.Fprintf(out, "%s\n\n", ink.Bold("Outputs:"))
	return tui.WriteOutputs(out, state.Outputs)
}

// standing says in words how a recorded job stands.
func standing(r *planner.Record, live planner.Live) string {
	text := live.Status.String()
	switch {
	case live.Status == planner.Failed && live.ChildFailed:
		text = "failed through its children"
	case live.CancelAsked && live.Status == planner.Running:
		text = "running, told to stop"
	}
	if r.Generation > 1 {
		text += fmt.Sprintf(", generation %d", r.Generation)
	}
	if r.Deposed {
		text += ", not declared any more"
	}
	return text
}

// shownJob is a job in show -json.
type shownJob struct {
	Address    string          `json:"address"`
	Status     string          `json:"status"`
	Generation int64           `json:"generation"`
	Opening    int64           `json:"opening"`
	Starts     int64           `json:"starts"`
	Deposed    bool            `json:"deposed,omitempty"`
	Values     json.RawMessage `json:"values"`
}

// shownOutput is an output in show -json and output -json.
type shownOutput struct {
	Sensitive bool            `json:"sensitive"`
	Value     json.RawMessage `json:"value,omitempty"`
}

func showJSON(w io.Writer, state *planner.State, wanted []config.Addr) error {
	jobs := []shownJob{}
	for _, addr := range sortedAddrs(state) {
		if !selected(addr, wanted) {
			continue
		}
		record, live := state.Records[addr.String()], state.Live[addr.String()]
		jobs = append(jobs, shownJob{Address: addr.String(), Status: live.Status.String(), Generation: record.Generation, Opening: record.Opening,
			Starts: live.Fence, Deposed: record.Deposed, Values: record.Document()})
	}
	lineage := ""
	if len(state.Records) > 0 {
		lineage = state.Lineage.String()
	}
	return json.NewEncoder(w).Encode(struct {
		Format   string                 `json:"format_version"`
		Workflow string                 `json:"workflow"`
		Lineage  string                 `json:"lineage,omitempty"`
		Jobs     []shownJob             `json:"jobs"`
		Outputs  map[string]shownOutput `json:"outputs"`
	}{"1.0", state.Workflow, lineage, jobs, shownOutputs(state.Outputs)})
}

func shownOutputs(outputs map[string]string) map[string]shownOutput {
	shown := make(map[string]shownOutput, len(outputs))
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		o := shownOutput{Sensitive: tui.SensitiveOutput(outputs[name])}
		if !o.Sensitive {
			o.Value = json.RawMessage(outputs[name])
		}
		shown[name] = o
	}
	return shown
}
