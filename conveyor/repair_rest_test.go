package conveyor_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// piece is one fix as Repair sends it.
type piece struct {
	kind, uuid string
	args       []string
}

func fixing(kind, uuid string, args ...string) piece { return piece{kind, uuid, args} }

// mend sends fixes in one call, each resting on the status entry as it is now, and returns what became of each: 1 or 0.
func (e *engine) mend(pieces ...piece) ([]int64, error) {
	e.Helper()
	args := []any{}
	for _, p := range pieces {
		seen := ""
		if p.uuid != "" {
			seen = e.rdb.HGet(e.Context(), e.key("status"), p.uuid).Val()
		}
		args = append(args, p.kind, p.uuid, seen, "mended", len(p.args))
		for _, arg := range p.args {
			args = append(args, arg)
		}
	}
	reply, err := conveyor.RunScript(e.Context(), e.Client, "repair", args...)
	if err != nil {
		return nil, err
	}
	out := []int64{}
	for _, n := range reply.([]any) {
		out = append(out, n.(int64))
	}
	return out, nil
}

// mends wants all fixes made that one call asks for.
func (e *engine) mends(pieces ...piece) {
	e.Helper()
	got, err := e.mend(pieces...)
	e.ok(err)
	for i, n := range got {
		if n != 1 {
			e.Fatalf("%v was left alone", pieces[i])
		}
	}
}

// idle wants a fix left alone, and the store as it was.
func (e *engine) idle(p piece) {
	e.Helper()
	before := dump(e)
	got, err := e.mend(p)
	e.ok(err)
	if !slices.Equal(got, []int64{0}) {
		e.Errorf("got %v, want it left alone", got)
	}
	if diff := cmp.Diff(before, dump(e)); diff != "" {
		e.Errorf("changed (-before +after):\n%s", diff)
	}
}

// aside is what was set aside, the latest first.
func (e *engine) aside() []string {
	e.Helper()
	texts, err := e.rdb.LRange(e.Context(), e.key("setaside"), 0, -1).Result()
	e.ok(err)
	return texts
}

// same wants two texts, or lists of them, to be equal.
func (e *engine) same(what string, want, got any) {
	e.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		e.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestRepairOfWhatIsWell sends fixes for jobs that are not, or not any more, as the fix has it: each is left alone.
func TestRepairOfWhatIsWell(t *testing.T) {
	onBoth(t, func(e *engine) {
		everyPlace(e)
		last, err := e.LastEvent(e.Context())
		e.ok(err)
		junk := func(key string) func(do func()) {
			return func(do func()) {
				e.ok(e.rdb.LPush(e.Context(), e.key(key), "junk").Err())
				do()
				e.ok(e.rdb.LRem(e.Context(), e.key(key), 0, "junk").Err())
			}
		}
		broken := func(key string) func(do func()) { return func(do func()) { e.broken(key, do) } }
		for _, row := range []struct {
			name string
			piece
			while func(do func())
		}{
			{"nobody to settle", fixing("settle", "never"), nil},
			{"a queued job to settle", fixing("settle", "queued"), nil},
			{"a closing job with a child", fixing("settle", "closing"), nil},
			{"nobody as a member", fixing("member", "never", "closing"), nil},
			{"a member that is one", fixing("member", "child", "closing"), nil},
			{"a member that is no child", fixing("member", "queued", "closing"), nil},
			{"a member of a set of a wrong type", fixing("member", "child", "closing"), broken("jobs:closing:active")},
			{"a label that a job does not have", fixing("index", "keyed", "label:nope="), nil},
			{"a label of a job that is over", fixing("index", "brief", "label:region="), nil},
			{"a label of nobody", fixing("index", "never", "label:="), nil},
			{"a reference in a set of a wrong type", fixing("unref", "never", "label:region=", "set"), broken("label:region=")},
			{"a reference in a sorted set of a wrong type", fixing("unref", "never", "worker:w:jobs", "zset"), broken("worker:w:jobs")},
			{"a reference that is gone", fixing("unref", "never", "jobs:closing:active", "set"), nil},
			{"nobody's labels", fixing("relabel", "never", "a=b"), nil},
			{"labels as they are", fixing("relabel", "keyed", "day=2,region=eu"), nil},
			{"no labels where none are", fixing("relabel", "queued", ""), nil},
			{"labels of a wrong type", fixing("relabel", "keyed", "a=b"), broken("labels")},
			{"the owner of nobody", fixing("owner", "never"), nil},
			{"the owner of a queued job", fixing("owner", "queued"), nil},
			{"the owner of a running job", fixing("owner", "running"), nil},
			{"the owner of a job with a lease", fixing("owner", "leased"), nil},
			{"no owner of nobody", fixing("unowned", "never"), nil},
			{"no owner of a running job", fixing("unowned", "running"), nil},
			{"no owner of a queued job", fixing("unowned", "queued"), nil},
			{"no fence of nobody", fixing("unfenced", "never"), nil},
			{"no fence of a queued job", fixing("unfenced", "queued"), nil},
			{"no fence of a job that has one", fixing("unfenced", "running"), nil},
			{"no bytes of nobody", fixing("unbytes", "never"), nil},
			{"no bytes of a running job", fixing("unbytes", "running"), nil},
			{"bytes of nobody", fixing("bytes", "never"), nil},
			{"bytes of a running job", fixing("bytes", "running"), nil},
			{"bytes of a job that is over", fixing("bytes", "done"), nil},
			{"bytes of a wrong type", fixing("bytes", "never"), func(do func()) {
				e.ok(e.rdb.RPush(e.Context(), e.key("jobs:never"), "x").Err())
				do()
				e.ok(e.rdb.Del(e.Context(), e.key("jobs:never")).Err())
			}},
			{"edges of nobody", fixing("unedged", "never"), nil},
			{"edges of a held job", fixing("unedged", "both"), nil},
			{"edges of a job that is over", fixing("unedged", "done"), nil},
			{"a field of a job that is known", fixing("field", "keyed", "labels"), nil},
			{"a field that is gone", fixing("field", "never", "labels"), nil},
			{"a list for nobody where somebody waits", fixing("drop", "later", "jobs:later:children"), nil},
			{"a list for nobody with junk where somebody waits", fixing("drop", "later", "jobs:later:children"), junk("jobs:later:children")},
			{"a list of a job that is known", fixing("drop", "queued", "jobs:queued:onComplete"), nil},
			{"a list that is gone", fixing("drop", "never", "jobs:never:children"), nil},
			{"nobody for retention", fixing("retain", "never"), nil},
			{"a queued job for retention", fixing("retain", "queued"), nil},
			{"an ended job that is listed", fixing("retain", "done"), nil},
			{"an ended job with a removal", fixing("retain", "brief"), nil},
			{"an ended job, and the list is of a wrong type", fixing("retain", "done"), broken("ended:q")},
			{"nobody's key to free", fixing("free", "never", "noop:key"), nil},
			{"a key of its owner to free", fixing("free", "keyed", "noop:key"), nil},
			{"a key for nobody", fixing("hold", "never", ""), nil},
			{"a key for a job without one", fixing("hold", "queued", ""), nil},
			{"a key that is held", fixing("hold", "keyed", "keyed"), nil},
			{"a key to be held, and the keys are of a wrong type", fixing("hold", "keyed", ""), broken("unique")},
			{"no key for nobody", fixing("unkey", "never", "keyed"), nil},
			{"no key for its holder", fixing("unkey", "keyed", "queued"), nil},
			{"a limit of nobody", fixing("expiry", "never", "1"), nil},
			{"a limit of a job without one", fixing("expiry", "queued", "1"), nil},
			{"another limit", fixing("expiry", "limited", "1"), nil},
			{"a sweep that is due", fixing("sweep", "", "q"), nil},
			{"a sweep of nothing", fixing("sweep", "", "other"), nil},
			{"text that is not in a list", fixing("aside", "", "queue:q", "list", "junk"), nil},
			{"text in a list of a wrong type", fixing("aside", "", "queue:q", "list", "junk"), broken("queue:q")},
			{"text of a kind that has none", fixing("aside", "", "labels", "hash", "keyed"), nil},
			{"settings that are gone", fixing("settings", "", "q", "much"), nil},
			{"a worker that is known", fixing("worker", "", "w"), nil},
			{"a worker of whom nothing is there", fixing("worker", "", "never"), nil},
			{"a caller that is known", fixing("caller", "", "c"), nil},
			{"a caller of whom nothing is there", fixing("caller", "", "never"), nil},
			{"a caller that is a worker", fixing("caller", "", "w"), nil},
			{"a counter compared after the last event", fixing("counter", "", "depth", "q:1", "1", strconv.FormatInt(last+1, 10)), nil},
			{"a counter compared before the log begins", fixing("counter", "", "depth", "q:1", "1", "-1"), nil},
			{"a place that was passed", fixing("number", "", "seq", "1"), nil},
			{"an event that was passed", fixing("number", "", "events:seq", "1"), nil},
		} {
			e.Run(row.name, func(e *engine) {
				while := row.while
				if while == nil {
					while = func(do func()) { do() }
				}
				while(func() { e.idle(row.piece) })
			})
		}
		e.Run("a fix for a job that moved", func(e *engine) {
			before := dump(e)
			reply, err := conveyor.RunScript(e.Context(), e.Client, "repair", "unfenced", "running", "r1b|q|3|ww", "x", 0, "entry", "queued", "q|x", "x", 1, "")
			e.ok(err)
			e.same("reply", []any{int64(0), int64(0)}, reply)
			e.same("store", before, dump(e))
		})
	})
}

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

// TestRepairTogether sends fixes of which one rests on another in one call.
func TestRepairTogether(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("a parent whose child comes back does not end", func(e *engine) {
			everyPlace(e)
			e.ok(e.rdb.SRem(e.Context(), e.key("jobs:closing:active"), "child").Err())
			got, err := e.mend(fixing("member", "child", "closing"), fixing("settle", "closing"))
			e.ok(err)
			e.same("reply", []int64{1, 0}, got)
			e.states("closing closing")
		})
		e.Behaviour("a place that another fix gives comes after the last", func(e *engine) {
			e.add(job("gone"), job("next", after(wire.Edge_ALWAYS, "gone")))
			e.take("gone")
			e.ok(e.rdb.Del(e.Context(), e.key("jobs:gone")).Err())
			e.mends(fixing("number", "", "seq", "1000"), fixing("lost", "gone"))
			e.states("gone failed, next queued")
			e.same("place", int64(1001), e.status("next").Place)
			e.same("last", "1001", e.rdb.Get(e.Context(), e.key("seq")).Val())
		})
	})
}

// TestRepairOfCounters moves a counter by what it was off, also when jobs moved since, but not when a repair was made since.
func TestRepairOfCounters(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("a"), job("gone", lane(2)))
		e.ok(e.rdb.HIncrBy(e.Context(), e.key("depth"), "q:1", 3).Err())
		last, err := e.LastEvent(e.Context())
		e.ok(err)
		fix := fixing("counter", "", "depth", "q:1", "-3", strconv.FormatInt(last, 10))
		e.add(job("b"))
		e.mends(fix)
		e.same("depth", "2", e.rdb.HGet(e.Context(), e.key("depth"), "q:1").Val())
		e.idle(fix)
		e.ok(e.rdb.HSet(e.Context(), e.key("depth"), "q:0", "3").Err())
		last, err = e.LastEvent(e.Context())
		e.ok(err)
		e.mends(fixing("counter", "", "depth", "q:0", "-3", strconv.FormatInt(last, 10)))
		e.same("a counter at zero", false, e.rdb.HExists(e.Context(), e.key("depth"), "q:0").Val())
	})
}

// TestRepairRefuses meets keys of a wrong type that a repair may need: it names them and changes nothing. Those are moved out of
// the way first.
func TestRepairRefuses(t *testing.T) {
	onBoth(t, func(e *engine) {
		everyPlace(e)
		for _, key := range []string{"status", "depth", "setaside", "workers", "callers", "removals", "sweeps", "expiry", "events"} {
			e.Run(key, func(e *engine) {
				e.broken(key, func() {
					before := dump(e)
					_, err := conveyor.RunScript(e.Context(), e.Client, "repair", "aside", "", "", "mended", 3, "queue:q", "list", "junk")
					e.refused(err, conveyor.ErrCorrupt)
					if err == nil || !strings.Contains(err.Error(), e.key(key)+" is a string") {
						e.Errorf("got %v, want it to name %s", err, e.key(key))
					}
					e.same("store", before, dump(e))
				})
			})
		}
		e.Run("a list in which an edge has to wait", func(e *engine) {
			kept := e.rdb.HGetAll(e.Context(), e.key("jobs:both:edges")).Val()
			e.ok(e.rdb.Del(e.Context(), e.key("jobs:both:edges")).Err())
			e.broken("jobs:later:onComplete", func() {
				before := dump(e)
				_, err := e.mend(fixing("recount", "both", "?p:queued,?s:queued2,?s:later", ""))
				e.refused(err, conveyor.ErrCorrupt)
				if err == nil || !strings.Contains(err.Error(), e.key("jobs:later:onComplete")+" is a string") {
					e.Errorf("got %v, want it to name the list", err)
				}
				e.same("store", before, dump(e))
			})
			e.ok(e.rdb.HSet(e.Context(), e.key("jobs:both:edges"), kept).Err())
		})
	})
}
