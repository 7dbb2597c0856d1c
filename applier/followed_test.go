package applier

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// TestAbove wants each job to be shown under the right one of those it waits for.
func TestAbove(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		jobs []string // "name: parents / predecessors"
		want []string // "name: above", in start order
	}{
		"roots": {
			jobs: []string{"b", "a"},
			want: []string{"a:", "b:"},
		},
		"the first of two parents": {
			jobs: []string{"a", "b", "c: b a"},
			want: []string{"a:", "b:", "c: b a"},
		},
		"a parent before a deeper predecessor": {
			jobs: []string{"a", "b: / a", "c: / b", "d: a / c"},
			want: []string{"a:", "b: a", "c: b", "d: a c"},
		},
		"the deepest predecessor first, the others in order": {
			jobs: []string{"a", "b: / a", "c: / b", "d: / a b c"},
			want: []string{"a:", "b: a", "c: b", "d: c a b"},
		},
		"of equally deep ones the first in order": {
			jobs: []string{"a", "c: / a", "b: / a", "d: / c b a"},
			want: []string{"a:", "b: a", "c: a", "d: b a c"},
		},
		"twice under the same one, and under jobs outside the workflow": {
			jobs: []string{"a", "b: a / a x y", "c: / x"},
			want: []string{"a:", "b: a", "c:"},
		},
		"a record that waits for itself": {
			jobs: []string{"a: / a", "b: / a"},
			want: []string{"a:", "b: a"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			uuidOf := func(name string) uuid.UUID { return uuid.NewSHA1(uuid.Nil, []byte(name)) }
			s := &planner.State{Records: map[string]*planner.Record{}}
			for _, line := range test.jobs {
				name, edges, _ := strings.Cut(line, ":")
				parents, predecessors, _ := strings.Cut(edges, "/")
				r := &planner.Record{UUID: uuidOf(name)}
				for _, up := range strings.Fields(parents) {
					r.Edges = append(r.Edges, planner.Edge{Kind: planner.EdgeParent, UUID: uuidOf(up).String()})
				}
				for _, up := range strings.Fields(predecessors) {
					r.Edges = append(r.Edges, planner.Edge{Kind: planner.EdgeSuccess, UUID: uuidOf(up).String()})
				}
				s.Records["job."+name] = r
			}
			w := watchRecords(s)
			var got []string
			for _, j := range w.order {
				line := j.addr.Name + ":"
				for _, place := range j.above {
					line += " " + w.order[place].addr.Name
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("above (-want +got):\n%s", diff)
			}
		})
	}
}

// BenchmarkWatchRecords is what a follower makes of the records of 100,000 jobs.
func BenchmarkWatchRecords(b *testing.B) {
	s := &planner.State{Records: map[string]*planner.Record{}}
	for i := range 100_000 {
		r := &planner.Record{UUID: uuid.NewSHA1(uuid.Nil, fmt.Append(nil, i))}
		if i > 0 {
			r.Edges = []planner.Edge{{Kind: planner.EdgeSuccess, UUID: uuid.NewSHA1(uuid.Nil, fmt.Append(nil, (i-1)/10)).String()}}
		}
		s.Records[config.Addr{Name: "j", Key: config.InstanceKey{Kind: config.KeyInt, Int: i}}.String()] = r
	}
	b.ReportAllocs()
	for b.Loop() {
		watchRecords(s)
	}
}
