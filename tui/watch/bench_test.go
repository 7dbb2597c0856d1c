package watch

import (
	"fmt"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/internal/script"
	"github.com/waybill-dev/waybill/tui/screen"
)

var sizes = []int{100, 10_000, 100_000}

// big is a view of n jobs on a large terminal, arranged as asked.
func big(n int, keys ...any) *model {
	msgs := []any{tea.WindowSizeMsg{Width: 180, Height: 60}, tickMsg(script.Noon), huge(n), queues(59, false), workers(59)}
	return play(testModel(&desk{logs: written()}), append(msgs, keys...)...)
}

var arrangedBy = []struct {
	name string
	keys []any
}{{"tree", nil}, {"layers", []any{"t"}}, {"list", []any{"t", "t"}}}

// BenchmarkView is one drawing of the screen, with the cursor in the middle.
func BenchmarkView(b *testing.B) {
	for _, a := range arrangedBy {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("%s/%d", a.name, n), func(b *testing.B) {
				m := big(n, append(a.keys, "end", "pgup", "pgup")...)
				b.ReportAllocs()
				for b.Loop() {
					m.View()
				}
			})
		}
	}
}

// BenchmarkFrame is a frame in which a hundred jobs change, without the drawing. Steps of searches that it asks for are other
// messages: see BenchmarkFilter.
func BenchmarkFrame(b *testing.B) {
	for _, a := range arrangedBy {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("%s/%d", a.name, n), func(b *testing.B) {
				m := big(n, a.keys...)
				b.ReportAllocs()
				i := int64(0)
				for b.Loop() {
					m.Update(changes(n, &i))
				}
			})
		}
	}
}

// changes are a hundred changes of a namespace of n jobs.
func changes(n int, seq *int64) screen.Events {
	var events screen.Events
	for range 100 {
		*seq++
		place := int(*seq * 7919 % int64(n))
		s := conveyor.Status{UUID: fmt.Sprintf("u%d", place), State: conveyor.StateRunning, Queue: "bulk", Priority: 1, Opening: 1, Fence: *seq, Owner: "w1",
			Started: script.Noon}
		if *seq%2 == 0 {
			s.State, s.Ended = conveyor.StateCompleted, script.At(1)
		}
		addr := config.Addr{Name: "step", Key: config.InstanceKey{Kind: config.KeyInt, Int: place}}
		events.Events = append(events.Events, applier.OfWorkflow{Workflow: "bulk", Event: applier.JobChanged{Addr: addr, Status: s, Seq: *seq, At: script.Noon}})
	}
	return events
}

// BenchmarkKey is a step of the cursor.
func BenchmarkKey(b *testing.B) {
	for _, a := range arrangedBy {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("%s/%d", a.name, n), func(b *testing.B) {
				m := big(n, a.keys...)
				b.ReportAllocs()
				down, up := keyMsg("down"), keyMsg("up")
				for i := 0; b.Loop(); i++ {
					if i%2 == 0 {
						m.Update(down)
					} else {
						m.Update(up)
					}
				}
			})
		}
	}
}

// BenchmarkFilter is a whole search. The longest message of the view that it takes is told by itself.
func BenchmarkFilter(b *testing.B) {
	for _, filter := range []string{"", "step 9 -state:done"} {
		for _, order := range []order{byStart, byUrgency, byDuration} {
			for _, n := range sizes {
				b.Run(fmt.Sprintf("%q/%s/%d", filter, orderNames[order], n), func(b *testing.B) {
					m := big(n, "t", "t")
					b.ReportAllocs()
					var longest time.Duration
					for b.Loop() {
						m.jobs.filter, m.jobs.order = parseFilter(filter), order
						began := time.Now()
						cmd := m.ask(tabJobs)
						longest = max(longest, time.Since(began))
						for queue := results(cmd); len(queue) > 0; {
							began := time.Now()
							_, cmd := m.Update(queue[0])
							longest = max(longest, time.Since(began))
							queue = append(queue[1:], results(cmd)...)
						}
					}
					b.ReportMetric(float64(longest.Microseconds()), "longest-message-us")
				})
			}
		}
	}
}

// BenchmarkList is a workflow that is listed, from its event to the first screen. What takes time is done beside the view; the
// longest message of the view is told by itself.
func BenchmarkList(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var longest time.Duration
			b.ReportAllocs()
			for b.Loop() {
				m := testModel(&desk{})
				var queue []tea.Msg
				queue = append(queue, tea.WindowSizeMsg{Width: 180, Height: 60}, prepared(func() tea.Msg { return screen.Events{Events: huge(n)} })())
				for len(queue) > 0 {
					began := time.Now()
					_, cmd := m.Update(queue[0])
					longest = max(longest, time.Since(began))
					queue = append(queue[1:], results(cmd)...)
				}
				m.View()
			}
			b.ReportMetric(float64(longest.Microseconds()), "longest-message-us")
		})
	}
}

// results are the messages that a command brings.
func results(cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case nil:
		return nil
	case tea.BatchMsg:
		var all []tea.Msg
		for _, c := range msg {
			all = append(all, results(c)...)
		}
		return all
	default:
		return []tea.Msg{msg}
	}
}
