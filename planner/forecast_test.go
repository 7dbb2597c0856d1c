package planner_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// TestHistoryIsCarried checks that a record keeps how long the work took that its generation replaces, through generations that
// never come to their end.
func TestHistoryIsCarried(t *testing.T) {
	t.Parallel()
	w := workflowOf("a", "b a")
	s := stateOf(t, w)
	s.Live["job.a"] = planner.Live{Status: planner.Completed, Opening: 1, Fence: 2, Worked: 90 * time.Second}
	s.Live["job.b"] = planner.Live{Status: planner.Completed, Opening: 1, Fence: 1} // in no time
	for _, status := range []planner.Status{planner.Completed, planner.Failed, planner.Cancelled} {
		if status != planner.Completed {
			for name := range s.Records {
				s.Live[name] = planner.Live{Status: status, Opening: 1, Fence: 1}
			}
		}
		p := settled(t, w, s, planner.Options{Rerun: true})
		for _, r := range p.Rows {
			s.Records[r.Addr.String()] = r.Next
		}
		got := map[string]time.Duration{"a": s.Records["job.a"].Worked, "b": s.Records["job.b"].Worked}
		if diff := cmp.Diff(map[string]time.Duration{"a": 90 * time.Second, "b": time.Millisecond}, got); diff != "" {
			t.Errorf("replaced when %s (-want +got):\n%s", status, diff)
		}
		if f := p.Forecast; f.Unknown != 0 || len(f.Critical) != 2 || f.Expected < 90*time.Second {
			t.Errorf("replaced when %s: forecast %+v", status, f)
		}
	}
}

// TestForecastOfASavedPlan checks that a saved plan shows what the plan showed.
func TestForecastOfASavedPlan(t *testing.T) {
	t.Parallel()
	p := mustMake(t, workflowOf("a", "b a", "c ^a"), noState(), planner.Options{})
	var file bytes.Buffer
	if err := planner.WritePlan(&file, p, nil); err != nil {
		t.Fatal(err)
	}
	read, err := planner.ReadPlan(&file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p.Forecast, read.Forecast); diff != "" {
		t.Errorf("-written +read:\n%s", diff)
	}
	if p.Forecast.WaveCount != 3 || p.Forecast.Jobs != 3 {
		t.Errorf("%+v", p.Forecast)
	}
}

// TestNothingToForecast wants no forecast where nothing is to run.
func TestNothingToForecast(t *testing.T) {
	t.Parallel()
	w := workflowOf("a", "b a")
	for name, o := range map[string]planner.Options{"no changes": {}, "destroy": {Destroy: true}, "refresh": {RefreshOnly: true}} {
		if p := mustMake(t, w, stateOf(t, w), o); p.Forecast != nil {
			t.Errorf("%s: %+v", name, p.Forecast)
		}
	}
}

// TestForecastOnHold: what is on hold starts when somebody releases it, and so does what waits for it, its parents' completion among that.
func TestForecastOnHold(t *testing.T) {
	t.Parallel()
	w := workflowOf("a", "b a", "p", "c ^p", "d p", "e", "f e", "g *a")
	s := stateOf(t, w)
	for name, status := range map[string]planner.Status{"a": planner.OnHold, "b": planner.Held, "p": planner.Closing, "c": planner.OnHold, "d": planner.Held,
		"e": planner.Queued, "f": planner.Held, "g": planner.Held} {
		s.Live["job."+name] = planner.Live{Status: status, Opening: 1}
	}
	f := mustMake(t, w, s, planner.Options{}).Forecast
	if f.Jobs != 2 || f.OnHold != 5 || f.WaveCount != 2 || f.Unknown != 2 || f.Length != 2 || f.Conditional != 0 {
		t.Errorf("%+v, want e and f to start, and five jobs to be on hold", f)
	}
	for line, lines := range map[string][]string{
		"Forecast: nothing starts until what is on hold is released.":                     {"a", "b a"},
		"Forecast: nothing starts until what is on hold is released, or something fails.": {"a", "e", "h !e"},
	} {
		w := workflowOf(lines...)
		some := stateOf(t, w)
		some.Live["job.a"] = s.Live["job.a"]
		for _, name := range []string{"job.b", "job.h"} {
			some.Live[name] = planner.Live{Status: planner.Held}
		}
		if got := mustMake(t, w, some, planner.Options{}).Forecast.Line(); got != line {
			t.Errorf("got %q, want %q", got, line)
		}
	}
	again := mustMake(t, w, s, planner.Options{Replace: []config.Addr{addr("job.a"), addr("job.c")}}).Forecast
	if again.OnHold != 0 || again.Jobs != 7 {
		t.Errorf("replaced: %+v, want nothing to be on hold", again)
	}
}
