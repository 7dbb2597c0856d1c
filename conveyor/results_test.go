package conveyor_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// reads has a job's payload read a key of other jobs' results.
func reads(key string, uuids ...string) func(*wire.Job) {
	return func(j *wire.Job) {
		var parts []string
		for _, uuid := range uuids {
			parts = append(parts, `"`+conveyor.ResultValue(uuid, key)+`"`)
		}
		j.Results, j.Payload = uuids, []byte("["+strings.Join(parts, ",")+"]")
	}
}

// ranWith runs all that is ready on a worker, with handlers that leave results by uuid or template, until these jobs have ended.
// It returns what the handlers got.
func (e *engine) ranWith(results map[string]string, ends ...string) map[string]string {
	e.Helper()
	got := map[string]string{}
	all := make(chan string, 1000)
	stop := e.work(e.Client, "q", func(ctx context.Context, j *wire.Job) error {
		a := conveyor.FromContext(ctx)
		name := j.GetTemplateUuid()
		if name == "" {
			name = j.GetUuid()
		}
		all <- name + " " + string(j.GetPayload())
		if r, ok := results[name]; ok {
			return a.SetResult([]byte(r))
		}
		return nil
	})
	after, err := e.LastEvent(e.Context())
	e.ok(err)
	for left := true; left; {
		left = false
		found, err := e.Statuses(e.Context(), ends)
		e.ok(err)
		for _, s := range found {
			left = left || !s.State.Ended()
		}
		if left {
			batch, err := e.Events(e.Context(), after, conveyor.BeatEvery)
			e.ok(err)
			after = batch.Seq
		}
	}
	stop()
	close(all)
	for line := range all {
		name, payload, _ := strings.Cut(line, " ")
		got[name] = payload
	}
	return got
}

// TestResults: what jobs read of each other is there when they start, over edges of each kind, and however many they are.
func TestResults(t *testing.T) {
	onBoth(t, func(e *engine) {
		many := []string{}
		for i := range 120 {
			many = append(many, fmt.Sprintf("m%d", i))
		}
		e.add(job("heir", after(wire.Edge_SUCCESS, "up"), reads("n", "up")), job("child", under("up"), reads("n", "up")), job("fan", after(wire.Edge_SUCCESS, many...), reads("n", many...)), job("up"))
		results := map[string]string{"up": `{"n":7}`}
		var want []string
		for i, uuid := range many {
			e.add(job(uuid))
			results[uuid] = fmt.Sprintf(`{"n":%d}`, i)
			want = append(want, fmt.Sprint(i))
		}
		got := e.ranWith(results, "heir", "child", "fan")
		e.want("[7]", got["heir"])
		e.want("[7]", got["child"])
		e.want("["+strings.Join(want, ",")+"]", got["fan"])
	})
}

// TestResultsThatAreMissing: the attempt fails for good, and its failure says how the other job stands.
func TestResultsThatAreMissing(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("left"), job("reader", after(wire.Edge_SUCCESS, "left"), reads("n", "left")),
			job("skipped", after(wire.Edge_FAILURE, "left")), job("of-skipped", after(wire.Edge_ALWAYS, "skipped"), reads("n", "skipped")),
			job("early", reads("n", "late")), job("late", under("nowhere")), job("lost", reads("n", "nobody")))
		e.ranWith(nil, "reader", "of-skipped", "early", "lost")
		for uuid, want := range map[string]string{
			"reader":     "it reads result.n of job left: that job left no result: it writes one to WAYBILL_OUTPUT, or a Go handler calls SetResult",
			"of-skipped": "it reads result.n of job skipped: that job is skipped, and only success leaves a result",
			"early":      "it reads result.n of job late: that job is held and has no result yet: wait for it with an edge",
			"lost":       "it reads result.n of job nobody: that job is not in the store any more",
		} {
			failure, err := e.Failure(e.Context(), uuid)
			e.ok(err)
			e.want(want, failure)
			e.want([]any{conveyor.StateFailed, 1}, []any{e.status(uuid).State, e.status(uuid).Attempts})
		}
	})
}

// TestResultsOfCycles: an occurrence reads what its own cycle left, and of a job that runs once what that left.
func TestResultsOfCycles(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("heir", downstream, after(wire.Edge_SUCCESS, "root", "once"), reads("n", "root", "once")), job("root", every("1 hour")), job("once"))
		for i, want := range []string{"[0,9]", "[1,9]"} {
			tick := firstHour + int64(i)*hour
			e.tickAt(tick)
			got := e.ranWith(map[string]string{"root": fmt.Sprintf(`{"n":%d}`, i), "once": `{"n":9}`}, occ("heir", "root", tick))
			e.want(want, got["heir"])
		}
	})
}
