package conveyor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	contract "github.com/waybill-dev/waybill/conveyor/task"
)

// tasks is an engine of the task contract under test.
type tasks struct {
	*engine
	*contract.Engine
}

func (e *engine) tasks(worker string) *tasks {
	e.Helper()
	t, err := contract.New(e.Client, contract.Options{Worker: worker, Expiry: 10 * time.Second})
	e.ok(err)
	return &tasks{e, t}
}

func (t *tasks) create(in *contract.Task) *contract.Task {
	t.Helper()
	t.ok(t.Create(t.engine.Context(), in))
	return in
}

// finds wants Search to give this task; nil wants that there is none.
func (t *tasks) finds(want *contract.Task) *contract.Task {
	t.Helper()
	got, err := t.Search(t.engine.Context())
	t.ok(err)
	switch {
	case want == nil && got != nil, want != nil && (got == nil || got.Core[contract.Object] != want.Core[contract.Object]):
		t.Fatalf("found %+v, want %+v", got, want)
	}
	return got
}

func (t *tasks) exists(want bool, in *contract.Task) {
	t.Helper()
	got, err := t.Exists(t.engine.Context(), in)
	t.ok(err)
	if got != want {
		t.Errorf("exists %+v: %v, want %v", in, got, want)
	}
}

func about(pairs ...string) contract.Labels {
	out := contract.Labels{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}

// handler is a worker's handler for one kind of task.
type handler struct {
	filter contract.Labels
	ensure func(*contract.Task) error
}

func (h handler) Filter(t *contract.Task) bool                     { return t.Meta.Has(h.filter) }
func (h handler) Ensure(_ context.Context, t *contract.Task) error { return h.ensure(t) }

func TestTaskContract(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("C9p only the owner extends and deletes a task", func(e *engine) {
			w1, w2 := e.tasks("w1"), e.tasks("w2")
			made := w1.create(&contract.Task{Meta: about("x.io/action", "delete", "x.io/object", "1234")})
			e.refused(w1.Delete(e.Context(), made), contract.ErrNotOwned)
			e.refused(w1.Extend(e.Context(), made), contract.ErrNotOwned)
			mine := w1.finds(made)
			w2.finds(nil)
			e.refused(w2.Delete(e.Context(), &contract.Task{Core: mine.Core}), contract.ErrNotOwned)
			w2.exists(true, &contract.Task{Core: mine.Core.All(contract.Object, contract.Worker)})
			e.ok(w1.Delete(e.Context(), mine))
			w2.exists(false, &contract.Task{Core: mine.Core.All(contract.Object)})
			e.ok(w1.Delete(e.Context(), mine)) // its answer may have been lost
		})
		e.Behaviour("C9q an owner whose time has expired is told so, and the task stays", func(e *engine) {
			w1, w2 := e.tasks("w1"), e.tasks("w2")
			made := w1.create(&contract.Task{Meta: about("a", "1")})
			first := w1.finds(made)
			if want := time.UnixMilli(e.now).Add(10 * time.Second).UTC().Format(time.RFC3339Nano); first.Core[contract.Expiry] != want {
				e.Errorf("expiry %s, want %s", first.Core[contract.Expiry], want)
			}
			e.pass(9 * time.Second)
			e.ok(w1.Extend(e.Context(), first))
			e.pass(9 * time.Second)
			e.ok(w2.Expire(e.Context()))
			w2.finds(nil)
			e.pass(time.Second)
			e.ok(w2.Expire(e.Context()))
			w1.exists(false, &contract.Task{Core: first.Core.All(contract.Object, contract.Worker)})
			w1.exists(true, &contract.Task{Core: first.Core.All(contract.Object)})
			e.refused(w1.Extend(e.Context(), first), conveyor.ErrOutdated)
			second := w2.finds(made)
			for _, call := range []error{w1.Delete(e.Context(), first), w1.Extend(e.Context(), first), w1.Defer(e.Context(), first, 0)} {
				e.refused(call, conveyor.ErrOutdated)
			}
			w2.exists(true, &contract.Task{Core: second.Core.All(contract.Object, contract.Worker)})
			e.ok(w2.Delete(e.Context(), second))
		})
		e.Behaviour("C9r templates are deleted by anyone who says so, other tasks are not", func(e *engine) {
			w := e.tasks("w1")
			template := w.create(&contract.Task{Meta: about("a", "1"), Cron: about(contract.Every, "6 hours")})
			plain := w.create(&contract.Task{Meta: about("a", "2")})
			e.refused(w.Delete(e.Context(), template), contract.ErrNotOwned)
			bypass := func(t *contract.Task) *contract.Task {
				return &contract.Task{Core: contract.Labels{contract.Object: t.Core[contract.Object], contract.Bypass: "true"}}
			}
			e.refused(w.Delete(e.Context(), bypass(plain)), contract.ErrTemplate)
			w.exists(true, &contract.Task{Meta: about("a", "1")})
			e.ok(w.Delete(e.Context(), bypass(template)))
			w.exists(false, &contract.Task{Meta: about("a", "1")})
		})
		e.Behaviour("C10s one live worker frees all expired leases", func(e *engine) {
			var all []*tasks
			for _, id := range []string{"w1", "w2", "w3"} {
				w := e.tasks(id)
				w.create(&contract.Task{Meta: about("a", id)})
				all = append(all, w)
			}
			for _, w := range all {
				if got, err := w.Search(e.Context()); got == nil || err != nil {
					e.Fatalf("found %v: %v", got, err)
				}
			}
			e.pass(10 * time.Second)
			e.ok(all[2].Expire(e.Context()))
			found, err := all[2].Lister(e.Context(), &contract.Task{Core: about(contract.Worker, contract.Any)})
			e.ok(err)
			if len(found) > 0 {
				e.Errorf("still owned: %+v", found)
			}
		})
		e.Behaviour("C1p a created schedule reflects its previous and its next tick", func(e *engine) {
			e.at(time.Date(2023, 9, 28, 14, 23, 24, 0, time.UTC).UnixMilli())
			w := e.tasks("w1")
			made := w.create(&contract.Task{Meta: about("a", "1"), Cron: about(contract.Every, "6 hours")})
			want := about(contract.Every, "6 hours", contract.LastTick, "2023-09-28T12:00:00Z", contract.NextTick, "2023-09-28T18:00:00Z")
			if diff := cmp.Diff(want, made.Cron); diff != "" {
				e.Errorf("(-want +got):\n%s", diff)
			}
			line := w.create(&contract.Task{Meta: about("b", "1"), Cron: about(contract.Line, "0 2 * * *", contract.Zone, "Europe/Berlin")})
			e.ok(e.PauseTemplate(e.Context(), line.Core[contract.Object])) // there are no ticks to tell then
			for label, want := range map[string]contract.Labels{"a": want, "b": about(contract.Line, "0 2 * * *", contract.Zone, "Europe/Berlin")} {
				found, err := w.Lister(e.Context(), &contract.Task{Meta: about(label, contract.Any)})
				e.ok(err)
				if len(found) != 1 || !cmp.Equal(want, found[0].Cron) {
					e.Errorf("listed %+v", found)
				}
			}
		})
		e.Behaviour("C3p templates are never handed to workers, and emit a task per tick", func(e *engine) {
			w := e.tasks("w1")
			made := w.create(&contract.Task{Meta: about("a", "1"), Cron: about(contract.Every, "hour"), Sync: about("x.io/latest", "0")})
			e.ok(w.Ticker(e.Context()))
			w.finds(nil)
			for _, latest := range []string{"0", "1"} {
				e.pass(time.Hour)
				e.ok(w.Ticker(e.Context()))
				got, err := w.Search(e.Context())
				e.ok(err)
				if got == nil || got.Template != made.Core[contract.Object] || got.Sync["x.io/latest"] != latest {
					e.Fatalf("found %+v", got)
				}
				got.Sync["x.io/latest"] = "1"
				e.ok(w.Delete(e.Context(), got))
				w.finds(nil)
			}
		})
		e.Behaviour("C4p a task is executed Cancel times and kept on hold until its cycles are reset", func(e *engine) {
			w := e.tasks("w1")
			made := w.create(&contract.Task{Meta: about("a", "1"), Core: about(contract.Cancel, "2")})
			fails := handler{about("a", "*"), func(*contract.Task) error { return errors.New("broken") }}
			for range 2 {
				if worked, err := w.Work(e.Context(), fails); !worked || err != nil {
					e.Fatal(worked, err)
				}
				e.pass(2 * time.Second)
			}
			w.finds(nil)
			w.exists(true, &contract.Task{Core: about(contract.Cancel, "2", contract.Cycles, "2")})
			n, err := w.Cycles(e.Context(), &contract.Task{Meta: about("a", "1")})
			e.ok(err)
			if n != 1 {
				e.Errorf("%d reset", n)
			}
			e.ok(w.Delete(e.Context(), w.finds(made)))
		})
		e.Behaviour("C6p a task goes to the worker it names, or to all that are alive, with nothing to acknowledge", func(e *engine) {
			w1, w2 := e.tasks("w1"), e.tasks("w2")
			w1.finds(nil)
			w2.finds(nil) // they are known now
			any := w1.create(&contract.Task{Meta: about("a", "any")})
			uni := w1.create(&contract.Task{Meta: about("a", "uni"), Node: about(contract.Method, contract.DeliverUni, contract.Worker, "w2")})
			w1.create(&contract.Task{Meta: about("a", "all"), Node: about(contract.Method, contract.DeliverAll)})
			w1.exists(true, &contract.Task{Node: about(contract.Method, contract.DeliverUni)})
			for _, w := range []*tasks{w1, w2} {
				got, err := w.Search(e.Context())
				e.ok(err)
				if got == nil || got.Meta["a"] != "all" || got.Node[contract.Method] != contract.DeliverAll {
					e.Fatalf("found %+v", got)
				}
				e.ok(w.Delete(e.Context(), got))
				e.refused(w.Extend(e.Context(), got), contract.ErrNotOwned)
			}
			first := w1.finds(any)
			second := w2.finds(uni)
			w1.finds(nil)
			w2.finds(nil)
			e.ok(w1.Delete(e.Context(), first))
			e.ok(w2.Delete(e.Context(), second))
		})
		e.Behaviour("C8p a task puts itself back with new sync", func(e *engine) {
			w := e.tasks("w1")
			made := w.create(&contract.Task{Meta: about("a", "1"), Sync: about("page", "0")})
			got := w.finds(made)
			got.Sync["page"] = "1"
			e.ok(w.Defer(e.Context(), got, 0))
			got = w.finds(made)
			if got.Sync["page"] != "1" {
				e.Errorf("sync %v", got.Sync)
			}
			e.ok(w.Delete(e.Context(), got))
			bare := w.finds(w.create(&contract.Task{Meta: about("a", "2")}))
			bare.Sync["page"] = "1" // the first that it carries
			e.ok(w.Delete(e.Context(), bare))
		})
		e.Behaviour("C10p tasks exist by any subset of their labels, with wildcards for keys and values", func(e *engine) {
			w := e.tasks("w1")
			w.create(&contract.Task{Meta: about("a", "1", "b", "2", "c", "3")})
			for _, row := range []struct {
				want  bool
				asked contract.Labels
			}{
				{true, about("b", "2", "c", "3")}, {true, about("a", "1")}, {false, about("a", "2")}, {false, about("a", "1", "d", "4")},
				{true, about("a", contract.Any)}, {true, about(contract.Any, "3")}, {false, about(contract.Any, "4")}, {false, about("d", contract.Any)},
			} {
				w.exists(row.want, &contract.Task{Meta: row.asked})
			}
		})
		e.Behaviour("C10q a worker takes what its filter says, and a task that nobody takes goes back unspent", func(e *engine) {
			w := e.tasks("w1")
			made := w.create(&contract.Task{Meta: about("x.io/action", "delete", "x.io/object", "1234"), Core: about(contract.Cancel, "9")})
			done := 0
			right := handler{about("x.io/action", "delete", "x.io/object", "*"), func(t *contract.Task) error { done++; return nil }}
			wrong := handler{about("x.io/action", "create"), func(*contract.Task) error { panic("not mine") }}
			if worked, err := w.Work(e.Context(), wrong); !worked || err != nil {
				e.Fatal(worked, err)
			}
			w.exists(true, &contract.Task{Core: about(contract.Object, made.Core[contract.Object], contract.Cycles, "0")})
			e.pass(2 * time.Second)
			if worked, err := w.Work(e.Context(), wrong, right); !worked || err != nil || done != 1 {
				e.Fatal(worked, err, done)
			}
			if worked, err := w.Work(e.Context(), right); worked || err != nil {
				e.Error(worked, err)
			}
		})
		e.Behaviour("C10r definitions that contradict themselves are refused", func(e *engine) {
			w, before := e.tasks("w1"), dump(e)
			for name, row := range map[string]struct {
				in   *contract.Task
				want error
			}{
				"nothing":                      {nil, contract.ErrNil},
				"no meta":                      {&contract.Task{}, contract.ErrNoMeta},
				"a label without a key":        {&contract.Task{Meta: about("", "1")}, conveyor.ErrLabel},
				"a reserved label":             {&contract.Task{Meta: about("object", "1")}, conveyor.ErrReservedLabel},
				"what only the engine sets":    {&contract.Task{Meta: about("a", "1"), Core: about(contract.Worker, "w1")}, contract.ErrReserved},
				"a tick":                       {&contract.Task{Meta: about("a", "1"), Cron: about(contract.Every, "hour", contract.NextTick, "x")}, contract.ErrReserved},
				"an interval and a time":       {&contract.Task{Meta: about("a", "1"), Cron: about(contract.Every, "hour", contract.Time, "2026-11-21T00:00:00Z")}, conveyor.ErrScheduleTime},
				"another schedule":             {&contract.Task{Meta: about("a", "1"), Cron: about("@often", "yes")}, contract.ErrUnknown},
				"a schedule with a root":       {&contract.Task{Meta: about("a", "1"), Cron: about(contract.Every, "hour"), Root: about("b", "1")}, conveyor.ErrTemplateObsolete},
				"waiting and trigger":          {&contract.Task{Meta: about("a", "1"), Gate: about("x", contract.Waiting, "y", contract.Trigger)}, conveyor.ErrGateTriggers},
				"the value deleted":            {&contract.Task{Meta: about("a", "1"), Gate: about("x", contract.Deleted)}, contract.ErrGate},
				"uni without a worker":         {&contract.Task{Meta: about("a", "1"), Node: about(contract.Method, contract.DeliverUni)}, conveyor.ErrDeliveryNoWorker},
				"any with a worker":            {&contract.Task{Meta: about("a", "1"), Node: about(contract.Method, contract.DeliverAny, contract.Worker, "w")}, conveyor.ErrDeliveryWorker},
				"all with a worker":            {&contract.Task{Meta: about("a", "1"), Node: about(contract.Method, contract.DeliverAll, contract.Worker, "w")}, conveyor.ErrDeliveryWorker},
				"another method":               {&contract.Task{Meta: about("a", "1"), Node: about(contract.Method, "some")}, contract.ErrMethod},
				"a limit that is none":         {&contract.Task{Meta: about("a", "1"), Core: about(contract.Cancel, "0")}, contract.ErrCancel},
				"sync without a key":           {&contract.Task{Meta: about("a", "1"), Sync: about("", "0")}, conveyor.ErrSync},
				"a wildcard, which tasks lack": {&contract.Task{Meta: about("a", contract.Any)}, conveyor.ErrLabel},
			} {
				if err := w.Create(e.Context(), row.in); !errors.Is(err, row.want) {
					e.Errorf("%s: got %v, want %v", name, err, row.want)
				}
			}
			if diff := cmp.Diff(before, dump(e)); diff != "" {
				e.Errorf("something is stored (-before +after):\n%s", diff)
			}
		})
	})
}

// TestTaskSearchLosesNothing loses the answer of a Search: the next one tells of the task that it gave.
func TestTaskSearchLosesNothing(t *testing.T) {
	onBoth(t, func(e *engine) {
		w := e.tasks("w1")
		made := w.create(&contract.Task{Meta: about("a", "1")})
		ended, cancel := context.WithCancel(e.Context())
		cancel()
		if got, err := w.Search(ended); got != nil || err == nil {
			t.Errorf("found %v: %v", got, err)
		}
		e.ok(w.Delete(e.Context(), w.finds(made)))
	})
}
