package conveyor_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// script calls a script and returns its reply, or the error's text.
func (e *engine) script(name string, args ...any) any {
	e.Helper()
	reply, err := conveyor.RunScript(e.Context(), e.Client, name, args...)
	if err != nil {
		return err.Error()
	}
	return reply
}

// refusesWrong wants a script to name a key of a wrong type, and to change nothing.
func (e *engine) refusesWrong(key, script string, args ...any) {
	e.Helper()
	e.wrong(key)
	if strings.HasPrefix(key, "call:") { // a text, as it is
		e.ok(e.rdb.Del(e.Context(), e.key(key)).Err())
		e.push(key, "x")
	}
	before := dump(e)
	_, err := conveyor.RunScript(e.Context(), e.Client, script, args...)
	if !errors.Is(err, conveyor.ErrCorrupt) || !strings.Contains(err.Error(), e.key(key)) {
		e.Errorf("%s: got %v", key, err)
	}
	if diff := cmp.Diff(before, dump(e)); diff != "" {
		e.Errorf("%s (-before +after)\n%s", key, diff)
	}
}

// tellings are how often events since the call of it named a job.
func (e *engine) tellings(uuid string) func() int {
	e.Helper()
	last := e.rdb.Get(e.Context(), e.key("events:seq")).Val()
	var from int64
	fmt.Sscan(last, &from)
	return func() int {
		e.Helper()
		batch, err := e.Events(e.Context(), from, 0)
		e.ok(err)
		n := 0
		for _, event := range batch.Events {
			from = event.Seq
			for _, s := range event.Jobs {
				if s.UUID == uuid {
					n++
				}
			}
		}
		return n
	}
}

// TestScheduleCall asks for what was computed of a schedule to be stored, in namespaces that are not as they should be.
func TestScheduleCall(t *testing.T) {
	onBoth(t, func(e *engine) {
		stores := func(e *engine, next any, ticks ...any) any {
			e.Helper()
			args := append([]any{"r", "every hour", fmt.Sprint(start), firstHour, next, 0, ""}, ticks...)
			return e.script("schedule", args...)
		}
		for _, row := range []struct {
			name   string
			before func(e *engine)
			want   func(e *engine) any
			ticks  string // the score of r afterwards
		}{
			{"the schedules are of a wrong type", func(e *engine) { e.wrong("ticks") }, func(e *engine) any { return []any{"0", "0", e.key("ticks")} }, "-"},
			{"the settings are of a wrong type", func(e *engine) { e.wrong("template:r") },
				func(e *engine) any { return []any{"0", "0", e.key("template:r")} }, fmt.Sprint(firstHour)},
			{"the entry is junk", func(e *engine) { e.written("r", "junk") }, func(e *engine) any { return []any{"0", "0", e.key("status r")} }, fmt.Sprint(firstHour + 10_000)},
			{"the template is gone", func(e *engine) { e.ok(e.rdb.HDel(e.Context(), e.key("status"), "r").Err()) }, func(*engine) any { return []any{"0", "0"} }, ""},
			{"it is none", func(e *engine) { e.written("r", "q1|q|1") }, func(*engine) any { return []any{"0", "0"} }, ""},
			{"it was paused meanwhile", func(e *engine) { e.ok(e.PauseTemplate(e.Context(), "r")) }, func(*engine) any { return []any{"0", "0"} }, ""},
		} {
			e.wreck(row.name, func(e *engine) {
				e.add(job("r", every("1 hour")))
				e.tickAt(start)
				e.at(firstHour)
				row.before(e)
				before := dump(e)
				e.want(row.want(e), stores(e, firstHour+hour, firstHour))
				if row.ticks == "-" {
					e.want(before, dump(e))
				} else {
					e.want(row.ticks, e.score("ticks", "r"))
				}
				e.nothing()
			})
		}
		e.wreck("a key that all scripts need", func(e *engine) {
			e.add(job("r", every("1 hour")))
			e.tickAt(start)
			e.refusesWrong("slots", "schedule", "r", "every hour", fmt.Sprint(start), firstHour, firstHour+hour, 0, "", firstHour)
		})
		e.Behaviour("there is no next tick", func(e *engine) {
			e.add(job("r", every("1 hour")))
			e.tickAt(start)
			e.at(firstHour)
			e.want([]any{"1", "1"}, stores(e, "", firstHour))
			e.want("", e.score("ticks", "r"))
			e.starts("r@0")
			e.ok(e.Cancel(e.Context(), "r"))
		})
		e.Behaviour("what is replaced ends in the same call", func(e *engine) {
			e.add(job("kid", downstream, under("r")), job("r", every("1 hour"), overlap(wire.Schedule_REPLACE)))
			e.tickAt(start)
			e.at(firstHour)
			e.want([]any{"1", "1"}, stores(e, firstHour+hour, firstHour))
			e.at(firstHour + hour)
			e.want([]any{"1", "1"}, e.script("schedule", "r", "every hour", firstHour, firstHour+hour, firstHour+2*hour, 0, "", firstHour+hour))
			e.states(occ("r", "r", firstHour) + " cancelled")
			e.want("0 replaced 1/2", e.histories("r"))
			e.starts("r@1")
			e.starts("kid@1")
		})
	})
}

// TestTemplateCall asks a template for something by hand, in namespaces that are not as they should be.
func TestTemplateCall(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, key := range []string{"template:r", "ticks", "backlog:r", "callers", "call:once", "slots"} {
			e.wreck(key+" of a wrong type", func(e *engine) {
				e.add(job("r", every("1 hour")))
				e.refusesWrong(key, "template", "r", "run", "once")
			})
		}
		e.wreck("the entry is junk", func(e *engine) {
			e.add(job("r", every("1 hour")))
			e.written("r", "junk")
			before := dump(e)
			if got := fmt.Sprint(e.script("template", "r", "pause")); !strings.Contains(got, "status entry of r") {
				e.Errorf("got %s", got)
			}
			e.want(before, dump(e))
		})
		e.wreck("what is damaged is named", func(e *engine) {
			e.add(job("r", every("1 hour")))
			e.wrong("cycles:r")
			e.want([]any{"done", fmt.Sprint(e.now), e.key("cycles:r")}, e.script("template", "r", "run", "once"))
		})
		e.Behaviour("run comes twice", func(e *engine) {
			e.add(job("r", every("1 hour")))
			e.tickAt(start)
			e.want([]any{"done", fmt.Sprint(start)}, e.script("template", "r", "run", "once"))
			e.at(start + minute)
			before := dump(e)
			e.want([]any{"done", fmt.Sprint(start)}, e.script("template", "r", "run", "once"))
			e.want(before, dump(e))
			if got := e.reserve(5); len(got) != 1 {
				e.Fatalf("reserved %v", names(got))
			} else {
				e.end(got[0], conveyor.VerdictDone)
			}
			e.at(start + 48*hour)
			e.tick() // calls are not kept for ever
			e.want(int64(0), e.rdb.Exists(e.Context(), e.key("call:once")).Val())
			e.ok(e.Cancel(e.Context(), "r"))
			for _, r := range e.reserve(5) {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Behaviour("backfill tells how many ticks had no cycle", func(e *engine) {
			e.add(job("a", every("1 hour")), job("s", every("1 hour"), overlap(wire.Schedule_SKIP)))
			e.tickAt(start)
			for _, uuid := range []string{"a", "s"} {
				e.want([]any{"done", "2"}, e.script("template", uuid, "backfill", firstHour-3*hour, firstHour-2*hour))
				e.want([]any{"done", "1"}, e.script("template", uuid, "backfill", firstHour-2*hour, firstHour-hour))
			}
			for range 4 {
				for _, r := range e.reserve(5) {
					e.end(r, conveyor.VerdictDone)
				}
				e.tick()
			}
			e.want("-1 completed 0/1, -2 completed 0/1, -3 completed 0/1", e.histories("s"))
		})
	})
}

// TestTemplateTold wants what is done by hand to be told once, and what changes nothing not at all.
func TestTemplateTold(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("r", every("1 hour"), maxCycles(1)), job("off", scheduled(&wire.Schedule{Every: "1 hour", Disabled: true}), maxCycles(1)), job("g", gated("l"), maxCycles(1)))
		e.tickAt(start)
		told := e.tellings("r")
		for _, row := range []struct {
			what string
			call func(uuid string) error
			want int
		}{
			{"reset of what was not used", func(u string) error { return e.ResetCycles(e.Context(), u) }, 0},
			{"resume of what is not paused", func(u string) error { return e.ResumeTemplate(e.Context(), u) }, 0},
			{"pause", func(u string) error { return e.PauseTemplate(e.Context(), u) }, 1},
			{"pause again", func(u string) error { return e.PauseTemplate(e.Context(), u) }, 0},
			{"resume", func(u string) error { return e.ResumeTemplate(e.Context(), u) }, 1},
			{"resume again", func(u string) error { return e.ResumeTemplate(e.Context(), u) }, 0},
		} {
			e.ok(row.call("r"))
			e.same(row.what, row.want, told())
		}
		e.want(fmt.Sprint(start), e.score("ticks", "r")) // it counts from now
		for _, uuid := range []string{"r", "g", "off"} {
			_, err := e.RunTemplate(e.Context(), uuid)
			e.ok(err)
		}
		e.want(map[string]string{}, e.scores("ticks")) // its only cycle was that
		told()
		e.ok(e.PauseTemplate(e.Context(), "r"))
		e.ok(e.ResumeTemplate(e.Context(), "r"))
		e.same("pause and resume on hold", 2, told())
		e.want(map[string]string{}, e.scores("ticks"))
		for _, uuid := range []string{"g", "off", "r"} {
			e.ok(e.ResetCycles(e.Context(), uuid))
		}
		e.same("reset", 1, told())
		e.want(map[string]string{"r": fmt.Sprint(start)}, e.scores("ticks"))
		e.ok(e.PauseTemplate(e.Context(), "r"))
		_, err := e.RunTemplate(e.Context(), "r")
		e.ok(err)
		e.ok(e.ResetCycles(e.Context(), "r"))
		e.want(map[string]string{}, e.scores("ticks"))
		for _, r := range e.reserve(10) {
			e.end(r, conveyor.VerdictDone)
		}
		e.ok(e.Cancel(e.Context(), "g"))
	})
}

// TestTickOverSchedules: what cannot be read is tried again later, what is gone is forgotten, and many are due at once.
func TestTickOverSchedules(t *testing.T) {
	later := fmt.Sprint(firstHour + 10_000)
	onBoth(t, func(e *engine) {
		for _, row := range []struct {
			name   string
			before func(e *engine)
			named  bool
			score  string
		}{
			{"settings of a wrong type", func(e *engine) { e.wrong("template:r") }, true, later},
			{"no schedule in the settings", func(e *engine) { e.ok(e.rdb.HDel(e.Context(), e.key("template:r"), "when").Err()) }, true, later},
			{"no policy", func(e *engine) { e.ok(e.rdb.HDel(e.Context(), e.key("template:r"), "catchup").Err()) }, true, later},
			{"never judged", func(e *engine) { e.ok(e.rdb.HDel(e.Context(), e.key("template:r"), "since").Err()) }, true, later},
			{"no settings at all", func(e *engine) { e.ok(e.rdb.Del(e.Context(), e.key("template:r")).Err()) }, false, ""},
		} {
			e.wreck(row.name, func(e *engine) {
				e.add(job("r", every("1 hour")))
				e.tickAt(start)
				e.at(firstHour)
				row.before(e)
				want := []string{}
				if row.named {
					want = []string{e.key("template:r")}
				}
				if diff := cmp.Diff(want, e.tick().Damaged); diff != "" {
					e.Errorf("damaged (-want +got)\n%s", diff)
				}
				e.want(row.score, e.score("ticks", "r"))
			})
		}
		e.Behaviour("more than fit into one tick", func(e *engine) {
			var all []*wire.Job
			for i := range 60 {
				all = append(all, job(fmt.Sprintf("r%02d", i), every("1 hour")))
			}
			e.add(all...)
			e.tickAt(start)
			e.at(firstHour)
			e.same("more", true, e.tick().More)
			e.same("more", false, e.tick().More)
			got := e.reserve(100)
			e.same("occurrences", 60, len(got))
			for _, r := range got {
				e.end(r, conveyor.VerdictDone)
			}
		})
	})
}

// TestTemplateRefused: a template is stored whole, or not at all.
func TestTemplateRefused(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, key := range []string{"template:h", "ticks", "emits:r:heirs", "sync", "labels", "gate:l", "template:h:gate"} {
			e.wreck("new: "+key, func(e *engine) {
				e.add(job("r", every("1 hour")))
				made := job("h", downstream, after(0, "r"), carrying("k", "v"), labelled("a=b"))
				if strings.Contains(key, "gate") {
					made = job("h", gated("l"))
				}
				e.wrong(key)
				before := dump(e)
				e.refused(e.Add(e.Context(), made), conveyor.ErrCorrupt)
				e.want(before, dump(e))
			})
		}
		for _, key := range []string{"template:h", "ticks", "emits:x:heirs", "emits:r:heirs"} {
			e.wreck("changed: "+key, func(e *engine) {
				e.add(job("r", every("1 hour")), job("x", every("1 hour")), job("h", downstream, after(0, "r")))
				e.wrong(key)
				before := dump(e)
				e.refused(e.Update(e.Context(), job("h", downstream, after(0, "x"))), conveyor.ErrCorrupt)
				e.want(before, dump(e))
			})
		}
		e.Behaviour("strict, below nobody", func(e *engine) {
			before := dump(e)
			e.refused(e.AddMany(e.Context(), []*wire.Job{job("r", every("1 hour")), job("h", downstream, after(0, "r", "never"))}, conveyor.Strict()), conveyor.ErrUnknownUpstream)
			e.want(before, dump(e))
			e.add(job("r", every("1 hour")))
			e.ok(e.AddMany(e.Context(), []*wire.Job{job("h", downstream, after(0, "r"))}, conveyor.Strict()))
			e.want("?s:r", e.hash("template:h")["edges"]) // its occurrences know whom they wait for
			e.tickAt(firstHour)
			e.starts("r@0")
			e.starts("h@0")
		})
	})
}

// TestTemplateLists damages what belongs to a template that goes, or to a cycle that waits.
func TestTemplateLists(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.wreck("the list of its occurrences, when it goes", func(e *engine) {
			e.add(job("r", every("1 hour")))
			e.tickAt(firstHour)
			e.wrong("template:r:live")
			e.ok(e.Cancel(e.Context(), "r"))
			e.same("settings", int64(0), e.rdb.Exists(e.Context(), e.key("template:r"), e.key("template:r:live")).Val())
			e.starts("r@0")
		})
		e.wreck("the settings, when a tick waits that was asked for", func(e *engine) {
			e.add(job("r", every("1 hour"), overlap(wire.Schedule_SKIP)))
			e.tickAt(firstHour)
			_, err := e.Backfill(e.Context(), "r", time.UnixMilli(firstHour-hour), time.UnixMilli(firstHour-hour), false)
			e.ok(err)
			e.ok(e.rdb.Rename(e.Context(), e.key("template:r"), e.key("kept")).Err())
			e.wrong("template:r")
			e.starts("r@0")
			if got := e.tick().Damaged; !cmp.Equal(got, []string{e.key("template:r")}) {
				e.Errorf("damaged %v", got)
			}
			e.nothing()
			e.ok(e.rdb.Rename(e.Context(), e.key("kept"), e.key("template:r")).Err())
			e.rank("todo", "r", float64(firstHour))
			e.tick()
			e.starts("r@-1")
		})
		e.wreck("whom it emits to", func(e *engine) {
			e.add(job("kid", downstream, under("r")), job("r", every("1 hour")))
			e.tickAt(firstHour)
			e.wrong("emits:r:children")
			root := e.take(occ("r", "r", firstHour))
			reply := e.exchange(0, ack(root, conveyor.VerdictDone))
			e.want([]string{e.key("emits:r:children")}, reply.Damaged)
			e.states(root.Job.Uuid + " closing")
			e.want(fmt.Sprint(e.now+10_000), e.score("todo", root.Job.Uuid))
		})
		e.wreck("the members of a cycle", func(e *engine) {
			e.add(job("r", every("1 hour")))
			e.tickAt(firstHour)
			key := "cycle:r:" + fmt.Sprint(firstHour)
			e.wrong(key)
			reply := e.exchange(0, ack(e.take(occ("r", "r", firstHour)), conveyor.VerdictDone))
			e.want([]string{e.key(key)}, reply.Damaged)
		})
		e.wreck("the members of a cycle that is replaced", func(e *engine) {
			e.add(job("r", every("1 hour"), overlap(wire.Schedule_REPLACE)))
			e.tickAt(firstHour)
			key := "cycle:r:" + fmt.Sprint(firstHour)
			e.wrong(key)
			e.at(firstHour + hour)
			if got := e.tick().Damaged; !cmp.Equal(got, []string{e.key(key)}) {
				e.Errorf("damaged %v", got)
			}
			e.want("r@0 r@1", e.named(names(e.reserve(10))))
		})
		e.wreck("the notes of its cycles", func(e *engine) {
			e.add(job("r", every("1 hour")))
			e.tickAt(firstHour)
			e.wrong("cycles:r")
			reply := e.exchange(0, ack(e.take(occ("r", "r", firstHour)), conveyor.VerdictDone))
			e.want([]string{e.key("cycles:r")}, reply.Damaged)
		})
		e.wreck("the bytes", func(e *engine) {
			e.add(job("r", every("1 hour")))
			e.tickAt(start)
			e.ok(e.rdb.Del(e.Context(), e.key("jobs:r")).Err())
			e.at(firstHour)
			if got := e.tick().Damaged; !cmp.Equal(got, []string{e.key("template:r")}) {
				e.Errorf("damaged %v", got)
			}
			e.nothing()
		})
		e.wreck("the history is bounded", func(e *engine) {
			e.add(job("r", every("1 hour")))
			e.tickAt(start)
			for range 99 {
				e.push("history:r", "1:C:1:1:1:0")
			}
			for range 3 {
				_, err := e.RunTemplate(e.Context(), "r")
				e.ok(err)
			}
			for _, r := range e.reserve(5) {
				e.end(r, conveyor.VerdictDone)
			}
			e.counts("history:r", 100)
		})
	})
}
