package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/waybill-dev/waybill/internal/cli"
	"github.com/waybill-dev/waybill/internal/redistest"
)

type suite struct{ m *testing.M }

func (s suite) Run() int { return redistest.Run(s.m) }

func TestMain(m *testing.M) {
	testscript.Main(suite{m}, map[string]func(){"waybill": func() {
		os.Exit(cli.Run(cli.Process{Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
	}})
}

// reading is a job whose payload reads a result, so that it is sent in its JSON form.
const reading = `
job "choose" {
  exec { command = ["sh", "-c", "echo '{ \"table\": \"returns\" }' > $WAYBILL_OUTPUT"] }
}

job "again" {
  type    = "shop.v1.Load"
  queue   = "loads"
  payload = { day = var.day, mode = "MODE_FULL", table = job.choose.result.table }
  predecessor { job = job.load }
}
`

// TestTyped has the worker run what apply submits, as the README tells, and a payload in JSON besides.
func TestTyped(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"embedded", "redis"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			dir, url, home := t.TempDir(), "", t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("..")); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(dir + "/.waybill"); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dir+"/reading.hcl", []byte(reading), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{dir}
			if store == "redis" {
				url = redistest.StartTCP(t).URL()
				args = []string{"-redis", url, dir}
			}
			var out bytes.Buffer // of the worker, which has ended when it is read
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ended := make(chan error, 1)
			go func() { ended <- run(ctx, args, &out) }()
			waybill := func(args ...string) string {
				t.Helper()
				c := exec.Command("waybill", args...)
				c.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "CI=true", "WAYBILL_REDIS="+url)
				said, err := c.CombinedOutput()
				if err != nil {
					t.Fatalf("waybill %s: %v\n%s", strings.Join(args, " "), err, said)
				}
				return string(said)
			}
			apply := []string{"apply", "-auto-approve", dir}
			if store == "redis" {
				apply = append(apply, "-worker") // for what is built in
			}
			if said := waybill(apply...); !strings.Contains(said, "Apply complete! Jobs: 4 added") || !strings.Contains(said, "sent as the JSON form of shop.v1.Load") {
				t.Errorf("apply says\n%s", said)
			}
			if said := waybill("job", "show", "job.load", dir); !strings.Contains(said, "(protobuf, shop.v1.Load") || !strings.Contains(said, `"window" = "5400s"`) {
				t.Errorf("job show says\n%s", said)
			}
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if got, want := out.String(), "MODE_DELTA of 2026-11-20 from eu and us into sales, up to 1h30m0s late\nMODE_FULL of 2026-11-20 from  into returns, up to 0s late\n"; got != want {
				t.Errorf("the worker says %q, want %q", got, want)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"-redis", "nowhere://x", "."}} {
		if err := run(t.Context(), args, &bytes.Buffer{}); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}
