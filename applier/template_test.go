package applier

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
)

func hourly(j *config.Job) {
	j.Schedule = &config.Schedule{Every: "hour", Text: "every 1 hour"}
}

// nightly is a graph that recurs, below a job that runs once.
func (l *lab) nightly(change ...func(*config.Job)) {
	l.Helper()
	r := append([]func(*config.Job){hourly, l.after("once")}, change...)
	l.declare(l.job("once"), l.job("r", r...), l.job("b", l.under("r")), l.job("c", l.after("r")))
}

// cycle begins one of job.NAME now.
func (l *lab) cycle(name string) time.Time {
	l.Helper()
	tick, err := l.RunTemplate(l.Context(), l.record(name).UUID.String())
	l.ok(err)
	return tick
}

// occurrence is the state of what job.NAME emitted for a cycle of job.r.
func (l *lab) occurrence(template, root string, tick time.Time) string {
	l.Helper()
	statuses, err := l.Statuses(l.Context(), []string{conveyor.OccurrenceUUID(template, root, tick)})
	l.ok(err)
	return statuses[0].State.String()
}

func (l *lab) lives(names ...string) []string {
	var states []string
	for _, name := range names {
		states = append(states, name+"="+l.live(name))
	}
	return states
}

func (l *lab) want(what string, want, got any) {
	l.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		l.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

// TestApplyTemplates: an apply with templates ends when what runs once has, and tells when the others fire.
func TestApplyTemplates(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.nightly()
		l.run.Detach = true
		result := l.apply()
		l.want("added", 4, result.Added)
		l.want("states", []string{"once=queued", "r=template", "b=template", "c=template"}, l.lives("once", "r", "b", "c"))
		l.noChanges()
		l.want("names", []string{"once"}, l.work())
		l.noChanges()
		l.run.Detach = false
		result = l.apply()
		if len(result.Bad) > 0 || len(result.Schedules) != 1 {
			l.Fatalf("it ends with %+v", result)
		}
		seen := result.Schedules[0]
		l.want("schedule", "job.r", seen.Addr.String())
		if now, err := l.Now(l.Context()); err != nil || !seen.Template.Next.After(now) || seen.Template.Next.After(now.Add(time.Hour)) {
			l.Errorf("at %s (%v) it fires next at %s", now, err, seen.Template.Next)
		}

		tick := l.cycle("r")
		l.want("names", []string{"r", "b", "c"}, l.work())
		l.noChanges()
		r := l.record("r").UUID.String()
		for _, name := range []string{"r", "b", "c"} {
			l.want(name, "completed", l.occurrence(l.record(name).UUID.String(), r, tick))
		}
		result = l.apply()
		l.want("last", conveyor.CycleCompleted, result.Schedules[0].Last.Outcome)
	})
}

// TestChangeTemplate: a change of work or handling is of later cycles; what was made already stays as it is.
func TestChangeTemplate(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.nightly(payload("one"))
		l.apply()
		l.work()
		before := l.record("r").UUID
		l.cycle("r")
		l.nightly(payload("two"))
		l.want("changed", 1, l.apply().Changed)
		l.want("uuid", before, l.record("r").UUID)
		l.want("payload", "one", string(l.start(1)[0].Job.Payload))
		l.cycle("r")
		l.want("payload", "two", string(l.start(1)[0].Job.Payload))
		l.noChanges()
	})
}

// TestRemoveTemplate: what waits of it is cancelled, what runs of it goes on.
func TestRemoveTemplate(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.nightly()
		l.apply()
		l.work()
		r := l.record("r").UUID.String()
		first, second := l.cycle("r"), l.cycle("r")
		running := l.start(1)
		l.declare(l.job("once"))
		l.want("destroyed", 3, l.apply().Destroyed)
		l.noChanges()
		l.want("first", "running", l.occurrence(r, r, first))
		l.want("second", "cancelled", l.occurrence(r, r, second))
		l.end(conveyor.VerdictDone, running...)
		l.want("first", "completed", l.occurrence(r, r, first))
		l.want("names", []string(nil), l.work())
	})
}

// TestBecomeTemplate goes there and back again, while jobs wait and run.
func TestBecomeTemplate(t *testing.T) {
	onBoth(t, func(l *lab) {
		once := func(j *config.Job) { j.Schedule = nil }
		l.nightly(once)
		l.apply()
		l.work()
		l.noChanges()
		l.nightly()
		result := l.apply()
		l.want("added", 3, result.Added)
		l.want("states", []string{"once=completed", "r=template", "b=template", "c=template"}, l.lives("once", "r", "b", "c"))
		l.noChanges()
		old := l.record("r").UUID.String()
		first := l.cycle("r")
		running := l.start(1)
		second := l.cycle("r")
		l.nightly(once)
		l.want("added", 3, l.apply().Added)
		l.want("running", "running", l.occurrence(old, old, first))
		l.want("waiting", "cancelled", l.occurrence(old, old, second))
		l.want("states", []string{"r=queued", "b=held", "c=held"}, l.lives("r", "b", "c"))
		l.nightly()
		l.apply()
		l.want("states", []string{"r=template", "b=template", "c=template"}, l.lives("r", "b", "c"))
		l.nightly(once)
		l.apply()
		again := l.start(1)
		l.want("started", "job.r", again[0].Job.Name)
		l.nightly()
		l.apply()
		l.want("states", []string{"r=template", "b=template", "c=template"}, l.lives("r", "b", "c"))
		l.end(conveyor.VerdictDone, again...)
		l.end(conveyor.VerdictDone, running...)
		l.want("names", []string(nil), l.work())
		l.noChanges()
		l.cycle("r")
		l.want("names", []string{"r", "b", "c"}, l.work())
		l.destroy()
	})
}

// TestReplaceRoot: a root that is another takes what is downstream along.
func TestReplaceRoot(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.nightly()
		l.apply()
		l.work()
		l.cycle("r")
		l.nightly(func(j *config.Job) { j.Schedule, j.Gate = nil, &config.Gate{Waiting: []string{"loaded"}} })
		result := l.apply()
		l.want("result", []int{1, 2, 1}, []int{result.Added, result.Changed, result.Destroyed})
		l.noChanges()
		l.want("names", []string(nil), l.work())
		l.cycle("r")
		l.want("names", []string{"r", "b", "c"}, l.work())
	})
}

// TestManyTemplates are submitted in several batches, dependents before the root.
func TestManyTemplates(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.run.batch = 3
		jobs := []*config.Job{l.job("r", hourly)}
		for i := range 10 {
			jobs = append(jobs, l.job(numbered("b", i), l.under("r")), l.job(numbered("c", i), l.after(numbered("b", i))))
		}
		l.declare(jobs...)
		l.want("added", 21, l.apply().Added)
		l.noChanges()
		l.cycle("r")
		l.want("runs", 21, len(l.work()))
		l.want("destroyed", 21, l.destroy().Destroyed)
	})
}
