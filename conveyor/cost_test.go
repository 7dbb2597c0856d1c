package conveyor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// longCommands cost as much as the key, or the store, is long.
var longCommands = []string{"lrem", "linsert", "lpos", "smembers", "keys", "scan", "sscan", "hscan", "sort"}

// TestCost counts the commands of each operation. What they take in time is measured by BenchmarkQueueLength, BenchmarkTemplates and
// BenchmarkGates, up to a million jobs.
func TestCost(t *testing.T) {
	t.Parallel()
	t.Run("C12b no operation costs more with a longer queue, or with more templates and gates", func(t *testing.T) {
		e := newEngine(t, redistest.Start(t).Client(t)) // of its own: all its commands are counted
		newEngine(t, e.rdb).costs(4)                    // loads the scripts
		few := e.costs(10)
		alone := newEngine(t, e.rdb)
		many := alone.costs(2000)
		if diff := cmp.Diff(few, many); diff != "" {
			t.Errorf("commands (-among ten +among two thousand):\n%s", diff)
		}
		alone.sound()
	})
}

// costs are the commands of operations among n queued jobs, templates and gates each.
func (e *engine) costs(n int) map[string]int {
	e.Helper()
	var jobs []*wire.Job
	for i := range n {
		jobs = append(jobs, job(fmt.Sprint("j", i), labelled("kind=many")), job(fmt.Sprint("t", i), every("1200 months")),
			job(fmt.Sprint("g", i), gated(fmt.Sprint("label-", i), "never")))
	}
	e.add(append(jobs, job("r", every("minute"), queue("r")), job("g", gated("a"), queue("r")))...)
	e.ticks()
	middle, out := fmt.Sprint("j", n/2), map[string]int{}
	var got conveyor.Reservation
	ctx := e.Context()
	for _, op := range []struct {
		name string
		call func() error
	}{
		{"add", func() error { return e.Add(ctx, job("new", labelled("a=b"))) }},
		{"add unique", func() error { return e.Add(ctx, job("alone", unique("k"))) }},
		{"add obsolete", func() error { return e.Add(ctx, job("dropped", dropIf("kind=many"))) }},
		{"update", func() error { return e.Update(ctx, job(middle, labelled("kind=many"), lane(2))) }},
		{"reserve", func() error { got = e.take(middle); return nil }},
		{"hand back", func() error { e.exchange(0, ack(got, conveyor.VerdictBack)); return nil }},
		{"reserve again", func() error { got = e.take(middle); return nil }},
		{"end", func() error { e.exchange(0, ack(got, conveyor.VerdictDone)); return nil }},
		{"cancel", func() error { return e.Cancel(ctx, fmt.Sprint("j", n/2+1)) }},
		{"remove", func() error { return e.Remove(ctx, fmt.Sprint("j", n/2+1)) }},
		{"exists", func() error { _, err := e.Exists(ctx, filter("a=b")); return err }},
		{"find", func() error { _, err := e.List(ctx, conveyor.ListOptions{Labels: filter("a=b")}); return err }},
		{"tick", func() error { _, err := e.Tick(ctx); return err }},
		{"tick, emit", func() error { e.pass(time.Minute); _, err := e.Tick(ctx); return err }},
		{"run a template", func() error { _, err := e.RunTemplate(ctx, "r"); return err }},
		{"pause", func() error { return e.PauseTemplate(ctx, "r") }},
		{"resume", func() error { return e.ResumeTemplate(ctx, "r") }},
		{"open a gate", func() error {
			e.add(job("trigger", lane(2), triggers("a")))
			e.run("trigger", conveyor.VerdictDone)
			return nil
		}},
		{"read a template", func() error { _, err := e.Templates(ctx, []string{"r"}); return err }},
		{"delete a template", func() error { return e.Cancel(ctx, fmt.Sprint("t", n/2)) }},
		{"delete a gate", func() error { return e.Cancel(ctx, fmt.Sprint("g", n/2)) }},
	} {
		e.ok(e.rdb.ConfigResetStat(ctx).Err())
		e.ok(op.call())
		out[op.name] = commands(e)
		e.noLongCommand(op.name)
	}
	return out
}

// noLongCommand wants none of longCommands to have been executed since the statistics were reset.
func (e *engine) noLongCommand(op string) {
	e.Helper()
	stats, err := e.rdb.Info(e.Context(), "commandstats").Result()
	e.ok(err)
	for line := range strings.Lines(stats) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":")
		if slices.Contains(longCommands, name) {
			e.Errorf("%s executes %s", op, name)
		}
	}
}
