package conveyor_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor"
)

func TestWrongTypes(t *testing.T) {
	// Every row breaks one key; then the call must fail with its error, name the key and change nothing.
	add := func(e *engine) error { return e.Add(e.Context(), job("new", under("p"), after(0, "h"))) }
	rows := []struct {
		name, key string
		call      func(e *engine) error
		step      error
	}{
		{"A7a the parent's list", "jobs:p:children", add, conveyor.ErrParentList},
		{"A7b the predecessor's list", "jobs:h:onComplete", add, conveyor.ErrPredecessorList},
		{"A7c the queue", "queue:q", func(e *engine) error { return e.Add(e.Context(), job("new")) }, conveyor.ErrPush},
		{"A7d a lane", "queue:q:2", func(e *engine) error { return e.Add(e.Context(), job("new", lane(2))) }, conveyor.ErrPush},
		{"A7e scheduled", "scheduled", func(e *engine) error { return e.Add(e.Context(), job("new", runAt(e.now+1000))) }, nil},
		{"A7f the active set", "jobs:p:active", func(e *engine) error { return e.Add(e.Context(), job("new", under("p")), conveyor.ParentDead()) }, nil},
		{"A7g status", "status", add, nil},
		{"A7h events", "events", add, nil},
		{"A7i the place counter", "seq", add, nil},
		{"A7j the number of the last event", "events:seq", add, nil},
		{"A7k a companion's hash", "state:w", func(e *engine) error {
			return e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{
				Kind: conveyor.ChangeAdd, Job: job("new"), Attach: &conveyor.Attach{Key: "state:w", Field: "x", Value: []byte("1")},
			}}})
		}, nil},
	}
	onBoth(t, func(e *engine) {
		for _, row := range rows {
			e.Behaviour(row.name, func(e *engine) {
				e.add(job("p", queue("other")), job("h", queue("other")))
				kept := e.rdb.Rename(e.Context(), e.key(row.key), e.key("kept")).Err() == nil
				e.ok(e.rdb.SetBit(e.Context(), e.key(row.key), 1, 1).Err())
				if row.key == "seq" || row.key == "events:seq" {
					e.ok(e.rdb.Del(e.Context(), e.key(row.key)).Err())
					e.ok(e.rdb.RPush(e.Context(), e.key(row.key), "x").Err())
				}
				before := dump(e)
				err := row.call(e)
				if !errors.Is(err, conveyor.ErrCorrupt) || !strings.Contains(err.Error(), e.key(row.key)) {
					e.Errorf("got %v, want it to name %s", err, e.key(row.key))
				}
				if row.step != nil && !errors.Is(err, row.step) {
					e.Errorf("got %v, want step %v", err, row.step)
				}
				if diff := cmp.Diff(before, dump(e)); diff != "" {
					e.Error(diff)
				}
				found, err := e.Verify(e.Context())
				e.ok(err)
				if !strings.HasPrefix(row.key, "state:") && !slices.ContainsFunc(found, func(v conveyor.Violation) bool { return v.Key == e.key(row.key) }) {
					e.Errorf("Verify does not name %s: %v", row.key, found)
				}
				e.ok(e.rdb.Del(e.Context(), e.key(row.key)).Err())
				if kept {
					e.ok(e.rdb.Rename(e.Context(), e.key("kept"), e.key(row.key)).Err())
				}
				e.ok(row.call(e))
			})
		}
	})
}

func TestDamageWhileWorking(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("A7l undecodable entries are set aside, their neighbours run", func(e *engine) {
			e.add(job("a"))
			for _, junk := range []string{"", "\n", "\n\x05ab", "junk", "\n\x03a:b", "\n\x80\x02x", string(make([]byte, 300)),
				"\n\x80\x02" + strings.Repeat("a", 256), "\n\xc8" + strings.Repeat("a", 200)} {
				e.ok(e.rdb.LPush(e.Context(), e.key("queue:q"), junk).Err())
			}
			e.add(job("b"))
			reply := e.exchange(100)
			if diff := cmp.Diff([]string{"a", "b"}, names(reply.Reserved)); diff != "" || !slices.Equal(reply.Damaged, []string{e.key("queue:q")}) {
				e.Fatalf("%s damaged %v", diff, reply.Damaged)
			}
			for _, r := range reply.Reserved {
				e.end(r, conveyor.VerdictDone)
			}
			if n := e.rdb.LLen(e.Context(), e.key("setaside")).Val(); n != 9 {
				e.Errorf("%d set aside", n)
			}
		})
		e.Behaviour("A7m also among dependents and in scheduled", func(e *engine) {
			e.add(job("p"), job("c1", under("p")), job("s", runAt(e.now+1000)))
			e.ok(e.rdb.LPush(e.Context(), e.key("jobs:p:children"), "junk").Err())
			e.ok(e.rdb.LPush(e.Context(), e.key("jobs:p:onComplete"), "junk").Err())
			e.rdb.ZAdd(e.Context(), e.key("scheduled"), redisZ(float64(e.now)/1000, "junk"))
			e.add(job("c2", under("p")), job("h", after(0, "p")))
			e.run("p", conveyor.VerdictDone)
			e.pass(time.Second)
			for _, r := range e.reserves("c1", "c2", "s") {
				e.end(r, conveyor.VerdictDone)
			}
			e.run("h", conveyor.VerdictDone)
			e.wantKeys()
			if n := e.rdb.LLen(e.Context(), e.key("setaside")).Val(); n != 3 {
				e.Errorf("%d set aside", n)
			}
		})
		e.Behaviour("A7n a queue of the wrong type does not hide the others", func(e *engine) {
			e.ok(e.rdb.Set(e.Context(), e.key("queue:q"), "x", 0).Err())
			e.add(job("o", queue("o")))
			reply, err := e.Exchange(e.Context(), conveyor.ExchangeRequest{Worker: "w", Number: e.number.Add(1), Queues: []string{"q", "o"}, Want: 5})
			e.ok(err)
			if diff := cmp.Diff([]string{"o"}, names(reply.Reserved)); diff != "" || !slices.Equal(reply.Damaged, []string{e.key("queue:q")}) {
				e.Errorf("%s damaged %v", diff, reply.Damaged)
			}
			e.add(job("oh", after(0, "o")))
			e.end(reply.Reserved[0], conveyor.VerdictDone)
			e.states("o completed, oh scheduled") // its queue cannot be used yet
			e.ok(e.rdb.Del(e.Context(), e.key("queue:q")).Err())
			e.pass(2 * time.Second)
			e.run("oh", conveyor.VerdictDone)
		})
		e.Behaviour("A7o a list of dependents of the wrong type holds up its own job only", func(e *engine) {
			e.add(job("x1"), job("x2"), job("y1", after(0, "x1")), job("y2", after(0, "x2")))
			e.ok(e.rdb.Rename(e.Context(), e.key("jobs:x1:onComplete"), e.key("aside")).Err())
			e.ok(e.rdb.Set(e.Context(), e.key("jobs:x1:onComplete"), "x", 0).Err())
			rs := e.reserves("x1", "x2")
			reply := e.exchange(0, ack(rs[0], conveyor.VerdictDone), ack(rs[1], conveyor.VerdictDone))
			if !slices.Contains(reply.Damaged, e.key("jobs:x1:onComplete")) {
				e.Errorf("damaged %v", reply.Damaged)
			}
			e.states("x1 closing, x2 completed, y1 held, y2 queued")
			if e.tick().More {
				e.Error("a tick must not spin over what it cannot do")
			}
			e.ok(e.rdb.Rename(e.Context(), e.key("aside"), e.key("jobs:x1:onComplete")).Err())
			e.pass(time.Minute)
			e.tick()
			for _, r := range e.reserves("y2", "y1") {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Behaviour("A7p a job whose bytes are gone fails, with the reason", func(e *engine) {
			e.add(job("lost"))
			e.end(e.take("lost"), conveyor.VerdictBack)
			e.ok(e.rdb.Del(e.Context(), e.key("jobs:lost")).Err())
			e.nothing()
			e.states("lost failed")
			if text, _ := e.Failure(e.Context(), "lost"); !strings.Contains(text, "bytes") {
				e.Errorf("%q", text)
			}
		})
		e.Behaviour("A7q a job whose bytes cannot be decoded comes as broken", func(e *engine) {
			e.add(job("broken"), job("fine"))
			e.end(e.take("broken"), conveyor.VerdictBack)
			e.ok(e.rdb.Set(e.Context(), e.key("jobs:broken"), "junk", 0).Err())
			reply := e.exchange(2)
			if diff := cmp.Diff([]string{"fine"}, names(reply.Reserved)); diff != "" || len(reply.Broken) != 1 {
				e.Fatalf("%s %v", diff, reply.Broken)
			}
			e.exchange(0, append(reply.Broken, ack(reply.Reserved[0], conveyor.VerdictDone))...)
			e.states("broken failed, fine completed")
		})
		e.Behaviour("A7r an undecodable status entry is named, its neighbours run", func(e *engine) {
			e.add(job("n1"), job("n2"))
			e.ok(e.rdb.HSet(e.Context(), e.key("status"), "n1", "???").Err())
			e.refused(e.Add(e.Context(), job("n3", after(0, "n1"))), conveyor.ErrCorrupt)
			found, err := e.Verify(e.Context())
			e.ok(err)
			if !slices.ContainsFunc(found, func(v conveyor.Violation) bool { return v.UUID == "n1" }) {
				e.Errorf("Verify does not name n1: %v", found)
			}
			reply := e.exchange(1)
			if diff := cmp.Diff([]string{"n2"}, names(reply.Reserved)); diff != "" || !slices.Contains(reply.Damaged, e.key("status n1")) {
				e.Fatalf("%s damaged %v", diff, reply.Damaged)
			}
			e.end(reply.Reserved[0], conveyor.VerdictDone)
			e.ok(e.rdb.HDel(e.Context(), e.key("status"), "n1").Err())
			e.ok(e.rdb.HDel(e.Context(), e.key("depth"), "q:1").Err())
		})
		e.Run("a foreign ticket of a job never added is dropped", func(e *engine) {
			b, err := proto.Marshal(job("foreign"))
			e.ok(err)
			e.ok(e.rdb.LPush(e.Context(), e.key("queue:q"), b).Err())
			e.nothing()
			e.wantKeys()
		})
	})
}
