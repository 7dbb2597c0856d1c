package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// bench is one run: a Redis, the programs, and the rows measured so far.
type bench struct {
	dir, waybill, terraform string
	rounds                  int
	alone                   bool // without terraform
	redis                   *exec.Cmd
	results                 []result
}

// result is a row with the medians of both programs.
type result struct {
	row
	ours, theirs cost // theirs is zero where terraform does not take part
}

func (b *bench) url() string { return "unix://" + filepath.Join(b.dir, "redis.sock") }

// open looks for terraform and starts a Redis.
func (b *bench) open(ctx context.Context) (err error) {
	if b.terraform, err = exec.LookPath("terraform"); err != nil && !b.alone {
		return fmt.Errorf("terraform, which plan is measured against: %w", err)
	}
	socket := filepath.Join(b.dir, "redis.sock")
	b.redis = exec.Command("redis-server", "--port", "0", "--unixsocket", socket, "--dir", b.dir, "--save", "", "--appendonly", "no")
	if err := b.redis.Start(); err != nil {
		return err
	}
	for tries := 0; ; tries++ {
		if _, err := os.Stat(socket); err == nil {
			return nil
		}
		if tries == 500 {
			b.close()
			return errors.New("redis-server does not answer")
		}
		select {
		case <-ctx.Done():
			b.close()
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (b *bench) close() {
	b.redis.Process.Kill() //nolint:errcheck // it holds nothing of worth
	b.redis.Wait()         //nolint:errcheck // killed
}

// run prepares and measures the rows and prints the report.
func (b *bench) run(ctx context.Context, only *regexp.Regexp) error {
	for _, r := range rows {
		if !only.MatchString(r.name()) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s: prepare, ", r.name())
		ours, theirs, err := b.prepare(ctx, r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name(), err)
		}
		rounds := b.rounds
		if r.jobs >= 10_000 {
			rounds = min(rounds, 3)
		}
		fmt.Fprintf(os.Stderr, "measure %d times\n", rounds)
		got := result{row: r}
		var left, right []cost
		for range rounds {
			c, err := measure(ctx, ours)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name(), err)
			}
			left = append(left, c)
			if theirs.args == nil {
				continue
			}
			if c, err = measure(ctx, theirs); err != nil {
				return fmt.Errorf("%s: %w", r.name(), err)
			}
			right = append(right, c)
		}
		got.ours, got.theirs = median(left), median(right)
		b.results = append(b.results, got)
	}
	report(os.Stdout, b.results)
	return nil
}

// prepare writes the files of a row and gives the commands to be measured. The jobs are submitted and wait; no worker runs. Of
// terraform the state is written as its apply would leave it, because that takes half an hour for 10,000 resources.
func (b *bench) prepare(ctx context.Context, r row) (ours, theirs command, err error) {
	work := filepath.Join(b.dir, strings.ReplaceAll(r.name(), " ", "-"))
	left, right := filepath.Join(work, "waybill"), filepath.Join(work, "terraform")
	if err := writeFiles(left, r.shape.workflow(r.jobs)); err != nil {
		return ours, theirs, err
	}
	wb := func(args ...string) command {
		return command{dir: left, env: b.environ(), args: append([]string{b.waybill}, args...)}
	}
	tf := func(args ...string) command {
		return command{dir: right, env: b.environ(), args: append([]string{b.terraform}, args...)}
	}
	if r.command == "validate" {
		ours, theirs = wb("validate"), tf("validate")
	} else {
		store := []string{"-redis", b.url()}
		if r.embedded {
			store = nil
		}
		if _, err := measure(ctx, wb(append([]string{"apply", "-auto-approve", "-detach"}, store...)...)); err != nil {
			return ours, theirs, err
		}
		ours, theirs = wb(append([]string{"plan", "-detailed-exitcode"}, store...)...), tf("plan", "-detailed-exitcode", "-input=false")
	}
	if !r.terraform || b.alone {
		return ours, command{}, nil
	}
	if err := writeFiles(right, r.shape.resources(r.jobs)); err != nil {
		return ours, theirs, err
	}
	_, err = measure(ctx, tf("init", "-input=false"))
	return ours, theirs, err
}

// environ is the same for all, and has nothing of the user's settings.
func (b *bench) environ() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "XDG_CONFIG_HOME=" + filepath.Join(b.dir, "config"),
		"TMPDIR=" + os.TempDir(), "CHECKPOINT_DISABLE=1", "CI=1"}
}

func writeFiles(dir string, files map[string]string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
