package enginemodel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/enginemodel"
)

// midnight is when the stories begin, a whole day in milliseconds.
const midnight = 20_000 * 24 * int64(time.Hour/time.Millisecond)

// story plays templates on the model alone.
type story struct {
	*testing.T
	*enginemodel.Engine
	number int64
}

func tell(t *testing.T) *story {
	t.Parallel()
	return &story{T: t, Engine: enginemodel.New(midnight)}
}

func (s *story) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *story) add(jobs ...*wire.Job) {
	s.Helper()
	s.ok(s.Add(jobs, enginemodel.Added{}))
}

// run ends whatever is ready, round after round, and returns the uuids in the order of their starts.
func (s *story) run(failing ...string) (started []string) {
	s.Helper()
	for {
		got := s.start()
		if len(got) == 0 {
			return started
		}
		for _, r := range got {
			started = append(started, r.Job.Uuid)
			verdict := conveyor.VerdictDone
			for _, f := range failing {
				if r.Job.TemplateUuid == f {
					verdict = conveyor.VerdictFailed
				}
			}
			s.end(r, verdict)
		}
	}
}

func (s *story) start() []conveyor.Reservation {
	s.Helper()
	return s.exchange(conveyor.ExchangeRequest{Want: 100}).Reserved
}

func (s *story) end(r conveyor.Reservation, v conveyor.Verdict) {
	s.Helper()
	s.exchange(conveyor.ExchangeRequest{Done: []conveyor.Ack{{UUID: r.Job.Uuid, Fence: r.Fence, Verdict: v}}})
}

func (s *story) exchange(r conveyor.ExchangeRequest) conveyor.ExchangeReply {
	s.Helper()
	s.number++
	r.Caller, r.Number, r.Queues, r.Lease = "c", s.number, []string{"q"}, time.Minute
	reply, err := s.Exchange(r)
	s.ok(err)
	return reply
}

// after lets time go by and ticks.
func (s *story) after(d time.Duration) {
	s.Pass(d.Milliseconds())
	s.Tick()
}

func every(text string, change ...func(*wire.Schedule)) func(*wire.Job) {
	return func(j *wire.Job) {
		j.Schedule = &wire.Schedule{Every: text}
		for _, f := range change {
			f(j.Schedule)
		}
	}
}

func job(uuid string, change ...func(*wire.Job)) *wire.Job {
	j := &wire.Job{Uuid: uuid, Type: "noop", Queue: "q"}
	for _, f := range change {
		f(j)
	}
	return j
}

func below(kind wire.Edge_Kind, ups ...string) func(*wire.Job) {
	return func(j *wire.Job) {
		j.Template = true
		for _, u := range ups {
			j.Edges = append(j.Edges, &wire.Edge{Kind: kind, Uuid: u, Group: int32(len(j.Edges))})
		}
	}
}

func (s *story) want(want, got any) {
	s.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		s.Errorf("(-want +got):\n%s", diff)
	}
}

// occurrence is the uuid of what a template made, the minutes after midnight.
func occurrence(template, root string, minutes int) string {
	return enginemodel.OccurrenceUUID(template, root, midnight+int64(minutes)*60_000)
}

func TestTickEmitsOneOccurrence(t *testing.T) {
	s := tell(t)
	s.add(job("r", every("10 minutes")))
	s.after(9 * time.Minute)
	s.want(0, len(s.start()))
	s.after(time.Minute)
	s.after(0)
	s.want([]string{occurrence("r", "r", 10)}, s.run())
	s.after(10 * time.Minute)
	s.want([]string{occurrence("r", "r", 20)}, s.run())
}

func TestCatchup(t *testing.T) {
	for _, row := range []struct {
		catchup wire.Schedule_Catchup
		late    time.Duration
		want    []int
		missed  int
	}{
		{wire.Schedule_LAST, 35 * time.Minute, []int{30}, 2},
		{wire.Schedule_ALL, 35 * time.Minute, []int{10, 20, 30}, 0},
		{wire.Schedule_NONE, 35 * time.Minute, nil, 3},
		{wire.Schedule_NONE, 30*time.Minute + 59*time.Second, []int{30}, 2},
	} {
		t.Run(fmt.Sprint(row.catchup, row.late), func(t *testing.T) {
			s := tell(t)
			s.add(job("r", every("10 minutes", func(w *wire.Schedule) { w.Catchup = row.catchup })))
			s.after(row.late)
			var want []string
			for _, m := range row.want {
				want = append(want, occurrence("r", "r", m))
			}
			s.want(want, s.run())
			missed := 0
			for _, l := range s.History("r") {
				missed += l.Missed
			}
			s.want(row.missed, missed)
		})
	}
}

func TestOverlap(t *testing.T) {
	for _, row := range []struct {
		overlap wire.Schedule_Overlap
		first   conveyor.State // of the first cycle's waiting occurrence, when the second is due
		second  conveyor.State
		history []string
	}{
		{wire.Schedule_ALLOW, conveyor.StateQueued, conveyor.StateQueued, nil},
		{wire.Schedule_SKIP, conveyor.StateQueued, conveyor.StateUnknown, []string{"skipped"}},
		{wire.Schedule_REPLACE, conveyor.StateCancelled, conveyor.StateQueued, []string{"replaced"}},
	} {
		t.Run(row.overlap.String(), func(t *testing.T) {
			s := tell(t)
			s.add(job("r", every("10 minutes", func(w *wire.Schedule) { w.Overlap = row.overlap })), job("h", below(wire.Edge_PREDECESSOR, "r")))
			s.after(10 * time.Minute)
			s.after(10 * time.Minute)
			got := s.Statuses([]string{occurrence("r", "r", 10), occurrence("r", "r", 20)})
			s.want([]conveyor.State{row.first, row.second}, []conveyor.State{got[0].State, got[1].State})
			var history []string
			for _, l := range s.History("r") {
				history = append(history, l.Outcome.String())
			}
			s.want(row.history, history)
		})
	}
}

func TestCycleOfAGraph(t *testing.T) {
	s := tell(t)
	s.add(job("join", below(wire.Edge_PREDECESSOR, "kid", "side")), job("side", below(wire.Edge_PREDECESSOR, "kid")),
		job("kid", below(wire.Edge_PARENT, "r")), job("r", every("10 minutes")))
	s.after(10 * time.Minute)
	s.want([]string{occurrence("r", "r", 10), occurrence("kid", "r", 10), occurrence("side", "r", 10), occurrence("join", "r", 10)}, s.run())
	h := s.History("r")
	at := time.UnixMilli(midnight + 600_000).UTC()
	s.want([]conveyor.Cycle{{Tick: at, Outcome: conveyor.CycleCompleted, Began: at, Ended: at, Jobs: 4}}, h)
}

func TestFailureInACycleIsDecidedDownstream(t *testing.T) {
	s := tell(t)
	always := func(j *wire.Job) { j.Edges[len(j.Edges)-1].RunIf = wire.Edge_ALWAYS }
	s.add(job("clean", below(wire.Edge_PREDECESSOR, "b"), always), job("b", below(wire.Edge_PREDECESSOR, "a")), job("a", below(wire.Edge_PARENT, "r")),
		job("r", every("10 minutes")))
	s.after(10 * time.Minute)
	s.want([]string{occurrence("r", "r", 10), occurrence("a", "r", 10), occurrence("clean", "r", 10)}, s.run("a"))
	got := s.Statuses([]string{occurrence("b", "r", 10), occurrence("r", "r", 10)})
	s.want([]conveyor.State{conveyor.StateSkipped, conveyor.StateFailed}, []conveyor.State{got[0].State, got[1].State})
	s.want(conveyor.CycleFailed, s.History("r")[0].Outcome)
}

func TestGateFlipsAndResets(t *testing.T) {
	s := tell(t)
	trigger := func(label string) func(*wire.Job) {
		return func(j *wire.Job) { j.TriggersGate = []string{label} }
	}
	s.add(job("g", func(j *wire.Job) { j.Gate = []string{"x", "y"} }), job("a", trigger("x")), job("b", trigger("y")))
	r := s.start()
	s.end(r[0], conveyor.VerdictFailed)
	s.end(r[1], conveyor.VerdictDone)
	s.want(0, len(s.start()))
	s.add(job("c", trigger("x")))
	s.want([]string{"c", enginemodel.OccurrenceUUID("g", "g", midnight)}, s.run())
	s.add(job("d", trigger("x")))
	s.want([]string{"d"}, s.run())
	s.add(job("e", trigger("y")))
	s.want([]string{"e", enginemodel.OccurrenceUUID("g", "g", midnight+1)}, s.run())
}

func TestPauseDeleteAndLimit(t *testing.T) {
	s := tell(t)
	s.add(job("r", every("10 minutes"), func(j *wire.Job) { j.MaxCycles = 2 }))
	s.ok(s.PauseTemplate("r"))
	s.after(25 * time.Minute)
	s.ok(s.ResumeTemplate("r"))
	s.after(0)
	s.want(0, len(s.start()))
	for range 3 {
		s.after(10 * time.Minute)
	}
	s.want([]string{occurrence("r", "r", 30), occurrence("r", "r", 40)}, s.run())
	s.ok(s.ResetCycles("r"))
	s.after(10 * time.Minute)
	s.ok(s.Cancel("r"))
	s.want(conveyor.StateCancelled, s.Statuses([]string{occurrence("r", "r", 60)})[0].State)
	s.after(time.Hour)
	s.want(0, len(s.start()))
}

func TestBackfillOneAfterTheOther(t *testing.T) {
	s := tell(t)
	s.add(job("r", every("10 minutes", func(w *wire.Schedule) { w.Overlap = wire.Schedule_SKIP })))
	ticks, err := s.Backfill("r", time.UnixMilli(midnight-3_600_000), time.UnixMilli(midnight-2_400_000), false)
	s.ok(err)
	s.want(3, len(ticks))
	s.want(1, len(s.start()))
	s.want(2, len(s.Backlog("r")))
}
