package applier

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/planner"
)

// planUnseen plans without looking at how the jobs stand.
func (l *lab) planUnseen() *planner.Plan {
	l.Helper()
	s, err := ReadRecordsFor(l.Context(), l.Client, l.workflow)
	l.ok(err)
	p, diags := planner.Make(l.workflow, s, l.run.Options)
	if diags.HasErrors() {
		l.Fatal(diags)
	}
	return p
}

// TestAssumedPlan applies plans that were made without looking at how the jobs stand: what changes is decided again by how its
// job stands, what it waits for is there, and the rest is left alone.
func TestAssumedPlan(t *testing.T) {
	tests := map[string]struct {
		happens func(l *lab)
		result  [3]int // added, changed, destroyed
		ran     []string
	}{
		"as assumed":         {func(l *lab) { l.work() }, [3]int{1, 0, 1}, []string{"b"}},
		"it waits":           {func(l *lab) {}, [3]int{0, 1, 0}, []string{"a", "x", "b"}},
		"another has failed": {func(l *lab) { l.end(0, l.start(1)...); l.work() }, [3]int{1, 0, 1}, []string{"b"}},
		"what it waits for is lost": {func(l *lab) {
			l.work()
			l.ok(l.Redis().HDel(l.Context(), l.Prefix()+"status", l.record("a").UUID.String()).Err())
		}, [3]int{2, 0, 1}, []string{"a", "b"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(l *lab) {
				l.declare(l.job("a"), l.job("b", l.after("a")), l.job("x"))
				l.apply()
				test.happens(l)
				l.declare(l.job("a"), l.job("b", l.after("a"), payload("new")), l.job("x"))
				p := l.planUnseen()
				if !p.Assumed || len(changes(p)) != 1 || changes(p)[0].Action != planner.Replace {
					t.Fatalf("planned %v", changes(p))
				}
				r, err := l.carryOut(l.Context(), p)
				l.ok(err)
				if diff := cmp.Diff(test.result, [3]int{r.Added, r.Changed, r.Destroyed}); diff != "" {
					t.Errorf("added, changed, destroyed (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.ran, l.work()); diff != "" {
					t.Errorf("what ran then (-want +got):\n%s", diff)
				}
			})
		})
	}
}
