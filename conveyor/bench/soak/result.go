package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/waybill-dev/waybill/conveyor/bench/soak/check"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/history"
)

// result is what one soak came to, as -json writes it and publish reads it.
type result struct {
	Store      string        `json:"store"`
	Durability string        `json:"durability"`
	Duration   time.Duration `json:"duration_ns"`
	Seed       uint64        `json:"seed"`
	Workers    int           `json:"workers"`
	Appliers   int           `json:"appliers"`
	Again      string        `json:"again"` // the command
	At         time.Time     `json:"at"`
	check.Report
}

// errBroken is a soak that has found something.
var errBroken = errors.New("a promise was broken")

// soak runs one and tells what came of it.
func soak(ctx context.Context, o options, out io.Writer) (err error) {
	dir, progress := o.keep, out
	if o.json == "-" {
		progress = os.Stderr
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "soak-histories-"); err != nil {
			return err
		}
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	c := &conductor{o: o, out: progress, histories: dir}
	performed := c.perform(ctx)
	records, err := history.Read(dir, "")
	if err != nil {
		return errors.Join(performed, err)
	}
	report := check.Check(check.Run{Seed: o.Seed, Durability: o.Durability, Began: c.began, Records: records})
	r := result{
		Store: o.Store, Durability: string(o.Durability), Duration: o.Duration, Seed: o.Seed, Workers: o.Workers, Appliers: o.Appliers,
		Again: o.again(), At: c.began.UTC(), Report: *report,
	}
	r.print(progress)
	if o.json != "" {
		if err := r.write(o.json, out); err != nil {
			return err
		}
	}
	if performed != nil || len(report.Violations) > 0 {
		_, _ = fmt.Fprintf(progress, "\nThe histories are in %s\n", dir)
		if performed == nil {
			performed = fmt.Errorf("%w: %d violations", errBroken, len(report.Violations))
		}
		return performed
	}
	if o.keep == "" {
		return os.RemoveAll(dir)
	}
	return nil
}

func (r *result) write(name string, out io.Writer) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if name == "-" {
		_, err = out.Write(text)
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

// print writes the table.
func (r *result) print(out io.Writer) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name string, value any, note string) { _, _ = fmt.Fprintf(t, "%s\t%v\t%s\n", name, value, note) }
	_, _ = fmt.Fprintln(t)
	line("faults", check.Sum(r.Faults), list(r.Faults))
	line("workflows", r.Graphs, fmt.Sprintf("%d of them touched by a loss that the store may have", r.Touched))
	line("jobs", r.Jobs, fmt.Sprintf("and %d added from inside, %d occurrences of templates", r.Children, r.Cycles))
	line("attempts", r.Attempts, fmt.Sprintf("%d of them after a failed one", r.Retries))
	line("restarts", check.Sum(r.Restarts), list(r.Restarts))
	line("duplicates", check.Sum(r.Duplicates), list(r.Duplicates))
	line("overlaps", r.Overlaps, "of these, that began before the earlier attempt had stopped")
	line("late", r.Late, "of these, that a worker began which had been away, after somebody else had begun")
	line("lost", r.Lost, fmt.Sprintf("acknowledged jobs, as the setting allows; apply brought back %d", r.Recreated))
	line("verified", r.Verified, "times, of a namespace in use and at the end")
	line("in turn", r.InTurn, "starts whose turn in their queue was watched in the event log")
	line("troubles", r.Troubles, "errors that appliers and workers went on from")
	line("violations", len(r.Violations), "")
	_ = t.Flush()
	for _, v := range r.Violations {
		_, _ = fmt.Fprintln(out, "  VIOLATION", v)
	}
	_, _ = fmt.Fprintf(out, "\nseed %d, again with\n  %s\n", r.Seed, r.Again)
}

// list writes counts, the greatest first.
func list(counts map[string]int) string {
	var parts []string
	for _, name := range byCount(counts) {
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(parts, ", ")
}
