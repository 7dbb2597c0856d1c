package conveyor_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// labelled gives labels as "name=value".
func labelled(labels ...string) func(*wire.Job) {
	return func(j *wire.Job) {
		j.Labels = map[string]string{}
		for _, l := range labels {
			name, value, _ := strings.Cut(l, "=")
			j.Labels[name] = value
		}
	}
}

// filter reads "name=value name=value".
func filter(text string) map[string]string {
	out := map[string]string{}
	for _, part := range strings.Fields(text) {
		name, value, _ := strings.Cut(part, "=")
		out[name] = value
	}
	return out
}

// finds wants these jobs to be listed, in order, and Exists to agree with the live ones among them.
func (e *engine) finds(o conveyor.ListOptions, want ...string) {
	e.Helper()
	found, err := e.List(e.Context(), o)
	e.ok(err)
	got, live := []string{}, false
	for _, l := range found {
		got = append(got, l.UUID)
		live = live || !l.State.Ended()
	}
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		e.Errorf("%+v (-want +got):\n%s", o, diff)
	}
	if len(o.Labels) > 0 && o.States == nil && o.Queue == "" && o.After == "" {
		if exists, err := e.Exists(e.Context(), o.Labels); err != nil || exists != live {
			e.Errorf("%v exists: %t %v, listed live ones: %t", o.Labels, exists, err, live)
		}
	}
}

func TestLabels(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("a", labelled("tenant=acme", "kind=mail")), job("b", labelled("tenant=acme", "kind=pdf")),
			job("c", labelled("tenant=other", "owner=acme")), job("d"), job("e", queue("q2"), labelled("tenant=acme", "empty=")))
		e.Behaviour("C10j jobs exist and are listed by any subset of their labels, any name, any value", func(e *engine) {
			e.add(job("a", labelled("tenant=acme", "kind=mail")), job("b", labelled("tenant=acme", "kind=pdf")),
				job("c", labelled("tenant=other", "owner=acme")), job("d"), job("e", queue("q2"), labelled("tenant=acme", "empty=")))
			for _, row := range []struct {
				labels string
				want   []string
			}{
				{"tenant=acme", []string{"a", "b", "e"}},
				{"tenant=acme kind=pdf", []string{"b"}},
				{"tenant=other kind=pdf", nil},
				{"kind=*", []string{"a", "b"}},
				{"tenant=* kind=mail", []string{"a"}},
				{"*=acme", []string{"a", "b", "c", "e"}},
				{"*=*", []string{"a", "b", "c", "e"}},
				{"*=acme tenant=other", []string{"c"}},
				{"empty=", []string{"e"}},
				{"empty=*", []string{"e"}},
				{"kind=", nil},
				{"nobody=has", nil},
			} {
				e.finds(conveyor.ListOptions{Labels: filter(row.labels)}, row.want...)
			}
		})
		e.Run("by queue and state, page by page", func(e *engine) {
			e.finds(conveyor.ListOptions{}, "a", "b", "c", "d", "e")
			e.finds(conveyor.ListOptions{Limit: 2}, "a", "b")
			e.finds(conveyor.ListOptions{Limit: 2, After: "b"}, "c", "d")
			e.finds(conveyor.ListOptions{Limit: 2, After: "d"}, "e")
			e.finds(conveyor.ListOptions{Queue: "q2"}, "e")
			e.finds(conveyor.ListOptions{Labels: filter("tenant=acme"), Limit: 1, After: "a"}, "b")
			e.finds(conveyor.ListOptions{Labels: filter("tenant=acme"), Queue: "q2"}, "e")
			e.finds(conveyor.ListOptions{Labels: filter("tenant=acme"), States: []conveyor.State{conveyor.StateRunning}})
			e.finds(conveyor.ListOptions{States: conveyor.LiveStates()}, "a", "b", "c", "d", "e")
		})
		e.Run("ended jobs are found as long as they are kept, and do not exist", func(e *engine) {
			e.run("a", conveyor.VerdictDone)
			e.ok(e.Cancel(e.Context(), "b"))
			e.finds(conveyor.ListOptions{Labels: filter("kind=*")}, "a", "b")
			e.finds(conveyor.ListOptions{Labels: filter("kind=*"), States: []conveyor.State{conveyor.StateCancelled}}, "b")
			e.finds(conveyor.ListOptions{Labels: filter("kind=*"), States: conveyor.LiveStates()})
			e.ledger()
			e.ok(e.Remove(e.Context(), "a"))
			e.finds(conveyor.ListOptions{Labels: filter("kind=*")}, "b")
		})
		e.Run("an update changes them, also of a running job", func(e *engine) {
			e.take("c")
			for _, labels := range [][]string{{"tenant=acme"}, {"tenant=acme", "more=1"}, nil, {"tenant=new"}} {
				for range 2 {
					e.ok(e.Update(e.Context(), job("c", labelled(labels...))))
					e.ledger()
				}
			}
			e.finds(conveyor.ListOptions{Labels: filter("tenant=new")}, "c")
			e.finds(conveyor.ListOptions{Labels: filter("owner=*")})
			e.exchange(0, conveyor.Ack{UUID: "c", Fence: 1})
			e.ok(e.Update(e.Context(), job("c"))) // over: it keeps them
			e.finds(conveyor.ListOptions{Labels: filter("tenant=new")}, "c")
		})
		e.Run("a job that waits for its children, or reopens, takes others", func(e *engine) {
			e.add(job("kid", under("p")), job("p", lane(2), labelled("tenant=p1")))
			e.run("p", conveyor.VerdictDone)
			e.ok(e.Update(e.Context(), job("p", labelled("tenant=p2"))))
			e.finds(conveyor.ListOptions{Labels: filter("tenant=p2"), States: []conveyor.State{conveyor.StateClosing}}, "p")
			e.ok(e.Cancel(e.Context(), "kid"))
			e.ledger()
			reopen := conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeAdd, Job: job("late", edge(&wire.Edge{Uuid: "p", Opening: 2}))},
				{Kind: conveyor.ChangeReopen, UUID: "p", Opening: 2, Job: job("p", labelled("tenant=p3"))},
			}}
			for range 2 {
				e.ok(e.Apply(e.Context(), reopen))
				e.finds(conveyor.ListOptions{Labels: filter("tenant=p3"), States: conveyor.LiveStates()}, "p")
				e.ledger()
			}
			e.ok(e.Cancel(e.Context(), "late"))
			e.finds(conveyor.ListOptions{Labels: filter("tenant=p2")})
			e.finds(conveyor.ListOptions{Labels: filter("tenant=p3")}, "p")
		})
		e.Run("facts of the engine show as labels and are filtered by", func(e *engine) {
			e.take("d")
			e.finds(conveyor.ListOptions{Labels: filter("worker=w")}, "d")
			e.finds(conveyor.ListOptions{Labels: filter("worker=nobody")})
			e.finds(conveyor.ListOptions{Labels: filter("worker=*")}, "d")
			e.finds(conveyor.ListOptions{Labels: filter("object=e")}, "e")
			e.finds(conveyor.ListOptions{Labels: filter("object=e tenant=acme")}, "e")
			e.finds(conveyor.ListOptions{Labels: filter("object=e tenant=other")})
			e.add(job("x", labelled("tenant=acme"), waitsFor(time.Minute)))
			e.finds(conveyor.ListOptions{Labels: filter("expiry=*")}, "x")
			found, err := e.List(e.Context(), conveyor.ListOptions{Labels: filter("object=x")})
			e.ok(err)
			want := map[string]string{"tenant": "acme", "object": "x", "method": "any", "expiry": time.UnixMilli(e.now + 60_000).UTC().Format(time.RFC3339Nano)}
			if diff := cmp.Diff(want, found[0].Labels); diff != "" {
				e.Errorf("labels (-want +got):\n%s", diff)
			}
		})
		e.Run("after retention nothing of them is left", func(e *engine) {
			e.exchange(0, conveyor.Ack{UUID: "d", Fence: 1})
			e.run("x", conveyor.VerdictFailed)
			e.ok(e.Cancel(e.Context(), "e"))
			e.ok(e.Leave(e.Context(), "w"))
			e.pass(conveyor.Retention)
			e.sweep()
			if keys := e.scan(); strings.Contains(fmt.Sprint(keys), "label") || strings.Contains(fmt.Sprint(keys), "past") {
				e.Errorf("left: %v", keys)
			}
		})
	})
}

// Names and values are anything; what means something to the store does not mix them up.
func TestLabelNames(t *testing.T) {
	onBoth(t, func(e *engine) {
		labels := map[string]string{"a=b": "c", "a": "b=c", "x,y": "z|", "sp ace": "new\nline", "%": "%", "pct%25": "", "ü": "{braces}:colon"}
		e.add(job("odd", func(j *wire.Job) { j.Labels = labels }), job("other", labelled("a=b")))
		for name, value := range labels {
			e.finds(conveyor.ListOptions{Labels: map[string]string{name: value}}, "odd")
		}
		found, err := e.List(e.Context(), conveyor.ListOptions{Labels: map[string]string{"a=b": "*"}})
		e.ok(err)
		got := maps.Clone(found[0].Labels)
		delete(got, "object")
		delete(got, "method")
		if diff := cmp.Diff(labels, got); diff != "" {
			e.Errorf("labels (-want +got):\n%s", diff)
		}
		e.ledger()
	})
}

// What is wrong with a job has an error of its own, and stores nothing.
func TestLabelsRefused(t *testing.T) {
	onBoth(t, func(e *engine) {
		many := map[string]string{}
		for i := range conveyor.MaxLabels + 1 {
			many[fmt.Sprint("l", i)] = "x"
		}
		for _, row := range []struct {
			name   string
			labels map[string]string
			want   []error
			text   string
		}{
			{"empty name", map[string]string{"": "x"}, []error{conveyor.ErrLabel}, "is empty"},
			{"any name", map[string]string{"*": "x"}, []error{conveyor.ErrLabel}, "* means any"},
			{"any value", map[string]string{"x": "*"}, []error{conveyor.ErrLabel}, "* means any"},
			{"too many", many, []error{conveyor.ErrLabel, conveyor.ErrTooLarge}, "65 labels"},
			{"long name", map[string]string{strings.Repeat("n", conveyor.MaxLabelName+1): "x"}, []error{conveyor.ErrLabel, conveyor.ErrTooLarge}, "name of 129 bytes"},
			{"long value", map[string]string{"x": strings.Repeat("v", conveyor.MaxLabelValue+1)}, []error{conveyor.ErrLabel, conveyor.ErrTooLarge}, "value of 1025"},
		} {
			for _, call := range []func(*wire.Job) error{
				func(j *wire.Job) error { return e.Add(e.Context(), j) }, func(j *wire.Job) error { return e.Update(e.Context(), j) },
			} {
				err := call(job("bad", func(j *wire.Job) { j.Labels = row.labels }))
				for _, want := range row.want {
					e.refused(err, want)
				}
				if err == nil || !strings.Contains(err.Error(), row.text) {
					e.Errorf("%s: %v does not say %q", row.name, err, row.text)
				}
			}
		}
		for _, name := range []string{"object", "worker", "cycles", "expiry", "cancel", "tick-1", "tick+1", "method"} {
			err := e.Add(e.Context(), job("bad", labelled(name+"=x")))
			e.refused(err, conveyor.ErrLabel)
			e.refused(err, conveyor.ErrReservedLabel)
		}
		_, err := e.Exists(e.Context(), nil)
		e.refused(err, conveyor.ErrLabel)
		_, err = e.Exists(e.Context(), map[string]string{"": "x"})
		e.refused(err, conveyor.ErrLabel)
		_, err = e.List(e.Context(), conveyor.ListOptions{Labels: map[string]string{"": "x"}})
		e.refused(err, conveyor.ErrLabel)
		_, err = e.List(e.Context(), conveyor.ListOptions{Queue: "{q}"})
		e.refused(err, conveyor.ErrQueueName)
		if _, err = e.List(e.Context(), conveyor.ListOptions{Limit: conveyor.MaxListLimit + 1}); err == nil {
			e.Error("a limit out of range is no error")
		}
		e.states("bad unknown")
	})
}

// Keys of a wrong type: what needs them is refused or passes them over, neighbours are unharmed.
func TestLabelsDamaged(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.ok(e.rdb.Set(e.Context(), e.key("labels"), "x", 0).Err())
		e.refused(e.Add(e.Context(), job("a", labelled("x=1"))), conveyor.ErrCorrupt)
		e.states("a unknown")
		e.ok(e.rdb.Del(e.Context(), e.key("labels")).Err())
		e.ok(e.rdb.Set(e.Context(), e.key("label:x=1"), "x", 0).Err())
		e.add(job("a", labelled("x=1")), job("b", labelled("x=2")))
		e.finds(conveyor.ListOptions{Labels: filter("x=*")}, "a", "b")
		_, err := e.Exists(e.Context(), filter("x=1"))
		e.refused(err, conveyor.ErrCorrupt)
		e.run("a", conveyor.VerdictDone)
		e.run("b", conveyor.VerdictDone)
		e.finds(conveyor.ListOptions{Labels: filter("x=*")}, "a", "b")
		e.ok(e.rdb.Del(e.Context(), e.key("label:x=1")).Err())
	})
}
