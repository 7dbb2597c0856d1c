package conveyor_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
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
		// entry changes a job's entry while something is done, and takes some keys away.
		entry := func(uuid, old, changed string, without ...string) func(do func()) {
			return func(do func()) {
				was := e.entry(uuid)
				e.ok(e.rdb.HSet(e.Context(), e.key("status"), uuid, strings.Replace(was, old, changed, 1)).Err())
				for _, key := range without {
					e.ok(e.rdb.Rename(e.Context(), e.key(key), e.key("kept:"+key)).Err())
				}
				do()
				for _, key := range without {
					e.ok(e.rdb.Rename(e.Context(), e.key("kept:"+key), e.key(key)).Err())
				}
				e.ok(e.rdb.HSet(e.Context(), e.key("status"), uuid, was).Err())
			}
		}
		other := func(do func()) {
			e.ok(e.rdb.HSet(e.Context(), e.key("unique"), "noop:key", "never").Err())
			do()
			e.ok(e.rdb.HSet(e.Context(), e.key("unique"), "noop:key", "keyed").Err())
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
			{"a closing job that is listed as to do", fixing("settle", "closing"), func(do func()) {
				e.ok(e.rdb.ZAdd(e.Context(), e.key("todo"), redisZ(1, "closing")).Err())
				entry("closing", "", "", "jobs:closing:active")(do)
				e.ok(e.rdb.ZRem(e.Context(), e.key("todo"), "closing").Err())
			}},
			{"a member of nobody", fixing("member", "child", "never"), nil},
			{"a member that is over", fixing("member", "child", "closing"), entry("child", "s1", "C1", "jobs:closing:active")},
			{"a member that is withdrawn", fixing("member", "child", "closing"), entry("child", "s1", "s1w", "jobs:closing:active")},
			{"a member of a job that is over", fixing("member", "child", "closing"), entry("closing", "c1", "C1", "jobs:closing:active")},
			{"a member of a job whose end is decided", fixing("member", "child", "closing"), entry("closing", "|s", "|xC|s", "jobs:closing:active")},
			{"a member that is an heir", fixing("member", "child", "closing"), entry("child", "+p:", "+s:", "jobs:closing:active")},
			{"a member whose parent failed", fixing("member", "child", "closing"), entry("child", "+p:", "-p:", "jobs:closing:active")},
			{"a member of another", fixing("member", "child", "closing"), entry("child", "+p:closing", "+p:queued", "jobs:closing:active")},
			{"a member of another opening", fixing("member", "child", "closing"), entry("child", "+p:closing", "+p:closing:2", "jobs:closing:active")},
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
			{"a label that a job has", fixing("unref", "keyed", "label:region=", "set"), nil},
			{"nobody's labels", fixing("relabel", "never", "a=b"), nil},
			{"labels as they are", fixing("relabel", "keyed", "day=2,region=eu"), nil},
			{"no labels where none are", fixing("relabel", "queued", ""), nil},
			{"labels of a wrong type", fixing("relabel", "keyed", "a=b"), broken("labels")},
			{"the owner of nobody", fixing("owner", "never"), nil},
			{"the owner of a queued job", fixing("owner", "queued"), nil},
			{"the owner of a running job", fixing("owner", "running"), nil},
			{"an owner whose list is of a wrong type", fixing("owner", "running"), broken("worker:w:jobs")},
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
			{"a list of junk of a job that is known", fixing("drop", "done", "jobs:done:children"), junk("jobs:done:children")},
			{"a list that is gone", fixing("drop", "never", "jobs:never:children"), nil},
			{"nobody for retention", fixing("retain", "never"), nil},
			{"a queued job for retention", fixing("retain", "queued"), nil},
			{"an ended job that is listed", fixing("retain", "done"), nil},
			{"an ended job with a removal", fixing("retain", "brief"), nil},
			{"an ended job, and the list is of a wrong type", fixing("retain", "done"), broken("ended:q")},
			{"an ended job that is recorded", fixing("retain", "done"), entry("done", "C1", "C1r", "ended:q")},
			{"a key to free, and the keys are of a wrong type", fixing("free", "never", "noop:key"), broken("unique")},
			{"nobody's key to free", fixing("free", "never", "noop:key"), nil},
			{"a key of its owner to free", fixing("free", "keyed", "noop:key"), nil},
			{"a key for nobody", fixing("hold", "never", ""), nil},
			{"a key for a job without one", fixing("hold", "queued", ""), nil},
			{"a key that is held", fixing("hold", "keyed", "keyed"), nil},
			{"a key to be held, and the keys are of a wrong type", fixing("hold", "keyed", ""), broken("unique")},
			{"a key that another holds", fixing("hold", "scheduled", "keyed"), entry("scheduled", "|d", "|ynoop:key|d")},
			{"a key of a job that is over", fixing("hold", "done", ""), entry("done", "|s", "|ynoop:z|s")},
			{"no key for one that another has too", fixing("unkey", "keyed", "scheduled"), entry("scheduled", "|d", "|ynoop:key|d")},
			{"no key for one that nobody holds", fixing("unkey", "keyed", "never"), other},
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
			{"settings of a wrong type", fixing("settings", "", "q", "much"), broken("queues")},
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
