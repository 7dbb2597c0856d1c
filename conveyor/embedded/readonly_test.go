package embedded

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
)

// tree reads a directory with everything that a reader could change.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		entry := info.Mode().String() + " " + info.ModTime().String()
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			entry += " " + string(b)
		}
		all[path] = entry
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func openReadOnly(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := ReadOnly(t.Context(), dir, testOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeStore(t, s) })
	return s
}

func TestReadOnlyMakesNothing(t *testing.T) {
	t.Parallel()
	parent := filepath.Dir(storeDir(t))
	before := tree(t, parent)
	s := openReadOnly(t, filepath.Join(parent, "none", "s"))
	if n, err := s.Client().DBSize(t.Context()).Result(); err != nil || n != 0 {
		t.Errorf("a store that is not there has %d keys, %v", n, err)
	}
	closeStore(t, s)
	if diff := cmp.Diff(before, tree(t, parent)); diff != "" {
		t.Errorf("reading made something (-before +after):\n%s", diff)
	}
}

// TestReadOnlyChangesNothing reads journals in every state that a crash may leave them in.
func TestReadOnlyChangesNothing(t *testing.T) {
	t.Parallel()
	dir := storeDir(t)
	path := written(t, dir)
	whole := read(t, path)
	for name, journal := range map[string][]byte{"whole": whole, "torn": whole[:len(whole)-3], "empty": nil} {
		write(t, path, journal)
		write(t, path+".new", []byte("what a compaction left"))
		before := tree(t, dir)
		s := openReadOnly(t, dir)
		want := map[string]any{}
		switch name {
		case "whole":
			want["c"] = "value of c"
			fallthrough
		case "torn":
			want["a"], want["b"] = "value of a", "value of b"
		}
		if diff := cmp.Diff(want, dump(t, s.Client())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		closeStore(t, s)
		if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
			t.Errorf("%s: reading changed something (-before +after):\n%s", name, diff)
		}
	}
}

func TestReadOnlyRefusesWrites(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"copy", "live host"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			dir := storeDir(t)
			host := open(t, dir)
			must(t, host.Client().Set(t.Context(), "k", "v", 0))
			if place == "copy" {
				closeStore(t, host)
			}
			s := openReadOnly(t, dir)
			if s.Hosting() {
				t.Error("a reader hosts the store")
			}
			rdb := s.Client()
			for name, err := range map[string]error{
				"SET":    rdb.Set(t.Context(), "k", "w", 0).Err(),
				"script": rdb.Eval(t.Context(), "return redis.call('SET', KEYS[1], 'w')", []string{"k"}).Err(),
				"MULTI":  txError(rdb.TxPipelined(t.Context(), txSet(t.Context(), "k", "w"))),
				"BLPOP":  rdb.BLPop(t.Context(), 0, "list").Err(),
			} {
				if err == nil || !strings.Contains(err.Error(), "READONLY") {
					t.Errorf("%s ended with %v, want READONLY", name, err)
				}
			}
			sha, err := rdb.ScriptLoad(t.Context(), "return redis.call('GET', KEYS[1])").Result()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := rdb.EvalSha(t.Context(), sha, []string{"k"}).Result(); err != nil || got != "v" {
				t.Errorf("a script that reads gave %v, %v", got, err)
			}
			if place == "copy" {
				return
			}
			must(t, host.Client().Set(t.Context(), "k", "live", 0))
			if got := rdb.Get(t.Context(), "k").Val(); got != "live" {
				t.Errorf("a reader of a live host sees %q", got)
			}
			before := len(read(t, filepath.Join(dir, "journal")))
			must(t, rdb.ScriptLoad(t.Context(), "return 1"))
			if after := len(read(t, filepath.Join(dir, "journal"))); after != before {
				t.Errorf("a reader made the journal grow by %d bytes", after-before)
			}
			closeStore(t, host) // the reader goes on with a copy
			if got, err := rdb.Get(t.Context(), "k").Result(); err != nil || got != "live" {
				t.Errorf("after the host has gone the reader sees %q, %v", got, err)
			}
		})
	}
}

func txError(_ []redis.Cmder, err error) error { return err }
