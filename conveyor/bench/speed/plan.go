package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/redis/go-redis/v9"
)

// planTrial is a command of Waybill's as a whole process, beside terraform's of the same name and the floor: a program that only parses
// the files and reads the state.
type planTrial struct {
	command   string
	shape     shape
	jobs      int
	embedded  bool // on the embedded store instead of Redis
	terraform bool
	floor     bool
	rounds    int
}

func (t planTrial) name() string {
	store := ""
	if t.embedded {
		store = " embedded"
	}
	return fmt.Sprintf("%s%s %s %d", t.command, store, t.shape, t.jobs)
}

func planTrials() (list []trial) {
	for _, t := range []planTrial{
		{command: "validate", shape: chains, jobs: 10, terraform: true},
		{command: "plan", shape: chains, jobs: 100, terraform: true},
		{command: "plan", shape: layers, jobs: 100, terraform: true},
		{command: "plan", shape: chains, jobs: 100, embedded: true},
		{command: "plan", shape: chains, jobs: 1000, terraform: true, floor: true},
		{command: "plan", shape: layers, jobs: 1000, terraform: true, floor: true},
		{command: "plan", shape: layers, jobs: 2000, terraform: true},
		{command: "plan", shape: chains, jobs: 10_000, terraform: true, floor: true, rounds: 5},
		{command: "plan", shape: layers, jobs: 10_000, floor: true, rounds: 5},
		{command: "plan", shape: chains, jobs: 100_000, floor: true, rounds: 5},
		{command: "plan", shape: layers, jobs: 100_000, floor: true, rounds: 5},
		{command: "plan", shape: forEach, jobs: 100_000, rounds: 5},
		{command: "apply", shape: chains, jobs: 1000, terraform: true, floor: true, rounds: 5},
		{command: "apply", shape: chains, jobs: 10_000, floor: true},
	} {
		list = append(list, trial{name: t.name(), rounds: t.rounds, sides: t.sides})
	}
	return list
}

// sides writes the files. For plan the jobs are submitted and wait, since no worker runs; of terraform the state is written as its apply
// would leave it, because that takes half an hour for 10,000 resources. For apply there is no state, and none again before each sample.
func (t planTrial) sides(ctx context.Context, b *bench) ([]side, error) {
	work := filepath.Join(b.dir, strings.ReplaceAll(t.name(), " ", "-"))
	left, right := filepath.Join(work, "waybill"), filepath.Join(work, "terraform")
	if err := writeFiles(left, t.shape.workflow(t.jobs)); err != nil {
		return nil, err
	}
	apply := t.waybill(b, left, "apply", "-auto-approve", "-detach")
	var list []side
	switch t.command {
	case "validate":
		list = append(list, side{"waybill", command{left, b.environ(), []string{b.waybill, "validate"}}.measure})
	case "plan":
		if err := b.clear(ctx); err != nil {
			return nil, err
		}
		if _, err := apply.measure(ctx); err != nil {
			return nil, err
		}
		list = append(list, side{"waybill", t.waybill(b, left, "plan", "-detailed-exitcode").measure})
	case "apply":
		list = append(list, side{"waybill", func(ctx context.Context) (figures, error) {
			return after(ctx, b.clear, apply)
		}})
	}
	if t.floor {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		list = append(list, side{"floor", command{left, b.environ(), []string{self, floor, b.store.url(), t.shape.stateKey(t.jobs)}}.measure})
	}
	if !t.terraform || b.terraform == "" {
		return list, nil
	}
	files := t.shape.resources(t.jobs)
	if t.command == "apply" {
		delete(files, stateFile)
	}
	if err := writeFiles(right, files); err != nil {
		return nil, err
	}
	tf := func(args ...string) command {
		return command{right, b.environ(), append([]string{b.terraform}, args...)}
	}
	if _, err := tf("init", "-input=false").measure(ctx); err != nil {
		return nil, err
	}
	switch t.command {
	case "validate":
		list = append(list, side{"terraform", tf("validate").measure})
	case "plan":
		list = append(list, side{"terraform", tf("plan", "-detailed-exitcode", "-input=false").measure})
	case "apply":
		forget := func(context.Context) error {
			return errors.Join(remove(filepath.Join(right, stateFile)), remove(filepath.Join(right, stateFile+".backup")))
		}
		list = append(list, side{"terraform", func(ctx context.Context) (figures, error) {
			return after(ctx, forget, tf("apply", "-auto-approve", "-input=false"))
		}})
	}
	return list, nil
}

func (t planTrial) waybill(b *bench, dir string, args ...string) command {
	args = append([]string{b.waybill}, args...)
	if !t.embedded {
		args = append(args, "-redis", b.store.url())
	}
	return command{dir, b.environ(), args}
}

// after measures a command after something that does not count.
func after(ctx context.Context, before func(context.Context) error, c command) (figures, error) {
	if err := before(ctx); err != nil {
		return nil, err
	}
	return c.measure(ctx)
}

func remove(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
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

// floor is the first argument of this program when it does the least that a plan can do: it parses the files of the working
// directory and reads the state from the Redis and the key that follow.
const floor = "floor"

func runFloor(ctx context.Context, url, key string) error {
	parser := hclparse.NewParser()
	files, err := filepath.Glob("*.hcl")
	if err != nil {
		return err
	}
	for _, f := range files {
		if _, diags := parser.ParseHCLFile(f); diags.HasErrors() {
			return diags
		}
	}
	o, err := redis.ParseURL(url)
	if err != nil {
		return err
	}
	rdb := redis.NewClient(o)
	defer rdb.Close() //nolint:errcheck // it only reads
	return rdb.HGetAll(ctx, key).Err()
}

// lookTerraform is where terraform is, or empty.
func lookTerraform() string {
	path, err := exec.LookPath("terraform")
	if err != nil {
		return ""
	}
	return path
}
