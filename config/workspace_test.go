package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWorkspace(t *testing.T) {
	t.Parallel()
	dir := writeTree(t, map[string]string{"main.hcl": `
workflow "orders" { namespace = "in-${workflow.workspace}" }
job "plain" { type = "noop" }
job "exec" {
  exec { command = ["echo", workflow.name, workflow.workspace] }
}
module "m" { source = "./m" }
`, "m/main.hcl": `
job "inner" {
  exec { command = ["echo", workflow.workspace] }
}
`})
	type seen struct{ Name, Workspace, Namespace, Default, Queue, Payload, Inner string }
	for _, row := range []struct {
		name, workspace string
		want            seen
	}{
		{"none", "", seen{"orders", "default", "in-default", "orders", "orders", `{"command":["echo","orders","default"]}`, `{"command":["echo","default"]}`}},
		{"default", "default", seen{"orders", "default", "in-default", "orders", "orders", `{"command":["echo","orders","default"]}`, `{"command":["echo","default"]}`}},
		{"another", "pr-7", seen{"orders@pr-7", "pr-7", "in-pr-7", "orders.pr-7", "orders.pr-7", `{"command":["echo","orders","pr-7"]}`, `{"command":["echo","pr-7"]}`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w, diags := Load(Options{Paths: []string{dir}, Workspace: row.workspace, NeedVariables: true})
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			got := seen{Name: w.Name, Workspace: w.Workspace, Namespace: w.Namespace, Default: w.DefaultQueue}
			for _, j := range w.Jobs {
				switch j.Addr.String() {
				case "job.exec":
					got.Queue, got.Payload = j.Queue, string(j.Payload)
				case "module.m.job.inner":
					got.Inner = string(j.Payload)
				}
			}
			if d := cmp.Diff(row.want, got); d != "" {
				t.Error(d)
			}
			if name, workspace := SplitStateName(w.Name); name != "orders" || StateName(name, workspace) != w.Name {
				t.Errorf("%q is split into %q and %q", w.Name, name, workspace)
			}
		})
	}
}

func TestWorkspaceNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"staging": true, "pr-7": true, "7": true, "A_b": true, "_": true, "": false, "-x": false, "a.b": false, "a@b": false, "a b": false,
		"a/b": false, "ä": false, "a\n": false} {
		if got := IsWorkspace(name); got != want {
			t.Errorf("IsWorkspace(%q) is %t", name, got)
		}
		if name == "" || want {
			continue
		}
		if _, diags := Load(Options{Paths: []string{t.TempDir()}, Workspace: name}); !diags.HasErrors() {
			t.Errorf("Load takes the workspace %q", name)
		}
	}
}
