//go:build unix

package handlers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/waybill-dev/waybill/conveyor"
)

// TestSecrets covers what a worker gives, what it refuses, and what it says of what is not there.
func TestSecrets(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	write("outside", "no")
	write("run/plain", "a\nb\n\n")
	write("run/windows", "a\r\n")
	write("run/empty", "\n")
	write("run/large", strings.Repeat("x", conveyor.MaxSecret+5))
	write("run/deep/er", "no")
	write("kube/..2026/password", "mounted\n")
	link("../outside", "run/away")
	link("plain", "run/beside")
	link("nowhere", "run/dangling")
	link("..2026", "kube/..data")
	link("..data/password", "kube/password")
	link("../kube/..2026/password", "run/elsewhere")
	link("loop", "run/loop")
	if err := unix.Mkfifo(filepath.Join(root, "run/pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := NewSecrets("env:DB_*", "env:WAYBILL_*", "file:"+root+"/run/*", "file:"+root+"/kube/*", "file:"+root+"/kube/..*/*")
	if err != nil {
		t.Fatal(err)
	}
	s.lookUp = func(name string) (string, bool) {
		value, ok := map[string]string{"DB_PASSWORD": "hunter2", "DB_EMPTY": "", "WAYBILL_KEY": "no", "PATH": "no"}[name]
		return value, ok
	}
	for _, row := range []struct {
		name, want, failure string
		refused             bool
	}{
		{name: "env:DB_PASSWORD", want: "hunter2"},
		{name: "env:DB_EMPTY", want: ""},
		{name: "env:DB_USER", failure: "the variable DB_USER is not set: set it in the environment that the worker is started in"},
		{name: "env:PATH", refused: true},
		{name: "env:WAYBILL_KEY", refused: true},
		{name: "vault:DB_PASSWORD", refused: true},
		{name: "file:ROOT/run/plain", want: "a\nb\n"},
		{name: "file:ROOT/run/windows", want: "a"},
		{name: "file:ROOT/run/empty", want: ""},
		{name: "file:ROOT/run/large", want: strings.Repeat("x", conveyor.MaxSecret+3)},
		{name: "file:ROOT/run/beside", want: "a\nb\n"},
		{name: "file:ROOT/kube/password", want: "mounted"},
		{name: "file:ROOT/run/elsewhere", want: "mounted"},
		{name: "file:ROOT/run/none", failure: "the file does not exist: put it there, or mount it"},
		{name: "file:ROOT/run/dangling", failure: "the file does not exist"},
		{name: "file:ROOT/run/loop", failure: "the file cannot be read: "},
		{name: "file:ROOT/run/deep", failure: "it is no regular file"},
		{name: "file:ROOT/run/pipe", failure: "it is no regular file"},
		{name: "file:ROOT/run/away", refused: true, failure: "it leads to ROOT/outside, which no pattern of this worker covers"},
		{name: "file:ROOT/outside", refused: true},
		{name: "file:ROOT/run/deep/er", refused: true},
		{name: "file:ROOT/run/../outside", refused: true},
		{name: "file:ROOT/run/..", refused: true},
		{name: "file:run/plain", refused: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, err := s.Secret(t.Context(), strings.ReplaceAll(row.name, "ROOT", root))
			text := ""
			if err != nil {
				text = err.Error()
			}
			failure := strings.ReplaceAll(row.failure, "ROOT", root)
			if got != row.want || errors.Is(err, conveyor.ErrSecretRefused) != row.refused || !strings.Contains(text, failure) || (err != nil) != (row.refused || row.failure != "") {
				t.Errorf("%.100q, %v; want %.100q, refused: %v, %q", got, err, row.want, row.refused, failure)
			}
		})
	}
	if diff := cmp.Diff(s.patterns, s.Patterns()); diff != "" {
		t.Error(diff)
	}
}

// TestSecretsPatterns: what is no pattern is told, all at once.
func TestSecretsPatterns(t *testing.T) {
	t.Parallel()
	_, err := NewSecrets("env:OK", "DB_*", "env:", "file:run/*", "file:/run/../etc/*", "file:/run/", "env:[", "env:A,B", "Env:X")
	want := `"DB_*" is no pattern of secrets: write env:NAME or file:/PATH, in which * stands for any characters but a slash
"env:" is no pattern of secrets: write env:NAME or file:/PATH, in which * stands for any characters but a slash
"file:run/*" is no pattern of secrets: the path of a file begins with a slash, and has no . or .. and no slash too many
"file:/run/../etc/*" is no pattern of secrets: the path of a file begins with a slash, and has no . or .. and no slash too many
"file:/run/" is no pattern of secrets: the path of a file begins with a slash, and has no . or .. and no slash too many
"env:[" is no pattern of secrets: a [ has no ], or a \ nothing behind it
"env:A,B" is no pattern of secrets: it has a comma, which separates patterns: write a ? for it
"Env:X" is no pattern of secrets: write env:NAME or file:/PATH, in which * stands for any characters but a slash`
	if err == nil {
		t.Fatal("all are taken")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := NewSecrets(make([]string, 101)...); err == nil || !strings.Contains(err.Error(), "there are 101 patterns, the limit is 100") {
		t.Error(err)
	}
	if _, err := new(Secrets).Secret(t.Context(), "env:HOME"); !errors.Is(err, conveyor.ErrSecretRefused) {
		t.Errorf("the zero value: %v", err)
	}
}
