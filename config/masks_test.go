package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMasks: a job's worker masks the sensitive texts of its work, and the variables and locals that they were made from, those
// of the modules around included, and no others.
func TestMasks(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"main.hcl": `
workflow "w" {}
variable "token" {
  sensitive = true
  default   = "hunter2"
}
variable "unused" {
  sensitive = true
  default   = "elsewhere"
}
variable "login" {
  sensitive = true
  type      = object({ user = string, pin = number })
  default   = { user = "root", pin = 123456 }
}
locals {
  header = "Bearer ${var.token}"
}
job "plain" {
  exec { command = ["true", "x"] }
}
job "command" {
  exec {
    command = ["curl", "-H", local.header]
    env     = { LOGIN = jsonencode(var.login) }
  }
}
job "payload" {
  type    = "t"
  payload = { login = var.login, list = [sensitive("made here"), "open"] }
}
module "m" {
  source = "./m"
  header = "Authorization: ${local.header}"
}
`,
		"m/main.hcl": `
variable "header" {
  type      = string
  sensitive = true
}
job "inner" {
  http {
    url     = "https://example.com/"
    headers = { X = var.header }
  }
}
`,
	}
	w, diags := Load(Options{Paths: []string{writeTree(t, files)}, NeedVariables: true})
	if len(diags) > 0 {
		t.Fatal(texts(diags))
	}
	got := map[string][]string{}
	for _, j := range w.Jobs {
		got[j.Addr.String()] = j.Masks
	}
	want := map[string][]string{
		"job.plain":          nil,
		"job.command":        {"root", "hunter2", "Bearer hunter2", `{"pin":123456,"user":"root"}`},
		"job.payload":        {"root", "made here"},
		"module.m.job.inner": {"hunter2", "Bearer hunter2", "Authorization: Bearer hunter2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("masks (-want +got):\n%s", diff)
	}
}

// TestMasksAreBounded: what is masked is stored with the job.
func TestMasksAreBounded(t *testing.T) {
	t.Parallel()
	var texts []string
	for i := range 20 {
		texts = append(texts, strings.Repeat("x", 8<<10-i))
	}
	got := (&module{}).masks(append(texts, strings.Repeat("y", 8<<10+1), "short", "", "short", placeholderHead+"rest"))
	size := 0
	for _, text := range got {
		size += len(text)
	}
	if size > maxMaskedTexts || got[0] != "short" || len(got) != 9 || slices.Contains(got, "") {
		t.Errorf("it masks %d texts with %d bytes, the first is %q", len(got), size, got[0])
	}
}
