package conveyor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// drain starts and ends whatever is ready until nothing is, and returns how many ran; each script's changes stay within the budget.
func (e *engine) drain(most int) int {
	e.Helper()
	n, idle := 0, 0
	for range 10_000 {
		var acks []conveyor.Ack
		for _, r := range e.reserve(100) {
			acks = append(acks, ack(r, conveyor.VerdictDone))
		}
		if len(acks) > 0 {
			e.exchange(0, acks...)
		}
		n += len(acks)
		if r := e.tick(); len(acks) == 0 && !r.More && r.Changes == 0 {
			if idle++; idle > 2 {
				break
			}
		}
	}
	batch, err := e.Events(e.Context(), 0, 0)
	e.ok(err)
	for _, event := range batch.Events {
		if len(event.Jobs) > most {
			e.Errorf("a script %s changed %d jobs", event.Kind, len(event.Jobs))
		}
	}
	return n
}

func TestCycleOfAThousandJobs(t *testing.T) {
	for _, row := range []struct {
		name string
		edge func(i int) func(*wire.Job)
	}{
		{"children", func(int) func(*wire.Job) { return under("r") }},
		{"heirs", func(int) func(*wire.Job) { return after(0, "r") }},
		{"one after the other", func(i int) func(*wire.Job) {
			if i == 0 {
				return after(0, "r")
			}
			return after(0, fmt.Sprintf("j%d", i-1))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			onBoth(t, func(e *engine) {
				n := 500
				if row.name == "children" {
					n = 1000
				}
				var jobs []*wire.Job
				for i := range n {
					jobs = append(jobs, job(fmt.Sprintf("j%d", i), downstream, row.edge(i)))
				}
				e.add(append(jobs, job("r", every("1 hour")))...)
				e.tickAt(firstHour)
				e.starts("r@0")
				e.want(n, e.drain(205))
				e.want(fmt.Sprintf("0 completed 0/%d", n+1), e.histories("r"))
			})
		})
	}
}

// TestReplaceAWideCycle: the members of a wide cycle are cancelled over several scripts, and so is what it makes later.
func TestReplaceAWideCycle(t *testing.T) {
	onBoth(t, func(e *engine) {
		var jobs []*wire.Job
		for i := range 450 {
			jobs = append(jobs, job(fmt.Sprintf("j%d", i), downstream, under("r")))
		}
		e.add(append(jobs, job("r", scheduled(&wire.Schedule{Every: "1 hour", Overlap: wire.Schedule_REPLACE})))...)
		e.tickAt(firstHour)
		e.starts("r@0")
		e.tickAt(firstHour)
		e.tickAt(firstHour + hour)
		e.want("0 replaced 451/451", e.histories("r"))
		e.starts("r@1")
		e.want(450, e.drain(205))
		e.want("1 completed 0/451, 0 replaced 451/451", e.histories("r"))
	})
}

// TestDeleteAWideTemplate: the waiting occurrences of many cycles are cancelled over several scripts.
func TestDeleteAWideTemplate(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("r", scheduled(&wire.Schedule{Every: "1 hour", Catchup: wire.Schedule_ALL})))
		e.tickAt(start)
		for i := range int64(5) {
			e.tickAt(firstHour + (100*i+99)*hour)
		}
		e.want(500, len(e.scores("template:r:live")))
		e.ok(e.Cancel(e.Context(), "r"))
		e.states("r closing")
		e.tickAt(e.now)
		e.states("r cancelled")
		e.want("", e.kept())
		e.nothing()
	})
}

// TestWhoWaitsMakesItsUpstreams: an occurrence whose upstream is not made by anybody any more makes it.
func TestWhoWaitsMakesItsUpstreams(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("z", downstream, after(0, "r")), job("r", every("1 hour")))
		e.tickAt(firstHour)
		e.starts("r@0")
		// The cycle has passed r when q becomes downstream of it, and late waits for q.
		e.add(job("late", downstream, after(0, "z", "q")), job("q", downstream, after(0, "p")), job("p", downstream, after(0, "r")))
		e.starts("z@0")
		e.states(occ("late", "r", firstHour) + " held, " + occ("q", "r", firstHour) + " held, " + occ("p", "r", firstHour) + " queued")
		orphans, err := e.Orphans(e.Context(), 0)
		e.ok(err)
		e.want(0, len(orphans))
		e.starts("p@0")
		e.starts("q@0")
		e.starts("late@0")
		e.want("0 completed 0/5", e.histories("r"))
	})
}

// TestWhoWaitsMakesManyUpstreams: over several scripts.
func TestWhoWaitsMakesManyUpstreams(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("z", downstream, after(0, "r")), job("r", every("1 hour")))
		e.tickAt(firstHour)
		e.starts("r@0")
		late := []string{"z"}
		var jobs []*wire.Job
		for i := range 500 {
			late = append(late, fmt.Sprintf("q%d", i))
			jobs = append(jobs, job(late[i+1], downstream, after(0, "r")))
		}
		e.add(append(jobs, job("late", downstream, after(0, late...)))...)
		e.starts("z@0")
		e.want("1", fmt.Sprint(e.rdb.ZCard(e.Context(), e.key("todo")).Val()))
		e.sound()
		e.rest()
		e.same("what is left to do", "", tagsOf(e.entry(occ("late", "r", firstHour)))["D"])
		e.want(501, e.drain(205))
		e.want("0 completed 0/503", e.histories("r"))
	})
}

// TestLateUpstreamsOfADeletedTemplate: what was not made before its template was deleted counts as cancelled.
func TestLateUpstreamsOfADeletedTemplate(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("z", downstream, after(0, "r")), job("r", every("1 hour")))
		e.tickAt(firstHour)
		e.starts("r@0")
		late := []string{"z"}
		var jobs []*wire.Job
		for i := range 300 {
			late = append(late, fmt.Sprintf("q%d", i))
			jobs = append(jobs, job(late[i+1], downstream, after(0, "r")))
		}
		e.add(append(jobs, job("late", downstream, after(0, late...)), job("kid", downstream, under("q299"), after(0, "z")))...)
		e.starts("z@0")
		e.ok(e.Cancel(e.Context(), "q299"))
		e.drain(205)
		e.states(occ("late", "r", firstHour) + " skipped, " + occ("kid", "r", firstHour) + " skipped, " + occ("q299", "r", firstHour) + " unknown")
	})
}

// TestUpstreamsGivenUpBeforeTheyAreMade: what an occurrence waits for is made, or counts as cancelled, also where its template has
// come to wait for others meanwhile.
func TestUpstreamsGivenUpBeforeTheyAreMade(t *testing.T) {
	for _, row := range []struct {
		name   string
		cancel bool
		ran    int
		states string
	}{
		{"the upstream stays", false, 301, " completed"},
		{"the upstream is deleted", true, 299, " skipped"},
	} {
		t.Run(row.name, func(t *testing.T) {
			onBoth(t, func(e *engine) {
				e.add(job("z", downstream, after(0, "r")), job("r", every("1 hour")))
				e.tickAt(firstHour)
				e.starts("r@0")
				late := []string{"z"}
				var jobs []*wire.Job
				for i := range 300 {
					late = append(late, fmt.Sprintf("q%d", i))
					jobs = append(jobs, job(late[i+1], downstream, after(0, "r")))
				}
				e.add(append(jobs, job("late", downstream, after(0, late...)))...)
				e.starts("z@0")
				e.states(occ("late", "r", firstHour) + " held, " + occ("q299", "r", firstHour) + " unknown")
				e.sound()
				e.ok(e.Update(e.Context(), job("late", downstream, after(0, late[:300]...))))
				if row.cancel {
					e.ok(e.Cancel(e.Context(), "q299"))
				}
				e.want(row.ran, e.drain(205))
				e.states(occ("late", "r", firstHour) + row.states)
			})
		})
	}
}

// TestReplaceACycleThatRuns: the occurrences of a wide cycle that are asked to stop are gone through in steps, and each once.
func TestReplaceACycleThatRuns(t *testing.T) {
	onBoth(t, func(e *engine) {
		n := 600
		var jobs []*wire.Job
		for i := range n {
			jobs = append(jobs, job(fmt.Sprintf("j%d", i), downstream, under("r")))
		}
		e.add(append(jobs, job("r", scheduled(&wire.Schedule{Every: "1 hour", Overlap: wire.Schedule_REPLACE})))...)
		e.tickAt(firstHour)
		e.starts("r@0")
		e.tickAt(firstHour)
		var held []conveyor.Reservation
		for {
			got := e.reserve(100)
			if held = append(held, got...); len(got) == 0 {
				break
			}
		}
		e.want(n, len(held))
		e.at(firstHour + hour)
		var holding []conveyor.Holding
		for _, h := range held {
			holding = append(holding, conveyor.Holding{UUID: h.Job.Uuid, Fence: h.Fence})
		}
		e.beat("w", holding...)
		members, stray := e.key(fmt.Sprintf("cycle:r:%d", firstHour)), []any{} // as many as no step looks at
		for i := range 5000 {
			stray = append(stray, fmt.Sprintf("stray%d", i))
		}
		e.ok(e.rdb.SAdd(e.Context(), members, stray...).Err())
		var flags []string
		for range 40 {
			e.tick()
			_, text, _ := strings.Cut(e.hash("cycles:r")[fmt.Sprint(firstHour)], ":0:")
			flags = append(flags, strings.TrimRight(text, "0123456789"))
		}
		e.want("rwa", flags[0])
		e.want(true, slices.Contains(flags, "rw"))
		e.want("r", flags[len(flags)-1])
		e.want(n, len(e.beat("w", holding...).Cancel))
		e.ok(e.rdb.SRem(e.Context(), members, stray...).Err())
		for i := 0; i < n; i += 150 {
			var acks []conveyor.Ack
			for _, h := range held[i:min(i+150, n)] {
				acks = append(acks, ack(h, conveyor.VerdictFailed))
			}
			e.exchange(0, acks...)
		}
		for range 50 {
			e.tick()
		}
		e.want(fmt.Sprintf("0 replaced %d/%d", n+1, n+1), e.histories("r"))
		e.starts("r@1")
		e.want(n, e.drain(205))
	})
}

// TestTwoTickers: whoever stores what it computed from an outdated state is told so, and changes nothing.
func TestTwoTickers(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("r", every("1 hour")))
		e.tickAt(start)
		e.at(firstHour)
		since := e.hash("template:r")["since"]
		store := func(when, since string) []any {
			e.Helper()
			reply, err := conveyor.RunScript(e.Context(), e.Client, "schedule", "r", when, since, firstHour, firstHour+hour, 0, "", firstHour)
			e.ok(err)
			return reply.([]any)
		}
		e.want([]any{"0", "0"}, store("every day", since))
		e.want([]any{"0", "0"}, store("every hour", "1"))
		e.want([]any{"1", "1"}, store("every hour", since))
		before := dump(e)
		e.want([]any{"0", "0"}, store("every hour", since))
		e.want(before, dump(e))
		e.starts("r@0")
		// One tick later, by two programs at once.
		e.at(firstHour + hour)
		done := make(chan error)
		for range 4 {
			go func() {
				_, err := e.Tick(e.Context())
				done <- err
			}()
		}
		for range 4 {
			e.ok(<-done)
		}
		e.starts("r@1")
		e.want("1 completed 0/1, 0 completed 0/1", e.histories("r"))
	})
}

// TestTickAmongManyTemplates: a tick looks at the templates that are due and at no others.
func TestTickAmongManyTemplates(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("r", every("1 hour")))
		e.tickAt(start)
		n := 100_000
		if strings.Contains(e.tb.(interface{ Name() string }).Name(), "miniredis") {
			n = 1000
		}
		var others []redis.Z
		for i := range n {
			others = append(others, redisZ(float64(firstHour+hour), fmt.Sprintf("other%d", i)))
		}
		for at := 0; at < n; at += 1000 {
			e.ok(e.rdb.ZAdd(e.Context(), e.key("ticks"), others[at:at+1000]...).Err())
		}
		e.at(firstHour)
		reply := e.tick()
		e.want([]any{1, false, hour * int64(time.Millisecond)}, []any{reply.Emitted, reply.More, int64(reply.Cycle)})
		e.ok(e.rdb.Del(e.Context(), e.key("ticks")).Err())
		e.ok(e.rdb.ZAdd(e.Context(), e.key("ticks"), redisZ(float64(firstHour+hour), "r")).Err())
	})
}
