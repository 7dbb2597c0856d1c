package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// written makes a closed store with three commands in its journal and gives the journal's path.
func written(t *testing.T, dir string) string {
	t.Helper()
	s := open(t, dir)
	for _, key := range []string{"a", "b", "c"} {
		must(t, s.Client().Set(t.Context(), key, "value of "+key, 0))
	}
	closeStore(t, s)
	return filepath.Join(dir, "journal")
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// ends are the offsets at which the records of a journal end, that of the header first.
func ends(t *testing.T, journal []byte) []int {
	t.Helper()
	all := []int{len(journalHeader)}
	for at := len(journalHeader); at < len(journal); {
		h, err := decodeHead(journal[at:])
		if err != nil {
			t.Fatal(err)
		}
		at += headSize + h.size
		all = append(all, at)
	}
	return all
}

// TestTornTailIsCut cuts the journal at every byte: the records that are whole are there, and the store goes on.
func TestTornTailIsCut(t *testing.T) {
	t.Parallel()
	path := written(t, storeDir(t))
	whole := read(t, path)
	records := ends(t, whole)
	dir := storeDir(t)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) {
		write(t, filepath.Join(dir, "journal"), whole[:cut])
		s, err := Open(t.Context(), dir, Options{})
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		want := map[string]any{}
		for i, key := range []string{"a", "b", "c"} {
			if cut >= records[i+1] {
				want[key] = "value of " + key
			}
		}
		if diff := cmp.Diff(want, dump(t, s.Client())); diff != "" {
			t.Fatalf("cut at %d (-want +got):\n%s", cut, diff)
		}
		must(t, s.Client().Set(t.Context(), "d", "1", 0))
		want["d"] = "1"
		closeStore(t, s)
		again, err := Open(t.Context(), dir, Options{})
		if err != nil {
			t.Fatalf("cut at %d and opened again: %v", cut, err)
		}
		if diff := cmp.Diff(want, dump(t, again.Client())); diff != "" {
			t.Fatalf("cut at %d, opened again (-want +got):\n%s", cut, diff)
		}
		closeStore(t, again)
	}
}

// TestDamageIsNamed flips each byte of a record in the middle.
func TestDamageIsNamed(t *testing.T) {
	t.Parallel()
	dir := storeDir(t)
	path := written(t, dir)
	whole := read(t, path)
	records := ends(t, whole)
	for at := records[1]; at < records[2]; at++ {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 0x20
		write(t, path, damaged)
		_, err := Open(t.Context(), dir, Options{})
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || corrupt.Offset != int64(records[1]) {
			t.Fatalf("byte %d: the error is %v, want damage at %d", at, err, records[1])
		}
		if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), fmt.Sprint(records[1])) {
			t.Fatalf("the error names neither file nor offset: %v", err)
		}
		if diff := cmp.Diff(damaged, read(t, path)); diff != "" {
			t.Fatal("opening a damaged journal changed it")
		}
		if _, err := ReadOnly(t.Context(), dir, Options{}); !errors.As(err, &corrupt) {
			t.Fatalf("byte %d: reading only gives %v", at, err)
		}
	}
}

func TestJournalOfAnotherKindIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ journal, want string }{
		"newer format":       {"waybill journal 2\n", "no journal that this version reads"},
		"other file":         {"#!/bin/sh\necho this is longer than a header\n", "no journal that this version reads"},
		"newer record":       {journalHeader + frameOf("\x07abc"), "newer version"},
		"no journal command": {journalHeader + frameOf("\x01\x00\x01\x04PING"), "no command of a journal"},
		"unknown command":    {journalHeader + frameOf("\x01\x00\x01\x04NOPE"), "no command of a journal"},
		"wrong arguments":    {journalHeader + frameOf("\x01\x00\x01\x03SET"), "wrong number of arguments"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := storeDir(t)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "journal")
			write(t, path, []byte(test.journal))
			_, err := Open(t.Context(), dir, Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Fatalf("the error is %v, want %q and the path", err, test.want)
			}
		})
	}
}

func frameOf(payload string) string {
	r := newRecord(kind(payload[0]))
	r.buf = append(r.buf, payload[1:]...)
	return string(r.frame())
}

// TestInterruptedCompactionIsForgotten finds what a crash during a compaction leaves.
func TestInterruptedCompactionIsForgotten(t *testing.T) {
	t.Parallel()
	dir := storeDir(t)
	path := written(t, dir)
	write(t, path+".new", []byte(journalHeader+"half of a snap"))
	want := map[string]any{"a": "value of a", "b": "value of b", "c": "value of c"}
	if diff := cmp.Diff(want, dump(t, open(t, dir).Client())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := os.Stat(path + ".new"); !os.IsNotExist(err) {
		t.Errorf("the leftover is still there: %v", err)
	}
}

// brokenDisk fails writes or syncs from a moment on.
type brokenDisk struct {
	*os.File
	writes, syncs *error
}

func (d brokenDisk) Write(p []byte) (int, error) {
	if err := *d.writes; err != nil {
		n, _ := d.File.Write(p[:len(p)/2]) // what a full disk does
		return n, err
	}
	return d.File.Write(p)
}

func (d brokenDisk) Sync() error {
	if err := *d.syncs; err != nil {
		return err
	}
	return d.File.Sync()
}

// TestNothingUnwrittenIsAcknowledged breaks the disk under a host, for plain commands, scripts and pops that wait.
func TestNothingUnwrittenIsAcknowledged(t *testing.T) {
	t.Parallel()
	var writes, syncs error
	o := testOptions(t)
	o.openFile = func(f *os.File) journalFile { return brokenDisk{f, &writes, &syncs} }
	s := openWith(t, storeDir(t), o)
	rdb := s.Client()
	must(t, rdb.RPush(t.Context(), "list", "1"))

	s.mu.Lock()
	h := s.host
	s.mu.Unlock()
	h.mu.Lock()
	writes = errors.New("no space left on device")
	h.mu.Unlock()
	for name, cmd := range map[string]error{
		"command": rdb.Set(t.Context(), "k", "v", 0).Err(),
		"script":  rdb.Eval(t.Context(), "return redis.call('SET', KEYS[1], '1')", []string{"k"}).Err(),
		"pop":     rdb.BLPop(t.Context(), 0, "list").Err(),
	} {
		if cmd == nil || !strings.Contains(cmd.Error(), "no space left") || !strings.Contains(cmd.Error(), "journal") {
			t.Errorf("%s: the error is %v, want the disk's, with the path", name, cmd)
		}
	}
	if diff := cmp.Diff(map[string]any{"list": []string{"1"}}, dump(t, rdb)); diff != "" {
		t.Errorf("refused commands had effects (-want +got):\n%s", diff)
	}
	s.mu.Lock()
	h = s.host
	s.mu.Unlock()
	h.mu.Lock()
	writes = nil
	h.mu.Unlock()
	must(t, rdb.Set(t.Context(), "k", "v", 0))
}

// TestFailedSyncEndsTheHost: after a failed fsync nobody knows what is on the disk.
func TestFailedSyncEndsTheHost(t *testing.T) {
	t.Parallel()
	var writes, syncs error
	o := testOptions(t)
	o.openFile = func(f *os.File) journalFile { return brokenDisk{f, &writes, &syncs} }
	s := openWith(t, storeDir(t), o)
	must(t, s.Client().Set(t.Context(), "k", "v", 0))
	s.mu.Lock()
	h := s.host
	s.mu.Unlock()
	h.mu.Lock()
	syncs = errors.New("input/output error")
	h.mu.Unlock()
	h.upkeep()
	<-h.ended
	h.mu.Lock()
	err := h.failed
	syncs = nil
	h.mu.Unlock()
	if err == nil || !strings.Contains(err.Error(), "input/output error") {
		t.Fatalf("the host ended with %v", err)
	}
	must(t, s.Client().Set(t.Context(), "k", "w", 0))
}

func TestRunningHostCompacts(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	o.CompactAt = leastCompactAt
	dir := storeDir(t)
	s := openWith(t, dir, o)
	for i := range 1000 {
		must(t, s.Client().Set(t.Context(), "k", fmt.Sprint(i), 0))
	}
	s.mu.Lock()
	h := s.host
	s.mu.Unlock()
	h.upkeep()
	if size := len(read(t, filepath.Join(dir, "journal"))); size > 200 {
		t.Errorf("the journal has %d bytes for one key", size)
	}
	must(t, s.Client().Set(t.Context(), "l", "1", 0))
	closeStore(t, s)
	want := map[string]any{"k": "999", "l": "1"}
	if diff := cmp.Diff(want, dump(t, open(t, dir).Client())); diff != "" {
		t.Errorf("after a compaction (-want +got):\n%s", diff)
	}
}

// TestRemovedDirectoryEndsTheHost: a host must not go on in files that nobody else can find.
func TestRemovedDirectoryEndsTheHost(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"journal", "socket"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := storeDir(t)
			s := open(t, dir)
			must(t, s.Client().Set(t.Context(), "k", "v", 0))
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			s.mu.Lock()
			h := s.host
			s.mu.Unlock()
			h.upkeep()
			<-h.ended
			want := map[string]map[string]any{"journal": {}, "socket": {"k": "v"}}[name]
			if diff := cmp.Diff(want, dump(t, s.Client())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzReplay(f *testing.F) {
	r := newRecord(kindEffects)
	r.add(0, "SET", "k", "v")
	r.add(3, "DEL", "k")
	f.Add([]byte(journalHeader + string(r.frame())))
	f.Add([]byte(journalHeader + string(r.frame()) + string(r.frame()[:20])))
	f.Add([]byte(journalHeader[:5]))
	f.Add([]byte(journalHeader + frameOf("\x01\xff\xff\xff\xff")))
	f.Fuzz(func(t *testing.T, journal []byte) {
		for _, b := range [][]byte{journal, []byte(journalHeader + frameOf("\x01"+string(journal)))} {
			var again bytes.Buffer
			again.WriteString(journalHeader)
			commands := newRecord(kindEffects)
			done, err := replay("j", bytes.NewReader(b), int64(len(b)), func(c command) error {
				commands.add(c.db, c.args...)
				return nil
			})
			if err != nil || commands.empty() {
				continue
			}
			if done.size > int64(len(b)) || done.size+done.torn != int64(len(b)) {
				t.Fatalf("%d bytes are good and %d torn, of %d", done.size, done.torn, len(b))
			}
			// What was understood is written and understood again.
			again.Write(commands.frame())
			second := newRecord(kindEffects)
			if _, err := replay("j", bytes.NewReader(again.Bytes()), int64(again.Len()), func(c command) error {
				second.add(c.db, c.args...)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(commands.frame(), second.frame()) {
				t.Fatal("commands changed on the way")
			}
		}
	})
}
