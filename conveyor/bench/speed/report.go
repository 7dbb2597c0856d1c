package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// units print a figure by the unit of its row.
var units = map[string]func(float64) string{
	"time":   func(v float64) string { return seconds(v) },
	"memory": func(v float64) string { return fmt.Sprintf("%.1f MB", v/1e6) },
	"bytes":  func(v float64) string { return fmt.Sprintf("%.0f B", v) },
	"rate":   func(v float64) string { return thousands(v) + "/s" },
	"count":  func(v float64) string { return fmt.Sprintf("%.2f", v) },
}

func seconds(v float64) string {
	switch {
	case v < 1e-3:
		return fmt.Sprintf("%.0f µs", v*1e6)
	case v < 1:
		return fmt.Sprintf("%.3g ms", v*1e3)
	}
	return fmt.Sprintf("%.3g s", v)
}

func thousands(v float64) string {
	digits := fmt.Sprintf("%.0f", v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// show is a median with its spread.
func (s spreadOf) show(unit string) string {
	if s.Runs == 0 {
		return ""
	}
	f := units[unit]
	return fmt.Sprintf("%s (%s to %s)", f(s.Median), f(s.Least), f(s.Most))
}

// limits says what a row asks for: at least, and the aim.
func (r row) limits() (least, aim string) {
	join := func(ratio, most float64) string {
		var parts []string
		if ratio > 0 {
			parts = append(parts, fmt.Sprintf("%.3gx", ratio))
		}
		if most > 0 {
			parts = append(parts, "<= "+units[r.Unit](most))
		}
		return strings.Join(parts, ", ")
	}
	return join(r.AtLeast, r.AtMost), join(r.Aim, r.AimAtMost)
}

// markdown writes the report as the page BENCHMARKS.md holds it, after the notes that a person wrote.
func markdown(w io.Writer, m machine, rounds int, list []outcome, growths []string) {
	fmt.Fprintf(w, "%s\n\n", m)
	fmt.Fprintf(w, "Medians of %d runs of each program, turn by turn, with the least and the most. A ratio says how many times better than the peer.\n\n", rounds)
	fmt.Fprintln(w, "| figure | Waybill | peer | | ratio | at least | aim | |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, o := range list {
		least, aim := o.limits()
		ratio := ""
		if o.Ratio > 0 {
			ratio = fmt.Sprintf("%.3gx", o.Ratio)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s |\n",
			o.Name, o.Waybill.show(o.Unit), o.Peer, o.Other.show(o.Unit), ratio, least, aim, o.Verdict)
	}
	fmt.Fprintln(w)
	for _, g := range growths {
		fmt.Fprintf(w, "- %s\n", g)
	}
	for _, o := range list {
		if o.Note != "" {
			fmt.Fprintf(w, "- %s: %s.\n", o.Name, o.Note)
		}
	}
}

// text writes the report for a terminal.
func text(w io.Writer, list []outcome, growths []string) {
	for _, o := range list {
		least, aim := o.limits()
		fmt.Fprintf(w, "%-12s  %s\n", o.Verdict, o.Name)
		if o.Waybill.Runs == 0 {
			continue
		}
		fmt.Fprintf(w, "              waybill %s", o.Waybill.show(o.Unit))
		if o.Other.Runs > 0 {
			fmt.Fprintf(w, ", %s %s: %.3gx", o.Peer, o.Other.show(o.Unit), o.Ratio)
		}
		if least != "" {
			fmt.Fprintf(w, "; at least %s", least)
		}
		if aim != "" {
			fmt.Fprintf(w, "; aim %s", aim)
		}
		fmt.Fprintln(w)
	}
	for _, g := range growths {
		fmt.Fprintln(w, g)
	}
}

// growthLines say how the time of plan grows with the jobs, and whether it grows too fast: more than jobs^1.1.
func (s samples) growthLines() (lines []string, good bool) {
	good = true
	for _, shape := range []shape{chains, layers} {
		for _, step := range [][2]int{{1000, 10_000}, {10_000, 100_000}} {
			get := func(jobs int) outcome {
				return s.judge(row{Trial: planTrial{command: "plan", shape: shape, jobs: jobs}.name(), Figure: "cpu", Ours: "waybill"})
			}
			a, b := get(step[0]), get(step[1])
			if a.Waybill.Runs == 0 || b.Waybill.Runs == 0 {
				continue
			}
			e := growth(a, b, float64(step[1])/float64(step[0]))
			word := "met"
			if e > 1.1 {
				word, good = "BELOW", false
			}
			lines = append(lines, fmt.Sprintf("plan of %s from %s to %s jobs grows as n^%.2f by processor time; at most n^1.1: %s",
				shape, thousands(float64(step[0])), thousands(float64(step[1])), e, word))
		}
	}
	return lines, good
}

// result is the report for programs.
type result struct {
	Machine machine   `json:"machine"`
	Rounds  int       `json:"rounds"`
	Time    time.Time `json:"time"`
	Rows    []outcome `json:"rows"`
	Growth  []string  `json:"growth,omitempty"`
}
