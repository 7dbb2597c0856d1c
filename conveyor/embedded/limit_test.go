//go:build unix

package embedded

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func init() { roles["limited"] = childHitsLimit }

// TestFullDiskRefusesCommands has a child whose files may not grow: the kernel then fails its writes as a full
// disk would.
func TestFullDiskRefusesCommands(t *testing.T) {
	t.Parallel()
	dir := storeDir(t)
	c := startChild(t, "limited", dir)
	if got := c.line(t); !strings.Contains(got, "MISCONF") || !strings.Contains(got, filepath.Join(dir, "journal")) {
		t.Errorf("the refusal is %q, want MISCONF and the name of the journal", got)
	}
	if got := c.line(t); got != "small true" {
		t.Errorf("after the refusal: %q", got)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, c.stderr)
	}
	rdb := open(t, dir).Client()
	if got := rdb.Keys(t.Context(), "*").Val(); len(got) != 2 {
		t.Fatalf("the keys are %q, want before and after", got)
	}
}

func childHitsLimit(dir string) error {
	limit := syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	// Go ignores SIGXFSZ, so that the write itself fails.
	ctx := context.Background()
	s, err := Open(ctx, dir, Options{})
	if err != nil {
		return err
	}
	rdb := s.Client()
	if err := rdb.Set(ctx, "before", "1", 0).Err(); err != nil {
		return err
	}
	fmt.Println(rdb.Set(ctx, "big", strings.Repeat("x", 100<<10), 0).Err())
	exists, err := rdb.Exists(ctx, "big").Result()
	if err != nil {
		return err
	}
	err = rdb.Set(ctx, "after", "1", 0).Err() // small enough still
	fmt.Println("small", err == nil && exists == 0)
	return s.Close()
}

// TestUnwritableDirectory runs as a user who may not write, which root may.
func TestUnwritableDirectory(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("", "wbe")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(base, "child")
	if err := os.WriteFile(program, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(base, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(base, 0o755) })
	dir := filepath.Join(base, "store")
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), childRole+"=open", childDir+"="+dir)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := string(out); !strings.Contains(got, dir) || !strings.Contains(got, "permission denied") {
		t.Fatalf("the error is %q, want one that names %s", got, dir)
	}
}
