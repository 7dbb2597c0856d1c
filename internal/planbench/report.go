package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// report prints the rows, the growth between them, and what is beyond its limit.
func report(w io.Writer, results []result) {
	fmt.Fprintf(w, "\n%-25s %9s %9s %9s   %9s %9s %9s   %7s %7s   %s\n", "", "waybill", "cpu", "memory", "terraform", "cpu", "memory", "faster", "cpu", "")
	for _, r := range results {
		fmt.Fprintf(w, "%-25s %9s %9s %9s   ", r.name(), seconds(r.ours.wall.Seconds()), seconds(r.ours.cpu.Seconds()), size(r.ours.memory))
		if r.theirs == (cost{}) {
			fmt.Fprintf(w, "%9s %9s %9s   %7s %7s", "", "", "", "", "")
		} else {
			fmt.Fprintf(w, "%9s %9s %9s   %6.1fx %6.1fx", seconds(r.theirs.wall.Seconds()), seconds(r.theirs.cpu.Seconds()), size(r.theirs.memory),
				r.faster(), r.theirs.cpu.Seconds()/r.ours.cpu.Seconds())
		}
		fmt.Fprintf(w, "   %s\n", r.verdict())
	}
	for _, s := range []shape{chains, layers} {
		growth(w, s, results)
	}
}

func (r result) faster() float64 { return r.theirs.wall.Seconds() / r.ours.wall.Seconds() }

// verdict names the limits of the row, each with what came of it.
func (r result) verdict() string {
	var parts []string
	judge := func(good bool, format string, args ...any) {
		word := "ok"
		if !good {
			word = "BEYOND"
		}
		parts = append(parts, word+" "+fmt.Sprintf(format, args...))
	}
	if r.row.seconds > 0 {
		judge(r.ours.wall.Seconds() <= r.row.seconds, "<= %s", seconds(r.row.seconds))
	}
	if r.row.memory > 0 {
		judge(r.ours.memory <= r.row.memory, "<= %s", size(r.row.memory))
	}
	if r.row.times > 0 && r.theirs != (cost{}) {
		judge(r.faster() >= r.row.times, ">= %.0fx", r.row.times)
	}
	return strings.Join(parts, ", ")
}

// growth prints the exponent e of time ~ jobs^e between the rows of one shape.
func growth(w io.Writer, s shape, results []result) {
	var of []result
	for _, r := range results {
		if r.shape == s && r.command == "plan" && !r.embedded && r.jobs >= 1000 {
			of = append(of, r)
		}
	}
	for i := 1; i < len(of); i++ {
		a, b := of[i-1], of[i]
		n := math.Log(float64(b.jobs) / float64(a.jobs))
		fmt.Fprintf(w, "growth of %s from %d to %d: n^%.2f by time, n^%.2f by cpu", s, a.jobs, b.jobs,
			math.Log(b.ours.wall.Seconds()/a.ours.wall.Seconds())/n, math.Log(b.ours.cpu.Seconds()/a.ours.cpu.Seconds())/n)
		if a.theirs != (cost{}) && b.theirs != (cost{}) {
			fmt.Fprintf(w, "; terraform n^%.2f", math.Log(b.theirs.wall.Seconds()/a.theirs.wall.Seconds())/n)
		}
		fmt.Fprintln(w)
	}
}

func seconds(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.1f ms", s*1000)
	}
	return fmt.Sprintf("%.2f s", s)
}

func size(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/mb) }
