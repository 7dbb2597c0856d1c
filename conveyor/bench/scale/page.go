package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// The figures stand between these lines of the page; the rest of it is written by hand.
const (
	figuresBegin = "<!-- figures: written by go run ./scale -write -->\n"
	figuresEnd   = "<!-- end of figures -->\n"
)

// table is the report.
func table(steps []step) string {
	var b strings.Builder
	fmt.Fprintln(&b, "| step | time | processor time of the command | its most memory | Redis after it | Redis at most so far |")
	fmt.Fprintln(&b, "| --- | --- | --- | --- | --- | --- |")
	for _, s := range steps {
		fmt.Fprintf(&b, "| %s | %.1f s | %.1f s | %s | %s | %s |\n", s.Name, s.Took.Seconds(), s.CPU.Seconds(), megabytes(s.Memory), megabytes(s.Used), megabytes(s.Peak))
	}
	return b.String()
}

func megabytes(n int64) string { return fmt.Sprintf("%d MB", n/1_000_000) }

// writePage replaces the figures in a page.
func writePage(path string, steps []step, n int, begun time.Time) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, found := bytes.Cut(old, []byte(figuresBegin))
	_, after, ends := bytes.Cut(rest, []byte(figuresEnd))
	if !found || !ends {
		return fmt.Errorf("%s has no lines %q and %q, between which the figures go", path, figuresBegin, figuresEnd)
	}
	redis := "Redis of an unknown version"
	if out, err := exec.Command("redis-server", "--version").Output(); err == nil {
		redis = strings.TrimSpace(string(out))
	}
	figures := fmt.Sprintf("\n%d jobs, on %s; %d processors shared by client and server; %s; %s.\n\n%s\n",
		n, begun.UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.Version(), redis, table(steps))
	return os.WriteFile(path, []byte(string(head)+figuresBegin+figures+figuresEnd+string(after)), 0o644)
}
