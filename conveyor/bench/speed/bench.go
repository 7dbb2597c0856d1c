package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// bench is one run: the programs, a Redis for whole processes, and what was measured.
type bench struct {
	dir       string
	waybill   string
	terraform string // empty: not there
	rounds    int
	store     *store
	progress  io.Writer
	samples   samples
}

// samples are all figures of a trial's sides, in the order in which they were taken.
type samples map[string]map[string][]figures

// open builds waybill as the README says and starts the Redis.
func (b *bench) open(ctx context.Context) (err error) {
	if b.dir, err = os.MkdirTemp("", "speed"); err != nil {
		return err
	}
	if b.waybill == "" {
		b.waybill = filepath.Join(b.dir, "waybill")
		if err := build(ctx, b.waybill); err != nil {
			return fmt.Errorf("build waybill: %w", err)
		}
	} else if b.waybill, err = filepath.Abs(b.waybill); err != nil {
		return err
	}
	b.terraform = lookTerraform()
	b.store, err = openStore(ctx, 0)
	return err
}

// build makes the command from the module that this one stands in: with that one's own dependencies, not with those of the peers.
func build(ctx context.Context, path string) error {
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/waybill-dev/waybill").Output()
	if err != nil {
		return fmt.Errorf("this program runs within its module, conveyor/bench: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, ".")
	cmd.Dir, cmd.Env = strings.TrimSpace(string(dir)), append(os.Environ(), "CGO_ENABLED=0") // as releases are, see the Makefile
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

func (b *bench) close() {
	if b.store != nil {
		b.store.close()
	}
	_ = os.RemoveAll(b.dir)
}

// clear empties the Redis for whole processes.
func (b *bench) clear(ctx context.Context) error {
	rdb := b.store.client()
	defer rdb.Close() //nolint:errcheck // the reply was read
	return rdb.FlushAll(ctx).Err()
}

// environ is the same for all, and has nothing of the user's settings.
func (b *bench) environ() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "XDG_CONFIG_HOME=" + filepath.Join(b.dir, "config"),
		"TMPDIR=" + os.TempDir(), "CHECKPOINT_DISABLE=1", "CI=1"}
}

// run takes the samples of the trials, side by side: each round takes one of every side.
func (b *bench) run(ctx context.Context, list []trial) error {
	b.samples = samples{}
	for _, t := range list {
		fmt.Fprintf(b.progress, "%s: ", t.name)
		sides, err := t.sides(ctx, b)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		got := map[string][]figures{}
		b.samples[t.name] = got
		rounds := b.rounds
		if t.rounds > 0 {
			rounds = min(rounds, t.rounds)
		}
		for round := range rounds {
			for _, s := range sides {
				f, err := s.measure(ctx)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", t.name, s.name, err)
				}
				got[s.name] = append(got[s.name], f)
			}
			fmt.Fprintf(b.progress, "%s%d", strings.Repeat(" ", min(round, 1)), round+1)
		}
		fmt.Fprintln(b.progress)
	}
	return nil
}
