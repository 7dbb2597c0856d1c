package controller

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// changed waits until a change is told.
func changed(t *testing.T, f *Files) {
	t.Helper()
	select {
	case <-f.Changed():
	case <-t.Context().Done():
		t.Fatal("no change was told")
	}
}

// TestFilesAreWatched changes a configuration in the ways in which people and tools do.
func TestFilesAreWatched(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(t *testing.T, dir string)
	}{
		{"written", func(t *testing.T, dir string) { write(t, dir+"/flow/main.hcl", "2") }},
		{"replaced by an editor", func(t *testing.T, dir string) {
			write(t, dir+"/flow/.main.hcl.swp", "2")
			rename(t, dir+"/flow/.main.hcl.swp", dir+"/flow/main.hcl")
		}},
		{"new file", func(t *testing.T, dir string) { write(t, dir+"/flow/more.hcl", "2") }},
		{"new values", func(t *testing.T, dir string) { write(t, dir+"/flow/x.auto.wbvars.json", "2") }},
		{"module elsewhere", func(t *testing.T, dir string) { write(t, dir+"/shared/m.hcl", "2") }},
		{"input", func(t *testing.T, dir string) { write(t, dir+"/flow/data/in.csv", "2") }},
		{"listed directory", func(t *testing.T, dir string) { write(t, dir+"/flow/parts/9.txt", "2") }},
		{"removed", func(t *testing.T, dir string) {
			if err := os.Remove(dir + "/flow/main.hcl"); err != nil {
				t.Fatal(err)
			}
		}},
		{"directory put in place", func(t *testing.T, dir string) {
			write(t, dir+"/next/main.hcl", "2")
			rename(t, dir+"/flow", dir+"/old")
			rename(t, dir+"/next", dir+"/flow")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			made := []string{"flow/main.hcl", "shared/m.hcl", "flow/data/in.csv", "flow/parts/1.txt"}
			for i, name := range made {
				made[i] = filepath.Join(dir, name)
				write(t, made[i], "1")
			}
			made[3] = filepath.Dir(made[3])
			f := NewFiles(filepath.Join(dir, "flow"))
			defer f.Close() //nolint:errcheck // a test
			for range 2 {
				if err := f.Watch(made); err != nil {
					t.Fatal(err)
				}
			}
			test.change(t, dir)
			changed(t, f)
			if err := f.Watch(made); err != nil { // of what is there by now
				t.Fatal(err)
			}
			write(t, dir+"/flow/main.hcl", "3")
			changed(t, f)
		})
	}
}

// TestEventsThatMatter lists what is a change of a configuration and what is not.
func TestEventsThatMatter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/flow/main.hcl", "")
	f := NewFiles(dir + "/flow")
	defer f.Close() //nolint:errcheck // a test
	if err := f.Watch([]string{dir + "/flow/main.hcl", dir + "/flow/run.sh"}); err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	events := map[string]fsnotify.Op{
		"flow/main.hcl": fsnotify.Write, "flow/new.hcl": fsnotify.Create, "flow/new.hcl.json": fsnotify.Create, "flow/run.sh": fsnotify.Remove,
		"flow/waybill.wbvars": fsnotify.Create, "flow/..data": fsnotify.Create, "flow": fsnotify.Rename,
		"flow/out.csv": fsnotify.Write, "flow/.main.hcl.swp": fsnotify.Write, "flow/main.hcl~": fsnotify.Create, "neighbour.hcl": fsnotify.Write,
		"other": fsnotify.Create,
	}
	want := map[string]bool{
		"flow/main.hcl": true, "flow/new.hcl": true, "flow/new.hcl.json": true, "flow/run.sh": true, "flow/waybill.wbvars": true,
		"flow/..data": true, "flow": true,
		"flow/out.csv": false, "flow/.main.hcl.swp": false, "flow/main.hcl~": false, "neighbour.hcl": false, "other": false,
	}
	for name, op := range events {
		got[name] = f.matters(fsnotify.Event{Name: filepath.Join(dir, name), Op: op})
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("events that matter (-want +got):\n%s", d)
	}
	if f.matters(fsnotify.Event{Name: filepath.Join(dir, "flow/main.hcl"), Op: fsnotify.Chmod}) {
		t.Error("a change of permissions alone matters")
	}
}
