package applier

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestWatchSchedules sees when schedules fire, what is paused, which cycles live and how the last one went.
func TestWatchSchedules(t *testing.T) {
	onBoth(t, func(l *lab) {
		setClock(l.T, l.Client, start)
		l.nightly()
		l.apply()
		l.workflowNamed("v", l.job("z", hourly)).apply()
		l.ok(l.Add(l.Context(), &wire.Job{Uuid: "loose", Name: "job.loose", Type: "noop", Queue: "q", Schedule: &wire.Schedule{Every: "day"}}))
		l.work()
		before := l.cycle("r")

		s := l.watched(WatchOptions{})
		s.until("three schedules", func() bool { return len(s.schedules.Schedules) == 3 && s.schedules.Total == 3 })
		var seen []string
		for _, x := range s.schedules.Schedules {
			seen = append(seen, x.Workflow+"/"+x.Addr.Name+"/"+x.Template.Name+" "+x.Template.Next.Format("02T15:04"))
		}
		want := []string{"v/z/job.z 15T09:00", "w/r/job.r 15T09:00", "//job.loose 16T00:00"}
		if diff := cmp.Diff(want, seen); diff != "" {
			l.Errorf("(-want +got)\n%s", diff)
		}
		r := func() ScheduleSeen {
			for _, x := range s.schedules.Schedules {
				if x.Addr.Name == "r" {
					return x
				}
			}
			return ScheduleSeen{}
		}
		s.until("a cycle that began before", func() bool {
			return len(r().Template.Live) == 1 && r().Template.Live[0].Tick.Equal(before) && r().Counts[conveyor.StateQueued] == 1
		})
		s.until("its occurrence", func() bool { return len(s.occurrences) == 1 })
		for _, e := range s.occurrences {
			l.want("name", conveyor.OccurrenceName("job.r", before), e.Name())
			l.want("part", 0, e.Part)
		}
		s.until("where it is counted", func() bool {
			w := s.listed["w"]
			return w.Occurrences[conveyor.StateQueued] == 1 && w.Counts[conveyor.StateTemplate] == 3 && w.Jobs == 4
		})
		tick := l.cycle("r")
		s.until("two cycles", func() bool { return len(r().Template.Live) == 2 })
		l.end(conveyor.VerdictDone, l.start(1)...)
		id := conveyor.OccurrenceUUID(l.record("b").UUID.String(), l.record("r").UUID.String(), before)
		s.until("a child's occurrence", func() bool { return s.occurrences[id].Status.State == conveyor.StateQueued })
		running := l.start(1)
		l.number++
		_, err := l.Exchange(l.Context(), conveyor.ExchangeRequest{Caller: "lab", Number: l.number, Done: []conveyor.Ack{
			{UUID: running[0].Job.Uuid, Fence: running[0].Fence, Verdict: conveyor.VerdictFailed, Failure: "boom"}}})
		l.ok(err)
		failed := conveyor.OccurrenceUUID(l.record("r").UUID.String(), l.record("r").UUID.String(), tick)
		s.until("a failure, with its text", func() bool { return s.occurrences[failed].Failure == "boom" })
		skipped := conveyor.OccurrenceUUID(l.record("b").UUID.String(), l.record("r").UUID.String(), tick)
		s.until("what it excluded", func() bool {
			e := s.occurrences[skipped]
			return e.Status.State == conveyor.StateSkipped && e.Upstream == conveyor.OccurrenceName("job.r", tick)
		})
		s.until("the last cycle", func() bool { return r().Last.Outcome == conveyor.CycleFailed && r().Last.Tick.Equal(tick) })
		l.work()
		s.until("the end", func() bool { return len(r().Template.Live) == 0 && r().Last.Outcome == conveyor.CycleCompleted })

		l.ok(l.PauseTemplate(l.Context(), r().Template.UUID))
		s.until("a pause", func() bool { return r().Template.Paused && r().Template.Next.IsZero() })
		l.declare(l.job("once"))
		l.apply()
		s.until("what is left", func() bool { return len(s.schedules.Schedules) == 2 })
		s.until("occurrences of nobody", func() bool { return s.listed["w"].Occurrences == StateCounts{} && s.loose.Total > 1 })
	})
}

// start is a quarter past eight in the morning of the 15th.
const start = 1_800_000_900_000

// TestWatchCallsWhatIsDeleted: jobs and occurrences keep the names that they had when they belonged to a workflow, in a watch that saw
// them go, and as far as jobs that live have it in one that came later.
func TestWatchCallsWhatIsDeleted(t *testing.T) {
	onBoth(t, func(l *lab) {
		setClock(l.T, l.Client, start)
		l.nightly()
		l.apply()
		l.work()
		template := l.record("r").UUID.String()
		tick := l.cycle("r")
		occurrence := conveyor.OccurrenceUUID(template, template, tick)
		l.start(1)
		saw := l.watched(WatchOptions{})
		saw.until("the occurrence", func() bool { return len(saw.occurrences) == 1 })
		l.declare(l.job("once"))
		l.apply()
		name := conveyor.OccurrenceName("job.r", tick)
		later := l.watched(WatchOptions{})
		saw.until("the names that were", func() bool {
			return saw.loose.Names[occurrence] == name && saw.loose.Names[template] == "job.r"
		})
		later.until("the name of what runs", func() bool { return later.loose.Names[occurrence] == name })
		l.work()
	})
}

// TestWatchCallsWhatEnded: of a template that was deleted, a watch that comes later finds the name in an occurrence that failed, whose
// bytes are kept, and all its occurrences go by it.
func TestWatchCallsWhatEnded(t *testing.T) {
	onBoth(t, func(l *lab) {
		setClock(l.T, l.Client, start)
		l.nightly()
		l.apply()
		l.work()
		template := l.record("r").UUID.String()
		want := map[string]string{}
		for _, verdict := range []conveyor.Verdict{conveyor.VerdictFailed, conveyor.VerdictDone} {
			tick := l.cycle("r")
			want[conveyor.OccurrenceUUID(template, template, tick)] = conveyor.OccurrenceName("job.r", tick)
			l.end(verdict, l.start(1)...)
			l.work()
		}
		l.declare(l.job("once"))
		l.apply()
		later := l.watched(WatchOptions{})
		later.until("the names of what ended", func() bool {
			for uuid, name := range want {
				if later.loose.Names[uuid] != name {
					return false
				}
			}
			return true
		})
	})
}
