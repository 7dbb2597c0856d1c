package conveyor_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/schedule"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

func every(interval string) func(*wire.Job) {
	return func(j *wire.Job) { j.Schedule = &wire.Schedule{Every: interval} }
}

func scheduled(s *wire.Schedule) func(*wire.Job) { return func(j *wire.Job) { j.Schedule = s } }

func gated(labels ...string) func(*wire.Job) { return func(j *wire.Job) { j.Gate = labels } }

func triggers(labels ...string) func(*wire.Job) { return func(j *wire.Job) { j.TriggersGate = labels } }

func obsoleteIf(name, value string) func(*wire.Job) {
	return func(j *wire.Job) { j.ObsoleteIf = map[string]string{name: value} }
}

func deliver(to wire.Delivery_To, worker string) func(*wire.Job) {
	return func(j *wire.Job) { j.Delivery = &wire.Delivery{To: to, Worker: worker} }
}

func toAll(j *wire.Job) { j.Delivery = &wire.Delivery{To: wire.Delivery_ALL} }

func downstream(j *wire.Job) { j.Template = true }

func carrying(name, value string) func(*wire.Job) {
	return func(j *wire.Job) { j.Sync = map[string]string{name: value} }
}

// refusal is a definition, and what it is refused with.
type refusal struct {
	name string
	job  *wire.Job
	want error
}

// refuses wants each definition to be refused, by Add and by Apply alike, in a message that names the job, and nothing to be stored.
func (e *engine) refuses(rows ...refusal) {
	e.Helper()
	for _, row := range rows {
		batch := conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeAdd, Job: row.job}}}
		for what, err := range map[string]error{"Add": e.Add(e.Context(), row.job), "Apply": e.Apply(e.Context(), batch)} {
			if !errors.Is(err, row.want) || !strings.Contains(err.Error(), row.job.Uuid) {
				e.Errorf("%s, %s: got %v, want %v of job %s", row.name, what, err, row.want, row.job.Uuid)
			}
		}
	}
	e.wantKeys()
}

func TestRefusedDefinitions(t *testing.T) {
	long := strings.Repeat("x", 2000)
	onBoth(t, func(e *engine) {
		e.Behaviour("C1k what is no schedule is refused, with the job and the mistake", func(e *engine) {
			e.refuses(
				refusal{"an interval of zero", job("a", every("0 hours")), schedule.ErrEvery},
				refusal{"an interval of years", job("a", every("2 years")), schedule.ErrEvery},
				refusal{"seconds", job("a", every("30 seconds")), schedule.ErrEvery},
				refusal{"a third column", job("a", every("4 hours at **:30")), schedule.ErrEvery},
				refusal{"the words of a cron line", job("a", scheduled(&wire.Schedule{Cron: "now and then"})), schedule.ErrCron},
				refusal{"a line that never fires", job("a", scheduled(&wire.Schedule{Cron: "0 0 30 2 *"})), schedule.ErrNever},
				refusal{"a zone that does not exist", job("a", scheduled(&wire.Schedule{Cron: "@daily", Timezone: "Mars/Olympus"})), schedule.ErrZone},
				refusal{"an interval in a zone", job("a", scheduled(&wire.Schedule{Every: "day", Timezone: "Europe/Berlin"})), schedule.ErrConflict},
				refusal{"two schedules", job("a", scheduled(&wire.Schedule{Every: "day", Cron: "@daily"})), schedule.ErrConflict},
				refusal{"none", job("a", scheduled(&wire.Schedule{})), schedule.ErrConflict},
				refusal{"catchup", job("a", scheduled(&wire.Schedule{Every: "day", Catchup: 3})), conveyor.ErrPolicy},
				refusal{"overlap", job("a", scheduled(&wire.Schedule{Every: "day", Overlap: -1})), conveyor.ErrPolicy},
			)
			err := e.Add(e.Context(), job("a", every("4 hours at **:30")))
			if err == nil || !strings.Contains(err.Error(), `cron = "30 */4 * * *"`) {
				e.Errorf("%v does not say what to write instead", err)
			}
		})
		e.Behaviour("C10a a schedule together with a time, or with a gate", func(e *engine) {
			e.refuses(
				refusal{"a time", job("a", every("day"), runAt(start)), conveyor.ErrScheduleTime},
				refusal{"a delay", job("a", every("day"), delayed(time.Second)), conveyor.ErrScheduleTime},
				refusal{"a gate", job("a", every("day"), gated("l")), conveyor.ErrScheduleGate},
			)
		})
		e.Behaviour("C10b a schedule or a waiting gate with a root", func(e *engine) {
			e.refuses(
				refusal{"schedule", job("a", every("day"), obsoleteIf("k", "v")), conveyor.ErrTemplateObsolete},
				refusal{"gate", job("a", gated("l"), obsoleteIf("k", "v")), conveyor.ErrTemplateObsolete},
			)
		})
		e.Behaviour("C10c waiting and trigger mixed", func(e *engine) {
			e.refuses(
				refusal{"the same label", job("a", gated("l"), triggers("l")), conveyor.ErrGateTriggers},
				refusal{"another label", job("a", gated("l"), triggers("m")), conveyor.ErrGateTriggers},
			)
		})
		e.Behaviour("C10d a worker is named if and only if the job is for it", func(e *engine) {
			e.refuses(
				refusal{"none", job("a", deliver(wire.Delivery_WORKER, "")), conveyor.ErrDeliveryNoWorker},
				refusal{"any", job("a", deliver(wire.Delivery_ANY, "w")), conveyor.ErrDeliveryWorker},
				refusal{"all", job("a", deliver(wire.Delivery_ALL, "w")), conveyor.ErrDeliveryWorker},
				refusal{"no id", job("a", deliver(wire.Delivery_WORKER, "a b")), conveyor.ErrUUID},
				refusal{"whom", job("a", deliver(3, "")), conveyor.ErrPolicy},
			)
		})
		e.Behaviour("C10e empty and reserved labels, wherever they stand", func(e *engine) {
			e.refuses(
				refusal{"waiting for one without name", job("a", gated("")), conveyor.ErrLabel},
				refusal{"waiting for one that is reserved", job("a", gated("worker")), conveyor.ErrReservedLabel},
				refusal{"waiting for any", job("a", gated("*")), conveyor.ErrLabel},
				refusal{"waiting for one twice", job("a", gated("l", "k", "l")), conveyor.ErrLabelTwice},
				refusal{"waiting for a long one", job("a", gated(long)), conveyor.ErrTooLarge},
				refusal{"waiting for many", job("a", gated(manyLabels()...)), conveyor.ErrTooLarge},
				refusal{"triggering one without name", job("a", triggers("")), conveyor.ErrLabel},
				refusal{"triggering one that is reserved", job("a", triggers("tick+1")), conveyor.ErrReservedLabel},
				refusal{"triggering any", job("a", triggers("*")), conveyor.ErrLabel},
				refusal{"triggering one twice", job("a", triggers("l", "l")), conveyor.ErrLabelTwice},
				refusal{"a root without name", job("a", obsoleteIf("", "v")), conveyor.ErrLabel},
				refusal{"a root that is reserved", job("a", obsoleteIf("object", "v")), conveyor.ErrReservedLabel},
				refusal{"a root that is any", job("a", obsoleteIf("k", "*")), conveyor.ErrLabel},
				refusal{"a root that is long", job("a", obsoleteIf("k", long)), conveyor.ErrTooLarge},
			)
		})
		e.Behaviour("C10f a job for all workers that waits for something, or triggers a gate", func(e *engine) {
			e.refuses(
				refusal{"a parent", job("a", under("p"), toAll), conveyor.ErrBroadcastWaits},
				refusal{"a predecessor", &wire.Job{Uuid: "a", Type: "t", Queue: "q", PredecessorUuid: "p",
					Delivery: &wire.Delivery{To: wire.Delivery_ALL}}, conveyor.ErrBroadcastWaits},
				refusal{"a time", job("a", runAt(start), toAll), conveyor.ErrBroadcastWaits},
				refusal{"a delay", job("a", delayed(time.Second), toAll), conveyor.ErrBroadcastWaits},
				refusal{"a schedule", job("a", every("day"), toAll), conveyor.ErrBroadcastWaits},
				refusal{"a gate", job("a", gated("l"), toAll), conveyor.ErrBroadcastWaits},
				refusal{"a cycle", job("a", downstream, toAll), conveyor.ErrBroadcastWaits},
				refusal{"a trigger", job("a", triggers("l"), toAll), conveyor.ErrBroadcastTriggers},
			)
		})
		e.Behaviour("C10g state that is too large to be carried", func(e *engine) {
			large := job("a", every("day"))
			large.Sync = map[string]string{}
			for i := range conveyor.MaxSync + 1 {
				large.Sync[fmt.Sprint(i)] = ""
			}
			heavy := job("a", every("day"))
			heavy.Sync = map[string]string{}
			for i := range conveyor.MaxSyncTotal / conveyor.MaxSyncValue {
				heavy.Sync[fmt.Sprint(i)] = long[:conveyor.MaxSyncValue]
			}
			e.refuses(
				refusal{"no name", job("a", carrying("", "v")), conveyor.ErrSync},
				refusal{"a long name", job("a", carrying(long, "v")), conveyor.ErrTooLarge},
				refusal{"a long value", job("a", carrying("k", long)), conveyor.ErrTooLarge},
				refusal{"many", large, conveyor.ErrTooLarge},
				refusal{"much as a whole", heavy, conveyor.ErrSyncTotal},
			)
		})
		e.Behaviour("C10h what only the engine says", func(e *engine) {
			e.refuses(
				refusal{"a template", &wire.Job{Uuid: "a", Type: "t", Queue: "q", TemplateUuid: "t"}, conveyor.ErrEmitted},
				refusal{"a tick", &wire.Job{Uuid: "a", Type: "t", Queue: "q", Tick: "60000"}, conveyor.ErrEmitted},
			)
		})
	})
}

func manyLabels() []string {
	var out []string
	for i := range conveyor.MaxLabels + 1 {
		out = append(out, fmt.Sprint(i))
	}
	return out
}

// TestGateLoops: gates that nothing stops once they have opened are refused, and those that wait for something else are not.
func TestGateLoops(t *testing.T) {
	ofItself := []*wire.Job{job("g", gated("a")), job("below", downstream, under("g")), job("again", downstream, after(0, "below"), triggers("x", "a"))}
	for _, row := range []struct {
		name string
		jobs []*wire.Job
		want string // of the message; "": it is added
	}{
		{"one opens itself", ofItself, `job g: downstream of it "a" opens g: gates open each other`},
		{"one opens itself, also with what is dropped at once", append(ofItself[:2:2], job("again", downstream, under("g"), triggers("a"), dropIf("k=v"))),
			`downstream of it "a" opens g`},
		{"in a circle", []*wire.Job{job("g1", gated("a")), job("g2", gated("b", "c")), job("x", downstream, under("g1"), triggers("b")),
			job("y", downstream, under("g1"), triggers("c")), job("z", downstream, under("g2"), triggers("a")), job("g3", gated("b"))}, `"b" opens g2, downstream of which "a" opens g1`},
		{"max_cycles bounds it", []*wire.Job{job("g", gated("a"), maxCycles(3)), ofItself[1], ofItself[2]}, ""},
		{"a label that comes from elsewhere", []*wire.Job{job("g", gated("a", "new")), ofItself[1], ofItself[2], job("t", triggers("new"))}, ""},
		{"a schedule opens it", []*wire.Job{job("s", every("hour")), job("t", downstream, under("s"), triggers("a")), job("g", gated("a"))}, ""},
		{"one opens another", []*wire.Job{job("g", gated("a")), job("g2", gated("b")), job("t", downstream, under("g"), triggers("b"))}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			onBoth(t, func(e *engine) {
				err := e.AddMany(e.Context(), row.jobs)
				switch {
				case row.want == "":
					e.ok(err)
				case !errors.Is(err, conveyor.ErrGateLoop) || !strings.Contains(err.Error(), row.want):
					e.Errorf("got %v, want %q", err, row.want)
				default:
					e.wantKeys()
				}
			})
		})
	}
}

// A gate that opens itself, with max_cycles, is on hold after so many cycles, also when what opens it is dropped at once.
func TestGateLoopEnds(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("root", labelled("k=v"), runAt(e.now+1e12)), job("g", gated("a"), maxCycles(3)), job("again", downstream, under("g"), triggers("a"), dropIf("k=v")))
		e.ends("t", conveyor.VerdictDone, "a")
		for range 3 {
			r := e.reserve(10)
			if len(r) != 1 {
				e.Fatalf("reserved %v", names(r))
			}
			e.end(r[0], conveyor.VerdictDone)
		}
		e.nothing()
		if g := e.template1("g"); !g.OnHold || g.Cycles != 3 {
			e.Errorf("got %+v", g)
		}
	})
}

func TestRefusedFamilies(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("C10i templates without a root, below two of them, or above what is none", func(e *engine) {
			for _, row := range []struct {
				name string
				jobs []*wire.Job
				want error
			}{
				{"no root at all", []*wire.Job{job("a", downstream)}, conveyor.ErrNoRoot},
				{"none above", []*wire.Job{job("a", downstream, under("b")), job("b")}, conveyor.ErrNoRoot},
				{"two schedules", []*wire.Job{job("a", downstream, after(0, "b", "c")), job("b", every("day")), job("c", every("hour"))}, conveyor.ErrTwoRoots},
				{"a schedule and a gate", []*wire.Job{job("a", downstream, under("b"), after(0, "c")), job("b", every("day")), job("c", gated("l"))}, conveyor.ErrTwoRoots},
				{"two roots further up", []*wire.Job{job("a", downstream, under("b"), after(0, "d")), job("b", downstream, under("c")), job("c", every("day")),
					job("d", every("day"))}, conveyor.ErrTwoRoots},
				{"a schedule below a schedule", []*wire.Job{job("a", every("day"), under("b")), job("b", every("day"))}, conveyor.ErrTwoRoots},
				{"a gate below a schedule", []*wire.Job{job("a", gated("l"), under("b")), job("b", every("day"))}, conveyor.ErrTwoRoots},
				{"a job below a schedule", []*wire.Job{job("a", under("b")), job("b", every("day"))}, conveyor.ErrBelowTemplate},
				{"an heir of a gate", []*wire.Job{job("b", gated("l")), job("a", after(0, "b"))}, conveyor.ErrBelowTemplate},
				{"a child of a job for all", []*wire.Job{job("a", under("b")), job("b", toAll)}, conveyor.ErrBroadcastUpstream},
				{"an heir of a job for all", []*wire.Job{job("a", after(0, "b")), job("b", toAll)}, conveyor.ErrBroadcastUpstream},
			} {
				var b conveyor.Batch
				for _, j := range row.jobs {
					b.Changes = append(b.Changes, conveyor.Change{Kind: conveyor.ChangeAdd, Job: j})
				}
				for what, err := range map[string]error{"AddMany": e.AddMany(e.Context(), row.jobs), "Apply": e.Apply(e.Context(), b)} {
					if !errors.Is(err, row.want) || !strings.Contains(err.Error(), "job a: ") {
						e.Errorf("%s, %s: got %v, want %v of job a", row.name, what, err, row.want)
					}
				}
			}
			e.wantKeys()
		})
	})
}
