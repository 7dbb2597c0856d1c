package conveyor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
)

// TestRepairPieces damages one thing, sends the fix of it, and looks at what is there then. The same fix once more is left alone.
func TestRepairPieces(t *testing.T) {
	for _, row := range []struct {
		name   string
		damage func(e *engine) error
		piece
		rest  string // what the damage leaves to repair, by the first words of the violation
		after func(e *engine)
	}{
		{"a parent ends with the last that its set named", func(e *engine) error {
			e.ok(e.rdb.SAdd(e.Context(), e.key("jobs:closing:active"), "never").Err())
			return e.Cancel(e.Context(), "child")
		}, fixing("unref", "never", "jobs:closing:active", "set"), "", func(e *engine) { e.states("closing failed(child)") }},
		{"a set of a job that is queued", func(e *engine) error {
			return e.rdb.SAdd(e.Context(), e.key("jobs:queued:active"), "never").Err()
		}, fixing("unref", "never", "jobs:queued:active", "set"), "", func(e *engine) { e.states("queued queued") }},
		{"a set of a job that runs", func(e *engine) error {
			return e.rdb.SAdd(e.Context(), e.key("jobs:running:active"), "never").Err()
		}, fixing("unref", "never", "jobs:running:active", "set"), "", func(e *engine) { e.states("running running") }},
		{"a set of a job that is over", func(e *engine) error {
			e.at(1000)
			return e.rdb.SAdd(e.Context(), e.key("jobs:done:active"), "never").Err()
		}, fixing("unref", "never", "jobs:done:active", "set"), "", func(e *engine) {
			e.states("done completed")
			e.same("ended", int64(1), e.rdb.LLen(e.Context(), e.key("ended:q")).Val())
		}},
		{"a parent that nobody takes to its end", func(e *engine) error {
			e.ok(e.rdb.SAdd(e.Context(), e.key("jobs:closing:active"), "never").Err())
			e.ok(e.Cancel(e.Context(), "child"))
			return e.rdb.Del(e.Context(), e.key("jobs:closing:active")).Err()
		}, fixing("settle", "closing"), "", func(e *engine) { e.states("closing failed(child)") }},
		{"an owner that is registered nowhere", func(e *engine) error {
			return e.rdb.Del(e.Context(), e.key("worker:w:jobs"), e.key("workers")).Err()
		}, fixing("owner", "running"), "", func(e *engine) {
			e.same("seen", float64(e.now), e.rdb.ZScore(e.Context(), e.key("workers"), "w").Val())
		}},
		{"a lease", func(e *engine) error { return e.rdb.Del(e.Context(), e.key("leases")).Err() }, fixing("owner", "leased"), "", func(e *engine) {
			e.same("lease", float64(e.now+60000), e.rdb.ZScore(e.Context(), e.key("leases"), "leased").Val())
			e.same("workers", []string{"w"}, e.rdb.ZRange(e.Context(), e.key("workers"), 0, -1).Val())
		}},
		{"a job that ran without a fence", func(e *engine) error {
			return e.rdb.HSet(e.Context(), e.key("status"), "running", "r1b|q|3|ww").Err()
		}, fixing("unfenced", "running"), "", func(e *engine) { e.same("owner", "", e.status("running").Owner) }},
		{"a waiting job with an owner", func(e *engine) error {
			return e.rdb.HSet(e.Context(), e.key("status"), "scheduled", e.entry("scheduled")+"|ww").Err()
		}, fixing("unowned", "scheduled"), "", func(e *engine) { e.same("owner", "", e.status("scheduled").Owner) }},
		{"labels that nothing tells any more", func(e *engine) error {
			return e.rdb.Del(e.Context(), e.key("labels"), e.key("past:region=eu"), e.key("past:region="), e.key("past:=eu"), e.key("past:="),
				e.key("label:region=eu"), e.key("label:region="), e.key("label:=eu"), e.key("label:day=2"), e.key("label:day="), e.key("label:=2"), e.key("label:=")).Err()
		}, fixing("relabel", "brief", ""), "I2: keyed", func(e *engine) {
			if entry := e.entry("brief"); strings.Contains(strings.Split(entry, "|")[0], "l") {
				e.Errorf("%q says that it has labels", entry)
			}
		}},
		{"bytes of a closing job", func(e *engine) error { return e.rdb.Del(e.Context(), e.key("jobs:closing")).Err() },
			fixing("unbytes", "closing"), "", func(e *engine) { e.states("closing closing") }},
		{"bytes of nobody", func(e *engine) error { return e.rdb.Set(e.Context(), e.key("jobs:never"), "x", 0).Err() },
			fixing("bytes", "never"), "", func(e *engine) {
				e.same("aside", []string{e.key("jobs:never") + " x"}, e.aside())
				e.same("failed", int64(0), e.rdb.HLen(e.Context(), e.key("failed")).Val())
			}},
		{"bytes of a job that completed", func(e *engine) error { return e.rdb.Set(e.Context(), e.key("jobs:done"), "x", 0).Err() },
			fixing("bytes", "done"), "", func(e *engine) {
				e.same("aside", []string{}, e.aside())
				e.same("failed", int64(0), e.rdb.HLen(e.Context(), e.key("failed")).Val())
			}},
		{"bytes of a job that failed", func(e *engine) error {
			e.add(job("dead", lane(2)))
			e.run("back", conveyor.VerdictDone)
			e.run("dead", conveyor.VerdictFailed)
			text := e.rdb.HGet(e.Context(), e.key("failed"), "dead").Val()
			e.ok(e.rdb.HDel(e.Context(), e.key("failed"), "dead").Err())
			entry := strings.Replace(e.entry("dead"), "F2", "F2b", 1)
			e.ok(e.rdb.HSet(e.Context(), e.key("status"), "dead", entry).Err())
			return e.rdb.Set(e.Context(), e.key("jobs:dead"), text, 0).Err()
		}, fixing("bytes", "dead"), "", func(e *engine) {
			e.same("aside", []string{}, e.aside())
			if entry := e.entry("dead"); strings.HasPrefix(entry, "F2b") {
				e.Errorf("%q says that its bytes are there", entry)
			}
			e.ok(e.Retry(e.Context(), "dead"))
			e.run("dead", conveyor.VerdictDone)
		}},
		{"edges of a job that is over", func(e *engine) error {
			e.ok(e.rdb.HSet(e.Context(), e.key("status"), "done", strings.Replace(e.entry("done"), "C1", "C1m", 1)).Err())
			return e.rdb.HSet(e.Context(), e.key("jobs:done:edges"), "queued", "?s:").Err()
		}, fixing("unedged", "done"), "", func(e *engine) {
			if entry := e.entry("done"); strings.HasPrefix(entry, "C1m") {
				e.Errorf("%q says that it has edges", entry)
			}
		}},
		{"a list for nobody, of nobody and with junk", func(e *engine) error {
			return e.rdb.LPush(e.Context(), e.key("jobs:never:children"), "\n\x05ghost", "junk").Err()
		}, fixing("drop", "never", "jobs:never:children"), "", func(e *engine) {
			e.same("aside", []string{e.key("jobs:never:children") + " junk"}, e.aside())
			e.same("list", int64(0), e.rdb.Exists(e.Context(), e.key("jobs:never:children")).Val())
		}},
		{"a log of nobody", func(e *engine) error { return e.rdb.XAdd(e.Context(), xadd(e.key("jobs:never:log"))).Err() },
			fixing("drop", "never", "jobs:never:log"), "", func(e *engine) { e.same("aside", []string{}, e.aside()) }},
		{"an ended job that retention lost", func(e *engine) error { return e.rdb.Del(e.Context(), e.key("ended:q")).Err() },
			fixing("retain", "done"), "", func(e *engine) {
				e.same("ended", []string{fmt.Sprint(e.now) + " done"}, e.rdb.LRange(e.Context(), e.key("ended:q"), 0, -1).Val())
			}},
		{"a key that nobody known holds", func(e *engine) error {
			return e.rdb.HSet(e.Context(), e.key("unique"), "noop:key", "never").Err()
		}, fixing("hold", "keyed", "never"), "", func(e *engine) {
			e.same("holder", "keyed", e.rdb.HGet(e.Context(), e.key("unique"), "noop:key").Val())
		}},
		{"a parent that is listed as to do", func(e *engine) error {
			e.ok(e.rdb.HSet(e.Context(), e.key("status"), "closing", strings.Replace(e.entry("closing"), "|s", "|xC|s", 1)).Err())
			e.ok(e.rdb.SAdd(e.Context(), e.key("jobs:closing:active"), "never").Err())
			return e.rdb.ZAdd(e.Context(), e.key("todo"), redisZ(1, "closing")).Err()
		}, fixing("unref", "never", "jobs:closing:active", "set"), "", func(e *engine) {
			e.states("closing closing")
			e.tick()
			e.states("closing completed")
		}},
		{"two jobs with one key", func(e *engine) error {
			return e.rdb.HSet(e.Context(), e.key("status"), "scheduled", e.entry("scheduled")+"|ynoop:key").Err()
		}, fixing("unkey", "scheduled", "keyed"), "", func(e *engine) {
			e.same("holder", "keyed", e.rdb.HGet(e.Context(), e.key("unique"), "noop:key").Val())
		}},
		{"unreadable settings", func(e *engine) error { return e.rdb.HSet(e.Context(), e.key("queues"), "q", "much").Err() },
			fixing("settings", "", "q", "much"), "", func(e *engine) {
				e.same("aside", []string{e.key("queues") + " q much"}, e.aside())
			}},
		{"junk in a queue", func(e *engine) error { return e.rdb.RPush(e.Context(), e.key("queue:q"), "junk", "junk").Err() },
			fixing("aside", "", "queue:q", "list", "junk"), "", func(e *engine) {
				e.same("aside", []string{e.key("queue:q") + " junk", e.key("queue:q") + " junk"}, e.aside())
			}},
	} {
		t.Run(row.name, func(t *testing.T) {
			onBoth(t, func(e *engine) {
				everyPlace(e)
				e.ok(row.damage(e))
				e.mends(row.piece)
				e.idle(row.piece)
				if row.rest != "" {
					found, err := e.Verify(e.Context())
					e.ok(err)
					for _, v := range found {
						if !strings.HasPrefix(v.String(), row.rest) {
							e.Errorf("violation: %s", v)
						}
					}
					e.repaired()
				}
				e.sound()
				row.after(e)
			})
		})
	}
}

// TestRepairOfEntries sets status entries aside that nobody can read, with and without a ticket that has the job's bytes.
func TestRepairOfEntries(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, row := range []struct {
			name, full string
			want       []string
		}{
			{"with its bytes", "bytes", []string{"status never q|x", "jobs:never bytes"}},
			{"without", "", []string{"status never q|x"}},
		} {
			e.Behaviour(row.name, func(e *engine) {
				e.ok(e.rdb.HSet(e.Context(), e.key("status"), "never", "q|x").Err())
				args := []any{"entry", "never", "q|x", "mended", 1, row.full}
				for _, want := range []int64{1, 0} {
					reply, err := conveyor.RunScript(e.Context(), e.Client, "repair", args...)
					e.ok(err)
					e.same("reply", []any{want}, reply)
					e.same("entry", false, e.rdb.HExists(e.Context(), e.key("status"), "never").Val())
				}
				for i := range row.want {
					row.want[i] = e.key(row.want[i])
				}
				e.same("aside", row.want, e.aside())
			})
		}
	})
}
