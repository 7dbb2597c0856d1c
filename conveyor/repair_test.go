package conveyor_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
)

// TestRepair injects corruptions into a namespace that holds a job in every place. It wants each of them named and repaired,
// the neighbours unharmed, a second repair to change nothing, and what is left to run to its end.
func TestRepair(t *testing.T) {
	for _, row := range corruptions {
		t.Run(row.invariant+" "+row.name, func(t *testing.T) {
			t.Parallel()
			for _, store := range stores {
				t.Run(store.name, func(t *testing.T) {
					t.Parallel()
					e := newEngine(t, store.open(t))
					everyPlace(e)
					e.sound()
					before := e.everybody()
					e.ok(row.corrupt(e))
					found, err := e.Verify(e.Context())
					e.ok(err)
					if !slices.ContainsFunc(found, func(v conveyor.Violation) bool { return v.Invariant == row.invariant && v.UUID == row.uuid }) {
						t.Fatalf("%s %s is not named: %v", row.invariant, row.uuid, found)
					}
					for _, v := range found {
						if v.Repair == "" {
							t.Errorf("no repair of %s", v)
						}
					}
					e.repaired()
					after := e.everybody()
					for uuid := range strings.FieldsSeq(row.changed) {
						delete(before, uuid)
						delete(after, uuid)
					}
					if diff := cmp.Diff(before, after); diff != "" {
						t.Errorf("neighbours (-before +after):\n%s", diff)
					}
					e.runAll()
				})
			}
		})
	}
}

// repaired repairs until Verify is silent, repeats each repair, and wants the repetition to change nothing.
func (e *engine) repaired() {
	e.Helper()
	for range 6 {
		found, err := e.Verify(e.Context())
		e.ok(err)
		if len(found) == 0 {
			return
		}
		first, err := e.Repair(e.Context(), found)
		e.ok(err)
		if !slices.ContainsFunc(first, func(r conveyor.Repaired) bool { return r.Done }) {
			e.Fatalf("nothing could be repaired of %v", found)
		}
		there := dump(e)
		var done []conveyor.Violation
		for _, r := range first {
			if r.Done {
				done = append(done, r.Violation)
			}
		}
		again, err := e.Repair(e.Context(), done)
		e.ok(err)
		for _, r := range again {
			if r.Done {
				e.Errorf("repaired twice: %s: %s", r.Violation, r.Repair)
			}
		}
		if diff := cmp.Diff(there, dump(e)); diff != "" {
			e.Errorf("a repeated repair changed:\n%s", diff)
		}
	}
	e.sound()
}

// everybody is the status of each job of everyPlace.
func (e *engine) everybody() map[string]conveyor.Status {
	e.Helper()
	uuids := strings.Fields("done closing child running leased queued queued2 heir orphan both scheduled onhold back keyed limited brief")
	statuses, err := e.Statuses(e.Context(), uuids)
	e.ok(err)
	out := map[string]conveyor.Status{}
	for _, s := range statuses {
		out[s.UUID] = s
	}
	return out
}

// runAll lets come what orphans wait for, releases what is on hold, takes running jobs from their owners and puts back what was set aside:
// everything may end but these orphans.
func (e *engine) runAll(orphans ...string) {
	e.Helper()
	e.add(job("later"))
	aside, err := e.SetAside(e.Context())
	e.ok(err)
	for _, a := range aside {
		if a.Addable() == nil {
			e.ok(e.PutBack(e.Context(), a))
		}
	}
	if e.status("onhold").State == conveyor.StateOnHold {
		e.ok(e.Release(e.Context(), "onhold"))
	}
	for range 40 {
		e.pass(20 * time.Second)
		for e.tick().More {
		}
		reply := e.exchange(50)
		acks := reply.Broken
		for _, r := range reply.Reserved {
			acks = append(acks, ack(r, conveyor.VerdictDone))
		}
		e.exchange(0, acks...)
		if len(e.unended(orphans)) == 0 {
			break
		}
	}
	if left := e.unended(orphans); len(left) > 0 {
		e.Errorf("not over in the end: %v", left)
	}
	e.sound()
}

// unended are the jobs of everyPlace that are known and not over, without these orphans.
func (e *engine) unended(orphans []string) []string {
	e.Helper()
	var out []string
	for uuid, s := range e.everybody() {
		if s.State != conveyor.StateUnknown && !s.State.Ended() && !slices.Contains(orphans, uuid) {
			out = append(out, uuid+" "+s.State.String())
		}
	}
	return out
}

// TestRepairWrongTypes gives each key of the engine another type, one after the other. What was there is lost, so that some
// jobs end as lost; nothing else may be wrong afterwards, what was damaged is kept, and everything can end.
func TestRepairWrongTypes(t *testing.T) {
	t.Parallel()
	for _, store := range stores {
		e := newEngine(t, store.open(t))
		everyPlace(e)
		names := []string{"setaside", "idle:q", "wake:w", "jobs:both:edges", "jobs:running:log", "ended:q", "sweeps", "removals", "expiry", "unique"}
		for _, name := range e.scan() {
			if name != "clock" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		for _, name := range names {
			t.Run(name+" "+store.name, func(t *testing.T) {
				t.Parallel()
				e := newEngine(t, store.open(t))
				everyPlace(e)
				kind, err := e.rdb.Type(e.Context(), e.key(name)).Result()
				e.ok(err)
				e.ok(e.rdb.Del(e.Context(), e.key(name)).Err())
				if kind == "string" {
					e.ok(e.rdb.RPush(e.Context(), e.key(name), "damage").Err())
				} else {
					e.ok(e.rdb.Set(e.Context(), e.key(name), "damage", 0).Err())
				}
				found, err := e.Verify(e.Context())
				e.ok(err)
				if !slices.ContainsFunc(found, func(v conveyor.Violation) bool { return v.Key == e.key(name) }) {
					t.Fatalf("%s is not named: %v", name, found)
				}
				e.repaired()
				if n := e.rdb.Exists(e.Context(), e.key("damaged:"+name)).Val(); n != 1 {
					t.Error("what was damaged is not kept")
				}
				if name == "status" {
					e.runAll("both") // its upstreams are lost with all statuses
				} else {
					e.runAll()
				}
			})
		}
	}
}
