package config_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
)

// archived are files of a workflow that reads the disk in all the ways there are.
var archived = map[string]string{
	"w/main.hcl": `workflow "w" {}
variable "day" { type = string }
variable "regions" {
  type    = set(string)
  default = ["eu"]
}
variable "secret" {
  type      = string
  sensitive = true
}
job "read" {
  for_each = var.regions
  type     = "x"
  payload = {
    day = var.day
    key = each.key
    text = file("data/text")
    sum = filesha256("../big")
    set = fileset("data", "*.csv")
    none = fileset("data/empty", "*")
    is = fileexists("data/text")
    no = fileexists("data/nothing")
    page = templatefile("data/page.tpl", { day = var.day })
    secret = var.secret
  }
}
job "run" {
  exec {
    command = ["./run.sh", var.day]
    inputs  = ["../big"]
  }
}
module "m" {
  source = "../lib"
  day    = var.day
}
`,
	"w/waybill.wbvars":   `day = "from the file"`,
	"w/data/text":        "text",
	"w/data/a.csv":       "1",
	"w/data/b.csv":       "2",
	"w/data/page.tpl":    "it is ${day}",
	"w/data/empty/.keep": "",
	"w/run.sh":           "#!/bin/sh",
	"big":                "not so big",
	"lib/main.hcl":       "variable \"day\" {}\njob \"in\" {\n  type = \"y\"\n  payload = { day = var.day, here = file(\"../lib/note\") }\n}\n",
	"lib/note":           "a note",
}

func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func mustArchive(t *testing.T, w *config.Workflow) []byte {
	t.Helper()
	data, err := w.Archive()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestArchive loads what is not on the disk any more.
func TestArchive(t *testing.T) {
	t.Parallel()
	files := archived
	dir := writeFiles(t, files)
	o := config.Options{Paths: []string{filepath.Join(dir, "w")}, NeedVariables: true,
		Vars: []config.VarSource{{Assign: "secret=hunter2"}, {Assign: `regions=["eu","us"]`}}}
	want, diags := config.Load(o)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	data := mustArchive(t, want)
	if bytes.Contains(data, []byte("hunter2")) {
		t.Error("the value of a sensitive variable is in the archive")
	}
	elsewhere, diags := config.Load(config.Options{Paths: []string{filepath.Join(writeFiles(t, files), "w")}, NeedVariables: true, Vars: o.Vars})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if !bytes.Equal(data, mustArchive(t, elsewhere)) {
		t.Error("the same files elsewhere are other bytes")
	}
	for name := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("something else"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a, err := config.OpenArchive(data)
	if err != nil {
		t.Fatal(err)
	}
	o.Archive, o.Vars, o.Environ = a, []config.VarSource{{Assign: "secret=hunter2"}}, []string{"WAYBILL_VAR_day=from the environment"}
	got, diags := config.Load(o)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if diff := cmp.Diff(want.Jobs, got.Jobs); diff != "" {
		t.Errorf("-loaded +from the archive:\n%s", diff)
	}
	if !bytes.Equal(data, mustArchive(t, got)) {
		t.Error("the archive of what was loaded from an archive is another")
	}

	o.Vars = []config.VarSource{{Assign: "day=today"}}
	_, diags = config.Load(o)
	var said []string
	for _, d := range diags {
		said = append(said, d.Summary+": "+d.Detail)
	}
	if diff := cmp.Diff([]string{
		`Invalid option: "day" has the value that it had in this revision; -var gives what is not kept there, which is sensitive values.`,
		`Missing value of a variable: Variable "secret" has no default and no value was given. Set it with -var secret=VALUE, in the environment as WAYBILL_VAR_secret, or in a file such as waybill.wbvars.`,
	}, said); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestArchiveRefused reads what is no archive, and archives what was not loaded or is too large.
func TestArchiveRefused(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "PK", "something else"} {
		if _, err := config.OpenArchive([]byte(data)); !errors.Is(err, config.ErrArchive) {
			t.Errorf("%q: %v", data, err)
		}
	}
	if _, err := (&config.Workflow{}).Archive(); !errors.Is(err, config.ErrArchive) {
		t.Errorf("a workflow that was made by hand: %v", err)
	}
	dir := writeFiles(t, map[string]string{
		"main.hcl": "job \"a\" {\n  type = \"x\"\n  payload = { sum = length(file(\"1\")) + length(file(\"2\")) + length(file(\"3\")) }\n}\n",
		"1":        strings.Repeat("a", 25<<20), "2": strings.Repeat("b", 25<<20), "3": strings.Repeat("c", 25<<20),
	})
	w, diags := config.Load(config.Options{Paths: []string{dir}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if _, err := w.Archive(); !errors.Is(err, config.ErrTooLarge) {
		t.Errorf("75 MiB: %v", err)
	}
}
