package applier

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// moved declares that a job has another name now: "a" is "b".
func (l *lab) moved(from, to string) {
	l.Helper()
	l.workflow.Moved = append(l.workflow.Moved, config.Moved{From: addr(l.T, "job."+from), To: addr(l.T, "job."+to)})
}

// TestMovedJobs renames jobs while they wait, run, are closing, or have ended: none runs again, nothing is lost of what waits
// for them, and who starts after it has its new name.
func TestMovedJobs(t *testing.T) {
	onBoth(t, func(l *lab) {
		jobs := func(done, closing, running, waiting string) []*config.Job {
			return []*config.Job{
				l.job(done), l.job(closing), l.job("child", l.under(closing)), l.job(running, l.after(done)), l.job(waiting, l.after(running)),
				l.job("last", l.after(closing, waiting)),
			}
		}
		l.declare(jobs("done", "closing", "running", "waiting")...)
		l.apply()
		l.end(conveyor.VerdictDone, l.start(2)...) // done and closing
		running := l.start(2)                      // child and running
		before := l.state()
		l.declare(jobs("done2", "closing2", "running2", "waiting2")...)
		for _, name := range []string{"done", "closing", "running", "waiting"} {
			l.moved(name, name+"2")
		}
		if r := l.apply(); r.Added != 0 || r.Changed != 6 || r.Destroyed != 0 {
			l.Errorf("result is %+v, want six changes", r)
		}
		after := l.state()
		for _, name := range []string{"done", "closing", "running", "waiting"} {
			was, is := before.Records["job."+name], after.Records["job."+name+"2"]
			if is == nil || is.UUID != was.UUID || is.Generation != was.Generation || is.Version != was.Version+1 {
				l.Errorf("the record of job.%s is %+v at its new address, it was %+v", name, is, was)
			}
			if r := after.Records["job."+name]; r != nil {
				l.Errorf("job.%s still has a record: %+v", name, r)
			}
			if was, is := before.Live["job."+name].Status, after.Live["job."+name+"2"].Status; was != is {
				l.Errorf("job.%s was %s and is %s", name, was, is)
			}
		}
		l.noChanges()
		l.workflow.Moved = nil
		l.noChanges()
		l.end(conveyor.VerdictDone, running...)
		if diff := cmp.Diff([]string{"waiting2", "last"}, l.work()); diff != "" {
			l.Errorf("runs (-want +got):\n%s", diff)
		}
		l.noChanges()
	})
}

// TestMovedLeavesItsGenerations checks that a job declared where another was gets none of the uuids that one had, and the one
// that moved none of whatever was at its new address.
func TestMovedLeavesItsGenerations(t *testing.T) {
	onBoth(t, func(l *lab) {
		used := map[string]string{}
		take := func(name string) {
			l.Helper()
			id := l.record(name).UUID.String()
			if by := used[id]; by != "" {
				l.Errorf("job.%s has the uuid that %s had", name, by)
			}
			used[id] = "job." + name
		}
		for round := range 3 {
			l.declare(l.job("b", payload(fmt.Sprint(round))))
			l.apply()
			take("b")
			l.work()
		}
		l.destroy()
		l.declare(l.job("a", payload("0")))
		l.apply()
		take("a")
		l.work()
		l.declare(l.job("b", payload("0")))
		l.moved("a", "b")
		l.apply()
		l.declare(l.job("b", payload("again")), l.job("a", payload("new")))
		l.apply()
		take("a")
		take("b")
		l.work()
		l.noChanges()
	})
}

// TestSavedMove applies a plan with moves from a file, and one that somebody else was faster with.
func TestSavedMove(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b", l.after("a")))
		l.apply()
		l.declare(l.job("c"), l.job("b", l.after("c")))
		l.moved("a", "c")
		var file bytes.Buffer
		l.ok(planner.WritePlan(&file, l.plan(), nil))
		late, err := planner.ReadPlan(bytes.NewReader(file.Bytes()), nil)
		l.ok(err)
		p, err := planner.ReadPlan(&file, nil)
		l.ok(err)
		declared := l.workflow
		l.workflow = &config.Workflow{Name: "w", Named: true, Jobs: declared.Jobs, Moved: p.Moves()}
		l.run.Saved = true
		_, err = l.carryOut(l.Context(), p)
		l.ok(err)
		if diff := cmp.Diff([]string{"c", "b"}, l.work()); diff != "" {
			l.Errorf("runs (-want +got):\n%s", diff)
		}
		l.workflow = declared
		l.noChanges()
		if _, err := l.carryOut(l.Context(), late); err == nil {
			l.Error("a plan whose move was carried out already is not stale")
		}
		l.noChanges()
	})
}

// TestManyMoves has more moves than one batch can carry.
func TestManyMoves(t *testing.T) {
	onBoth(t, func(l *lab) {
		jobs := func(name string) (jobs []*config.Job) {
			for i := range 2*maxMoved + 1 {
				jobs = append(jobs, l.job(numbered(name, i)))
			}
			return jobs
		}
		l.declare(jobs("old")...)
		l.apply()
		l.declare(jobs("new")...)
		l.moved("old", "new")
		l.apply()
		for name := range l.state().Records {
			if name[:len("job.new")] != "job.new" {
				l.Errorf("%s is left", name)
			}
		}
		l.noChanges()
		if n := len(l.work()); n != 2*maxMoved+1 {
			l.Errorf("%d jobs ran, want %d", n, 2*maxMoved+1)
		}
	})
}
