package conveyor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// asks sends the repair script one piece, resting on the job's status entry as it is.
func (e *engine) asks(kind, uuid string, args ...string) (bool, error) {
	e.Helper()
	seen := e.rdb.HGet(e.Context(), e.key("status"), uuid).Val()
	return e.asksSeen(seen, kind, uuid, args...)
}

func (e *engine) asksSeen(seen, kind, uuid string, args ...string) (bool, error) {
	e.Helper()
	all := []any{kind, uuid, seen, "told", len(args)}
	for _, arg := range args {
		all = append(all, arg)
	}
	reply, err := conveyor.RunScript(e.Context(), e.Client, "repair", all...)
	return cmp.Equal(reply, []any{int64(1)}), err
}

// leaves wants a piece to be left alone, and to change nothing.
func (e *engine) leaves(kind, uuid string, args ...string) {
	e.Helper()
	there := dump(e)
	done, err := e.asks(kind, uuid, args...)
	e.ok(err)
	if done {
		e.Errorf("%s %s %q was done", kind, uuid, args)
	}
	if diff := cmp.Diff(there, dump(e)); diff != "" {
		e.Errorf("%s %s %q changed:\n%s", kind, uuid, args, diff)
	}
}

// mendsOnce wants a piece to be done, and to be left alone when it comes again: with what was seen then, and with what is seen now.
func (e *engine) mendsOnce(kind, uuid string, args ...string) {
	e.Helper()
	seen := e.rdb.HGet(e.Context(), e.key("status"), uuid).Val()
	done, err := e.asksSeen(seen, kind, uuid, args...)
	e.ok(err)
	if !done {
		e.Fatalf("%s %s %q was not done", kind, uuid, args)
	}
	there := dump(e)
	if again, err := e.asksSeen(seen, kind, uuid, args...); again || err != nil {
		e.Errorf("%s %s %q was done twice: %v", kind, uuid, args, err)
	}
	if diff := cmp.Diff(there, dump(e)); diff != "" {
		e.Errorf("%s %s %q changed when it came again:\n%s", kind, uuid, args, diff)
	}
	e.leaves(kind, uuid, args...)
}

// wreck runs a subtest in a namespace of its own, which may stay damaged.
func (e *engine) wreck(name string, test func(e *engine)) {
	e.Run(name, func(e *engine) { test(&engine{e.tb, newEngine(e, e.rdb).world}) })
}

// ticketIn is a job's ticket in a list.
func (e *engine) ticketIn(key, uuid string) string {
	e.Helper()
	texts, err := e.rdb.LRange(e.Context(), e.key(key), 0, -1).Result()
	e.ok(err)
	i := slices.IndexFunc(texts, func(text string) bool { return strings.HasPrefix(text, "\n"+string(rune(len(uuid)))+uuid) })
	if i < 0 {
		e.Fatalf("no ticket of %s in %s", uuid, key)
	}
	return texts[i]
}

// takeOut takes a job's ticket out of a list and returns it.
func (e *engine) takeOut(key, uuid string) string {
	e.Helper()
	text := e.ticketIn(key, uuid)
	e.ok(e.rdb.LRem(e.Context(), e.key(key), 0, text).Err())
	return text
}

func (e *engine) push(key, text string) {
	e.Helper()
	e.ok(e.rdb.LPush(e.Context(), e.key(key), text).Err())
}

// written gives a job another status entry.
func (e *engine) written(uuid, entry string) {
	e.Helper()
	e.ok(e.rdb.HSet(e.Context(), e.key("status"), uuid, entry).Err())
}

// counts wants so many tickets in a list.
func (e *engine) counts(key string, want int64) {
	e.Helper()
	if n := e.rdb.LLen(e.Context(), e.key(key)).Val(); n != want {
		e.Errorf("%s has %d tickets, want %d", key, n, want)
	}
}

// TestRepairLeftAlone asks for pieces that do not fit: of jobs that are unknown or in another state, without bytes, at keys of
// another type. Nothing may change.
func TestRepairLeftAlone(t *testing.T) {
	onBoth(t, func(e *engine) {
		everyPlace(e)
		full, heir := e.ticketIn("queue:q", "queued"), e.ticketIn("jobs:queued:onComplete", "heir")
		for _, uuid := range []string{"never", "done", "closing", "running", "onhold", "back", "both"} {
			e.leaves("lost", uuid)
		}
		for _, uuid := range []string{"never", "done", "running", "scheduled", "heir"} {
			e.leaves("queued", uuid, "", full)
		}
		for _, uuid := range []string{"never", "done", "running", "queued", "heir"} {
			e.leaves("due", uuid, full)
		}
		for _, uuid := range []string{"never", "done", "running", "queued", "scheduled"} {
			e.leaves("wait", uuid, "queued2", "onComplete", "1", full)
			e.leaves("flag", uuid, "queued", "k")
			e.leaves("decide", uuid, "done", "onComplete", "1", full)
			e.leaves("recount", uuid, "", full)
		}
		there := dump(e)
		if done, err := e.asksSeen("r1b|q|1|f1", "owner", "running"); done || err != nil {
			e.Errorf("done for a job that moved: %v", err)
		}
		e.takeOut("queue:q", "queued")
		if done, err := e.asksSeen("q1|q|1", "queued", "queued", "", full); done || err != nil {
			e.Errorf("done for a job that moved: %v", err)
		}
		e.ok(e.rdb.RPush(e.Context(), e.key("queue:q"), full).Err())
		if diff := cmp.Diff(there, dump(e)); diff != "" {
			e.Errorf("changed (-before +after):\n%s", diff)
		}
		e.leaves("flag", "orphan", "later", "k")
		e.leaves("flag", "heir", "queued", "h")
		e.leaves("decide", "orphan", "later", "children", "1", full)
		e.leaves("decide", "heir", "queued", "onComplete", "1", heir)
		e.leaves("decide", "heir", "done", "onComplete", "2", heir)
		e.leaves("recount", "heir", "", heir)
		e.leaves("recount", "both", "", "")
		for _, row := range []struct {
			name     string
			prepare  func(e *engine)
			kind, of string
			args     []string
		}{
			{"a queued job without bytes", func(e *engine) { e.takeOut("queue:q", "queued") }, "queued", "queued", []string{"", ""}},
			{"a scheduled job without bytes", func(e *engine) { e.ok(e.rdb.Del(e.Context(), e.key("scheduled")).Err()) }, "due", "scheduled", []string{""}},
			{"a held job without bytes", func(e *engine) { e.takeOut("jobs:queued:onComplete", "heir") }, "wait", "heir", []string{"queued", "onComplete", "1", ""}},
			{"an end without bytes", func(e *engine) { e.written("queued", "C1|q|1|t1") }, "decide", "heir", []string{"queued", "onComplete", "1", ""}},
			{"edges without bytes", func(e *engine) { e.written("heir", "h1|q|") }, "recount", "heir", []string{"", ""}},
			{"a queue of another type", func(e *engine) {
				e.ok(e.rdb.Del(e.Context(), e.key("queue:q:2")).Err())
				e.ok(e.rdb.Set(e.Context(), e.key("queue:q:2"), "x", 0).Err())
			}, "queued", "back", []string{"", ""}},
			{"a list of another type", func(e *engine) {
				e.ok(e.rdb.Del(e.Context(), e.key("jobs:queued:onComplete")).Err())
				e.ok(e.rdb.Set(e.Context(), e.key("jobs:queued:onComplete"), "x", 0).Err())
			}, "wait", "heir", []string{"queued", "onComplete", "1", heir}},
			{"beside a ticket that is gone", func(e *engine) { e.push("queue:q:2", e.ticketIn("queue:q:2", "back")) }, "queued", "back", []string{"gone", ""}},
			{"an upstream that cannot be read", func(e *engine) { e.written("queued", "???") }, "decide", "heir", []string{"queued", "onComplete", "1", heir}},
		} {
			e.wreck(row.name, func(e *engine) {
				everyPlace(e)
				row.prepare(e)
				e.leaves(row.kind, row.of, row.args...)
			})
		}
	})
}

// TestRepairRefused asks for a piece while a key that a repair may need is of another type: nothing is done.
func TestRepairRefused(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, name := range []string{"setaside", "workers", "callers", "removals", "sweeps", "expiry"} {
			e.alone(name, func(e *engine) {
				everyPlace(e)
				e.ok(e.rdb.Del(e.Context(), e.key("queue:q:2")).Err())
				e.broken(name, func() { e.stops(e.key(name), "queued", "back", "", "") })
				e.mendsOnce("queued", "back", "", "")
				e.sound()
			})
		}
		e.alone("edges declared anew, a list of an upstream", func(e *engine) {
			e.add(job("a"), job("b"), job("heir", after(0, "a", "b")))
			e.ok(e.rdb.Del(e.Context(), e.key("jobs:heir:edges")).Err())
			e.broken("jobs:b:onComplete", func() {
				e.stops(e.key("jobs:b:onComplete"), "recount", "heir", "?s:a,?s:b", "")
			})
			e.repaired()
		})
	})
}

// stops wants a call to be refused that names a key, and to change nothing.
func (e *engine) stops(key, kind, uuid string, args ...string) {
	e.Helper()
	there := dump(e)
	_, err := e.asks(kind, uuid, args...)
	e.refused(err, conveyor.ErrCorrupt)
	if err == nil || !strings.Contains(err.Error(), key) {
		e.Errorf("got %v, want it to name %s", err, key)
	}
	if diff := cmp.Diff(there, dump(e)); diff != "" {
		e.Errorf("changed (-before +after):\n%s", diff)
	}
}

// TestRepairPlaces puts jobs back to where they wait.
func TestRepairPlaces(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.wreck("bytes that a queued job does not know of are not its own", func(e *engine) {
			e.add(job("j"))
			e.takeOut("queue:q", "j")
			e.ok(e.rdb.Set(e.Context(), e.key("jobs:j"), "x", 0).Err())
			e.mendsOnce("lost", "j")
			e.states("j failed")
		})
		e.Behaviour("a slim ticket stands twice", func(e *engine) {
			e.add(job("j"))
			e.run("j", conveyor.VerdictBack)
			e.push("queue:q", e.ticketIn("queue:q", "j"))
			e.mendsOnce("queued", "j", "", "")
			e.counts("queue:q", 1)
		})
		e.Behaviour("a job that is back in its queue wakes an idle worker", func(e *engine) {
			e.beat("w")
			e.add(job("j"))
			e.run("j", conveyor.VerdictBack)
			e.takeOut("queue:q", "j")
			e.nothing()
			e.ok(e.rdb.Del(e.Context(), e.key("wake:w")).Err())
			e.mendsOnce("queued", "j", "", "")
			e.counts("wake:w", 1)
		})
		e.Behaviour("a job that waits for no time any more is due now", func(e *engine) {
			e.add(job("j", runAt(e.now+5000)))
			entry, _, _ := strings.Cut(e.entry("j"), "|d")
			e.written("j", entry)
			e.mendsOnce("due", "j", e.ticket("scheduled", "j"))
			if at := e.status("j").DueAt.UnixMilli(); at != e.now {
				e.Errorf("due at %d, want %d", at, e.now)
			}
			e.sound()
			e.run("j", conveyor.VerdictDone)
		})
		e.Behaviour("who waits for an unknown job", func(e *engine) {
			e.add(job("j", under("later")))
			e.mendsOnce("wait", "j", "later", "children", "1", e.takeOut("jobs:later:children", "j"))
			e.counts("jobs:later:children", 1)
		})
		e.wreck("who waits for a job that cannot be read", func(e *engine) {
			e.add(job("up"), job("j", under("up")))
			text := e.takeOut("jobs:up:children", "j")
			e.written("up", "???")
			e.mendsOnce("wait", "j", "up", "children", "1", text)
			if e.entry("up") != "???" {
				e.Errorf("the entry became %q", e.entry("up"))
			}
		})
		for _, row := range []struct {
			class, flag string
			waits       func(*wire.Job)
		}{{"children", "k", under("up")}, {"onComplete", "h", after(0, "up")}} {
			e.Behaviour("an upstream does not know either who waits in "+row.class, func(e *engine) {
				e.add(job("up"), job("j", row.waits))
				entry := e.entry("up")
				e.written("up", strings.Replace(entry, row.flag, "", 1))
				e.mendsOnce("wait", "j", "up", row.class, "1", e.takeOut("jobs:up:"+row.class, "j"))
				if diff := cmp.Diff(entry, e.entry("up")); diff != "" {
					e.Errorf("the upstream's entry (-want +got):\n%s", diff)
				}
			})
		}
		for _, kind := range []string{"wait", "flag"} {
			e.Behaviour("a child that its closing parent left behind is released, "+kind, func(e *engine) {
				e.add(job("p"), job("c1", under("p")), job("c2", under("p")))
				text := e.takeOut("jobs:p:children", "c2")
				e.run("p", conveyor.VerdictDone)
				e.states("p closing, c1 queued, c2 held")
				if kind == "wait" {
					e.mendsOnce("wait", "c2", "p", "children", "1", text)
				} else {
					e.push("jobs:p:children", text)
					e.mendsOnce("flag", "c2", "p", "k")
				}
				e.states("p closing, c1 queued, c2 queued")
				e.run("c1", conveyor.VerdictDone)
				e.run("c2", conveyor.VerdictDone)
				e.states("p completed")
			})
		}
	})
}

// TestRepairDecides judges jobs by upstreams that are over, which their tickets did not meet.
func TestRepairDecides(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, row := range []struct {
			name    string
			verdict conveyor.Verdict
			reopen  bool
			want    string
		}{
			{"completed", conveyor.VerdictDone, false, "heir queued"},
			{"failed", conveyor.VerdictFailed, false, "heir skipped"},
			{"completed, and open again", conveyor.VerdictDone, true, "heir queued"},
			{"failed, and open again", conveyor.VerdictFailed, true, "heir skipped"},
		} {
			e.Behaviour("an upstream that "+row.name, func(e *engine) {
				e.add(job("a"), job("heir", after(0, "a")))
				text := e.takeOut("jobs:a:onComplete", "heir")
				e.run("a", row.verdict)
				if row.reopen && row.verdict == conveyor.VerdictFailed {
					e.ok(e.Retry(e.Context(), "a"))
				} else if row.reopen {
					e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeReopen, UUID: "a", Opening: 2}}}))
				}
				e.push("jobs:a:onComplete", text)
				e.mendsOnce("decide", "heir", "a", "onComplete", "1", text)
				e.counts("jobs:a:onComplete", 0)
				e.states(row.want)
				if row.reopen && row.verdict == conveyor.VerdictFailed {
					e.run("a", conveyor.VerdictDone)
				}
				if row.verdict == conveyor.VerdictDone {
					if got := e.ticketIn("queue:q", "heir"); got[:len(text)] != text {
						e.Errorf("queued as %q, want its bytes %q", got, text)
					}
					e.run("heir", conveyor.VerdictDone)
				}
			})
		}
		e.Behaviour("one of two upstreams", func(e *engine) {
			e.add(job("a"), job("b"), job("heir", after(0, "a", "b")))
			text := e.takeOut("jobs:a:onComplete", "heir")
			e.run("a", conveyor.VerdictDone)
			e.push("jobs:a:onComplete", text)
			e.mendsOnce("decide", "heir", "a", "onComplete", "1", "")
			e.counts("jobs:a:onComplete", 0)
			e.run("b", conveyor.VerdictDone)
			e.run("heir", conveyor.VerdictDone)
		})
		e.Behaviour("an upstream whose list is of another type", func(e *engine) {
			e.add(job("a"), job("heir", after(0, "a")))
			text := e.takeOut("jobs:a:onComplete", "heir")
			e.run("a", conveyor.VerdictDone)
			e.broken("jobs:a:onComplete", func() { e.mendsOnce("decide", "heir", "a", "onComplete", "1", text) })
			e.run("heir", conveyor.VerdictDone)
		})
	})
}

// TestRepairRecounts decides held jobs by the marks of their edges, or by what their bytes declare.
func TestRepairRecounts(t *testing.T) {
	onBoth(t, func(e *engine) {
		for _, row := range []struct{ name, before, after string }{
			{"what it said before does not count", "h1|q||i+s:gone|p1|k-|zgone", "q1|q|2|i+s:gone"},
			{"a failure excludes it", "h1|q||i-s:gone", "K1|q||t1800000000000|zgone"},
			{"it waits still", "h1|q||i?s:w|p1", "h1|q||i?s:w"},
			{"its upstream is withdrawn", "h1|q||i~s:w|p1", "h1|q||i~s:w"},
		} {
			e.wreck(row.name, func(e *engine) {
				e.add(job("w"), job("j", after(0, "w")))
				e.written("j", row.before)
				e.mendsOnce("recount", "j", "", e.ticketIn("jobs:w:onComplete", "j"))
				if diff := cmp.Diff(row.after, e.entry("j")); diff != "" {
					e.Errorf("entry (-want +got):\n%s", diff)
				}
			})
		}
		e.wreck("its edges are gone, and an upstream cannot be read", func(e *engine) {
			e.add(job("a"), job("b"), job("j", after(0, "a", "b")))
			e.ok(e.rdb.Del(e.Context(), e.key("jobs:j:edges")).Err())
			e.written("b", "???")
			e.leaves("recount", "j", "?s:a,?s:b", "")
		})
		e.wreck("its edges are gone, and its bytes declare none", func(e *engine) {
			e.add(job("p"), job("j", under("p"), after(0, "a", "b")))
			e.ok(e.rdb.Del(e.Context(), e.key("jobs:j:edges")).Err())
			e.mendsOnce("recount", "j", "", "")
			if strings.Contains(e.entry("j"), "|i") {
				e.Errorf("entry %q", e.entry("j"))
			}
			e.states("j queued")
		})
		for _, row := range []struct {
			name  string
			runIf wire.Edge_RunIf
			first conveyor.Verdict
			want  string
		}{
			{"they succeeded", 0, conveyor.VerdictDone, "heir queued"},
			{"one failed", 0, conveyor.VerdictFailed, "heir skipped"},
			{"none failed, as it wanted", wire.Edge_FAILURE, conveyor.VerdictDone, "heir skipped"},
		} {
			e.Behaviour("its edges are gone when its upstreams are over, "+row.name, func(e *engine) {
				e.add(job("a"), job("b"), job("heir", after(row.runIf, "a", "b")))
				e.ok(e.rdb.Del(e.Context(), e.key("jobs:heir:edges")).Err())
				e.run("a", row.first)
				e.run("b", conveyor.VerdictDone)
				e.states("heir held")
				kind := "s"
				if row.runIf == wire.Edge_FAILURE {
					kind = "f"
				}
				e.mendsOnce("recount", "heir", "?"+kind+":a,?"+kind+":b", "")
				e.states(row.want)
			})
		}
		e.Behaviour("groups are counted anew", func(e *engine) {
			e.add(job("a"), job("b"), job("c"), job("d"), job("e"), job("f"), job("g"),
				job("j", after(0, "a", "b"), after(wire.Edge_FAILURE, "c", "d"), after(0, "e", "f", "g")))
			recounts := func(want string) {
				e.Helper()
				key, entry := e.key("jobs:j:edges"), e.entry("j")
				groups := e.rdb.HGet(e.Context(), key, "#").Val()
				if groups != want {
					e.Fatalf("groups %q, want %q", groups, want)
				}
				e.ok(e.rdb.HSet(e.Context(), key, "#", "junk").Err())
				e.mendsOnce("recount", "j", "", "")
				if got := e.rdb.HGet(e.Context(), key, "#").Val(); got != want {
					e.Errorf("groups became %q, want %q", got, want)
				}
				if diff := cmp.Diff(entry, e.entry("j")); diff != "" {
					e.Errorf("entry (-want +got):\n%s", diff)
				}
			}
			recounts("0s2:0,1f2:0,2s3:0")
			e.run("a", conveyor.VerdictFailed)
			recounts("0s1:1:a,1f2:0,2s3:0")
			for _, u := range []string{"b", "c", "d", "e"} {
				e.run(u, conveyor.VerdictDone)
			}
			recounts("0s0:1:a,1f0:0,2s2:0")
			e.run("f", conveyor.VerdictFailed)
			recounts("0s0:1:a,1f0:0,2s1:1:f")
			e.run("g", conveyor.VerdictDone)
			e.states("j skipped")
			if cause := e.status("j").Cause; cause != "a" {
				e.Errorf("skipped for %q", cause)
			}
		})
		e.Behaviour("the last one excludes it that would fail", func(e *engine) {
			e.add(job("a"), job("b"), job("c"), job("j", after(wire.Edge_FAILURE, "a", "b"), after(0, "c")))
			e.run("a", conveyor.VerdictDone)
			e.run("b", conveyor.VerdictDone)
			entry := e.entry("j")
			e.written("j", strings.Replace(entry, "|zb", "|zx", 1))
			e.mendsOnce("recount", "j", "", "")
			if diff := cmp.Diff(entry, e.entry("j")); diff != "" {
				e.Errorf("entry (-want +got):\n%s", diff)
			}
		})
	})
}
