package conveyor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"pgregory.net/rapid"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestRandomLedger draws operations on few jobs with few unique keys and labels, short limits and short retention, so that
// they meet often. After each of them the raw keys say what the status entries say: who holds a key (I7), which sets name
// whom, who expires and what retention will meet. Both servers answer alike, and in the end nothing is left.
func TestRandomLedger(t *testing.T) {
	t.Parallel()
	server, mini := redistest.Start(t).Client(t), redistest.Miniredis(t) // of its own: the ledger lists keys
	rapid.Check(t, func(rt *rapid.T) {
		real := newEngine(rt, server)
		twin := &engine{rt, &world{rdb: mini, now: start}}
		c, err := conveyor.NewClient(mini, conveyor.Options{Namespace: real.Namespace()})
		if err != nil {
			rt.Fatal(err)
		}
		twin.Client = c
		twin.at(start)
		b := &books{T: rt, stores: []*engine{real, twin}}
		b.play()
		server.FlushAll(rt.Context())
		mini.FlushAll(rt.Context())
	})
}

// books is one drawn history.
type books struct {
	*rapid.T
	stores []*engine
	made   int
	roots  []string
	number int64
	held   []conveyor.Reservation
	trace  []string
}

func (b *books) play() {
	ops := []func(){b.add, b.add, b.add, b.exchange, b.exchange, b.exchange, b.update, b.cancel, b.replace, b.reopen, b.retry, b.release, b.remove,
		b.pass, b.pass, b.look, b.keep, b.forget, b.declare, b.redeclare}
	if b.int("templates", 2) == 0 {
		b.declare()
		b.declare()
	}
	for i := range 25 {
		ops[b.int("op", len(ops))]()
		b.stores[i%2].ledger()
		if i%8 == 7 {
			b.stores[0].sound()
		}
		if b.Failed() {
			b.Fatalf("after\n%s\n%s", strings.Join(b.trace, "\n"), dump(b.stores[0]))
		}
	}
	b.finish()
}

func (b *books) int(name string, n int) int { return rapid.IntRange(0, n-1).Draw(b.T, name) }

// do makes a call twice on both stores, as when its reply is lost, and wants one answer of all four.
func (b *books) do(what string, call func(e *engine) (any, error)) (any, bool) {
	b.Helper()
	b.trace = append(b.trace, what)
	var first string
	var reply any
	var failed error
	for i, e := range b.stores {
		for range 2 {
			got, err := call(e)
			if text := fmt.Sprint(err); i == 0 && first == "" {
				first, reply, failed = text, got, err
			} else if diff := cmp.Diff(reply, got, protocmp.Transform()); text != first || diff != "" {
				b.Fatalf("%s: another answer (-first +then): %v, %v\n%s\nafter\n%s", what, first, text, diff, strings.Join(b.trace, "\n"))
			}
		}
	}
	if failed != nil {
		b.trace = append(b.trace, "  "+first)
	}
	return reply, failed == nil
}

func (b *books) apply(what string, changes ...conveyor.Change) {
	b.Helper()
	b.do(what, func(e *engine) (any, error) { return nil, e.Apply(e.Context(), conveyor.Batch{Changes: changes}) })
}

func (b *books) some() string { return fmt.Sprintf("j%d", 1+b.int("job", max(b.made, 1))) }

func (b *books) next() string {
	b.made++
	return fmt.Sprintf("j%d", b.made)
}

func (b *books) status(uuid string) conveyor.Status { return b.stores[0].status(uuid) }

// draw is a job with a key, labels and limits of a few.
func (b *books) draw(uuid string) *wire.Job {
	j := job(uuid)
	if b.int("keyed", 2) == 0 {
		j.Unique = fmt.Sprint("k", b.int("key", 3))
	}
	for range b.int("labels", 3) {
		if j.Labels == nil {
			j.Labels = map[string]string{}
		}
		j.Labels[fmt.Sprint("l", b.int("name", 2))] = fmt.Sprint("v", b.int("value", 2))
	}
	switch b.int("limits", 6) {
	case 0:
		removedAfter(time.Duration(1+b.int("remove after", 3000)) * time.Millisecond)(j)
	case 1:
		waitsFor(time.Duration(1+b.int("waits", 3000)) * time.Millisecond)(j)
	case 2:
		runAt(b.stores[0].now + int64(b.int("run at", 3000)))(j)
	}
	if b.int("triggers", 4) == 0 {
		triggers(b.gateLabels()...)(j)
	}
	if up := b.some(); up != uuid {
		switch b.int("edge", 5) {
		case 0:
			under(up)(j)
		case 1:
			after(wire.Edge_RunIf(b.int("run if", 3)), up)(j)
		}
	}
	return j
}

func (b *books) gateLabels() []string {
	return [][]string{{"g0"}, {"g0"}, {"g1"}, {"g0", "g1"}}[b.int("gate labels", 4)]
}

// template is one with a gate or a schedule, or downstream of this root.
func (b *books) template(uuid, root string) *wire.Job {
	j := b.draw(uuid)
	j.Edges, j.RunAt, j.TriggersGate = nil, nil, nil
	switch {
	case root != "" && b.int("child", 2) == 0:
		downstream(j)
		under(root)(j)
	case root != "":
		downstream(j)
		after(wire.Edge_ALWAYS, root)(j)
	case b.int("scheduled", 2) == 0:
		scheduled(&wire.Schedule{Every: "1 minute", Overlap: wire.Schedule_Overlap(b.int("overlap", 3))})(j)
	default:
		gated(b.gateLabels()...)(j)
	}
	return j
}

// declare adds a root and what is downstream of it.
func (b *books) declare() {
	root := b.next()
	changes := []conveyor.Change{{Kind: conveyor.ChangeAdd, Job: b.template(root, "")}}
	for range b.int("downstream", 3) {
		changes = append(changes, conveyor.Change{Kind: conveyor.ChangeAdd, Job: b.template(b.next(), root)})
	}
	b.roots = append(b.roots, root)
	b.apply(fmt.Sprint("declare ", changes), changes...)
}

// redeclare gives a root another gate, or another schedule, or one for the other.
func (b *books) redeclare() {
	if len(b.roots) > 0 {
		j := b.template(b.roots[b.int("root", len(b.roots))], "")
		b.do(fmt.Sprint("redeclare ", j), func(e *engine) (any, error) { return nil, e.Update(e.Context(), j) })
	}
}

func (b *books) add() {
	var changes []conveyor.Change
	for range 1 + b.int("jobs", 3) {
		c := conveyor.Change{Kind: conveyor.ChangeAdd, Job: b.draw(b.next())}
		if b.int("recorded", 4) == 0 {
			c.Attach = &conveyor.Attach{Key: "state:w", Field: c.Job.Uuid, Value: []byte("1 x")}
		}
		changes = append(changes, c)
	}
	b.apply(fmt.Sprint("add ", changes), changes...)
}

func (b *books) update() {
	j := b.draw(b.some())
	b.do(fmt.Sprint("update ", j), func(e *engine) (any, error) { return nil, e.Update(e.Context(), j) })
}

func (b *books) cancel() {
	c := conveyor.Change{Kind: conveyor.ChangeCancel, UUID: b.some(), Withdraw: b.int("withdraw", 2) == 0}
	changes := []conveyor.Change{c}
	if b.int("and add", 3) == 0 {
		changes = append(changes, conveyor.Change{Kind: conveyor.ChangeAdd, Job: b.draw(b.next())})
	}
	b.apply(fmt.Sprint("cancel ", changes), changes...)
}

func (b *books) replace() {
	old, j := b.some(), b.draw(b.next())
	j.Edges = slices.DeleteFunc(j.Edges, func(e *wire.Edge) bool { return e.Uuid == old })
	b.apply(fmt.Sprint("replace ", old, " by ", j),
		conveyor.Change{Kind: conveyor.ChangeAdd, Job: j, Replaces: old, CancelReplaced: b.int("cancel", 2) == 0})
}

func (b *books) reopen() {
	s := b.status(b.some())
	child := b.draw(b.next())
	child.Edges = []*wire.Edge{{Uuid: s.UUID, Opening: s.Opening + 1}}
	reopen := conveyor.Change{Kind: conveyor.ChangeReopen, UUID: s.UUID, Opening: s.Opening + 1}
	if b.int("changed", 2) == 0 {
		reopen.Job = b.draw(s.UUID)
	}
	if s.State != conveyor.StateUnknown {
		b.apply(fmt.Sprint("reopen ", s.UUID, " for ", child, reopen.Job), conveyor.Change{Kind: conveyor.ChangeAdd, Job: child}, reopen)
	}
}

func (b *books) retry() {
	uuid := b.some()
	for _, uuid := range []string{uuid, fmt.Sprintf("j%d", b.made)} {
		before := b.status(uuid).Opening
		b.do("retry "+uuid, func(e *engine) (any, error) {
			if e.status(uuid).Opening > before { // done, and what it waits for may have excluded it at once
				return nil, nil
			}
			return nil, e.Retry(e.Context(), uuid)
		})
	}
}

func (b *books) release() {
	uuid := b.some()
	b.do("release "+uuid, func(e *engine) (any, error) { return nil, e.Release(e.Context(), uuid) })
}

func (b *books) remove() {
	uuid := b.some()
	b.do("remove "+uuid, func(e *engine) (any, error) { return nil, e.Remove(e.Context(), uuid) })
}

// forget gives up a record.
func (b *books) forget() {
	uuid := b.some()
	b.apply("forget "+uuid, conveyor.Change{Kind: conveyor.ChangeRelease, UUID: uuid, Attach: &conveyor.Attach{Key: "state:w", Field: uuid, Version: -1}})
}

func (b *books) keep() {
	s := conveyor.QueueSettings{KeepFor: time.Duration(b.int("keep for", 4)) * time.Second, KeepCount: b.int("keep count", 6)}
	b.do(fmt.Sprint("keep ", s), func(e *engine) (any, error) { return nil, e.SetQueue(e.Context(), "q", s) })
}

func (b *books) exchange() {
	b.number++
	r := conveyor.ExchangeRequest{Caller: "c", Number: b.number, Lease: 5 * time.Second, Queues: []string{"q"}, Want: b.int("want", 3)}
	var kept []conveyor.Reservation
	for _, h := range b.held {
		if b.int("ends", 3) == 0 {
			kept = append(kept, h)
			continue
		}
		a := ack(h, conveyor.Verdict(b.int("verdict", 7)))
		a.Failure, a.Delay = "failure", time.Duration(b.int("delay", 2))*time.Second
		r.Done = append(r.Done, a)
	}
	reply, ok := b.do(fmt.Sprint("exchange ", r.Want, " ", r.Done), func(e *engine) (any, error) { return e.Exchange(e.Context(), r) })
	if !ok {
		b.Fatal(b.trace)
	}
	b.held = append(kept, reply.(conveyor.ExchangeReply).Reserved...)
}

// pass lets time go by, and a tick come.
func (b *books) pass() {
	d := time.Duration(b.int("pass", 4000)) * time.Millisecond
	if len(b.roots) > 0 && b.int("a minute", 2) == 0 {
		d += time.Minute
	}
	for _, e := range b.stores {
		e.pass(d)
	}
	b.trace = append(b.trace, fmt.Sprint("pass ", d))
	for i, e := range b.stores {
		if e.sweep(); i == 0 {
			e.ledger()
		}
	}
}

// look wants jobs listed by a label to be those that show it.
func (b *books) look() {
	name, value := []string{"l0", "l1", "*"}[b.int("name", 3)], []string{"v0", "v1", "*"}[b.int("value", 3)]
	filter, live, got, want := map[string]string{name: value}, false, []string{}, []string{}
	found, _ := b.do(fmt.Sprint("list ", filter), func(e *engine) (any, error) { return e.List(e.Context(), conveyor.ListOptions{Labels: filter}) })
	for _, l := range found.([]conveyor.Listed) {
		live = live || !l.State.Ended()
		got = append(got, l.UUID)
	}
	if exists, _ := b.do("exists", func(e *engine) (any, error) { return e.Exists(e.Context(), filter) }); exists != live {
		b.Errorf("%v exists: %v, listed: %v", filter, exists, found)
	}
	all, _ := b.do("list", func(e *engine) (any, error) { return e.List(e.Context(), conveyor.ListOptions{}) })
	for _, l := range all.([]conveyor.Listed) {
		for k, v := range l.Labels {
			if strings.HasPrefix(k, "l") && (name == "*" || name == k) && (value == "*" || value == v) {
				want = append(want, l.UUID)
				break
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		b.Errorf("jobs with %v (-labels +sets):\n%s", filter, diff)
	}
}

// finish cancels what is live, lets its leases end and gives up all records: after retention nothing is left.
func (b *books) finish() {
	for range 3 {
		var uuids []string
		for i := range b.made {
			uuids = append(uuids, fmt.Sprintf("j%d", i+1))
		}
		for uuid, entry := range b.stores[0].hash("status") {
			if tagsOf(entry)["C"] != "" && !over(entry) {
				uuids = append(uuids, uuid)
			}
		}
		slices.Sort(uuids)
		for _, uuid := range uuids {
			b.apply("cancel "+uuid, conveyor.Change{Kind: conveyor.ChangeCancel, UUID: uuid})
			b.apply("forget "+uuid, conveyor.Change{Kind: conveyor.ChangeRelease, UUID: uuid, Attach: &conveyor.Attach{Key: "state:w", Field: uuid, Version: -1}})
		}
		for _, e := range b.stores {
			e.pass(2*conveyor.Retention + time.Second)
			e.sweep()
			e.ledger()
		}
	}
	for _, e := range b.stores {
		e.sound()
		left := slices.DeleteFunc(e.scan(), func(key string) bool {
			return slices.Contains([]string{"clock", "events", "events:life", "events:seq", "seq", "queues"}, key)
		})
		if len(left) > 0 {
			b.Errorf("left: %v\nafter\n%s\n%s", left, strings.Join(b.trace, "\n"), dump(e))
		}
	}
}
