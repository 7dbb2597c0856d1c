package planner_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

func scheduled(j *config.Job) {
	j.Gate, j.Schedule = nil, &config.Schedule{Every: "hour", Text: "every 1 hour"}
}

func gated(j *config.Job) {
	j.Schedule, j.Gate = nil, &config.Gate{Waiting: []string{"loaded"}}
}

func once(j *config.Job) { j.Schedule, j.Gate = nil, nil }

// templates is a state in which everything that is declared as a template stands as one, and the rest is complete.
func templates(t testing.TB, w *config.Workflow) *planner.State {
	s := stateOf(t, w)
	for _, r := range mustMake(t, w, s, planner.Options{}).Rows {
		if r.Recurs() {
			s.Live[r.Addr.String()] = planner.Live{Status: planner.Template, Opening: 1}
		}
	}
	return s
}

// TestBecomesTemplate has a row for each status that a job may have when it becomes a template, or a template when it becomes
// a job that runs once.
func TestBecomesTemplate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		live     planner.Live
		deposed  bool
		onChange config.OnChange
		want     string
	}{
		{name: "lost", want: "+ lost"},
		{name: "held", live: planner.Live{Status: planner.Held}, want: "-/+ becomes_template cancel"},
		{name: "scheduled", live: planner.Live{Status: planner.Scheduled}, want: "-/+ becomes_template cancel"},
		{name: "queued", live: planner.Live{Status: planner.Queued}, want: "-/+ becomes_template cancel"},
		{name: "running", live: planner.Live{Status: planner.Running}, want: "-/+ becomes_template"},
		{name: "running, cancel", live: planner.Live{Status: planner.Running}, onChange: config.OnChangeCancel, want: "-/+ becomes_template cancel"},
		{name: "running, ignore", live: planner.Live{Status: planner.Running}, onChange: config.OnChangeIgnore, want: "-/+ becomes_template"},
		{name: "running, deposed", live: planner.Live{Status: planner.Running}, deposed: true, want: "-/+ declared_again"},
		{name: "closing", live: planner.Live{Status: planner.Closing}, want: "-/+ becomes_template"},
		{name: "completed", live: planner.Live{Status: planner.Completed}, want: "-/+ becomes_template"},
		{name: "obsolete", live: planner.Live{Status: planner.Obsolete}, want: "-/+ becomes_template"},
		{name: "failed", live: planner.Live{Status: planner.Failed}, want: "-/+ becomes_template"},
		{name: "failed through children", live: planner.Live{Status: planner.Failed, ChildFailed: true, FailedChildren: 1}, want: "-/+ becomes_template"},
		{name: "cancelled", live: planner.Live{Status: planner.Cancelled}, want: "-/+ becomes_template"},
		{name: "expired", live: planner.Live{Status: planner.Expired}, want: "-/+ becomes_template"},
		{name: "skipped", live: planner.Live{Status: planner.Skipped}, want: "-/+ becomes_template"},
		{name: "on hold", live: planner.Live{Status: planner.OnHold}, want: "-/+ becomes_template cancel"},
		{name: "template", live: planner.Live{Status: planner.Template}, want: "~ handling_changed"},
	}
	for _, declared := range []struct {
		name string
		edit func(*config.Job)
	}{{"schedule", scheduled}, {"gate", gated}} {
		for _, test := range tests {
			t.Run(test.name+"/"+declared.name, func(t *testing.T) {
				t.Parallel()
				before := edited(workflowOf("a", "b a"), "b", func(j *config.Job) { j.OnChange = test.onChange })
				s := stateOf(t, before)
				s.Live["job.b"] = test.live
				s.Records["job.b"].Deposed = test.deposed
				want := test.want
				if declared.name == "gate" {
					want = strings.Replace(want, "~ handling_changed", "-/+ gate_changed cancel", 1)
				}
				decides(t, edited(before, "b", declared.edit), s, want)
			})
		}
	}
	t.Run("stops being one", func(t *testing.T) {
		t.Parallel()
		for _, edit := range []func(*config.Job){scheduled, gated} {
			before := edited(workflowOf("a", "b a"), "b", edit)
			decides(t, edited(before, "b", once), templates(t, before), "-/+ stops_being_template cancel")
		}
	})
	t.Run("a gate becomes a schedule", func(t *testing.T) {
		t.Parallel()
		before := edited(workflowOf("a", "b a"), "b", gated)
		decides(t, edited(before, "b", scheduled), templates(t, before), "-/+ gate_changed cancel")
	})
}

// decides checks what a plan does with job.b, and that the row holds its promises.
func decides(t *testing.T, w *config.Workflow, s *planner.State, want string) {
	t.Helper()
	p := mustMake(t, w, s, planner.Options{})
	r := row(t, p, "b")
	if got := outcome(r); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := planner.Settle(p, s); err != nil {
		t.Fatal(err)
	}
	checkNext(t, r)
	if r.Recurs() {
		for _, e := range r.Next.Edges {
			if e.Kind == planner.EdgeSuccessor {
				t.Error("a template waits for a generation before it")
			}
		}
		if len(r.HoldOpen) > 0 {
			t.Errorf("a template holds %s open", r.HoldOpen)
		}
	}
	checkPlanFile(t, p)
}

func checkPlanFile(t *testing.T, p *planner.Plan) {
	t.Helper()
	var file bytes.Buffer
	if err := planner.WritePlan(&file, p, nil); err != nil {
		t.Fatal(err)
	}
	read, err := planner.ReadPlan(&file, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range read.Rows {
		if want := p.Rows[i]; r.Root != want.Root || !cmp.Equal(r.Fires, want.Fires) {
			t.Errorf("%s is read from a file with root %s and times %s, want %s and %s", r.Addr, r.Root, r.Fires, want.Root, want.Fires)
		}
	}
}

// TestTemplateGraphs tells what becomes of the jobs around a template.
func TestTemplateGraphs(t *testing.T) {
	t.Parallel()
	// r and all below it recur; o runs once and r waits for it; x has nothing to do with either.
	graph := edited(workflowOf("o", "r o", "b r", "c ^b", "d b", "x"), "r", scheduled)
	tests := []struct {
		name  string
		w     *config.Workflow
		after func(w *config.Workflow) *config.Workflow
		live  map[string]planner.Live
		o     planner.Options
		want  []string
	}{
		{name: "nothing", w: graph},
		{
			name: "the work of the root", w: graph,
			after: func(w *config.Workflow) *config.Workflow { return edited(w, "r", newWork) },
			want:  []string{"~ r work_changed"},
		},
		{
			name: "another schedule", w: graph,
			after: func(w *config.Workflow) *config.Workflow {
				return edited(w, "r", func(j *config.Job) { j.Schedule = &config.Schedule{Every: "day", Text: "every 1 day"} })
			},
			want: []string{"~ r handling_changed"},
		},
		{
			name: "the same ticks in other words", w: graph,
			after: func(w *config.Workflow) *config.Workflow {
				return edited(w, "r", func(j *config.Job) { j.Schedule = &config.Schedule{Every: "1 hours", Text: "every 1 hour"} })
			},
		},
		{
			name: "the work of one in the middle", w: graph,
			after: func(w *config.Workflow) *config.Workflow { return edited(w, "b", newWork) },
			want:  []string{"~ b work_changed"},
		},
		{
			name: "the job that runs once runs again", w: graph,
			after: func(w *config.Workflow) *config.Workflow { return edited(w, "o", newWork) },
			want:  []string{"-/+ o work_changed", "~ r upstream_runs_again"},
		},
		{
			name: "the root runs once from now on, and so does everything below it", w: graph,
			after: func(w *config.Workflow) *config.Workflow { return edited(w, "r", once) },
			want:  []string{"-/+ r stops_being_template", "-/+ b stops_being_template", "-/+ c stops_being_template", "-/+ d stops_being_template"},
		},
		{
			name: "a finished graph recurs from now on", w: edited(graph, "r", once),
			after: func(w *config.Workflow) *config.Workflow { return edited(w, "r", scheduled) },
			want:  []string{"-/+ r becomes_template", "-/+ b becomes_template", "-/+ c becomes_template", "-/+ d becomes_template"},
		},
		{
			name: "a graph that runs recurs from now on", w: edited(graph, "r", once),
			after: func(w *config.Workflow) *config.Workflow { return edited(w, "r", scheduled) },
			live: map[string]planner.Live{"r": {Status: planner.Running}, "b": {Status: planner.Held}, "c": {Status: planner.Held},
				"d": {Status: planner.Held}},
			want: []string{"-/+ r becomes_template", "-/+ b becomes_template", "-/+ c becomes_template", "-/+ d becomes_template"},
		},
		{
			name: "the root becomes a gate", w: graph,
			after: func(w *config.Workflow) *config.Workflow { return edited(w, "r", gated) },
			want:  []string{"-/+ r gate_changed", "~ b upstream_runs_again"},
		},
		{
			name: "another root above", w: workflowOf2(scheduled, "r", "s", "b r"),
			after: func(w *config.Workflow) *config.Workflow { return workflowOf2(scheduled, "r", "s", "b s") },
			want:  []string{"~ b handling_changed"},
		},
		{
			name: "a job leaves the cycles", w: graph,
			after: func(w *config.Workflow) *config.Workflow {
				return edited(w, "d", func(j *config.Job) { j.Predecessors = jobOf("d o").Predecessors })
			},
			want: []string{"-/+ d stops_being_template"},
		},
		{
			name: "a new job in the cycles", w: graph,
			after: func(w *config.Workflow) *config.Workflow { return with(w, "e b d") },
			want:  []string{"+ e new"},
		},
		{
			name: "one in the cycles is not declared any more", w: graph,
			after: func(w *config.Workflow) *config.Workflow { return without(w, "d") },
			want:  []string{"- d not_declared"},
		},
		{
			name: "destroy", w: graph, o: planner.Options{Destroy: true},
			want: []string{"- o destroy", "- r destroy", "- b destroy", "- c destroy", "- d destroy", "- x destroy"},
		},
		{
			name: "a new template below a finished job keeps it closed", w: workflowOf("a", "h a"),
			after: func(w *config.Workflow) *config.Workflow { return edited(with(w, "r ^a"), "r", scheduled) },
			want:  []string{"+ r new"},
		},
		{
			name: "a child becomes a template and counts no more", w: workflowOf("a", "r ^a", "h a"),
			after: func(w *config.Workflow) *config.Workflow { return edited(w, "r", scheduled) },
			live: map[string]planner.Live{"a": {Status: planner.Failed, ChildFailed: true, FailedChildren: 1}, "r": {Status: planner.Failed},
				"h": {Status: planner.Skipped}},
			want: []string{"-/+ a failed", "-/+ r becomes_template", "-/+ h upstream_runs_again"},
		},
		{
			name: "a template becomes a child", w: edited(workflowOf("a", "r ^a", "h a"), "r", scheduled),
			after: func(w *config.Workflow) *config.Workflow { return edited(w, "r", once) },
			want:  []string{"~ a child_runs_again", "-/+ r stops_being_template", "-/+ h upstream_runs_again"},
		},
		{
			name: "a target takes the templates along that would hang on it", w: graph, o: planner.Options{Targets: []config.Addr{addr("job.r")}},
			after: func(w *config.Workflow) *config.Workflow { return edited(edited(w, "r", once), "x", newWork) },
			want:  []string{"-/+ r stops_being_template", "-/+ b stops_being_template", "-/+ c stops_being_template", "-/+ d stops_being_template"},
		},
		{
			name: "replace the root", w: graph, o: planner.Options{Replace: []config.Addr{addr("job.r")}},
			want: []string{"-/+ r requested", "~ b upstream_runs_again"},
		},
		{
			name: "a lost root", w: graph, live: map[string]planner.Live{"r": {}},
			want: []string{"+ r lost", "~ b upstream_runs_again"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := templates(t, test.w)
			for name, live := range test.live {
				s.Live["job."+name] = live
			}
			w := test.w
			if test.after != nil {
				w = test.after(w)
			}
			p := mustMake(t, w, s, test.o)
			expect(t, p, test.want...)
			if err := planner.Settle(p, s); err != nil {
				t.Fatal(err)
			}
			for _, r := range p.Rows {
				checkNext(t, r)
			}
			checkPlanFile(t, p)
			if n := p.Unfinished(); test.want == nil && n > 0 {
				t.Errorf("%d jobs are unfinished", n)
			}
		})
	}
}

// workflowOf2 is a workflow whose jobs without edges are all made roots.
func workflowOf2(root func(*config.Job), lines ...string) *config.Workflow {
	w := workflowOf(lines...)
	for _, j := range w.Jobs {
		if len(j.Parents)+len(j.Predecessors) == 0 {
			root(j)
		}
	}
	return w
}

func TestTwoRoots(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		w    *config.Workflow
		want []string // words of each diagnostic, and where it points
	}{
		{name: "fan-in of one root", w: workflowOf2(scheduled, "r", "a r", "b ^r", "c a b")},
		{
			name: "heir of two", w: workflowOf2(scheduled, "r", "s", "c r,s"),
			want: []string{"11 Job is below two templates: job.c is downstream of job.r, which has a schedule, and of job.s, which has a schedule"},
		},
		{
			name: "far below two, told once", w: workflowOf2(scheduled, "r", "s", "a r", "b ^s", "c a b", "d c", "e ^d s"),
			want: []string{"12 Job is below two templates: job.c is downstream of job.r, which has a schedule, and of job.s, which has a schedule",
				"12 Job is below two templates: job.e is downstream of job.r, which has a schedule, and of job.s, which has a schedule"},
		},
		{
			name: "a root below a root", w: edited(workflowOf2(scheduled, "r", "a ^r", "b a"), "b", gated),
			want: []string{"11 Template below another template: job.b has a gate, and it is downstream of job.r, which has a schedule"},
		},
		{
			name: "a gate and a schedule", w: edited(workflowOf2(scheduled, "g", "r", "c g r"), "g", gated),
			want: []string{"12 Job is below two templates: job.c is downstream of job.g, which has a gate, and of job.r, which has a schedule"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, diags := planner.NewGraph(test.w)
			var got []string
			for _, d := range diags {
				detail, _, _ := strings.Cut(d.Detail, ":\n")
				got = append(got, strconv.Itoa(d.Subject.Start.Line)+" "+d.Summary+": "+detail)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	_, diags := planner.NewGraph(workflowOf2(scheduled, "r", "s", "a r", "b ^s", "c a b"))
	want := "job.c is downstream of job.r, which has a schedule, and of job.s, which has a schedule:\n\n" +
		"  job.c waits for job.a to be complete\n  job.a waits for job.r to be complete\n" +
		"  job.c waits for job.b to be complete\n  job.b starts after its parent job.s\n\n" +
		"A job runs once in each cycle of the one schedule or gate above it, and the cycles of two never meet. " +
		"Put the schedule on one noop job, and let both start after that one."
	if diff := cmp.Diff(want, diags[0].Detail); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var many []string
	for i := range 15 {
		many = append(many, "z"+string(rune('a'+i))+" r s")
	}
	_, diags = planner.NewGraph(workflowOf2(scheduled, append(many, "r", "s")...))
	if len(diags) != 10 || !strings.HasSuffix(diags[9].Detail, "There are 5 more such jobs; they are shown once these are mended.") {
		t.Errorf("%d diagnostics, the last: %s", len(diags), diags[len(diags)-1].Detail)
	}
}

func TestDrawnTemplates(t *testing.T) {
	t.Parallel()
	w := edited(workflowOf("a", "b a", "g"), "a", scheduled)
	w = edited(edited(w, "b", func(j *config.Job) { j.TriggersGate = []string{"loaded", "other"} }), "g", gated)
	g, diags := planner.NewGraph(w)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var b strings.Builder
	if err := g.WriteDOT(&b); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(b.String(), "monospace]\n")
	want := `  "job.a" [style = rounded, label = "job.a\nevery 1 hour"]
  "job.b" [style = rounded]
  "job.g" [style = rounded]
  "job.a" -> "job.b"
  "job.b" -> "job.g" [style = dotted, label = "loaded"]
}
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestGatePlan: the plan of a gate says what it waits for and what triggers that.
func TestGatePlan(t *testing.T) {
	t.Parallel()
	w := edited(workflowOf("a", "b", "g", "h g"), "g", func(j *config.Job) { j.Gate = &config.Gate{Waiting: []string{"checked", "loaded"}} })
	for _, name := range []string{"a", "b"} {
		w = edited(w, name, func(j *config.Job) { j.TriggersGate = []string{"loaded"} })
	}
	s := stateOf(t, without(without(w, "h"), "g"))
	p := mustMake(t, w, s, planner.Options{})
	want := []string{
		"  # job.g will be created",
		`  # (it runs each time that each of the labels "checked" and "loaded" was triggered)`,
		`  # ("checked" is triggered by no job of this workflow)`,
		`  # ("loaded" is triggered when job.a or job.b succeeds)`,
		"  # job.h will be created",
		"  # (it runs once in each cycle of job.g)",
	}
	var b bytes.Buffer
	if err := p.Render(&b, planner.RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "  # ") {
			got = append(got, strings.TrimSuffix(line, "\n"))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for m := range p.Messages() {
		if m.Type != "planned_schedule" {
			continue
		}
		if want := `"enabled":true,"waiting":["checked","loaded"]}}`; !strings.HasSuffix(string(m.Body), want) || !strings.HasPrefix(m.Text, "job.g: Waits for each of the labels ") {
			t.Errorf("%s: %s does not end in %s", m.Text, m.Body, want)
		}
	}
	checkPlanFile(t, p)
	s = templates(t, w)
	b.Reset()
	if err := mustMake(t, w, s, planner.Options{}).Render(&b, planner.RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := "No changes. Your jobs match the configuration.\n\n1 gate waits for labels.\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestRecordedTriggers(t *testing.T) {
	t.Parallel()
	w := edited(workflowOf("a", "b"), "b", func(j *config.Job) { j.TriggersGate = []string{"checked", "loaded"} })
	s := stateOf(t, w)
	for name, want := range map[string][]string{"job.a": nil, "job.b": {"checked", "loaded"}} {
		if diff := cmp.Diff(want, s.Records[name].TriggersGate()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestFires(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 10, 24, 22, 0, 0, 0, time.UTC) // clocks go back in Berlin on the 25th
	w := workflowOf("a", "g")
	w = edited(w, "a", func(j *config.Job) {
		j.Schedule = &config.Schedule{Cron: "30 2 * * *", Timezone: "Europe/Berlin", Text: "cron 30 2 * * * Europe/Berlin"}
	})
	w = edited(w, "g", gated)
	s := noState()
	if p := mustMake(t, w, s, planner.Options{}); row(t, p, "a").Fires != nil {
		t.Error("times are told without a clock")
	}
	s.Now = now
	p := mustMake(t, w, s, planner.Options{})
	want := []time.Time{time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC), time.Date(2026, 10, 26, 1, 30, 0, 0, time.UTC), time.Date(2026, 10, 27, 1, 30, 0, 0, time.UTC)}
	if diff := cmp.Diff(want, row(t, p, "a").Fires); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if r := row(t, p, "g"); r.Fires != nil {
		t.Errorf("a gate fires at %s", r.Fires)
	}
	disabled := edited(w, "a", func(j *config.Job) {
		off := *j.Schedule
		off.Disabled = true
		j.Schedule = &off
	})
	if r := row(t, mustMake(t, disabled, s, planner.Options{}), "a"); r.Fires != nil {
		t.Errorf("a disabled schedule fires at %s", r.Fires)
	}
}
