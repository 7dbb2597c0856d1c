package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNormalise(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, args, want string }{
		{"single dash", "apply -auto-approve dir", "apply --auto-approve dir"},
		{"double dash", "apply --auto-approve", "apply --auto-approve"},
		{"value with equals signs", "plan -var=day=x", "plan --var=day=x"},
		{"value of its own", "plan -var day=x dir", "plan --var day=x dir"},
		{"value that looks like an option", "plan -var -auto-approve", "plan --var -auto-approve"},
		{"value that looks like a number", "worker -concurrency -5 -dir x", "worker --concurrency -5 --dir x"},
		{"short help", "plan -h", "plan -h"},
		{"long help", "-help", "--help"},
		{"short follow", "logs -f job.a", "logs -f job.a"},
		{"global option before", "-chdir=x plan -json", "--chdir=x plan --json"},
		{"global option with its own value before", "-chdir x plan -json", "--chdir x plan --json"},
		{"global option after", "plan -no-color", "plan --no-color"},
		{"switch does not take the next word", "plan -json dir -out f", "plan --json dir --out f"},
		{"subcommand", "state list -redis u", "state list --redis u"},
		{"unknown option", "plan -detailed", "plan --detailed"},
		{"after two dashes nothing", "logs -- -json", "logs -- -json"},
		{"stdin", "fmt - -check", "fmt - --check"},
		{"a word that is a command elsewhere", "plan list -json", "plan list --json"},
		{"missing value at the end", "plan -out", "plan --out"},
		{"input", "apply -input=false", "apply --input=false"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := &app{p: Process{Stdout: io.Discard, Stderr: io.Discard}}
			got := normalise(a.root(""), strings.Fields(tt.args))
			if diff := cmp.Diff(strings.Fields(tt.want), got); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCommandsByName makes each command alone: it goes by the name in the table, and by no other.
func TestCommandsByName(t *testing.T) {
	t.Parallel()
	a := &app{p: Process{Stdout: io.Discard, Stderr: io.Discard}}
	for _, c := range commands {
		made := a.root(c.name).Commands()
		if len(made) != 1 || made[0].Name() != c.name || len(made[0].Aliases) > 0 {
			t.Errorf("the command %q of the table is %v", c.name, made)
		}
	}
	for line, want := range map[string]string{"": "", "plan -json": "plan", "-chdir=x plan": "", "pan": "", "docs": "", "__complete plan": ""} {
		if got := only(strings.Fields(line)); got != want {
			t.Errorf("only(%q) = %q, want %q", line, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"aply": "apply", "plna": "plan", "xyz": "", "destory": "destroy", "p": ""} {
		if got := nearest(name, []string{"plan", "apply", "destroy"}); got != want {
			t.Errorf("nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestRedacted(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"redis://127.0.0.1:6379":            "redis://127.0.0.1:6379",
		"redis://user:secret@host:1/2":      "redis://user@host:1/2",
		"redis://:secret@host:1":            "redis://host:1",
		"redis://h:1?password=secret&addr=": "redis://h:1",
		"unix:///tmp/redis.sock?db=1":       "unix:///tmp/redis.sock",
		"redis://:se cret@host:1":           "the Redis URL",
	} {
		if got := redacted(address); got != want {
			t.Errorf("redacted(%q) = %q, want %q", address, got, want)
		}
	}
}

// FuzzArguments gives command lines that nobody would write: none panics, and none but help ends well without a store.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{"plan\x00-var\x00x", "-help", "state\x00lists", "fmt\x00-check\x00/nonexistent", "-chdir=/nonexistent\x00plan", "logs\x00job.a[",
		"worker\x00-queues\x00=", "completion\x00elvish", "output\x00-raw", "version\x00-json=maybe"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		a := &app{p: Process{Stdout: io.Discard, Stderr: io.Discard, Stdin: strings.NewReader("")}}
		root := a.root("")
		got := normalise(root, strings.Split(line, "\x00"))
		if len(got) != len(strings.Split(line, "\x00")) {
			t.Errorf("%q became %d arguments", line, len(got))
		}
		cmd, rest, err := root.Find(got)
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err != nil {
			_ = flagError(cmd, err).Error()
		}
	})
}
