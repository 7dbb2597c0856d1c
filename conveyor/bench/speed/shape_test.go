package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
)

// TestShapes loads what is measured: a workflow of each shape has the jobs and edges that it is said to have.
func TestShapes(t *testing.T) {
	t.Parallel()
	for _, s := range []shape{chains, layers, forEach} {
		t.Run(string(s), func(t *testing.T) {
			t.Parallel()
			const n = 250
			dir := t.TempDir()
			if err := writeFiles(dir, s.workflow(n)); err != nil {
				t.Fatal(err)
			}
			w, diags := config.Load(config.Options{Paths: []string{dir}, NeedVariables: true})
			if diags.HasErrors() || len(w.Jobs) != n {
				t.Fatalf("%d jobs, %v", len(w.Jobs), diags)
			}
			for i, j := range w.Jobs {
				var got, want []string
				for _, p := range j.Predecessors {
					for _, a := range p.Jobs {
						got = append(got, a.String())
					}
				}
				for _, u := range s.upstream(i) {
					want = append(want, fmt.Sprintf("job.step_%06d", u))
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Fatalf("%s waits for others than it should:\n%s", j.Addr, d)
				}
			}
		})
	}
}

// TestResources checks that terraform gets the same graph, and a state as its apply leaves it: a resource's dependencies are all
// that it depends on, directly or not.
func TestResources(t *testing.T) {
	t.Parallel()
	files := layers.resources(201)
	for _, want := range []string{
		"resource \"terraform_data\" \"step_000200\" {\n  input = [\"run\", \"step-200\", var.day]\n",
		"  depends_on = [terraform_data.step_000100, terraform_data.step_000101, terraform_data.step_000137]\n",
	} {
		if !strings.Contains(files["main.tf"], want) {
			t.Errorf("main.tf has no %q", want)
		}
	}
	var state struct{ Resources []stateResource }
	if err := json.Unmarshal([]byte(files[stateFile]), &state); err != nil {
		t.Fatal(err)
	}
	want := []string{
		stepName(0), stepName(1), stepName(2), stepName(37), stepName(38), stepName(74),
		stepName(100), stepName(101), stepName(137),
	}
	if d := cmp.Diff(want, state.Resources[200].Instances[0].Dependencies); d != "" {
		t.Error(d)
	}
}
