package conveyor_test

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/enginemodel"
)

// cyclic are the operations of a history that is about templates and their cycles.
func (h *history) cyclic() []func() {
	return []func(){ // 32 of them, see play
		h.declare, h.declare, h.redeclare, h.pauseTemplate, h.resumeTemplate, h.runTemplate, h.backfill, h.resetCycles,
		h.longPass, h.longPass, h.longPass, h.pass, h.tick, h.tick, h.tick, h.lateTick,
		h.exchange, h.exchange, h.exchange, h.exchange, h.exchange, h.crash, h.ghost, h.repeat,
		h.add, h.batch, h.cancel, h.cancelTemplate, h.cancelOccurrence, h.retryOccurrence, h.release, h.setBack,
	}
}

// schedule is one that fires every few minutes, as the time that passes between operations.
func (h *history) schedule() *wire.Schedule {
	s := &wire.Schedule{Catchup: wire.Schedule_Catchup(h.int("catchup", 0, 2)), Overlap: wire.Schedule_Overlap(h.int("overlap", 0, 2)), Disabled: h.one("disabled", 8)}
	if h.one("cron", 3) {
		s.Cron, s.Timezone = fmt.Sprintf("*/%d * * * *", h.int("minutes", 1, 4)), "Europe/Berlin"
	} else {
		s.Every = fmt.Sprintf("%d minutes", h.int("minutes", 1, 4))
	}
	return s
}

// gateLabels are some that gates wait for.
func (h *history) gateLabels() (out []string) {
	for _, label := range []string{"g1", "g2", "g=,3"} {
		if h.one("gate label", 2) {
			out = append(out, label)
		}
	}
	if len(out) == 0 {
		return []string{"g1"}
	}
	return out
}

// templateOf is what a job is drawn for and is never run itself: its times are those of its cycles.
func (h *history) templateOf(uuid string, ups ...string) *wire.Job {
	j := h.draw(uuid)
	j.Edges, j.RunAt, j.MaxCycles, j.Unique = nil, nil, 0, ""
	if h.one("sync", 2) {
		j.Sync = map[string]string{"cursor": fmt.Sprint(h.int("cursor", 0, 3))}
	}
	if h.one("unique occurrences", 6) {
		j.Unique = fmt.Sprintf("key%d", h.int("key", 1, 3))
	}
	j.Delivery = nil
	if h.gated[h.families[uuid]] { // or its occurrences could open gates for ever
		j.TriggersGate = nil
	}
	if len(ups) == 0 {
		j.After, j.ObsoleteIf = nil, nil
		if h.gated[uuid] {
			j.Gate = h.gateLabels()
		} else {
			j.Schedule = h.schedule()
		}
		if h.one("limited", 5) {
			j.MaxCycles = int32(h.int("cycles", 1, 3))
		}
		return j
	}
	j.Template = true
	for i, up := range ups {
		if i > 0 && !h.one("and", 3) {
			continue
		}
		e := &wire.Edge{Uuid: up, Group: int32(i), Kind: wire.Edge_Kind(h.int("kind", 0, 1)), IgnoreFailure: h.one("lenient", 4)}
		if e.Kind == wire.Edge_PREDECESSOR {
			e.RunIf = wire.Edge_RunIf(h.int("run_if", 0, 2))
		}
		j.Edges = append(j.Edges, e)
	}
	if up := h.some(); h.one("one-shot", 6) && !slices.Contains(ups, up) && h.status(up).State != conveyor.StateTemplate && up != uuid && !h.template[up] {
		j.Edges = append(j.Edges, &wire.Edge{Uuid: up, Group: 9, Kind: wire.Edge_PREDECESSOR, RunIf: wire.Edge_ALWAYS})
	}
	return j
}

// declare adds a root and what is downstream of it, or more that is downstream of one that is there.
func (h *history) declare() {
	var jobs []*wire.Job
	family := h.family(h.someRoot())
	if len(family) == 0 || h.one("root", 2) {
		root := h.next()
		h.template[root], h.gated[root], h.families[root] = true, h.one("gate", 3), root
		jobs, family = append(jobs, h.templateOf(root)), []string{root}
	}
	root := h.families[family[0]]
	for range h.int("downstream", 0, 3) {
		uuid := h.next()
		h.template[uuid] = true
		h.families[uuid] = root
		ups := slices.Clone(family)
		slices.Reverse(ups)
		first := h.int("first upstream", 0, len(ups)-1)
		ups[0], ups[first] = ups[first], ups[0]
		jobs = append(jobs, h.templateOf(uuid, ups...))
		family = append(family, uuid)
	}
	if h.one("upstream first", 2) {
		slices.Reverse(jobs)
	}
	if len(jobs) > 0 {
		h.addJobs(enginemodel.Added{}, jobs...)
	}
}

// family are the live templates of a root, itself first.
func (h *history) family(root string) (out []string) {
	for _, uuid := range h.uuids {
		if h.families[uuid] == root && root != "" && h.status(uuid).State == conveyor.StateTemplate {
			out = append(out, uuid)
		}
	}
	if len(out) > 0 && out[0] != root {
		return nil
	}
	return out
}

func (h *history) someRoot() string {
	var roots []string
	for _, uuid := range h.uuids {
		if h.families[uuid] == uuid && h.status(uuid).State == conveyor.StateTemplate {
			roots = append(roots, uuid)
		}
	}
	if len(roots) == 0 || h.one("any job", 20) {
		return h.some()
	}
	return rapid.SampledFrom(roots).Draw(h.T, "root")
}

func (h *history) someTemplate() string {
	family := h.family(h.someRoot())
	if len(family) == 0 {
		return h.some()
	}
	return rapid.SampledFrom(family).Draw(h.T, "template")
}

// someOccurrence is one of those that any template made.
func (h *history) someOccurrence() string {
	var out []string
	for _, uuid := range h.known() {
		if h.status(uuid).Template != "" {
			out = append(out, uuid)
		}
	}
	if len(out) == 0 {
		return h.some()
	}
	return rapid.SampledFrom(out).Draw(h.T, "occurrence")
}

// known are all uuids that there were, those of occurrences too.
func (h *history) known() []string {
	out := slices.Clone(h.uuids)
	for _, uuid := range h.model.Known() {
		if !slices.Contains(out, uuid) {
			out = append(out, uuid)
		}
	}
	slices.Sort(out[len(h.uuids):])
	return out
}

// redeclare changes a template for later cycles.
func (h *history) redeclare() {
	uuid := h.someTemplate()
	family := h.family(h.families[uuid])
	at := slices.Index(family, uuid)
	if at < 0 {
		return
	}
	j := h.templateOf(uuid, family[:at]...)
	h.log("update %v", j)
	h.do(func() (any, error) { return nil, h.model.Update(withField(j)) }, func(e *engine) (any, error) { return nil, e.Update(e.Context(), j) })
}

func (h *history) byHand(what string, model func(uuid string) error, store func(e *engine, uuid string) error) {
	uuid := h.someTemplate()
	if h.one("of the root", 2) {
		uuid = h.someRoot()
	}
	h.log("%s %s", what, uuid)
	h.do(func() (any, error) { return nil, model(uuid) }, func(e *engine) (any, error) { return nil, store(e, uuid) })
}

func (h *history) pauseTemplate() {
	h.byHand("pause", h.model.PauseTemplate, func(e *engine, uuid string) error { return e.PauseTemplate(e.Context(), uuid) })
}

func (h *history) resumeTemplate() {
	h.byHand("resume", h.model.ResumeTemplate, func(e *engine, uuid string) error { return e.ResumeTemplate(e.Context(), uuid) })
}

func (h *history) resetCycles() {
	h.byHand("reset", h.model.ResetCycles, func(e *engine, uuid string) error { return e.ResetCycles(e.Context(), uuid) })
}

func (h *history) runTemplate() {
	uuid := h.someRoot()
	h.log("run %s", uuid)
	h.do(func() (any, error) { return h.model.RunTemplate(uuid) }, func(e *engine) (any, error) { return e.RunTemplate(e.Context(), uuid) })
}

func (h *history) backfill() {
	if h.one("cancel the backfill", 5) {
		h.cancelBackfill()
		return
	}
	uuid := h.someRoot()
	to := time.UnixMilli(h.model.Now()).UTC().Add(-time.Duration(h.int("to", 0, 5)) * time.Minute)
	from, dry := to.Add(-time.Duration(h.int("from", 0, 6))*time.Minute), h.one("dry", 8)
	h.log("backfill %s from %s to %s dry %t", uuid, from, to, dry)
	h.do(func() (any, error) { return h.model.Backfill(uuid, from, to, dry) },
		func(e *engine) (any, error) { return e.Backfill(e.Context(), uuid, from, to, dry) })
}

func (h *history) cancelBackfill() {
	uuid := h.someRoot()
	h.log("cancel the backfill of %s", uuid)
	h.do(func() (any, error) { return h.model.CancelBackfill(uuid) }, func(e *engine) (any, error) { return e.CancelBackfill(e.Context(), uuid) })
}

func (h *history) cancelTemplate() { h.cancelOf(h.someTemplate()) }

func (h *history) cancelOccurrence() { h.cancelOf(h.someOccurrence()) }

func (h *history) retryOccurrence() {
	uuid := h.someOccurrence()
	h.log("retry %s", uuid)
	h.do(func() (any, error) { return nil, h.model.Retry(uuid) }, func(e *engine) (any, error) { return nil, e.Retry(e.Context(), uuid) })
}

func (h *history) longPass() {
	d := time.Duration(h.int("pass", 1, 180_000)) * time.Millisecond
	if h.one("outage", 12) { // what is caught up has to fit into one script, with all that it makes and replaces
		d = time.Duration(h.int("outage", 1, 12)) * time.Minute
	}
	h.log("pass %s", d)
	h.move(d)
}

// setBack is a store whose clock jumps back.
func (h *history) setBack() {
	d := -time.Duration(h.int("back", 1, 200_000)) * time.Millisecond
	if h.model.Now()+d.Milliseconds() < start {
		return
	}
	h.log("pass %s", d)
	h.move(d)
}

// cycles wants templates, their live cycles and their history to be as the model predicts.
func (h *history) cycles() {
	h.Helper()
	var templates []string
	for _, uuid := range h.uuids {
		if h.template[uuid] {
			templates = append(templates, uuid)
		}
	}
	if len(templates) == 0 {
		return
	}
	want := h.model.Templates(templates)
	for i, e := range h.stores {
		got, err := e.Templates(e.Context(), templates)
		e.ok(err)
		for k := range got {
			got[k].Since, got[k].Root = time.Time{}, ""
			want[k].Root = ""
			got[k].Status, want[k].Status = conveyor.Status{}, conveyor.Status{}
			if len(got[k].Sync) == 0 {
				got[k].Sync = want[k].Sync
			}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			h.fatal("%s: templates differ from the model's (-model +store):\n%s", stores[i].name, diff)
		}
		for _, uuid := range templates {
			lines, err := e.History(e.Context(), uuid, 0)
			e.ok(err)
			if diff := gocmp.Diff(inOrder(h.model.History(uuid)), inOrder(lines)); diff != "" {
				h.fatal("%s: the history of %s differs from the model's (-model +store):\n%s", stores[i].name, uuid, diff)
			}
		}
	}
}

// inOrder sorts lines of one and the same moment: which of two cycles that end in one call is told first says nothing.
func inOrder(lines []conveyor.Cycle) []conveyor.Cycle {
	out := slices.Clone(lines)
	slices.SortStableFunc(out, func(a, b conveyor.Cycle) int {
		return cmp.Or(-a.Ended.Compare(b.Ended), a.Tick.Compare(b.Tick), cmp.Compare(a.Outcome, b.Outcome))
	})
	if len(out) == 0 {
		return nil
	}
	return out
}
