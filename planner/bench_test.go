package planner_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// chains is n jobs in chains of ten, layers is n jobs in layers of a hundred with three edges each: the two shapes of the
// budgets in DESIGN.md section 8.
var shapes = []struct {
	name string
	make func(n int) *config.Workflow
}{
	{"chains", func(n int) *config.Workflow {
		return workflowOfN(n, func(i int) string {
			if i%10 == 0 {
				return ""
			}
			return fmt.Sprintf(" j%06d", i-1)
		})
	}},
	{"layers", func(n int) *config.Workflow {
		return workflowOfN(n, func(i int) string {
			if i < 100 {
				return ""
			}
			base := i/100*100 - 100
			return fmt.Sprintf(" j%06d,j%06d,j%06d", base+i%100, base+(i+1)%100, base+(i+37)%100)
		})
	}},
}

func workflowOfN(n int, edges func(i int) string) *config.Workflow {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("j%06d%s", i, edges(i))
	}
	return workflowOf(lines...)
}

func eachSize(b *testing.B, run func(b *testing.B, w *config.Workflow)) {
	for _, shape := range shapes {
		for _, n := range []int{1000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", shape.name, n), func(b *testing.B) {
				w := shape.make(n)
				b.ReportAllocs()
				run(b, w)
			})
		}
	}
}

// BenchmarkUnchanged is a plan without changes, after configuration and state are read.
func BenchmarkUnchanged(b *testing.B) {
	eachSize(b, func(b *testing.B, w *config.Workflow) {
		s := stateOf(b, w)
		b.ResetTimer()
		for b.Loop() {
			if p := mustMake(b, w, s, planner.Options{}); !p.Empty() {
				b.Fatal("changes")
			}
		}
	})
}

// BenchmarkFirst is the first plan of a workflow, settled.
func BenchmarkFirst(b *testing.B) {
	eachSize(b, func(b *testing.B, w *config.Workflow) {
		s := noState()
		for b.Loop() {
			if err := planner.Settle(mustMake(b, w, s, planner.Options{}), s); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRender is a plan in which everything is new, for people.
func BenchmarkRender(b *testing.B) {
	eachSize(b, func(b *testing.B, w *config.Workflow) {
		p := mustMake(b, w, noState(), planner.Options{})
		b.ResetTimer()
		for b.Loop() {
			if err := p.Render(io.Discard, planner.RenderOptions{Color: true, Width: 100}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkDecodeRecords reads all records of a state.
func BenchmarkDecodeRecords(b *testing.B) {
	eachSize(b, func(b *testing.B, w *config.Workflow) {
		values := map[string]string{}
		for name, rec := range stateOf(b, w).Records {
			values[name] = string(rec.AppendTo(nil))
		}
		b.ResetTimer()
		for b.Loop() {
			for name, value := range values {
				if _, err := planner.DecodeRecord(name, value); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
