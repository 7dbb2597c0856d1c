package conveyor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
)

// cycles is a namespace with a root r, which has two templates below it, its cycle of firstHour, and what is not to be taken for either: a
// job, one that is over, a paused schedule, a gate.
func cycles(e *engine) {
	e.Helper()
	e.add(job("heir", downstream, after(0, "kid"), under("r")), job("kid", downstream, under("r")), job("r", every("1 hour")),
		job("paused", every("1 hour")), job("gate", gated("l")), job("plain", queue("other")), job("over", queue("other")))
	e.ok(e.Cancel(e.Context(), "over"))
	e.tickAt(start)
	e.ok(e.PauseTemplate(e.Context(), "paused"))
	e.tickAt(firstHour)
}

func (e *engine) score(key, member string) string {
	e.Helper()
	all := e.scores(key)
	return all[member]
}

func (e *engine) rank(key, member string, score float64) {
	e.Helper()
	e.ok(e.rdb.ZAdd(e.Context(), e.key(key), redisZ(score, member)).Err())
}

func (e *engine) set(key string, pairs ...any) {
	e.Helper()
	e.ok(e.rdb.HSet(e.Context(), e.key(key), pairs...).Err())
}

// TestMendTicks asks for the place of a template among the schedules.
func TestMendTicks(t *testing.T) {
	next := fmt.Sprint(firstHour + hour)
	onBoth(t, func(e *engine) {
		for _, row := range []struct {
			name, uuid string
			before     func(e *engine)
			score      string // afterwards; as before when it is left alone
			left       bool
		}{
			{"of nobody", "never", nil, "", true},
			{"of a job", "plain", nil, "", true},
			{"of one that is over", "over", nil, "", true},
			{"as it should be", "r", nil, next, true},
			{"next is not known yet", "r", func(e *engine) { e.set("template:r", "next", "") }, next, true},
			{"settings of a wrong type", "r", func(e *engine) { e.wrong("template:r") }, next, true},
			{"another time", "r", func(e *engine) { e.rank("ticks", "r", 7) }, next, false},
			{"missing", "r", func(e *engine) { e.ok(e.rdb.ZRem(e.Context(), e.key("ticks"), "r").Err()) }, next, false},
			{"missing, and next is not known", "r", func(e *engine) {
				e.ok(e.rdb.ZRem(e.Context(), e.key("ticks"), "r").Err())
				e.set("template:r", "next", "")
			}, fmt.Sprint(firstHour), false},
			{"some cycles are left", "r", func(e *engine) {
				e.set("template:r", "max", "2", "used", "1")
				e.rank("ticks", "r", 7)
			}, next, false},
			{"no cycles are left", "r", func(e *engine) { e.set("template:r", "max", "1", "used", "1") }, "", false},
			{"disabled", "r", func(e *engine) { e.set("template:r", "off", "1") }, "", false},
			{"paused", "paused", func(e *engine) { e.rank("ticks", "paused", 7) }, "", false},
			{"a gate", "gate", func(e *engine) { e.rank("ticks", "gate", 7) }, "", false},
			{"a gate that is not there", "gate", nil, "", true},
		} {
			e.wreck(row.name, func(e *engine) {
				cycles(e)
				if row.before != nil {
					row.before(e)
				}
				if row.left {
					e.leaves("ticks", row.uuid)
				} else {
					e.mendsOnce("ticks", row.uuid)
				}
				e.want(row.score, e.score("ticks", row.uuid))
			})
		}
		e.wreck("schedules of a wrong type", func(e *engine) {
			cycles(e)
			e.wrong("ticks")
			e.leaves("ticks", "r")
		})
	})
}

// TestMendTemplate declares templates anew.
func TestMendTemplate(t *testing.T) {
	now := fmt.Sprint(firstHour)
	text := func(pairs ...string) string { return strings.Join(pairs, "\n") + "\n" }
	onBoth(t, func(e *engine) {
		for _, row := range []struct {
			name, uuid, text string
			before           func(e *engine)
			want             map[string]string // of the fields it may change; nil: it is left alone
		}{
			{"of nobody", "never", text("overlap", "s"), nil, nil},
			{"of a job", "plain", text("overlap", "s"), nil, nil},
			{"of an occurrence", occ("r", "r", firstHour), text("overlap", "s"), nil, nil},
			{"as it is", "r", text("overlap", "a", "when", "every hour"), nil, nil},
			{"of a wrong type", "r", text("overlap", "s"), func(e *engine) { e.wrong("template:r") }, nil},
			{"another policy", "r", text("overlap", "s"), nil, map[string]string{"overlap": "s", "since": now}},
			{"another schedule counts from now", "r", text("when", "every day"), func(e *engine) { e.at(firstHour + 5000) },
				map[string]string{"when": "every day", "since": fmt.Sprint(firstHour + 5000), "next": ""}},
			{"numbers that are none", "r", text("overlap", "a"), func(e *engine) {
				e.set("template:r", "used", "x", "last", "y", "next", "z", "since", "q")
			}, map[string]string{"used": "0", "last": "0", "next": "", "since": now}},
			{"since is lost", "r", text("overlap", "a"), func(e *engine) { e.ok(e.rdb.HDel(e.Context(), e.key("template:r"), "since").Err()) },
				map[string]string{"since": now}},
			{"since is empty", "r", text("overlap", "a"), func(e *engine) { e.set("template:r", "since", "") }, map[string]string{"since": now}},
			{"what a paused one need not have", "paused", text("overlap", "a"), func(e *engine) {
				e.ok(e.rdb.HDel(e.Context(), e.key("template:paused"), "since", "used", "last", "next").Err())
			}, nil},
			{"it is not marked as one", "r", text("overlap", "a"), func(e *engine) {
				e.written("r", strings.Replace(e.entry("r"), "t1tb", "t1b", 1))
			}, map[string]string{}},
			{"it has another place among the schedules", "r", text("overlap", "a"), func(e *engine) { e.rank("ticks", "r", 7) }, map[string]string{}},
		} {
			e.wreck(row.name, func(e *engine) {
				cycles(e)
				if row.before != nil {
					row.before(e)
				}
				if row.want == nil {
					e.leaves("template", row.uuid, row.text)
					return
				}
				e.mendsOnce("template", row.uuid, row.text)
				fields := e.rdb.HGetAll(e.Context(), e.key("template:r")).Val()
				for name, want := range row.want {
					e.same(name, want, fields[name])
				}
				e.same("entry", true, strings.ContainsRune(strings.SplitN(e.entry("r"), "|", 2)[0][1:], 't'))
				if fields["next"] != "" {
					e.same("ticks", fields["next"], e.score("ticks", "r"))
				}
			})
		}
	})
}

// TestMendEmits lists templates under those above them.
func TestMendEmits(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, row := range []struct {
			name, key, uuid string
			before          func(e *engine)
			left            bool
		}{
			{"of nobody", "emits:r:children", "never", nil, true},
			{"of a job", "emits:r:children", "plain", nil, true},
			{"as it is", "emits:r:children", "kid", nil, true},
			{"under one it is no heir of", "emits:paused:heirs", "heir", nil, true},
			{"settings of a wrong type", "emits:r:children", "kid", func(e *engine) {
				e.ok(e.rdb.Del(e.Context(), e.key("emits:r:children")).Err())
				e.wrong("template:kid")
			}, true},
			{"a list of a wrong type", "emits:r:children", "kid", func(e *engine) { e.wrong("emits:r:children") }, true},
			{"missing", "emits:r:children", "kid", func(e *engine) { e.ok(e.rdb.Del(e.Context(), e.key("emits:r:children")).Err()) }, false},
			{"missing under the second", "emits:r:children", "heir", func(e *engine) { e.ok(e.rdb.ZRem(e.Context(), e.key("emits:r:children"), "heir").Err()) }, false},
			{"out of order", "emits:kid:heirs", "heir", func(e *engine) { e.rank("emits:kid:heirs", "heir", 77) }, false},
		} {
			e.wreck(row.name, func(e *engine) {
				cycles(e)
				there := e.rdb.Type(e.Context(), e.key(row.key)).Val() == "zset"
				want := ""
				if there {
					want = e.score(row.key, row.uuid)
				}
				if row.before != nil {
					row.before(e)
				}
				if row.left {
					e.leaves("emits", row.uuid, row.key)
					return
				}
				e.mendsOnce("emits", row.uuid, row.key)
				e.want(want, e.score(row.key, row.uuid))
			})
		}
	})
}

// TestMendGate has a template wait for the labels that it is declared with.
func TestMendGate(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.wreck("what is no gate that can be read", func(e *engine) {
			cycles(e)
			for _, uuid := range []string{"never", "plain", "over", occ("r", "r", firstHour)} {
				e.leaves("gate", uuid, "l")
			}
			e.leaves("gate", "gate", "l")
			e.wrong("template:gate:gate")
			e.leaves("gate", "gate", "l")
		})
		e.wreck("a label too many, which lists it", func(e *engine) {
			cycles(e)
			e.set("template:gate:gate", "m", "1")
			e.rank("gate:m", "gate", 1)
			e.mendsOnce("gate", "gate", "l")
			e.want(map[string]string{"l": "0"}, e.hash("template:gate:gate"))
			e.want("", e.ranked("gate:m"))
		})
	})
}

// TestMendRemains removes what is left of templates that are gone, and of no others.
func TestMendRemains(t *testing.T) {
	onBoth(t, func(e *engine) {
		cycles(e)
		e.set("template:never", "kind", "s")
		e.set("template:plain", "kind", "s")
		e.set("template:over", "kind", "s")
		e.leaves("untemplate", "r", "template:r")
		e.leaves("untemplate", "never", "template:nothing")
		closing := strings.Replace(e.entry("gate"), "t", "c", 1)
		e.wreck("one that ends still", func(e *engine) {
			cycles(e)
			e.written("gate", closing+"|xX")
			e.leaves("untemplate", "gate", "template:gate")
		})
		for _, uuid := range []string{"never", "plain", "over"} {
			e.mendsOnce("untemplate", uuid, "template:"+uuid)
			e.same(uuid, int64(0), e.rdb.Exists(e.Context(), e.key("template:"+uuid)).Val())
		}
		e.starts("r@0")
		e.starts("kid@0")
		e.starts("heir@0")
	})
}

// TestMendOccurrence puts occurrences back among those of their cycle and of their template.
func TestMendOccurrence(t *testing.T) {
	tick := fmt.Sprint(firstHour)
	onBoth(t, func(e *engine) {
		root := occ("r", "r", firstHour)
		for _, row := range []struct {
			name   string
			before func(e *engine)
			left   bool
		}{
			{"as it is", nil, true},
			{"not in its cycle", func(e *engine) { e.ok(e.rdb.SRem(e.Context(), e.key("cycle:r:"+tick), root).Err()) }, false},
			{"not its template's", func(e *engine) { e.ok(e.rdb.ZRem(e.Context(), e.key("template:r:live"), root).Err()) }, false},
			{"its template's at another tick", func(e *engine) { e.rank("template:r:live", root, 7) }, false},
			{"a cycle of a wrong type", func(e *engine) { e.wrong("cycle:r:" + tick) }, true},
			{"a list of its template of a wrong type", func(e *engine) { e.wrong("template:r:live") }, true},
			{"its template is gone", func(e *engine) {
				e.ok(e.rdb.HDel(e.Context(), e.key("status"), "r").Err())
				e.ok(e.rdb.Del(e.Context(), e.key("template:r:live")).Err())
			}, true},
			{"its template is none any more", func(e *engine) {
				e.written("r", e.entry("plain"))
				e.ok(e.rdb.Del(e.Context(), e.key("template:r:live")).Err())
			}, true},
		} {
			e.wreck(row.name, func(e *engine) {
				cycles(e)
				if row.before != nil {
					row.before(e)
				}
				if row.left {
					e.leaves("occurrence", root)
					return
				}
				e.mendsOnce("occurrence", root)
				e.same("cycle", true, e.rdb.SIsMember(e.Context(), e.key("cycle:r:"+tick), root).Val())
				e.want(tick, e.score("template:r:live", root))
			})
		}
		e.wreck("what is none, or over", func(e *engine) {
			cycles(e)
			e.run(root, conveyor.VerdictFailed)
			for _, uuid := range []string{"never", "plain", "r", root} {
				e.leaves("occurrence", uuid)
			}
		})
	})
}

// TestMendCycle notes cycles that have members, and ends those that have none.
func TestMendCycle(t *testing.T) {
	tick := fmt.Sprint(firstHour)
	onBoth(t, func(e *engine) {
		for _, row := range []struct {
			name, tick string
			before     func(e *engine)
			want       string // how the cycle is noted afterwards, "-" when it is left alone
			aside      bool
			history    string
		}{
			{"as it is", tick, nil, "-", false, ""},
			{"one that never was", "77", nil, "-", false, ""},
			{"members of a wrong type", tick, func(e *engine) { e.wrong("cycle:r:" + tick) }, "-", false, ""},
			{"all of a wrong type", tick, func(e *engine) { e.wrong("cycles:r") }, "-", false, ""},
			{"not noted", tick, func(e *engine) { e.ok(e.rdb.HDel(e.Context(), e.key("cycles:r"), tick).Err()) }, tick + ":1:0:", false, ""},
			{"cannot be read", tick, func(e *engine) { e.set("cycles:r", tick, "1:1:x") }, tick + ":1:0:", true, ""},
			{"has no members", "3600000", func(e *engine) { e.set("cycles:r", "3600000", "1:3:1:") }, "", false, "failed"},
		} {
			e.wreck(row.name, func(e *engine) {
				cycles(e)
				if row.before != nil {
					row.before(e)
				}
				if row.want == "-" {
					e.leaves("cycle", "", "r", row.tick)
					return
				}
				e.mendsOnce("cycle", "", "r", row.tick)
				e.want(row.want, e.rdb.HGet(e.Context(), e.key("cycles:r"), row.tick).Val())
				e.same("aside", row.aside, len(e.aside()) > 0)
				lines, err := e.History(e.Context(), "r", 0)
				e.ok(err)
				if row.history != "" && (len(lines) != 1 || fmt.Sprint(lines[0].Outcome) != row.history || lines[0].Jobs != 3) {
					e.Errorf("history %+v", lines)
				}
			})
		}
	})
}

// TestMendGoOn has a template, or a held occurrence, do what it has left to do.
func TestMendGoOn(t *testing.T) {
	tick := fmt.Sprint(firstHour)
	onBoth(t, func(e *engine) {
		kid := occ("kid", "r", firstHour)
		for _, row := range []struct {
			name, uuid string
			before     func(e *engine)
			left       bool
			starts     string // what is ready then
		}{
			{"nobody", "never", nil, true, ""},
			{"a job", "plain", nil, true, ""},
			{"a held job", "waits", func(e *engine) { e.add(job("waits", under("plain"))) }, true, ""},
			{"an occurrence that is queued", occ("r", "r", firstHour), nil, true, ""},
			{"a template without anything to do", "paused", nil, true, ""},
			{"one whose cycle lives", "r", func(e *engine) { e.rank("backlog:r", fmt.Sprint(firstHour-hour), float64(firstHour-hour)) }, true, ""},
			{"one that is to do already", "paused", func(e *engine) {
				e.rank("backlog:paused", tick, float64(firstHour))
				e.rank("todo", "paused", float64(firstHour))
			}, true, ""},
			{"ticks wait and no cycle lives", "paused", func(e *engine) { e.rank("backlog:paused", tick, float64(firstHour)) }, false, "r@0 paused@0"},
			{"nobody knows which cycles live", "paused", func(e *engine) {
				e.rank("backlog:paused", tick, float64(firstHour))
				e.wrong("cycles:paused")
			}, false, "r@0 paused@0"},
			{"a cycle was replaced", "r", func(e *engine) { e.set("cycles:r", tick, tick+":1:0:rw") }, false, ""},
			{"a held occurrence whose upstream is there", occ("heir", "r", firstHour), func(e *engine) { e.starts("r@0") }, true, ""},
			{"a held occurrence whose upstream was not made", occ("heir", "r", firstHour), func(e *engine) {
				e.starts("r@0")
				e.states(kid + " queued, " + occ("heir", "r", firstHour) + " held")
				e.ok(e.rdb.HDel(e.Context(), e.key("status"), kid).Err())
				e.ok(e.rdb.Del(e.Context(), e.key("queue:q")).Err())
			}, false, ""},
		} {
			e.wreck(row.name, func(e *engine) {
				cycles(e)
				if row.before != nil {
					row.before(e)
				}
				var ups []string
				if row.uuid == occ("heir", "r", firstHour) {
					ups = []string{"kid"} // whose occurrence it waits for
				}
				if row.left {
					e.leaves("goon", row.uuid, ups...)
					return
				}
				done, err := e.asks("goon", row.uuid, ups...)
				e.ok(err)
				e.same("done", true, done)
				if row.starts != "" {
					e.want(row.starts, e.named(names(e.reserve(10))))
				}
				switch row.uuid {
				case "r":
					e.states(occ("r", "r", firstHour) + " cancelled")
				case occ("heir", "r", firstHour):
					e.same("made", true, e.rdb.HExists(e.Context(), e.key("status"), kid).Val())
				}
			})
		}
	})
}

// TestMendCarried brings together what a job carries and the flag that says so.
func TestMendCarried(t *testing.T) {
	onBoth(t, func(e *engine) {
		carried := func(e *engine, uuid string) string { return e.rdb.HGet(e.Context(), e.key("sync"), uuid).Val() }
		e.add(job("none"), job("some", carrying("k", "v")), job("flagless", carrying("k", "v")), job("lost", carrying("k", "v")))
		e.leaves("recarry", "never", "s", "k=w")
		e.leaves("recarry", "none", "s", "k=w")
		e.leaves("recarry", "some", "s", "k=w")
		e.set("sync", "none", "k=x")
		e.mendsOnce("recarry", "none", "s", "k=w") // what is stored counts
		e.want("k=x", carried(e, "none"))
		e.ok(e.rdb.HDel(e.Context(), e.key("sync"), "lost").Err())
		e.mendsOnce("recarry", "lost", "s", "k=w")
		e.want("k=w", carried(e, "lost"))
		e.ok(e.rdb.HDel(e.Context(), e.key("sync"), "flagless").Err())
		e.mendsOnce("recarry", "flagless", "s", "")
		e.want("", carried(e, "flagless"))
		got := map[string]string{}
		for _, r := range e.reserves("none", "some", "flagless", "lost") {
			got[r.Job.Uuid] = fmt.Sprint(r.Sync)
			e.end(r, conveyor.VerdictDone)
		}
		e.want(map[string]string{"none": "map[k:x]", "some": "map[k:v]", "flagless": "map[]", "lost": "map[k:w]"}, got)
		e.wreck("a hash of a wrong type", func(e *engine) {
			e.add(job("some", carrying("k", "v")))
			e.wrong("sync")
			e.leaves("recarry", "some", "s", "k=w")
		})
	})
}
