package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// stateFile is where terraform keeps its state.
const stateFile = "terraform.tfstate"

// resources is the shape as a configuration of terraform_data, and the state that its apply leaves.
func (s shape) resources(n int) map[string]string {
	var b strings.Builder
	b.WriteString("variable \"day\" {\n  type    = string\n  default = \"2026-11-20\"\n}\n\n")
	for i := range n {
		fmt.Fprintf(&b, "resource \"terraform_data\" \"step_%06d\" {\n  input = [\"run\", \"step-%d\", var.day]\n", i, i)
		if up := s.upstream(i); len(up) > 0 {
			names := make([]string, len(up))
			for k, u := range up {
				names[k] = stepName(u)
			}
			fmt.Fprintf(&b, "\n  depends_on = [%s]\n", strings.Join(names, ", "))
		}
		b.WriteString("}\n\n")
	}
	return map[string]string{"main.tf": b.String(), stateFile: s.state(n)}
}

func stepName(i int) string { return fmt.Sprintf("terraform_data.step_%06d", i) }

// stateResource and instance are what version 4 of terraform's state holds of a resource.
type stateResource struct {
	Mode      string     `json:"mode"`
	Type      string     `json:"type"`
	Name      string     `json:"name"`
	Provider  string     `json:"provider"`
	Instances []instance `json:"instances"`
}

type instance struct {
	SchemaVersion int            `json:"schema_version"`
	Attributes    map[string]any `json:"attributes"`
	Sensitive     []any          `json:"sensitive_attributes"`
	Dependencies  []string       `json:"dependencies,omitempty"` // all of them, also those of dependencies
}

func (s shape) state(n int) string {
	list := make([]stateResource, n)
	above := make([]map[int]bool, n) // everything that a resource waits for, directly or not
	for i := range list {
		above[i] = map[int]bool{}
		for _, u := range s.upstream(i) {
			above[i][u] = true
			maps.Copy(above[i], above[u])
		}
		var names []string
		for _, u := range slices.Sorted(maps.Keys(above[i])) {
			names = append(names, stepName(u))
		}
		input := map[string]any{"value": []string{"run", fmt.Sprintf("step-%d", i), "2026-11-20"}, "type": []any{"tuple", []string{"string", "string", "string"}}}
		list[i] = stateResource{
			Mode: "managed", Type: "terraform_data", Name: fmt.Sprintf("step_%06d", i), Provider: `provider["terraform.io/builtin/terraform"]`,
			Instances: []instance{{
				Attributes:   map[string]any{"id": fmt.Sprintf("00000000-0000-4000-8000-%012d", i), "input": input, "output": input, "triggers_replace": nil},
				Sensitive:    []any{},
				Dependencies: names,
			}},
		}
	}
	text, err := json.MarshalIndent(map[string]any{
		"version": 4, "terraform_version": "1.11.0", "serial": 1, "lineage": "00000000-0000-4000-8000-000000000000",
		"outputs": map[string]any{}, "resources": list, "check_results": nil,
	}, "", "  ")
	if err != nil {
		panic(err) // strings and numbers only
	}
	return string(text)
}
