package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// judgedPlan is a plan that creates two instances, replaces one job that runs, deletes one, and leaves one alone.
func judgedPlan() *PlanData {
	load := func(key string) ChangeData {
		return ChangeData{JobData: JobData{Addr: Addr{Name: "load", Key: InstanceKey{Kind: KeyString, Str: key}}, Type: "exec", Queue: "etl", Action: "create",
			Labels: map[string]string{"team": "sales", "tier": ""}}, Reason: "new", Declared: true,
			After: []byte(`{"exec":{"command":["./load.sh","` + key + `"]},"queue":"etl","type":"exec"}`)}
	}
	report := ChangeData{JobData: JobData{Addr: Addr{Module: "module.m", Name: "report"}, Type: "shop.v1.Report", Queue: "reports", Action: "replace", Status: "running"},
		Reason: "work_changed", Declared: true, Destroys: true, Previous: "job.report",
		Before: []byte(`{"payload":{"pages":[1,2.5,null,true]},"timeout":"5m"}`), After: []byte(`{"payload":{"key":"(sensitive value)"},"timeout":"1h"}`)}
	old := ChangeData{JobData: JobData{Addr: Addr{Name: "old", Key: InstanceKey{Kind: KeyInt, Int: 2}}, Type: "noop", Queue: "shop", Action: "delete", Status: "completed"},
		Reason: "not_declared", Destroys: true, Before: []byte(`{}`)}
	stays := JobData{Addr: Addr{Name: "stays"}, Type: "noop", Queue: "shop", Action: "noop", Status: "completed"}
	d := &PlanData{Workflow: "shop", Workspace: "staging", Mode: "normal", Add: 3, Change: 0, Destroy: 2, Changes: []ChangeData{load("eu"), load("us"), report, old},
		Queues: []QueueData{{Name: "etl", Action: "create", After: []byte(`{"concurrency":8}`)}}}
	for _, c := range d.Changes[:3] {
		d.Jobs = append(d.Jobs, c.JobData)
	}
	d.Jobs = append(d.Jobs, stays)
	return d
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, text string
		want       []string
	}{
		{"nothing holds", `
deny "destroys" {
  condition     = plan.summary.destroy > 5
  error_message = "Too many."
}`, nil},
		{"once", `
deny "destroys" {
  condition     = plan.summary.destroy > 1
  error_message = "${plan.workflow}/${plan.workspace} loses ${plan.summary.destroy} jobs in a ${plan.mode} plan"
}`, []string{`error policy.hcl:3 Denied by policy: shop/staging loses 2 jobs in a normal plan. This is the rule "destroys".`}},
		{"a warning", `
warn "destroys" {
  condition     = plan.summary.destroy > 1
  error_message = "Really?"
}`, []string{`warning policy.hcl:3 Warning of a policy: Really? This is the rule "destroys".`}},
		{"one element", `
deny "running" {
  for_each      = plan.changes
  condition     = each.value.destroys && each.value.status == "running"
  error_message = "It runs."
}`, []string{`error policy.hcl:4 Denied by policy: module.m.job.report: It runs. This is the rule "running".`}},
		{"several elements, one message", `
deny "timeout" {
  for_each      = [for c in plan.changes : c if c.declared]
  condition     = !can(each.value.after.timeout)
  error_message = "Give each job a timeout."
}`, []string{`error policy.hcl:4 Denied by policy: Give each job a timeout. This is the rule "timeout", which denies:
  - job.load["eu"]
  - job.load["us"]`}},
		{"several elements, several messages", `
warn "queues" {
  for_each      = plan.jobs
  condition     = each.value.queue != "etl"
  error_message = each.value.name == "report" ? "Not in ${each.value.queue}." : "${each.value.address} does not belong in ${each.value.queue}."
}`, []string{`warning policy.hcl:4 Warning of a policy: The rule "queues" warns of:
  - module.m.job.report: Not in reports.
  - job.stays does not belong in shop.`}},
		{"keys of a map", `
deny "teams" {
  for_each      = { a = 1, b = 2 }
  condition     = each.value > 0
  error_message = "No."
}`, []string{`error policy.hcl:4 Denied by policy: No. This is the rule "teams", which denies:
  - a
  - b`}},
		{"a set", `
deny "types" {
  for_each      = setsubtract(toset([for j in plan.jobs : j.type]), ["exec", "noop"])
  condition     = true
  error_message = "The type ${each.value} is not allowed"
}`, []string{`error policy.hcl:4 Denied by policy: The type shop.v1.Report is not allowed. This is the rule "types".`}},
		{"labels", `required_labels = ["team", "tier"]`, []string{`error policy.hcl:1 Denied by policy: Each job that a plan submits or changes needs the labels "team" and "tier" in its meta:
  - job.load["eu"] lacks "tier"
  - job.load["us"] lacks "tier"
  - module.m.job.report lacks "team", "tier"`}},
		{"what is in a job", `
locals {
  report = one([for c in plan.changes : c if c.name == "report"])
  facts  = [local.report.before.payload.pages[1], local.report.after.payload.key, local.report.previous_address, local.report.module, local.report.key, plan.queues[0].after.concurrency]
}
deny "facts" {
  condition     = jsonencode(local.facts) == jsonencode([2.5, "(sensitive value)", "job.report", "module.m", null, 8]) && plan.changes[3].key == "2"
  error_message = "As it should be."
}`, []string{`error policy.hcl:7 Denied by policy: As it should be. This is the rule "facts".`}},
		{"a message about what is not there", `
deny "message" {
  for_each      = plan.changes
  condition     = can(each.value.after.timeout) && each.value.after.timeout == "2h"
  error_message = "Not ${each.value.after.timeout}."
}`, nil},
		{"what cannot be decided", `
deny "timeout" {
  for_each      = plan.changes
  condition     = each.value.after.timeout == "1h"
  error_message = "No."
}`, []string{`error policy.hcl:4 Unsupported attribute: This object does not have an attribute named "timeout". This is about job.load["eu"]. The rule "timeout" cannot be decided, so the plan is denied.`}},
		{"a warning that cannot be decided", `
warn "timeout" {
  condition     = plan.changes[4].address == ""
  error_message = "No."
}`, []string{`error policy.hcl:3 Invalid index: The given key does not identify an element in this collection value: the given index is greater than or equal to the length of the collection. The rule "timeout" cannot be decided, so the plan is denied.`}},
		{"a local that cannot be found", `
locals {
  first = plan.changes[9].address
}
deny "first" {
  condition     = local.first == ""
  error_message = "No."
}`, []string{`error policy.hcl:3 Invalid index: The given key does not identify an element in this collection value.`}},
		{"a sensitive message", `
locals {
  secret = sensitive(plan.workflow)
}
deny "secret" {
  condition     = local.secret != ""
  error_message = local.secret
}`, []string{`error policy.hcl:6 Denied by policy: The error_message is made from a sensitive value, so it is not shown. This is the rule "secret".`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p, diags := policyOf(t, row.text)
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			for range 2 { // by the same policy, again
				if d := cmp.Diff(row.want, told(p.Judge(judgedPlan()))); d != "" {
					t.Error(d)
				}
			}
			checkRendering(t, &Workflow{Sources: p.Sources()}, p.Judge(judgedPlan()))
		})
	}
}

func told(diags hcl.Diagnostics) (list []string) {
	for _, d := range diags {
		severity := map[hcl.DiagnosticSeverity]string{hcl.DiagError: "error", hcl.DiagWarning: "warning"}[d.Severity]
		list = append(list, fmt.Sprintf("%s %s:%d %s: %s", severity, filepath.Base(d.Subject.Filename), d.Subject.Start.Line, d.Summary, d.Detail))
	}
	return list
}

// TestJudgeInJSON gives a policy in the JSON syntax.
func TestJudgeInJSON(t *testing.T) {
	t.Parallel()
	dir := writeTree(t, map[string]string{"policy.hcl.json": `{
  "required_labels": ["team"],
  "locals": {"gone": "${[for c in plan.changes : c if c.action == \"delete\"]}"},
  "deny": {"gone": {"for_each": "${local.gone}", "condition": "${each.value.status == \"completed\"}", "error_message": "${each.value.address} is gone."}}
}`})
	p, diags := LoadPolicy([]string{filepath.Join(dir, "policy.hcl.json")})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	want := []string{
		"error policy.hcl.json:2 Denied by policy: Each job that a plan submits or changes needs the label \"team\" in its meta:\n  - module.m.job.report lacks \"team\"",
		`error policy.hcl.json:4 Denied by policy: job.old[2] is gone. This is the rule "gone".`,
	}
	if d := cmp.Diff(want, told(p.Judge(judgedPlan()))); d != "" {
		t.Error(d)
	}
}

// TestRulings checks what programs get of a ruling.
func TestRulings(t *testing.T) {
	t.Parallel()
	d := judgedPlan()
	for i := range 30 {
		d.Changes = append(d.Changes, ChangeData{JobData: JobData{Addr: Addr{Name: "many", Key: InstanceKey{Kind: KeyInt, Int: i}}}, Declared: true})
	}
	p, diags := policyOf(t, "required_labels = [\"team\"]\ndeny \"all\" {\n  for_each = plan.changes\n  condition = true\n  error_message = \"No.\"\n}\n")
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	var got []Ruling
	for _, diag := range p.Judge(d) {
		r, ok := diag.Extra.(Ruling)
		if !ok || !strings.HasSuffix(diag.Detail, fmt.Sprintf("\n  - and %d more", r.More)) {
			t.Errorf("not a ruling, or it does not say how many more there are: %s", diag.Detail)
		}
		got = append(got, Ruling{Rule: r.Rule, Addresses: r.Addresses[:2], More: r.More})
	}
	want := []Ruling{{Rule: "required_labels", Addresses: []string{"module.m.job.report", "job.many[0]"}, More: 11},
		{Rule: "all", Addresses: []string{`job.load["eu"]`, `job.load["us"]`}, More: 14}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestPolicyKeepsWhatItRead changes a file after it was read.
func TestPolicyKeepsWhatItRead(t *testing.T) {
	t.Parallel()
	text := "deny \"all\" {\n  condition     = true\n  error_message = \"No.\"\n}\n"
	dir := writeTree(t, map[string]string{"policy.hcl": text})
	path := filepath.Join(dir, "policy.hcl")
	p, _ := LoadPolicy([]string{path, path})
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if diags := p.Judge(judgedPlan()); len(diags) != 1 || diags[0].Summary != string(sumDenied) {
		t.Errorf("got %v", diags)
	}
	var none *Policy
	if none.Judge(judgedPlan()) != nil || none.Sources() != nil {
		t.Error("no policy has something to say")
	}
}

// TestPlanFacts holds the values of a plan against the table that the sample and the reference are made from.
func TestPlanFacts(t *testing.T) {
	t.Parallel()
	var check func(path string, facts []fact, v cty.Value)
	check = func(path string, facts []fact, v cty.Value) {
		var names []string
		for _, f := range facts {
			at := path + "." + f.name
			names = append(names, f.name)
			if f.text == "" {
				t.Errorf("%s has no text", at)
			}
			if !v.Type().HasAttribute(f.name) {
				continue
			}
			inner := v.GetAttr(f.name)
			switch {
			case f.each == nil && f.is != cty.DynamicPseudoType && !inner.Type().Equals(f.is):
				t.Errorf("%s is %s, want %s", at, inner.Type().FriendlyName(), f.is.FriendlyName())
			case f.one:
				check(at, f.each, inner)
			case f.each != nil:
				if inner.LengthInt() == 0 {
					t.Errorf("%s is empty", at)
				}
				for it := inner.ElementIterator(); it.Next(); {
					_, elem := it.Element()
					check(at, f.each, elem)
				}
			}
		}
		slices.Sort(names)
		if d := cmp.Diff(names, slices.Sorted(maps.Keys(v.Type().AttributeTypes()))); d != "" {
			t.Errorf("members of %s: %s", path, d)
		}
	}
	check("plan", planFacts(), judgedPlan().value())
	check("sample", planFacts(), samplePlan())
}
