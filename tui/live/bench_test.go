package live

import (
	"fmt"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/internal/script"
	"github.com/waybill-dev/waybill/tui/screen"
)

// sizes of workflows that are measured.
var sizes = []int{100, 10_000, 100_000}

// eachSize runs a benchmark on the view of a workflow under way, at 140x40, folded and not.
func eachSize(b *testing.B, run func(b *testing.B, m model)) {
	for _, n := range sizes {
		events := script.Shops(b, n)
		for _, fold := range []string{"folded", "unfolded"} {
			b.Run(fmt.Sprintf("%d/%s", n, fold), func(b *testing.B) {
				m := play(testModel(Options{}), tea.WindowSizeMsg{Width: 140, Height: 40}, tickMsg(script.Noon), events, tickMsg(script.At(9)))
				if fold == "unfolded" {
					m.folding = foldNever
					m = m.fold()
				}
				b.ReportAllocs()
				b.ResetTimer()
				run(b, m)
			})
		}
	}
}

// lives are changes that take every job of a workflow through its life, one message each.
func lives(m model) []tea.Msg {
	var msgs []tea.Msg
	for _, j := range m.board.Jobs {
		for _, s := range []conveyor.Status{{State: conveyor.StateQueued}, script.Running(1, script.At(9)),
			script.Ended(conveyor.StateCompleted, script.At(9), script.At(10))} {
			s.UUID, s.Queue = j.Status.UUID, j.Status.Queue
			msgs = append(msgs, screen.Events{Events: []applier.Event{applier.JobChanged{Addr: j.Addr, Status: s, At: script.At(9)}}})
		}
	}
	return msgs
}

// BenchmarkUpdate is one message with one changed job.
func BenchmarkUpdate(b *testing.B) {
	eachSize(b, func(b *testing.B, m model) {
		msgs := lives(m)
		b.ResetTimer()
		var next tea.Model = m
		for i := range b.N {
			next, _ = next.Update(msgs[i%len(msgs)])
		}
	})
}

// BenchmarkView is one frame.
func BenchmarkView(b *testing.B) {
	eachSize(b, func(b *testing.B, m model) {
		for range b.N {
			_ = m.View()
		}
	})
}

// BenchmarkKeys is a key that goes to the next failure, and one that goes to the end.
func BenchmarkKeys(b *testing.B) {
	eachSize(b, func(b *testing.B, m model) {
		var next tea.Model = m
		for i := range b.N {
			next, _ = next.Update(keyMsg([]string{"n", "end", "home", "down"}[i%4]))
		}
	})
}

// BenchmarkFollowing is the message with which a view begins to show a workflow; making it ready is the other one.
func BenchmarkFollowing(b *testing.B) {
	for _, n := range sizes {
		following := script.Shops(b, n)[1].(applier.Following)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				b.StopTimer()
				m := play(testModel(Options{}), tea.WindowSizeMsg{Width: 140, Height: 40})
				msg := screen.Events{Events: []applier.Event{board.NewRoster(following)}}
				b.StartTimer()
				m.Update(msg)
			}
		})
	}
}

// BenchmarkPrepare makes a list of jobs ready, beside the view.
func BenchmarkPrepare(b *testing.B) {
	for _, n := range sizes {
		following := script.Shops(b, n)[1].(applier.Following)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				board.NewRoster(following)
			}
		})
	}
}

// BenchmarkFold folds and unfolds all.
func BenchmarkFold(b *testing.B) {
	eachSize(b, func(b *testing.B, m model) {
		var next tea.Model = m
		for range b.N {
			next, _ = next.Update(keyMsg("a"))
		}
	})
}
