package planner_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// ignoresChanges declares ignore_changes: paths with dots, or "all".
func ignoresChanges(paths ...string) func(*config.Job) {
	return func(j *config.Job) {
		cycle := config.Lifecycle{}
		for _, p := range paths {
			if p == "all" {
				cycle.IgnoreAll = true
				continue
			}
			cycle.Ignore = append(cycle.Ignore, strings.Split(p, "."))
		}
		j.Lifecycle = &cycle
	}
}

func payload(text string) func(*config.Job) {
	return func(j *config.Job) { j.Type, j.Payload, j.Shown = "shop.v1.Load", []byte(text), []byte(text) }
}

func secret(day, key string) func(*config.Job) {
	return func(j *config.Job) {
		j.Type, j.Payload, j.Sensitive = "shop.v1.Load", []byte(`{"day":"`+day+`","key":"`+key+`"}`), true
		j.Shown = []byte(`{"day":"` + day + `","key":"(sensitive value)"}`)
	}
}

func TestIgnoreChanges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		before, after func(*config.Job)
		ignore        []string
		live          planner.Status
		want          string
		ignored       string
		noted         bool // that a sensitive value changed beside what is shown
	}{
		{name: "work", after: newWork, ignore: []string{"exec"}, live: planner.Completed, want: "ignore_changes", ignored: "exec"},
		{name: "part of the work", before: payload(`{"a":1,"b":1}`), after: payload(`{"a":2,"b":1}`), ignore: []string{"payload.a"}, live: planner.Completed, want: "ignore_changes", ignored: "payload"},
		{name: "another part of the work", before: payload(`{"a":1,"b":1}`), after: payload(`{"a":2,"b":2}`), ignore: []string{"payload.a"}, live: planner.Completed, want: "-/+ work_changed"},
		{name: "other work", after: newWork, ignore: []string{"payload", "priority"}, live: planner.Completed, want: "-/+ work_changed"},
		{name: "handling", after: newHandling, ignore: []string{"timeout"}, live: planner.Queued, want: "ignore_changes", ignored: "timeout"},
		{name: "other handling", after: newHandling, ignore: []string{"priority"}, live: planner.Queued, want: "~ handling_changed"},
		{name: "all", after: func(j *config.Job) { newWork(j); newHandling(j) }, ignore: []string{"all"}, live: planner.Running, want: "ignore_changes", ignored: "exec, timeout"},
		{name: "edges", after: func(j *config.Job) { j.Predecessors = nil }, ignore: []string{"predecessor"}, live: planner.Queued, want: "ignore_changes", ignored: "predecessor"},
		{name: "failed", after: newWork, ignore: []string{"exec"}, live: planner.Failed, want: "-/+ failed", ignored: "exec"},
		{name: "lost", after: newWork, ignore: []string{"exec"}, live: planner.Lost, want: "+ lost", ignored: "exec"},
		{name: "waits, and something else changed", after: func(j *config.Job) { newWork(j); newHandling(j) }, ignore: []string{"exec"}, live: planner.Queued, want: "~ handling_changed", ignored: "exec"},
		{name: "runs, and something else changed", after: func(j *config.Job) { newWork(j); newHandling(j) }, ignore: []string{"exec"}, live: planner.Running, want: "ignore_changes", ignored: "exec"},
		{name: "has run, and something else changed", after: func(j *config.Job) { newWork(j); newHandling(j) }, ignore: []string{"exec"}, live: planner.Completed, want: "~ handling_changed, record", ignored: "exec"},
		{name: "a sensitive value", before: secret("mon", "one"), after: secret("mon", "two"), ignore: []string{"payload"}, live: planner.Completed, want: "ignore_changes", ignored: "payload"},
		{name: "a sensitive value that is ignored by its name", before: secret("mon", "one"), after: secret("mon", "two"), ignore: []string{"payload.key"}, live: planner.Completed, want: "ignore_changes", ignored: "payload"},
		{name: "a sensitive value beside what is ignored", before: secret("mon", "one"), after: secret("mon", "two"), ignore: []string{"payload.day"}, live: planner.Completed, want: "-/+ work_changed"},
		{name: "beside a sensitive value", before: secret("mon", "one"), after: secret("tue", "one"), ignore: []string{"payload.day"}, live: planner.Completed, want: "ignore_changes", ignored: "payload"},
		{name: "beside a sensitive value, which changed too", before: secret("mon", "one"), after: secret("tue", "two"), ignore: []string{"payload.day"}, live: planner.Completed, want: "-/+ work_changed", noted: true},
		{name: "nothing", ignore: []string{"all"}, live: planner.Completed, want: "unchanged"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := planner.Options{Digest: keyed, KeyID: "0badcafe"}
			w := edited(workflowOf("a", "b a"), "b", ignoresChanges(test.ignore...))
			if test.before != nil {
				w = edited(w, "b", test.before)
			}
			s := noState()
			p := mustMake(t, w, s, o)
			if err := planner.Settle(p, s); err != nil {
				t.Fatal(err)
			}
			for _, r := range p.Rows {
				s.Records[r.Addr.String()], s.Live[r.Addr.String()] = r.Next, planner.Live{Status: planner.Completed, Opening: 1}
			}
			s.Live["job.b"] = planner.Live{Status: test.live}
			if test.after != nil {
				w = edited(w, "b", test.after)
			}
			p = mustMake(t, w, s, o)
			r := row(t, p, "b")
			got := outcome(r)
			if got == "" {
				got = string(r.Reason)
			}
			if got != test.want || strings.Join(r.Ignored, ", ") != test.ignored {
				t.Errorf("got %q, ignoring %v; want %q, ignoring %q", got, r.Ignored, test.want, test.ignored)
			}
			if notes := strings.Join(r.Besides(), "; "); strings.Contains(notes, "a sensitive value changed as well") != test.noted {
				t.Errorf("the notes are %q", notes)
			}
			if err := planner.Settle(p, s); err != nil {
				t.Fatal(err)
			}
			checkNext(t, r)
			if r.KeepsWork && (r.Next.Work != r.Prior.Work || r.Next.Handling == r.Prior.Handling) {
				t.Error("the record tells of work that never ran")
			}
		})
	}
}

// TestIgnoreUnclear: a record of a version that kept no digests of sensitive values cannot tell which of them changed, and a plan says
// so. The next record can.
func TestIgnoreUnclear(t *testing.T) {
	t.Parallel()
	o := planner.Options{Digest: keyed, KeyID: "0badcafe"}
	declared := func(day string) *config.Workflow {
		return edited(edited(workflowOf("a"), "a", secret(day, "one")), "a", ignoresChanges("payload.day"))
	}
	s := noState()
	for i, day := range []string{"mon", "tue", "wed"} {
		p := mustMake(t, declared(day), s, o)
		if err := planner.Settle(p, s); err != nil {
			t.Fatal(err)
		}
		r := row(t, p, "a")
		want := []string{"+ new", "-/+ work_changed", "ignore_changes"}[i]
		got := outcome(r)
		if got == "" {
			got = string(r.Reason)
		}
		if notes := strings.Join(r.Besides(), "; "); got != want || strings.Contains(notes, "ignore_changes does not hold this time") != (i == 1) {
			t.Errorf("plan %d: %s, with the notes %q; want %s", i, got, notes, want)
		}
		if r.Next == nil {
			continue
		}
		if len(r.Next.Hidden) != 1 {
			t.Errorf("the record has %d digests, want one", len(r.Next.Hidden))
		}
		s.Records["job.a"], s.Live["job.a"] = r.Next, planner.Live{Status: planner.Completed, Opening: 1}
		if i == 0 {
			r.Next.Hidden = nil
		}
	}
}

// TestIgnoredWorkStands: a record that is written for another reason goes on telling what ran, so that the difference is seen once it
// counts again.
func TestIgnoredWorkStands(t *testing.T) {
	t.Parallel()
	w := edited(workflowOf("a"), "a", ignoresChanges("exec"))
	s := stateOf(t, w)
	w = edited(edited(w, "a", newWork), "a", newHandling)
	p := mustMake(t, w, s, planner.Options{})
	if err := planner.Settle(p, s); err != nil {
		t.Fatal(err)
	}
	next := row(t, p, "a").Next
	s.Records["job.a"] = next
	if strings.Contains(string(next.Definition), "run2") || !strings.Contains(string(next.Definition), "timeout") {
		t.Errorf("the definition is %s", next.Definition)
	}
	expect(t, mustMake(t, w, s, planner.Options{}))
	w = edited(w, "a", func(j *config.Job) { j.Lifecycle = nil })
	expect(t, mustMake(t, w, s, planner.Options{}), "-/+ a work_changed")
}
