package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// writeTree writes files by their paths below a new directory.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestModulesBehindLinks includes a module in itself by way of symbolic links, and one directory under two names.
func TestModulesBehindLinks(t *testing.T) {
	t.Parallel()
	dir := writeTree(t, map[string]string{
		"main.hcl":     "module \"a\" {\n  source = \"./a\"\n}\nmodule \"also\" {\n  source = \"./also\"\n}\n",
		"real/m.hcl":   "job \"j\" {\n  exec {\n    command = [\"echo\", path.module]\n  }\n}\n",
		"a/m.hcl":      "module \"again\" {\n  source = \"./deeper\"\n}\nmodule \"fine\" {\n  source = \"../real\"\n}\n",
		"a/b/note.txt": "",
	})
	for link, to := range map[string]string{"a/deeper": "../a", "also": "real"} {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	w, diags := Load(Options{Paths: []string{dir}})
	expectOne(t, diags, sumModuleCircle, `Module "again" is this module itself, so there would be no end: ./a -> ./deeper.`)
	got := map[string]string{}
	for _, j := range w.Jobs {
		got[j.Addr.String()] = string(j.Payload)
	}
	want := map[string]string{"module.a.module.fine.job.j": `{"command":["echo","./real"]}`, "module.also.job.j": `{"command":["echo","./also"]}`}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestModulesNeedTheirDirectory loads modules of single files, and in a quick load does not read them at all.
func TestModulesNeedTheirDirectory(t *testing.T) {
	t.Parallel()
	dir := writeTree(t, map[string]string{
		"main.hcl":  "workflow \"w\" {\n  namespace = local.n\n}\nlocals {\n  n = \"x\"\n  m = module.a.o\n}\nmodule \"a\" {\n  source = \"./a\"\n}\n",
		"other.hcl": "not HCL",
		"a/m.hcl":   "job \"j\" {\n  type = \"noop\"\n}\noutput \"o\" {\n  value = 1\n}\n",
	})
	w, diags := Load(Options{Paths: []string{filepath.Join(dir, "main.hcl")}})
	if len(diags) > 0 || len(w.Jobs) != 1 {
		t.Errorf("%d jobs, %v", len(w.Jobs), diags)
	}
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if w, diags = Load(Options{Paths: []string{filepath.Join(dir, "main.hcl")}, Quick: true}); len(diags) > 0 || w.Namespace != "x" {
		t.Errorf("namespace %q, %v", w.Namespace, diags)
	}
}

// TestModuleIsAWorkflow calls drawn workflows as modules: their jobs are the same, but for their addresses.
func TestModuleIsAWorkflow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var inner, outer []string
		for _, block := range drawBlocks(rt) {
			if strings.HasPrefix(block, "workflow") || strings.HasPrefix(block, "queue") {
				continue
			}
			inner = append(inner, block)
		}
		outer = []string{"workflow \"w\" {}"}
		calls := []string{"module \"m\" {\n  source = \"./inner\"\n}", "module \"m\" {\n  source = \"./inner\"\n  count = 2\n}", "module \"m\" {\n  source = \"./inner\"\n  for_each = { k = 1, l = 2 }\n  v = \"x\"\n}"}
		n := rapid.IntRange(0, 2).Draw(rt, "call")
		prefix := []string{"module.m.", "module.m[1].", `module.m["k"].`}[n]
		alone := loadTree(t, rt, map[string]string{"main.hcl": strings.Join(append(outer, inner...), "\n\n") + "\n"})
		called := loadTree(t, rt, map[string]string{"main.hcl": strings.Join(append(outer, calls[n]), "\n\n") + "\n", "inner/m.hcl": strings.Join(inner, "\n\n") + "\n"})
		checkWorkflow(t, called)
		var there []*Job
		for _, j := range called.Jobs {
			if strings.HasPrefix(j.Addr.String(), prefix) {
				there = append(there, j)
			}
		}
		alone.Outputs = nil
		want := plainAddresses(&Workflow{Name: "w", Jobs: alone.Jobs}, "")
		got := plainAddresses(&Workflow{Name: "w", Jobs: there}, prefix)
		if d := cmp.Diff(want, got); d != "" {
			rt.Fatal(d)
		}
	})
}

func loadTree(t *testing.T, rt *rapid.T, files map[string]string) *Workflow {
	w, diags := Load(Options{Paths: []string{writeTree(t, files)}, NeedVariables: true})
	if len(diags) > 0 {
		rt.Fatalf("%v\n%v", texts(diags), files)
	}
	return w
}

// plainAddresses describes the jobs without the module that they are in, also where uuids stand for them.
func plainAddresses(w *Workflow, prefix string) string {
	text := FillPlaceholders(describe(w), func(address string) string { return "<" + address + ">" })
	plain := string(text)
	if prefix != "" {
		plain = strings.ReplaceAll(plain, prefix, "")
		plain = strings.ReplaceAll(plain, strings.ReplaceAll(prefix, `"`, `\"`), "")
	}
	return plain
}

// TestFilesOfAWorkflow names all that a workflow was made of, for whoever watches it.
func TestFilesOfAWorkflow(t *testing.T) {
	t.Parallel()
	dir := writeTree(t, map[string]string{
		"w/main.hcl": "variable \"v\" {}\nmodule \"a\" {\n  source = \"../a\"\n}\n" +
			"job \"j\" {\n  exec {\n    command = [\"true\"]\n    inputs  = [for p in fileset(\"parts\", \"*.txt\") : \"parts/${p}\"]\n  }\n  triggers = { a = file(\"a.txt\"), b = fileexists(\"b.txt\") }\n}\n",
		"a/m.hcl": "", "w/a.txt": "a", "w/parts/1.txt": "1", "w/waybill.wbvars": "", "given.wbvars": "v = 1",
	})
	w, diags := Load(Options{Paths: []string{filepath.Join(dir, "w")}, Vars: []VarSource{{File: filepath.Join(dir, "given.wbvars")}, {Assign: "v=2"}}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := []string{"a/m.hcl", "given.wbvars", "w/a.txt", "w/b.txt", "w/main.hcl", "w/parts", "w/parts/1.txt", "w/true", "w/waybill.wbvars"}
	for i := range want {
		want[i] = filepath.Join(dir, filepath.FromSlash(want[i]))
	}
	if d := cmp.Diff(want, w.Files()); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
}
