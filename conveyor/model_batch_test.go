package conveyor_test

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

func (h *history) apply(b conveyor.Batch) {
	h.log("apply %s", describe(b))
	stored := b
	stored.Changes = slices.Clone(b.Changes)
	for i := range stored.Changes {
		if c := &stored.Changes[i]; c.Job != nil {
			c.Job = withField(c.Job)
		}
	}
	h.do(func() (any, error) { return nil, h.model.Apply(stored) }, func(e *engine) (any, error) { return nil, e.Apply(e.Context(), b) })
}

func describe(b conveyor.Batch) (out string) {
	for _, c := range b.Changes {
		out += fmt.Sprintf("\n\t{kind %d %s job %v expect %v replaces %q cancel %t withdraw %t opening %d attach %+v}",
			c.Kind, c.UUID, c.Job, c.Expect, c.Replaces, c.CancelReplaced, c.Withdraw, c.Opening, c.Attach)
	}
	return out
}

// replace gives a job a successor, as a plan does.
func (h *history) replace() {
	h.apply(conveyor.Batch{Changes: []conveyor.Change{h.successor(h.some())}})
}

func (h *history) successor(old string) conveyor.Change {
	state := h.status(old).State
	j := h.draw(h.next())
	j.Edges = slices.DeleteFunc(j.Edges, func(e *wire.Edge) bool { return e.Uuid == old })
	if state == conveyor.StateRunning || state == conveyor.StateClosing {
		j.Edges = append(j.Edges, &wire.Edge{Kind: wire.Edge_PREDECESSOR, RunIf: wire.Edge_ALWAYS, Uuid: old, Group: 9})
	}
	return conveyor.Change{Kind: conveyor.ChangeAdd, Job: j, Replaces: old, CancelReplaced: state != conveyor.StateRunning || h.one("stop", 2)}
}

// reopen gives a job that is over a new child.
func (h *history) reopen() {
	for _, p := range h.uuids {
		if s := h.status(p); (s.State == conveyor.StateCompleted || s.ChildFailed) && h.one("this", 3) {
			child := job(h.next(), edge(&wire.Edge{Uuid: p, Opening: s.Opening + 1}))
			h.apply(conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeAdd, Job: child}, {Kind: conveyor.ChangeReopen, UUID: p, Opening: s.Opening + int64(h.int("step", 0, 9)/8+1)},
			}})
			return
		}
	}
}

// batch is several changes of all kinds at once, with records and expectations that do not always hold.
func (h *history) batch() {
	var b conveyor.Batch
	used := map[string]bool{}
	for range h.int("changes", 1, 5) {
		var c conveyor.Change
		uuid := h.some()
		if used[uuid] {
			continue
		}
		used[uuid] = true
		switch h.int("change", 0, 6) {
		case 0:
			c = h.successor(uuid)
		case 1:
			c = conveyor.Change{Kind: conveyor.ChangeAdd, Job: h.draw(h.next())}
		case 2:
			c = conveyor.Change{Kind: conveyor.ChangeUpdate, Job: h.draw(uuid)}
		case 3:
			c = conveyor.Change{Kind: conveyor.ChangeCancel, UUID: uuid, Withdraw: h.one("withdraw", 2)}
		case 4:
			c = conveyor.Change{Kind: conveyor.ChangeRelease, UUID: uuid}
		case 6:
			c = conveyor.Change{Kind: conveyor.ChangeForget, UUID: uuid}
		case 5:
			c = conveyor.Change{Kind: conveyor.ChangeReopen, UUID: uuid, Opening: h.status(uuid).Opening + 1}
		}
		if c.Job != nil {
			uuid = c.Job.Uuid
			used[uuid] = true
		}
		if h.one("expect", 3) {
			c.Expect = []conveyor.State{conveyor.State(h.int("state", 0, 10)), conveyor.StateUnknown, conveyor.StateHeld, conveyor.StateQueued, conveyor.StateCompleted}
		}
		if h.one("record", 2) {
			c.Attach = h.attach(uuid, c.Kind == conveyor.ChangeCancel || c.Kind == conveyor.ChangeRelease || c.Kind == conveyor.ChangeForget)
		}
		b.Changes = append(b.Changes, c)
	}
	h.apply(b)
}

// attach is a companion write under the job's uuid, now and then of a version that is not there.
func (h *history) attach(uuid string, remove bool) *conveyor.Attach {
	version := h.model.Version("record", uuid)
	if h.one("stale", 8) {
		version++
	}
	a := &conveyor.Attach{Key: "record", Field: uuid, Version: version}
	if !remove {
		a.Value = fmt.Appendf(nil, "%d %s", version+1, uuid)
	}
	return a
}
