package approve

import (
	"fmt"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// eachSize runs a benchmark with plans of three sizes, half of whose changes are instances of blocks.
func eachSize(b *testing.B, run func(b *testing.B, o Options)) {
	for _, n := range []int{100, 10_000, 100_000} {
		o := testOptions(many(b, n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			run(b, o)
		})
	}
}

// BenchmarkOpen is all that happens before the first screen.
func BenchmarkOpen(b *testing.B) {
	eachSize(b, func(b *testing.B, o Options) {
		for b.Loop() {
			_ = testModel(o).View()
		}
	})
}

// BenchmarkKeys presses keys, and draws after each.
func BenchmarkKeys(b *testing.B) {
	for _, keys := range []struct {
		name   string
		before []any
		pairs  [2]string // pressed in turn
	}{
		{"step", nil, [2]string{"down", "down"}},
		{"page", nil, [2]string{"pgdown", "pgdown"}},
		{"page-all-open", []any{"e"}, [2]string{"pgdown", "pgdown"}},
		{"ends", []any{"e"}, [2]string{"end", "home"}},
		{"open-all", []any{"pgdown"}, [2]string{"e", "c"}},
		{"tabs", []any{"e"}, [2]string{"+", "a"}},
		{"turn", []any{"end"}, [2]string{"enter", "enter"}},
		{"group", []any{"e", "c", "end"}, [2]string{"right", "left"}},
	} {
		b.Run(keys.name, func(b *testing.B) {
			eachSize(b, func(b *testing.B, o Options) {
				m := play(testModel(o), append([]any{tea.WindowSizeMsg{Width: 140, Height: 50}}, keys.before...)...)
				for i := 0; b.Loop(); i++ {
					m = play(m, keys.pairs[i%2])
					_ = m.View()
				}
			})
		})
	}
}

// BenchmarkResize changes the width, after which every block is drawn anew.
func BenchmarkResize(b *testing.B) {
	eachSize(b, func(b *testing.B, o Options) {
		m := play(testModel(o), "e", "pgdown")
		for i := 0; b.Loop(); i++ {
			m = play(m, tea.WindowSizeMsg{Width: 100 + i%2, Height: 50})
			_ = m.View()
		}
	})
}

// BenchmarkSearchStep is what the view does with what one step of a search has found, here nearly everything.
func BenchmarkSearchStep(b *testing.B) {
	eachSize(b, func(b *testing.B, o Options) {
		m := play(testModel(o), "/", "sh", "enter")
		all := append(append([]hit(nil), m.search.early...), m.search.late...)
		next, _ := m.Update(keyMsg("/"))
		m = next.(model)
		next, _ = m.Update(keyMsg("s"))
		m = next.(model)
		for i := 0; b.Loop(); i++ {
			from := i * stepChanges % len(all)
			msg := stepMsg{generation: m.search.generation, scanned: 1, hits: all[from:min(len(all), from+4*stepChanges)]}
			next, _ := m.Update(msg)
			m = next.(model)
			_ = m.View()
			if len(m.search.late) > 1<<21 {
				m.search.late = m.search.late[:0]
			}
		}
	})
}

// BenchmarkSearch looks for what is nowhere, in steps of its own goroutine.
func BenchmarkSearch(b *testing.B) {
	eachSize(b, func(b *testing.B, o Options) {
		m := testModel(o)
		for b.Loop() {
			m = play(m, "/", "z", "enter", "esc")
		}
	})
}

// BenchmarkWidest opens a job that waits for as many others as there are.
func BenchmarkWidest(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			o := testOptions(fanIn(b, n))
			m := play(testModel(o), "end")
			for b.Loop() {
				m.list.blocks = newBlocks()
				m.list.opened.setAll(false)
				next, _ := m.Update(keyMsg("enter")) // which has a heavy block drawn beside the view
				_ = next.View()
			}
		})
	}
}

// fanIn is a plan in which one job waits for n others.
func fanIn(t testing.TB, n int) *planner.Plan {
	t.Helper()
	w := &config.Workflow{Name: "fan"}
	last := blockJobs("last", 1, "")[0]
	last.Addr.Key = config.InstanceKey{}
	p := config.Predecessor{}
	for _, j := range blockJobs("first", n, "") {
		w.Jobs = append(w.Jobs, j)
		p.Jobs = append(p.Jobs, j.Addr)
	}
	last.Predecessors = []config.Predecessor{p}
	w.Jobs = append(w.Jobs, last)
	return planOf(t, w, noState(), planner.Options{})
}
