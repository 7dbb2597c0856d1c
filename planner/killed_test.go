package planner_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/waybill-dev/waybill/planner"
)

// TestKilledApply cuts an apply short after any row. The next one submits exactly what is missing: every submission is
// made once, and with the uuid it would have had.
func TestKilledApply(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkflow(t, 7)
		killed, whole := newEngine(), newEngine()
		for _, e := range []*engine{killed, whole} {
			submit(t, e, w, planner.Options{}, -1)
			finishAll(t, e)
		}
		fails := rapid.Bool().Draw(t, "fails")
		if fails {
			name := rapid.SampledFrom(w.Jobs).Draw(t, "failed").Addr.String()
			for _, e := range []*engine{killed, whole} {
				job := e.jobs[e.state.Records[name].UUID.String()]
				job.live.Status = planner.Failed
				e.tellParents(job)
				e.refail()
			}
		}
		w = drawEdit(t, w)
		p := submit(t, whole, w, planner.Options{}, -1)
		for limit := range len(inOrder(p)) + 1 {
			e := killed.clone()
			submit(t, e, w, planner.Options{}, limit)
			submit(t, e, w, planner.Options{}, -1)
			if diff := cmp.Diff(whole.submissions(), e.submissions()); diff != "" {
				t.Fatalf("killed after %d rows of %q (-whole +killed):\n%s\nwhole:\n%s\nkilled:\n%s", limit, actions(p), diff, whole, e)
			}
			finishAll(t, e)
			settledDown(t, e, w)
		}
	})
}

// TestKilledApplyGoesOn is TestKilledApply with workers that go on between the kill and the next apply. No address may get
// more generations than a whole apply would have given it.
func TestKilledApplyGoesOn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkflow(t, 7)
		killed, whole := newEngine(), newEngine()
		for _, e := range []*engine{killed, whole} {
			submit(t, e, w, planner.Options{}, -1)
			finishAll(t, e)
		}
		w = drawEdit(t, w)
		p := submit(t, whole, w, planner.Options{}, -1)
		finishAll(t, whole)
		settledDown(t, whole, w)
		for limit := range len(inOrder(p)) + 1 {
			e := killed.clone()
			submit(t, e, w, planner.Options{}, limit)
			for range rapid.IntRange(0, 30).Draw(t, "moves") {
				moves := e.moves()
				if len(moves) == 0 {
					break
				}
				if err := moves[rapid.IntRange(0, len(moves)-1).Draw(t, "move")].do(true); err != nil {
					t.Fatalf("%s", err)
				}
			}
			submit(t, e, w, planner.Options{}, -1)
			finishAll(t, e)
			settledDown(t, e, w)
			if diff := cmp.Diff(whole.generations(), e.generations()); diff != "" {
				t.Fatalf("killed after %d rows of %q (-whole +killed):\n%s", limit, actions(p), diff)
			}
		}
	})
}

// generations tells how often each recorded address was submitted, how often that opened, and how it ended.
func (e *engine) generations() map[string]string {
	all := map[string]string{}
	for name, rec := range e.state.Records {
		job := e.jobs[rec.UUID.String()]
		all[name] = fmt.Sprintf("generation %d, %s", rec.Generation, job.live.Status)
	}
	return all
}

// refail lets completed parents and heirs follow a failure that a test made up.
func (e *engine) refail() {
	for range len(e.jobs) {
		for _, id := range slices.Sorted(maps.Keys(e.jobs)) {
			job := e.jobs[id]
			if job.live.Status == planner.Completed && job.live.FailedChildren > 0 {
				job.live.Status, job.live.ChildFailed = planner.Failed, true
				e.tellParents(job)
			}
		}
	}
}

func (e *engine) clone() *engine {
	c := &engine{jobs: map[string]*played{}, state: &planner.State{}}
	*c.state = *e.state
	c.state.Records = maps.Clone(e.state.Records)
	for id, job := range e.jobs {
		copied := *job
		c.jobs[id] = &copied
	}
	return c
}

// submissions tells which uuids were ever added, and how often.
func (e *engine) submissions() map[string]string {
	all := map[string]string{}
	for id, job := range e.jobs {
		all[id] = fmt.Sprintf("%s added %d times, opening %d", job.name, job.adds, job.live.Opening)
	}
	return all
}
