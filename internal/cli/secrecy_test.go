package cli_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/internal/redistest"
)

// canary is a sensitive value, long enough that no part of it is anywhere by chance; workersCanary is one that only the worker knows.
const (
	canary        = "canary-5d7c0fd1-canary-8a2e64b3-canary"
	workersCanary = "secret-91c3f0ae-secret-4b7d52e6-secret"
)

const canaryFiles = `workflow "mine" {}

variable "secret" {
  type      = string
  sensitive = true
}

job "exec" {
  exec {
    command = ["sh", "-c", "test -n \"$TOKEN\" && echo fine && echo rows=3 > $WAYBILL_OUTPUT"]
    env     = { TOKEN = var.secret }
    stdin   = "password: ${var.secret}"
  }
}

job "fails" {
  exec { command = ["false", var.secret] }
  retry { max_attempts = 1 }
}

job "asks" {
  exec {
    command = ["sh", "-c", "echo \"has $TOKEN and $(cat)\"; echo token=$TOKEN > $WAYBILL_OUTPUT", "sh", secret_env("CANARY")]
    env     = { TOKEN = secret_env("CANARY") }
    stdin   = jsonencode({ secret = var.secret == "" ? "" : secret_env("CANARY") })
  }
}

job "asks_and_fails" {
  http {
    url     = "http://127.0.0.1:1/${secret_env("CANARY")}?q=${secret_env("CANARY")}"
    headers = { Authorization = "Bearer ${secret_env("CANARY")}" }
  }
  retry { max_attempts = 1 }
}

job "http" {
  http {
    url     = "http://127.0.0.1:1/"
    headers = { Authorization = "Bearer ${var.secret}" }
  }
  retry { max_attempts = 1 }
}

job "waits" {
  run_at { time = "2031-01-01T00:00:00Z" }
  type    = "shop.v1.Load"
  payload = { key = var.secret }
}

job "cron" {
  run_at { cron = "0 2 * * *" }
  exec { command = ["echo", var.secret] }
}

output "token" {
  value     = var.secret
  sensitive = true
}
`

// TestCanary looks for a sensitive value in everything that is stored, saved, written and logged.
func TestCanary(t *testing.T) {
	t.Parallel()
	s := &shop{T: t, dir: t.TempDir(), url: redistest.StartTCP(t).URL()}
	writeFile(t, filepath.Join(s.dir, "main.hcl"), canaryFiles)
	said := map[string]string{}
	run := func(code int, args ...string) {
		t.Helper()
		cmd := s.command(args...)
		cmd.Env = append(cmd.Env, "WAYBILL_KEY=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "WAYBILL_VAR_secret="+canary, "CANARY="+workersCanary)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		cmd.Run() //nolint:errcheck // the code says it
		name := strings.Join(args, " ")
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Fatalf("waybill %s: exit code %d, want %d\n%s", name, got, code, out.String())
		}
		said[name] = out.String()
	}
	run(0, "plan", "-out=mine.plan")
	run(0, "plan", "-json")
	run(0, "plan", "-format=markdown")
	run(0, "show", "mine.plan")
	run(0, "show", "-json", "mine.plan")
	said["the store, planned"] = everything(t, s.url)
	run(1, "apply", "-json", "-worker", "-secrets=env:CANARY", "mine.plan")
	said["the store, applied"] = everything(t, s.url)
	run(0, "plan", "-rekey")
	run(0, "apply", "-auto-approve", "-detach", "-rekey", "-target=job.waits")
	run(0, "apply", "-auto-approve", "-detach", "-json", "-replace=job.exec")
	run(0, "state", "pull")
	run(0, "state", "show", "job.waits")
	run(0, "show", "-json")
	run(0, "output", "-json")
	run(0, "explain", "-json", "job.fails")
	run(0, "job", "show", "-json", "job.waits")
	run(0, "job", "show", "-json", "job.asks")
	run(0, "logs", "job.exec")
	run(0, "logs", "job.asks")
	run(0, "doctor", "-json")
	run(0, "graph")
	said["the store, at the end"] = everything(t, s.url)
	plan, err := os.ReadFile(filepath.Join(s.dir, "mine.plan"))
	if err != nil {
		t.Fatal(err)
	}
	said["the plan file"] = string(plan)

	if !strings.Contains(said["the store, applied"], "stream") || !strings.Contains(said["state pull"], "sensitive") {
		t.Errorf("the test does not see what it looks at")
	}
	if !strings.Contains(said["logs job.asks"], "has *** and ") {
		t.Errorf("the job did not get its secret, or its log does not tell: %s", said["logs job.asks"])
	}
	for where, text := range said {
		for _, form := range append(disguises(canary), disguises(workersCanary)...) {
			if i := strings.Index(text, form); i >= 0 {
				t.Errorf("%s shows it as %q:\n%s", where, form, text[max(0, i-200):min(len(text), i+200)])
			}
		}
	}
}

// disguises are a value as it is, and as base64 has it in the middle of something, whatever stands before it.
func disguises(value string) []string {
	forms := []string{value, fmt.Sprintf("%x", value)}
	for before := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + value))
		forms = append(forms, text[4:len(text)-4])
	}
	return forms
}

// everything is what all keys of a server hold, of every type.
func everything(t *testing.T, url string) string {
	t.Helper()
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	rdb := redis.NewClient(o)
	defer rdb.Close() //nolint:errcheck // nothing to lose
	ctx := context.Background()
	var b strings.Builder
	for keys := rdb.Scan(ctx, 0, "*", 1000).Iterator(); keys.Next(ctx); {
		key := keys.Val()
		kind, err := rdb.Type(ctx, key).Result()
		if err != nil {
			t.Fatal(err)
		}
		var value any
		switch kind {
		case "string":
			value, err = rdb.Get(ctx, key).Result()
		case "list":
			value, err = rdb.LRange(ctx, key, 0, -1).Result()
		case "set":
			value, err = rdb.SMembers(ctx, key).Result()
		case "zset":
			value, err = rdb.ZRangeWithScores(ctx, key, 0, -1).Result()
		case "hash":
			value, err = rdb.HGetAll(ctx, key).Result()
		case "stream":
			value, err = rdb.XRange(ctx, key, "-", "+").Result()
		default:
			t.Fatalf("key %s is a %s", key, kind)
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s %v\n", kind, key, value)
	}
	return b.String()
}
