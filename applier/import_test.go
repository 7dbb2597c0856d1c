package applier

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// forget removes the records of jobs and leaves the jobs alone.
func (l *lab) forget(names ...string) {
	l.Helper()
	var addrs []config.Addr
	for _, name := range names {
		addrs = append(addrs, addr(l.T, "job."+name))
	}
	_, err := Forget(l.Context(), l.Client, l.workflow.Name, addrs, StateChange{Operation: "state rm"})
	l.ok(err)
}

// TestImportByHand gives a job its record back: what it waits for is recorded too, so that a later plan notices when that ran again.
func TestImportByHand(t *testing.T) {
	onBoth(t, func(l *lab) {
		trigger := func(name string) func(*config.Job) {
			return func(j *config.Job) {
				j.Lifecycle = &config.Lifecycle{ReplacedBy: []config.Addr{addr(l.T, "job."+name)}}
			}
		}
		l.declare(l.job("a"), l.job("b", l.after("a")), l.job("c", trigger("a")))
		l.apply()
		l.work()
		before := l.state()
		l.forget("b", "c")
		for _, name := range []string{"b", "c"} {
			id := before.Records["job."+name].UUID.String()
			done, err := Import(l.Context(), l.Client, l.workflow, addr(l.T, "job."+name), id, planner.Options{}, StateChange{Operation: "import"})
			l.ok(err)
			if want := (Imported{Status: planner.Completed, Unseen: true}); done != want {
				l.Errorf("imported %+v, want %+v", done, want)
			}
			was, is := before.Records["job."+name], l.state().Records["job."+name]
			if diff := cmp.Diff([]any{was.UUID, was.Edges, was.Triggers, was.Work, was.Handling}, []any{is.UUID, is.Edges, is.Triggers, is.Work, is.Handling}); diff != "" {
				l.Errorf("record of job.%s (-before +after):\n%s", name, diff)
			}
		}
		l.noChanges()

		// The upstream runs again by an apply that leaves out what follows from it.
		l.run.Options = planner.Options{Replace: []config.Addr{addr(l.T, "job.a")}, Exclude: []config.Addr{addr(l.T, "job.b"), addr(l.T, "job.c")}}
		l.apply()
		l.run.Options = planner.Options{}
		got := map[string]planner.Reason{}
		for _, r := range changes(l.plan()) {
			got[r.Addr.Name] = r.Reason
		}
		if diff := cmp.Diff(map[string]planner.Reason{"b": planner.ReasonUpstreamRan, "c": planner.ReasonTriggered}, got); diff != "" {
			l.Errorf("the next plan (-want +got):\n%s", diff)
		}
	})
}

// TestImportsAreReadAtOnce counts the commands of a plan: however many import blocks there are, one request reads all their jobs, and one the lists of those
// that wait.
func TestImportsAreReadAtOnce(t *testing.T) {
	onBoth(t, func(l *lab) {
		const n = 40
		var jobs []*config.Job
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("j%d", i))
			jobs = append(jobs, l.job(names[i]))
		}
		l.declare(jobs...)
		l.apply()
		l.end(conveyor.VerdictFailed, l.start(3)...)
		records := l.state().Records
		l.forget(names...)
		for _, name := range names {
			at := addr(l.T, "job."+name)
			l.workflow.Imports = append(l.workflow.Imports, config.Import{To: at, ID: records[at.String()].UUID.String()})
		}
		watched := &commandLog{}
		rdb := l.store.connect(l.T)
		l.ok(rdb.Ping(l.Context()).Err())
		rdb.AddHook(watched)
		state, err := ReadStateFor(l.Context(), l.rival(rdb).Client, l.workflow)
		l.ok(err)
		if len(state.Imports) != n || watched.trips != 3 {
			l.Errorf("%d jobs in %d round trips, want %d in 3: the state, all jobs, and the lists that some wait in", len(state.Imports), watched.trips, n)
		}
		if r := l.apply(); r.Imported != n {
			l.Errorf("result is %+v, want %d imported", r, n)
		}
	})
}
