package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/conveyor/bench/soak/check"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/rig"
)

// faultsFile is what publish writes, beside go.mod.
const faultsFile = "FAULTS.md"

// foundFile is what people have written about what soaks have found, beside the results: the page ends with it.
const foundFile = "found.md"

// publish writes FAULTS.md from the results of soaks, which -json wrote.
func publish(names []string) error {
	if len(names) == 0 {
		return errors.New("publish needs the results of soaks: go run ./soak publish runs/*.json")
	}
	text, err := faultsPage(names)
	if err != nil {
		return err
	}
	return os.WriteFile(faultsFile, []byte(text), 0o644)
}

func faultsPage(names []string) (string, error) {
	var runs []result
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		var r result
		if err := json.Unmarshal(text, &r); err != nil {
			return "", fmt.Errorf("%s is no result of a soak: %w", name, err)
		}
		runs = append(runs, r)
	}
	place := func(r result) int {
		return slices.IndexFunc(promises, func(p promise) bool { return string(p.durability) == r.Durability })
	}
	slices.SortFunc(runs, func(a, b result) int {
		return cmp.Or(place(a)-place(b), cmp.Compare(a.Seed, b.Seed), a.At.Compare(b.At))
	})
	var b strings.Builder
	b.WriteString(faultsHead)
	writePromises(&b)
	writeRuns(&b, runs)
	writeFaults(&b, runs)
	writeReasons(&b, runs)
	writeAgain(&b, runs)
	found, err := os.ReadFile(filepath.Join(filepath.Dir(names[0]), foundFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	b.Write(found)
	return b.String(), nil
}

const faultsHead = `# What survives

Made by ` + "`go run ./soak publish runs/*.json`" + ` from the results in runs/; do not edit.

A soak runs random workflows (parents, predecessors with each run_if, retries, run_at, gates, a schedule, children added from inside) by
several worker and applier processes and has a fault happen every few seconds. Every process writes what it does to the disk before it does it.
Afterwards a checker reads all these histories: each workflow's outcome is known before it runs. A power failure is played by cutting the
journal where it stood a second before; under always and with a replica only processes are killed.

In every setting, whatever happens: a job runs only if it was submitted, never before what it waits for and never before its time; each
ends as it has to; an heir, a gate and a scheduled cycle fire once; work is repeated only where a lease ended or the store lost that it was
done, and every repetition below has its reason; ` + "`Verify`" + ` finds nothing, while the namespace is in use and at the end.

`

// promise is what a durability setting says of acknowledged jobs.
type promise struct {
	durability    rig.Durability
	setting, text string
}

var promises = []promise{
	{rig.Always, "appendonly yes, appendfsync always", "Nothing that was acknowledged is lost."},
	{rig.EverySec, "appendonly yes, appendfsync everysec", "What was acknowledged up to two seconds before the store died may be lost; what it did in that time may be done again. The next `apply` submits precisely the jobs that were lost, under the same uuids unless the workflow's whole state was lost with them. A job that an attempt added from inside in that time is lost for good if the attempt goes on."},
	{rig.None, "appendonly no", "All is lost with the process. The next `apply` submits everything that is declared, as new jobs."},
	{rig.Replica, "a replica that takes over, WAIT 1 after an apply", "An apply that WAIT has confirmed is not lost. What workers did may be done again as far as the replica had not heard of it, and what their attempts added from inside then is lost for good if the attempts go on."},
	{rig.Journal, "the embedded store", "Nothing that was acknowledged is lost when any process dies, the host included. When the machine loses its power, what was acknowledged up to a second before may be."},
}

func writePromises(b *strings.Builder) {
	b.WriteString("## Promises\n\n| setting | acknowledged jobs |\n| --- | --- |\n")
	for _, p := range promises {
		fmt.Fprintf(b, "| %s | %s |\n", p.setting, p.text)
	}
}

func nameOf(r result) string {
	if r.Durability == string(rig.Journal) {
		return "embedded"
	}
	return r.Durability
}

func writeRuns(b *strings.Builder, runs []result) {
	b.WriteString("\n## Runs\n\nWhat was left when the faults were over had to come to its end. Lost are acknowledged jobs, as the\n" +
		"setting allows; brought back are those that the next apply submitted again. Late are attempts that a worker began which had been away, after\n" +
		"somebody else had begun; runs of seed 11 did not count them.\n\n")
	b.WriteString("| setting | seed | time | faults | workflows | jobs | attempts | retries | restarts | duplicates | late | lost | brought back | Verify | violations |\n")
	b.WriteString("| --- |" + strings.Repeat(" ---: |", 14) + "\n")
	for _, r := range runs {
		fmt.Fprintf(b, "| %s | %d | %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d |\n", nameOf(r), r.Seed, short(r.Duration), check.Sum(r.Faults),
			r.Graphs, r.Jobs+r.Children+r.Cycles, r.Attempts, r.Retries, check.Sum(r.Restarts), check.Sum(r.Duplicates), r.Late, r.Lost, r.Recreated, r.Verified, len(r.Violations))
	}
}

func short(d time.Duration) string {
	text := strings.TrimSuffix(d.String(), "0s")
	return strings.TrimSuffix(text, "0m")
}

func writeFaults(b *strings.Builder, runs []result) {
	b.WriteString("\n## Faults\n\n")
	writeCounts(b, runs, "fault", func(r result) map[string]int { return r.Faults })
}

func writeReasons(b *strings.Builder, runs []result) {
	b.WriteString("\n## Why an attempt was not the only one\n\nA restart follows an attempt that did not get to its end, a duplicate one that did its work.\n\n")
	writeCounts(b, runs, "restarts", func(r result) map[string]int { return r.Restarts })
	b.WriteString("\n")
	writeCounts(b, runs, "duplicates", func(r result) map[string]int { return r.Duplicates })
}

// writeCounts writes a table of counts by setting.
func writeCounts(b *strings.Builder, runs []result, what string, of func(result) map[string]int) {
	total, by, settings := map[string]int{}, map[string]map[string]int{}, []string{}
	for _, r := range runs {
		setting := nameOf(r)
		if by[setting] == nil {
			by[setting] = map[string]int{}
			settings = append(settings, setting)
		}
		for name, n := range of(r) {
			total[name] += n
			by[setting][name] += n
		}
	}
	fmt.Fprintf(b, "| %s | %s | all |\n| --- |%s ---: |\n", what, strings.Join(settings, " | "), strings.Repeat(" ---: |", len(settings)))
	for _, name := range byCount(total) {
		fmt.Fprintf(b, "| %s |", name)
		for _, s := range settings {
			fmt.Fprintf(b, " %d |", by[s][name])
		}
		fmt.Fprintf(b, " %d |\n", total[name])
	}
}

func writeAgain(b *strings.Builder, runs []result) {
	b.WriteString("\n## Again\n\nThe workflows and the schedule of the faults follow from the seed, who meets them does so as far as processes can be told to.\n\n```\n")
	for _, r := range runs {
		b.WriteString(r.Again + "\n")
	}
	b.WriteString("```\n")
}

// byCount orders names by how many there are of each, the greatest first.
func byCount(counts map[string]int) []string {
	var names []string
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
	return names
}
