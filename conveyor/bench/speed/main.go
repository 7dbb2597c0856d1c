// Command speed measures Waybill beside its peers: on the same machine, in one run, turn by turn, and prints medians and ratios.
// rows.json fixes what is compared and the ratio that is required; below one of them the exit status is 1. It needs redis-server,
// and terraform for the rows that name it: without, these are "not measured".
//
//	go run ./speed                          # everything, an hour
//	go run ./speed -trials '^(worker|idle)' # some minutes
//	go run ./speed -write BENCHMARKS.md     # and replace the figures in the page
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := start(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

// start is this program, or one of those that it runs in processes of their own.
func start(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch {
		case args[0] == launcher && len(args) > 1:
			return launch(args[1:])
		case args[0] == sample && len(args) == 3:
			return takeSample(ctx, args[1], args[2])
		case args[0] == floor && len(args) == 3:
			return runFloor(ctx, args[1], args[2])
		}
	}
	return run(ctx, args)
}

var errBelow = errors.New("some rows are below what is required")

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("speed", flag.ContinueOnError)
	rounds := flags.Int("rounds", 5, "how often each program runs; at most five times for what takes long")
	only := flags.String("trials", "", "only trials whose name matches this `regexp`")
	list := flags.Bool("list", false, "list the trials and end")
	waybill := flags.String("waybill", "", "measure this `program` instead of building one")
	asJSON := flags.Bool("json", false, "print one JSON object")
	page := flags.String("write", "", "replace the figures in this `page`; needs all trials")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-trials: %w", err)
	}
	if *rounds < 1 {
		return fmt.Errorf("-rounds is %d: it must be at least 1", *rounds)
	}
	if *page != "" && *only != "" {
		return errors.New("-write replaces all figures, so it cannot stand beside -trials")
	}
	chosen := slices.DeleteFunc(trials(), func(t trial) bool { return !match.MatchString(t.name) })
	if *list {
		for _, t := range chosen {
			fmt.Println(t.name)
		}
		return nil
	}
	rows, err := readRows()
	if err != nil {
		return err
	}
	b := &bench{waybill: *waybill, rounds: *rounds, progress: os.Stderr}
	defer b.close()
	if err := b.open(ctx); err != nil {
		return err
	}
	m := thisMachine(ctx, b.terraform)
	if err := b.run(ctx, chosen); err != nil {
		return err
	}
	r := result{Machine: m, Rounds: *rounds, Time: time.Now().UTC().Truncate(time.Second)}
	good := true
	for _, row := range rows {
		if _, measured := b.samples[row.Trial]; !measured {
			continue
		}
		o := b.samples.judge(row)
		good = good && o.Verdict != below
		r.Rows = append(r.Rows, o)
	}
	growths, fine := b.samples.growthLines()
	r.Growth = growths
	switch {
	case *asJSON:
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		err = e.Encode(r)
	default:
		text(os.Stdout, r.Rows, r.Growth)
	}
	if err == nil && *page != "" {
		err = writePage(*page, r)
	}
	if err == nil && !(good && fine) {
		err = errBelow
	}
	return err
}
