package applier

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

func unique(key string) func(*config.Job) { return func(j *config.Job) { j.Unique = key } }

// TestUniqueKeyInAGraph: the second of two jobs with a key fails and names the first, what waits for it is decided, and the
// next apply gives it the key once the first has ended.
func TestUniqueKeyInAGraph(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("first", unique("k")))
		l.apply()
		l.declare(l.job("first", unique("k")), l.job("second", unique("k")), l.job("heir", l.after("second")))
		l.apply()
		if diff := cmp.Diff("failed skipped", l.live("second")+" "+l.live("heir")); diff != "" {
			l.Errorf("second and its heir (-want +got):\n%s", diff)
		}
		want := fmt.Sprintf("it failed: unique key noop:k is held by job.first (%s)", l.record("first").UUID)
		for _, r := range changes(l.plan()) {
			if got := r.Because(); r.Addr.Name == "second" && got != want {
				l.Errorf("second runs again because %q, want %q", got, want)
			}
		}
		if diff := cmp.Diff([]string{"first"}, l.work()); diff != "" {
			l.Errorf("runs (-want +got):\n%s", diff)
		}
		l.apply()
		if diff := cmp.Diff([]string{"second", "heir"}, l.work()); diff != "" {
			l.Errorf("runs at last (-want +got):\n%s", diff)
		}
		l.noChanges()
	})
}

// TestUniqueKeyOfTheNextGeneration: what replaces a job takes its key over, running or waiting.
func TestUniqueKeyOfTheNextGeneration(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a", unique("k"), payload("1")), l.job("b", unique("l"), payload("1")))
		l.apply()
		running := l.start(1)
		l.declare(l.job("a", unique("k"), payload("2")), l.job("b", unique("l"), payload("2")))
		l.apply()
		l.noChanges()
		l.end(conveyor.VerdictDone, running...)
		if diff := cmp.Diff([]string{"b", "a"}, l.work()); diff != "" {
			l.Errorf("runs (-want +got):\n%s", diff)
		}
		l.noChanges()
	})
}

// TestUniqueKeyChangesHands: a key goes from a job that is renamed, or gets another one, to another job in one apply.
func TestUniqueKeyChangesHands(t *testing.T) {
	tests := map[string][2]func(l *lab) []*config.Job{
		"renamed": {
			func(l *lab) []*config.Job { return []*config.Job{l.job("a", unique("k"))} },
			func(l *lab) []*config.Job { return []*config.Job{l.job("b", unique("k"))} },
		},
		"renamed with its heirs": {
			func(l *lab) []*config.Job {
				return []*config.Job{l.job("a", unique("k")), l.job("h", l.after("a"), unique("h")), l.job("i", l.under("a"))}
			},
			func(l *lab) []*config.Job {
				return []*config.Job{l.job("b", unique("k")), l.job("h", l.after("b"), unique("h")), l.job("i", l.under("b"))}
			},
		},
		"given up upstream": {
			func(l *lab) []*config.Job { return []*config.Job{l.job("a", unique("k")), l.job("b", l.after("a"))} },
			func(l *lab) []*config.Job { return []*config.Job{l.job("a"), l.job("b", l.after("a"), unique("k"))} },
		},
		"given up downstream": {
			func(l *lab) []*config.Job { return []*config.Job{l.job("a"), l.job("b", l.after("a"), unique("k"))} },
			func(l *lab) []*config.Job { return []*config.Job{l.job("a", unique("k")), l.job("b", l.after("a"))} },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(l *lab) {
				l.declare(test[0](l)...)
				l.apply()
				l.declare(test[1](l)...)
				l.apply()
				l.noChanges()
				l.work()
				for _, j := range l.workflow.Jobs {
					if got := l.live(j.Addr.Name); got != "completed" {
						l.Errorf("%s is %s", j.Addr, got)
					}
				}
			})
		})
	}
}

// TestHeldKeyLeavesOneRowOut: a job that waits and is to get a key that another workflow's job holds stays as it is, all
// else is applied, and the error names the holder.
func TestHeldKeyLeavesOneRowOut(t *testing.T) {
	onBoth(t, func(l *lab) {
		other := l.another()
		other.declare(other.job("theirs", unique("k")))
		other.workflow.Name = "v"
		other.apply()
		l.declare(l.job("a"), l.job("b"), l.job("c"))
		l.apply()
		l.declare(l.job("a", unique("a")), l.job("b", unique("k")), l.job("c", unique("c")), l.job("d"))
		result, err := l.tryApply(l.Context())
		var held *HeldKeyError
		if !errors.As(err, &held) || !errors.Is(err, conveyor.ErrUnique) || held.Addr != "job.b" || held.Key != "k" {
			l.Fatalf("error %v", err)
		}
		if uuid := other.record("theirs").UUID.String(); !strings.Contains(err.Error(), uuid) {
			l.Errorf("%q does not name %s", err, uuid)
		}
		if result.Added != 1 || result.Changed != 2 {
			l.Errorf("added %d, changed %d", result.Added, result.Changed)
		}
		left := changes(l.plan())
		if len(left) != 1 || left[0].Addr.Name != "b" || left[0].Action != planner.Update {
			l.Errorf("left to do: %+v", left)
		}
		l.work()
		l.apply()
		l.noChanges()
	})
}

func TestNamedHolder(t *testing.T) {
	t.Parallel()
	address := func(uuid string) string { return map[string]string{"u1": "job.a"}[uuid] }
	tests := map[string]string{
		"unique key t:k is held by u1":                  "unique key t:k is held by job.a (u1)",
		"unique key t:k is held by u2":                  "unique key t:k is held by job u2, which is not of this workflow",
		"unique key t:x is held by y is held by u1":     "unique key t:x is held by y is held by job.a (u1)",
		"the door is held by u1":                        "the door is held by u1",
		"unique key t:k is held by u1 and that is long": "unique key t:k is held by u1 and that is long",
		"": "",
	}
	for text, want := range tests {
		if got := namedHolder(text, address); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
