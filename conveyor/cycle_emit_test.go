package conveyor_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

const (
	minute = int64(60_000)
	hour   = 60 * minute
)

// firstHour is the first whole hour after the engine's clock begins.
const firstHour = start - start%hour + hour

func moment(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// occ is the uuid of a template's occurrence.
func occ(template, root string, tick int64) string {
	return conveyor.OccurrenceUUID(template, root, moment(tick))
}

// occurrences names uuids of occurrences as <template>@<hours after the first>, others as they are.
func (e *engine) named(uuids []string) string {
	e.Helper()
	found, err := e.Statuses(e.Context(), uuids)
	e.ok(err)
	var out []string
	for _, s := range found {
		name := s.UUID
		if s.Template != "" {
			name = fmt.Sprintf("%s@%d", s.Template, (s.Tick.UnixMilli()-firstHour)/hour)
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

// starts wants these occurrences to be ready, in this order, and runs them to their end.
func (e *engine) starts(want string, verdicts ...conveyor.Verdict) {
	e.Helper()
	got := e.reserve(200)
	e.want(want, e.named(names(got)))
	for i, r := range got {
		verdict := conveyor.VerdictDone
		if i < len(verdicts) {
			verdict = verdicts[i]
		}
		e.end(r, verdict)
	}
}

// tickAt moves the clock and ticks until nothing is left to do.
func (e *engine) tickAt(ms int64) {
	e.Helper()
	e.at(ms)
	for range 50 {
		if r := e.tick(); !r.More && r.Changes+r.Emitted == 0 {
			return
		}
	}
	e.Fatal("there is always more to do")
}

// histories are the lines of a root's history, newest first: tick in hours after the first, outcome, occurrences, failures, missed.
func (e *engine) histories(root string) string {
	e.Helper()
	lines, err := e.History(e.Context(), root, 0)
	e.ok(err)
	var out []string
	for _, c := range lines {
		text := fmt.Sprintf("%d %s", (c.Tick.UnixMilli()-firstHour)/hour, c.Outcome)
		if c.Jobs > 0 {
			text += fmt.Sprintf(" %d/%d", c.Failed, c.Jobs)
		}
		if c.Missed > 0 {
			text += fmt.Sprintf(" %d", c.Missed)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func TestTickEmitsOneOccurrence(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("r", every("1 hour"), labelled("a=b"), func(j *wire.Job) { j.Name, j.Payload = "job.r", []byte("p") }))
		e.tickAt(start)
		e.want(fmt.Sprint(firstHour), e.hash("template:r")["next"])
		e.nothing()
		e.tickAt(firstHour - 1)
		e.nothing()
		e.tickAt(firstHour)
		e.tick()
		got := e.reserve(10)
		e.want("r@0", e.named(names(got)))
		o := got[0].Job
		e.want([]string{occ("r", "r", firstHour), "r", fmt.Sprint(firstHour), "job.r", "p"}, []string{o.Uuid, o.TemplateUuid, o.Tick, o.Name, string(o.Payload)})
		s := e.status(o.Uuid)
		e.want([]any{"r", "r", moment(firstHour), true}, []any{s.Template, s.Root, s.Tick, s.Labelled})
		e.end(got[0], conveyor.VerdictDone)
		e.want("0 completed 0/1", e.histories("r"))
		e.tickAt(firstHour + hour)
		e.starts("r@1")
		e.want("1 completed 0/1, 0 completed 0/1", e.histories("r"))
	})
}

func TestCycleOfAGraph(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("join", downstream, after(0, "kid", "side")), job("side", downstream, after(0, "kid")), job("kid", downstream, under("r")), job("r", every("1 hour")))
		e.tickAt(firstHour)
		e.starts("r@0")
		e.states(occ("r", "r", firstHour) + " closing, " + occ("kid", "r", firstHour) + " queued")
		members, err := e.Members(e.Context(), "r", moment(firstHour))
		e.ok(err)
		e.want(2, len(members))
		e.starts("kid@0")
		e.starts("side@0")
		e.starts("join@0")
		e.want("0 completed 0/4", e.histories("r"))
		for _, key := range []string{"cycles:r", "cycle:r:" + fmt.Sprint(firstHour), "template:kid:live"} {
			if n := e.rdb.Exists(e.Context(), e.key(key)).Val(); n > 0 {
				e.Errorf("%s is left", key)
			}
		}
	})
}

func TestFailureInACycle(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("clean", downstream, after(wire.Edge_ALWAYS, "b")), job("b", downstream, after(0, "a")), job("a", downstream, under("r")), job("r", every("1 hour")))
		e.tickAt(firstHour)
		e.starts("r@0")
		e.starts("a@0", conveyor.VerdictFailed)
		e.states(occ("b", "r", firstHour) + " skipped, " + occ("r", "r", firstHour) + " failed(child)")
		e.starts("clean@0")
		e.want("0 failed 2/4", e.histories("r"))
	})
}

func TestCatchup(t *testing.T) {
	for _, row := range []struct {
		name    string
		catchup wire.Schedule_Catchup
		late    int64
		want    string
		history string
	}{
		{"the latest", wire.Schedule_LAST, 3*hour + 30*minute, "r@3", "2 missed 3"},
		{"all, oldest first", wire.Schedule_ALL, 2*hour + 30*minute, "r@0 r@1 r@2", ""},
		{"none", wire.Schedule_NONE, 2*hour + minute + 1, "", "2 missed 3"},
		{"none, but the latest is only a minute late", wire.Schedule_NONE, 2*hour + minute, "r@2", "1 missed 2"},
		{"a hundred at most", wire.Schedule_ALL, 101 * hour, "r@2 ... r@101", "1 missed 2"},
	} {
		t.Run(row.name, func(t *testing.T) {
			onBoth(t, func(e *engine) {
				e.add(job("r", scheduled(&wire.Schedule{Every: "1 hour", Catchup: row.catchup})))
				e.tickAt(start)
				e.at(firstHour + row.late)
				for range 3 {
					e.tick()
				}
				e.want(row.history, e.histories("r"))
				got := strings.Fields(e.named(names(e.reserve(200))))
				if len(got) > 3 {
					e.want(100, len(got))
					got = []string{got[0], "...", got[len(got)-1]}
				}
				e.want(row.want, strings.Join(got, " "))
			})
		})
	}
}

func TestOverlap(t *testing.T) {
	for _, row := range []struct {
		overlap wire.Schedule_Overlap
		states  string
		history string
	}{
		{wire.Schedule_ALLOW, "r0 completed, a0 running, b0 unknown, r1 queued", ""},
		{wire.Schedule_SKIP, "r0 completed, a0 running, b0 unknown, r1 unknown", "1 skipped"},
		{wire.Schedule_REPLACE, "r0 completed, a0 running, b0 unknown, r1 queued", ""},
	} {
		t.Run(row.overlap.String(), func(t *testing.T) {
			onBoth(t, func(e *engine) {
				uuids := map[string]string{"r0": occ("r", "r", firstHour), "a0": occ("a", "r", firstHour), "b0": occ("b", "r", firstHour), "r1": occ("r", "r", firstHour+hour)}
				states := func(want string) {
					e.Helper()
					var out []string
					for part := range strings.SplitSeq(want, ", ") {
						name, state, _ := strings.Cut(part, " ")
						out = append(out, uuids[name]+" "+state)
					}
					e.states(strings.Join(out, ", "))
				}
				e.add(job("b", downstream, after(0, "a")), job("a", downstream, after(0, "r")), job("r", scheduled(&wire.Schedule{Every: "1 hour", Overlap: row.overlap})))
				e.tickAt(firstHour)
				e.starts("r@0")
				running := e.take(uuids["a0"])
				e.at(firstHour + hour)
				e.beat("w", conveyor.Holding{UUID: running.Job.Uuid, Fence: running.Fence})
				e.tickAt(firstHour + hour)
				states(row.states)
				e.want(row.history, e.histories("r"))
				e.want(row.overlap == wire.Schedule_REPLACE, e.status(uuids["a0"]).CancelRequested)
				if row.overlap == wire.Schedule_REPLACE {
					e.end(running, conveyor.VerdictFailed)
					states("a0 cancelled, b0 skipped")
					e.want("0 replaced 1/3", e.histories("r"))
					return
				}
				e.end(running, conveyor.VerdictDone)
				states("b0 queued")
			})
		})
	}
}
