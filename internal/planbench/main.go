// Command planbench measures plan against terraform's: the same shape of graph on the same machine in one run, the two
// programs turn by turn, whole processes, with their memory. It prints medians and ratios, and what is beyond the limits that
// are set for plan. It needs terraform (any 1.x; nothing is downloaded) and redis-server.
//
//	go run ./internal/planbench                    # all rows, some minutes
//	go run ./internal/planbench -rows='1000$' -rounds=9
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == launcher {
		if err := launch(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	rounds := flag.Int("rounds", 5, "how often each command runs; of rows with 10,000 jobs and more it is at most three times")
	rows := flag.String("rows", "", "only rows whose name matches this `regexp`")
	waybill := flag.String("waybill", "", "measure this `program` instead of building one from the module in the current directory")
	alone := flag.Bool("alone", false, "measure without terraform")
	keep := flag.String("keep", "", "leave the workflows in this `directory`, with the Redis that holds their state, until interrupted")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, &bench{rounds: *rounds, waybill: *waybill, alone: *alone}, *rows, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "planbench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, b *bench, rows, keep string) error {
	only, err := regexp.Compile(rows)
	if err != nil {
		return fmt.Errorf("-rows: %w", err)
	}
	dir := keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "planbench"); err != nil {
			return err
		}
		defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	} else if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	b.dir = dir
	if b.waybill == "" {
		b.waybill = filepath.Join(dir, "waybill")
		build := exec.CommandContext(ctx, "go", "build", "-o", b.waybill, ".")
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // as releases are, see the Makefile
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build waybill: %w\n%s", err, out)
		}
	} else if b.waybill, err = filepath.Abs(b.waybill); err != nil {
		return err
	}
	if err := b.open(ctx); err != nil {
		return err
	}
	defer b.close()
	if err := b.run(ctx, only); err != nil || keep == "" {
		return err
	}
	fmt.Printf("\nThe workflows are in %s, their state is in %s. Interrupt to stop.\n", dir, b.url())
	<-ctx.Done()
	return nil
}
