package applier

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

func TestReadStateNeverApplied(t *testing.T) {
	onBoth(t, func(l *lab) {
		want := &planner.State{Workflow: "w", Records: map[string]*planner.Record{}, Live: map[string]planner.Live{},
			Earlier: map[string]planner.Live{}, Outputs: map[string]string{}}
		if diff := cmp.Diff(want, l.state()); diff != "" {
			l.Errorf("state (-want +got):\n%s", diff)
		}
	})
}

// TestReadStateOnlyReads counts the commands: no script, nothing that writes, and few round trips.
func TestReadStateOnlyReads(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(salesLike(l, "1", "old")...)
		l.apply()
		watched := &commandLog{}
		rdb := l.store.connect(l.T)
		l.ok(rdb.Ping(l.Context()).Err())
		rdb.AddHook(watched)
		if _, err := ReadState(l.Context(), l.rival(rdb).Client, "w"); err != nil {
			l.Fatal(err)
		}
		if diff := cmp.Diff([]string{"hgetall", "hgetall", "hgetall", "hgetall", "hgetall", "hmget"}, watched.names); diff != "" {
			l.Errorf("commands (-want +got):\n%s", diff)
		}
		if watched.trips != 2 {
			l.Errorf("%d round trips, want 2", watched.trips)
		}
	})
}

// commandLog notes what is sent.
type commandLog struct {
	names []string
	trips int
}

func (c *commandLog) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *commandLog) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.note(cmd)
		return next(ctx, cmd)
	}
}

func (c *commandLog) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.note(cmds...)
		return next(ctx, cmds)
	}
}

// note leaves out how a new connection greets.
func (c *commandLog) note(cmds ...redis.Cmder) {
	if name := cmds[0].Name(); name == "hello" || name == "client" {
		return
	}
	c.trips++
	for _, cmd := range cmds {
		c.names = append(c.names, cmd.Name())
	}
}

// TestForeignState plants what this version cannot read. Each gets an error that names where it is, from plan and from
// apply alike, and nothing is changed.
func TestForeignState(t *testing.T) {
	type planted struct {
		plant func(l *lab) error
		is    error
		says  []string
	}
	set := func(key, field, value string) func(l *lab) error {
		return func(l *lab) error { return l.Redis().HSet(l.Context(), l.Prefix()+key, field, value).Err() }
	}
	retype := func(key string) func(l *lab) error {
		return func(l *lab) error {
			l.ok(l.Redis().Del(l.Context(), l.Prefix()+key).Err())
			return l.Redis().Set(l.Context(), l.Prefix()+key, "x", 0).Err()
		}
	}
	tests := map[string]planted{
		"state is a string":     {retype("state:w"), conveyor.ErrCorrupt, []string{"state:w", "another namespace"}},
		"meta is a string":      {retype("meta:w"), conveyor.ErrCorrupt, []string{"meta:w", "another namespace"}},
		"field is no address":   {set("state:w", "users", "1"), conveyor.ErrCorrupt, []string{"state:w", `"users"`}},
		"record of nobody":      {set("state:w", "job.a", "hello"), planner.ErrRecord, []string{"state:w", "job.a"}},
		"record of a later one": {set("state:w", "job.a", "3 99 x"), planner.ErrRecord, []string{"job.a", "format 99"}},
		"record cut off":        {set("state:w", "job.a", "3 1 x"), planner.ErrRecord, []string{"job.a"}},
		"state of a later one":  {set("meta:w", "format", "1 2"), nil, []string{"meta:w", "format 2", "later Waybill"}},
		"no format":             {set("meta:w", "format", "x"), conveyor.ErrCorrupt, []string{"meta:w", "format"}},
		"lineage is no uuid":    {set("meta:w", "lineage", "1 me"), conveyor.ErrCorrupt, []string{"meta:w", "lineage"}},
		"floor is no number":    {set("meta:w", "floor", "1 low"), conveyor.ErrCorrupt, []string{"meta:w", "floor"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(l *lab) {
				l.declare(l.job("a"))
				plan := l.plan()
				l.apply()
				l.ok(test.plant(l))
				before := l.dump()
				_, planErr := ReadState(l.Context(), l.Client, "w")
				_, applyErr := l.carryOut(l.Context(), plan)
				_, listErr := ListState(l.Context(), l.Client, "w")
				for _, err := range []error{planErr, applyErr, listErr} {
					if err == nil || test.is != nil && !errors.Is(err, test.is) {
						l.Fatalf("got %v, want %v", err, test.is)
					}
					for _, part := range test.says {
						if !strings.Contains(err.Error(), part) {
							l.Errorf("the error does not say %q: %v", part, err)
						}
					}
				}
				if diff := cmp.Diff(before, l.dump()); diff != "" {
					l.Errorf("something was changed (-before +after):\n%s", diff)
				}
			})
		})
	}
}

// dump is every key of the namespace but the lock's, which any apply takes.
func (l *lab) dump() map[string]any {
	l.Helper()
	rdb := l.Redis()
	keys, err := rdb.Keys(l.Context(), "*").Result()
	l.ok(err)
	all := map[string]any{}
	for _, key := range keys {
		name, ours := strings.CutPrefix(key, l.Prefix())
		if !ours || strings.HasPrefix(name, "lock:") {
			continue
		}
		switch kind := rdb.Type(l.Context(), key).Val(); kind {
		case "hash":
			all[name] = rdb.HGetAll(l.Context(), key).Val()
		case "list":
			all[name] = rdb.LRange(l.Context(), key, 0, -1).Val()
		case "zset":
			all[name] = rdb.ZRangeWithScores(l.Context(), key, 0, -1).Val()
		case "set":
			members := rdb.SMembers(l.Context(), key).Val()
			slices.Sort(members)
			all[name] = members
		case "stream":
			all[name] = rdb.XLen(l.Context(), key).Val()
		default:
			all[name] = rdb.Get(l.Context(), key).Val()
		}
	}
	return all
}

// TestWorkflowsOfOneNamespace applies and destroys one of two workflows with the same addresses: the other's keys stay.
func TestWorkflowsOfOneNamespace(t *testing.T) {
	onBoth(t, func(l *lab) {
		jobs := salesLike(l, "1", "old")
		l.declare(jobs...)
		workflows := map[string]*config.Workflow{"w": l.workflow, "other": {Name: "other", Jobs: jobs}}
		applyAs := func(name string, destroy bool) {
			s, err := ReadState(l.Context(), l.Client, name)
			l.ok(err)
			l.workflow, l.run.Options = workflows[name], planner.Options{Destroy: destroy}
			p, diags := planner.Make(l.workflow, s, l.run.Options)
			if diags.HasErrors() {
				l.Fatal(diags)
			}
			_, err = l.carryOut(l.Context(), p)
			l.ok(err)
		}
		applyAs("other", false)
		before := l.dump()["state:other"]
		applyAs("w", false)
		applyAs("w", true)
		if diff := cmp.Diff(before, l.dump()["state:other"]); diff != "" {
			l.Errorf("the other workflow's records (-before +after):\n%s", diff)
		}
		if names := l.work(); len(names) != len(jobs) {
			l.Errorf("%q ran, want the other workflow's %d jobs", names, len(jobs))
		}
	})
}

func TestListState(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("b"), l.job("a[10]"), l.job("a[9]"), l.job("c", l.after("b")))
		l.apply()
		list, err := ListState(l.Context(), l.Client, "w")
		l.ok(err)
		var got []string
		for _, line := range list {
			got = append(got, line.Addr.String()+" "+line.Live.Status.String()+" "+line.Record.Queue)
		}
		if diff := cmp.Diff([]string{"job.a[9] queued q", "job.a[10] queued q", "job.b queued q", "job.c held q"}, got); diff != "" {
			l.Errorf("list (-want +got):\n%s", diff)
		}
	})
}

func TestQueues(t *testing.T) {
	onBoth(t, func(l *lab) {
		names, serial, err := Queues(l.Context(), l.Client, "w", -1)
		if names != nil || serial != 0 || err != nil {
			l.Errorf("never applied: %q, %d, %v", names, serial, err)
		}
		b := l.job("b")
		b.Queue = "other"
		l.declare(l.job("a"), b)
		l.apply()
		names, serial, err = Queues(l.Context(), l.Client, "w", serial)
		l.ok(err)
		if diff := cmp.Diff([]string{"other", "q"}, names); diff != "" {
			l.Errorf("queues (-want +got):\n%s", diff)
		}
		if names, again, err := Queues(l.Context(), l.Client, "w", serial); names != nil || again != serial || err != nil {
			l.Errorf("nothing new: %q, serial %d after %d, %v", names, again, serial, err)
		}
	})
}
