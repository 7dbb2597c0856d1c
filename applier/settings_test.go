package applier

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

func TestQueueSettings(t *testing.T) {
	onBoth(t, func(l *lab) {
		settings := func() map[string]conveyor.QueueSettings {
			queues, err := l.Queues(l.Context())
			l.ok(err)
			all := map[string]conveyor.QueueSettings{}
			for _, q := range queues {
				if q.Settings != (conveyor.QueueSettings{}) {
					all[q.Name] = q.Settings
				}
			}
			return all
		}
		l.ok(l.SetQueue(l.Context(), "theirs", conveyor.QueueSettings{Concurrency: 9, Weight: 1}))
		steps := []struct {
			name   string
			queues []*config.Queue
			want   map[string]conveyor.QueueSettings
		}{
			{"declared", []*config.Queue{{Name: "q", Concurrency: 2, Weight: 3}, {Name: "r", Paused: true}},
				map[string]conveyor.QueueSettings{"theirs": {Concurrency: 9, Weight: 1}, "q": {Concurrency: 2, Weight: 3}, "r": {Weight: 1, Paused: true}}},
			{"changed", []*config.Queue{{Name: "q", Concurrency: 4, Weight: 3}, {Name: "r", Paused: true}},
				map[string]conveyor.QueueSettings{"theirs": {Concurrency: 9, Weight: 1}, "q": {Concurrency: 4, Weight: 3}, "r": {Weight: 1, Paused: true}}},
			{"fair, and kept otherwise", []*config.Queue{{Name: "q", Concurrency: 4, Weight: 3, Fair: true, KeepFor: time.Hour, KeepCount: 10}},
				map[string]conveyor.QueueSettings{"theirs": {Concurrency: 9, Weight: 1}, "q": {Concurrency: 4, Weight: 3, Fair: true, KeepFor: time.Hour, KeepCount: 10}}},
			{"one is gone", []*config.Queue{{Name: "q", Concurrency: 4, Weight: 3}},
				map[string]conveyor.QueueSettings{"theirs": {Concurrency: 9, Weight: 1}, "q": {Concurrency: 4, Weight: 3}}},
			{"all are gone", nil, map[string]conveyor.QueueSettings{"theirs": {Concurrency: 9, Weight: 1}}},
		}
		l.declare(l.job("a"))
		for _, step := range steps {
			l.workflow.Queues = step.queues
			l.apply()
			if diff := cmp.Diff(step.want, settings()); diff != "" {
				l.Errorf("%s (-want +got):\n%s", step.name, diff)
			}
			if p := l.plan(); !p.Empty() {
				l.Errorf("%s: the next plan still changes queues %+v", step.name, p.Queues)
			}
		}
		l.work()
	})
}

// TestOutputs stores uuids of the jobs as they stand after each apply, and forgets what is not declared any more.
func TestOutputs(t *testing.T) {
	onBoth(t, func(l *lab) {
		jobs := func(version string) []*config.Job { return []*config.Job{l.job("a", payload(version)), l.job("b")} }
		outputs := []*config.Output{
			{Name: "day", Value: cty.StringVal("2026-11-20")},
			{Name: "ids", Value: cty.ListVal([]cty.Value{cty.StringVal(config.Placeholder("job.a")), cty.StringVal(config.Placeholder("job.b"))})},
		}
		for _, version := range []string{"1", "2"} {
			l.declare(jobs(version)...)
			l.workflow.Outputs = outputs
			r := l.apply()
			l.work()
			want := map[string]string{"day": `"2026-11-20"`, "ids": `["` + l.record("a").UUID.String() + `","` + l.record("b").UUID.String() + `"]`}
			if diff := cmp.Diff(want, r.Outputs); diff != "" {
				l.Errorf("version %s, result (-want +got):\n%s", version, diff)
			}
			if diff := cmp.Diff(want, l.state().Outputs); diff != "" {
				l.Errorf("version %s, state (-want +got):\n%s", version, diff)
			}
			if p := l.plan(); !p.Empty() {
				l.Errorf("version %s: the next plan still changes %+v", version, p.Outputs)
			}
		}
		l.declare(jobs("2")...)
		l.apply()
		if outputs := l.state().Outputs; len(outputs) > 0 {
			l.Errorf("%v is left", outputs)
		}
	})
}

// TestQueueByHand: what was paused by hand is no difference, and an apply never resumes it.
func TestQueueByHand(t *testing.T) {
	onBoth(t, func(l *lab) {
		byHand := func(want bool) {
			l.Helper()
			queues, err := l.Queues(l.Context())
			l.ok(err)
			for _, q := range queues {
				if q.Name == "q" && q.ByHand != want {
					l.Errorf("paused by hand: %v, want %v", q.ByHand, want)
				}
			}
		}
		l.declare(l.job("a"))
		l.workflow.Queues = []*config.Queue{{Name: "q", Concurrency: 2}}
		l.apply()
		l.ok(l.PauseQueue(l.Context(), "q"))
		if p := l.plan(); !p.Empty() {
			l.Errorf("a pause by hand is a difference: %+v", p.Queues)
		}
		warnings, err := Unserved(l.Context(), l.Client, []Need{{Queue: "q", Type: "noop"}})
		l.ok(err)
		if len(warnings) != 1 {
			l.Errorf("warnings %+v", warnings)
		}
		for _, concurrency := range []int{3, 2} {
			l.workflow.Queues = []*config.Queue{{Name: "q", Concurrency: concurrency}}
			l.apply()
			byHand(true)
		}
		l.workflow.Queues = nil
		l.apply()
		byHand(true)
		l.ok(l.ResumeQueue(l.Context(), "q"))
		byHand(false)
		l.work()
	})
}

// TestSharedQueue: two workflows of one namespace that declare one queue differently are told so, and the settings stay as
// long as one of them declares the queue.
func TestSharedQueue(t *testing.T) {
	onBoth(t, func(l *lab) {
		one, two := l, l.another()
		one.declare(one.job("a"))
		two.declare(two.job("a"))
		two.workflow.Name = "v"
		with := func(l *lab, concurrency int) {
			l.Helper()
			l.workflow.Queues = []*config.Queue{{Name: "q", Concurrency: concurrency}}
			if concurrency == 0 {
				l.workflow.Queues = nil
			}
		}
		warned := func(l *lab, want int) {
			l.Helper()
			s, err := ReadState(l.Context(), l.Client, l.workflow.Name)
			l.ok(err)
			_, diags := planner.Make(l.workflow, s, planner.Options{})
			if len(diags) != want {
				l.Errorf("%d warnings, want %d: %v", len(diags), want, diags)
			}
		}
		concurrency := func(want int) {
			l.Helper()
			queues, err := l.Queues(l.Context())
			l.ok(err)
			got := 0
			for _, q := range queues {
				got = max(got, q.Settings.Concurrency)
			}
			if got != want {
				l.Errorf("concurrency %d, want %d", got, want)
			}
		}
		with(one, 2)
		warned(one, 0)
		one.apply()
		with(two, 2)
		warned(two, 0)
		two.apply()
		warned(one, 0)
		with(two, 3)
		warned(two, 1)
		two.apply()
		warned(two, 0)
		warned(one, 1)
		one.apply()
		concurrency(2)
		with(one, 0)
		one.apply()
		concurrency(2)
		with(two, 0)
		two.apply()
		concurrency(0)
		one.work()
	})
}
