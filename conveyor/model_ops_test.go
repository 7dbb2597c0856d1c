package conveyor_test

import (
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"pgregory.net/rapid"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/enginemodel"
)

// addressees are who gets jobs of its own: workers, one that never comes, and one that leases are for.
var addressees = []string{"w1", "w2", "never", "holder"}

// forAll makes a job go to all workers: it waits for nothing.
func forAll(j *wire.Job) *wire.Job {
	j.Edges, j.RunAt, j.After, j.TriggersGate, j.Delivery = nil, nil, nil, nil, &wire.Delivery{To: wire.Delivery_ALL}
	return j
}

// modelWorkers are those of every history; "" is a caller without a worker, whose reservations are leases.
var modelWorkers = []string{"", "w1", "w2", "w3"}

func (h *history) next() string {
	h.made++
	uuid := fmt.Sprintf("j%d", h.made)
	h.uuids = append(h.uuids, uuid)
	return uuid
}

// some is a uuid that was used, one of the latest rather than an old one.
func (h *history) some() string {
	if len(h.uuids) == 0 {
		return "j0"
	}
	if h.one("any", 3) {
		return rapid.SampledFrom(h.uuids).Draw(h.T, "job")
	}
	return rapid.SampledFrom(h.uuids[max(0, len(h.uuids)-6):]).Draw(h.T, "job")
}

// gone tells whether there was a job of which nothing is left: a uuid is not used again.
func (h *history) gone(uuid string) bool {
	return h.seen[uuid] && h.status(uuid).State == conveyor.StateUnknown
}

func (h *history) status(uuid string) conveyor.Status { return h.model.Statuses([]string{uuid})[0] }

// draw is a job with edges to what is there or is still to come.
func (h *history) draw(uuid string) *wire.Job {
	j := job(uuid)
	if h.one("lane", 3) {
		lane(int32(h.int("priority", 0, 2)))(j)
	}
	if h.one("other queue", 6) {
		j.Queue = "q2"
	}
	used := map[string]bool{uuid: true}
	for group := range h.int("edges", 0, 3) {
		up := fmt.Sprintf("j%d", h.int("upstream", max(0, h.made-5), h.made+1))
		if h.one("old", 4) {
			up = fmt.Sprintf("j%d", h.int("upstream", 0, h.made+1))
		}
		if used[up] {
			continue
		}
		used[up] = true
		e := &wire.Edge{Uuid: up, Group: int32(h.int("group", 0, group)), Kind: wire.Edge_Kind(h.int("kind", 0, 1)), IgnoreFailure: h.one("lenient", 4)}
		if e.Kind == wire.Edge_PREDECESSOR {
			e.RunIf = wire.Edge_RunIf(h.int("run_if", 0, 2))
			for _, o := range j.Edges {
				if o.Kind == e.Kind && o.Group == e.Group {
					e.RunIf = o.RunIf
				}
			}
		}
		if s := h.status(up); s.State != conveyor.StateUnknown && h.one("opening", 5) {
			e.Opening = max(1, s.Opening+int64(h.int("later", -1, 1)))
		}
		j.Edges = append(j.Edges, e)
	}
	switch h.int("time", 0, 7) {
	case 0:
		runAt(h.model.Now() + int64(h.int("run_at", -1000, 3000)))(j)
	case 1:
		delayed(time.Duration(h.int("after", 1, 2000)) * time.Millisecond)(j)
	}
	if h.one("reserve for", 6) {
		j.ReserveFor = durationpb.New(time.Duration(h.int("reserve", 1, 9000)) * time.Millisecond)
	}
	if h.one("unique", 6) {
		j.Unique = fmt.Sprintf("key%d", h.int("key", 1, 3))
	}
	if h.one("labels", 5) {
		j.Labels = h.labels("color", "size")
	}
	if h.one("obsolete", 6) {
		j.ObsoleteIf = map[string]string{"color": fmt.Sprintf("v%d", h.int("root", 1, 2))}
		if h.one("both", 3) {
			j.ObsoleteIf["size"] = "v1"
		}
	}
	if h.one("sync", 8) {
		j.Sync = map[string]string{"cursor": "first"}
	}
	if h.one("max cycles", 8) {
		j.MaxCycles = int32(h.int("cycles", 1, 3))
	}
	if h.one("remove after", 8) {
		j.RemoveAfter = durationpb.New(time.Duration(h.int("removed", 1, 5000)) * time.Millisecond)
	}
	if h.one("retention", 8) {
		j.Retention = durationpb.New(time.Duration(h.int("limit", 1, 5000)) * time.Millisecond)
	}
	if h.templates && h.one("triggers", 4) {
		j.TriggersGate = h.gateLabels()
	}
	if h.one("delivery", 10) {
		j.Delivery = &wire.Delivery{To: wire.Delivery_WORKER, Worker: rapid.SampledFrom(addressees).Draw(h.T, "addressee")}
	}
	if h.one("policy", 4) {
		lost := int32(h.int("max_lost", 0, 2))
		j.RetryPolicy = &wire.RetryPolicy{MaxLost: &lost, HoldOnExhausted: h.one("hold", 2)}
	}
	return j
}

func (h *history) add() {
	var jobs []*wire.Job
	for range h.int("jobs", 1, 4) {
		jobs = append(jobs, h.draw(h.next()))
	}
	if len(jobs) == 1 && h.one("for all", 3) {
		forAll(jobs[0])
	}
	o := enginemodel.Added{Strict: h.one("strict", 8)}
	if uuid := h.some(); h.one("known", 10) && !h.gone(uuid) {
		jobs = append(jobs, job(uuid))
	}
	if h.one("parent dead", 10) {
		o.ParentDead = true
		for _, j := range jobs {
			j.Edges = slices.DeleteFunc(j.Edges, func(e *wire.Edge) bool { // a caller that says so of a living parent is wrong
				s := h.status(e.Uuid)
				return e.Kind == wire.Edge_PARENT && (e.Opening > s.Opening || !s.State.Ended() && s.State != conveyor.StateClosing)
			})
		}
	}
	h.addJobs(o, jobs...)
}

func (h *history) addJobs(o enginemodel.Added, jobs ...*wire.Job) {
	h.log("add %+v %v", o, jobs)
	var opts []conveyor.AddOption
	if o.Strict {
		opts = append(opts, conveyor.Strict())
	}
	if o.ParentDead {
		opts = append(opts, conveyor.ParentDead())
	}
	h.do(func() (any, error) { return nil, h.model.Add(withFields(jobs), o) },
		func(e *engine) (any, error) { return nil, e.AddMany(e.Context(), jobs, opts...) })
}

// withFields are the jobs as they are stored: fields 6 and 7 name the first edge of each kind.
func withFields(jobs []*wire.Job) []*wire.Job {
	out := make([]*wire.Job, len(jobs))
	for i, j := range jobs {
		out[i] = withField(j)
	}
	return out
}

func withField(j *wire.Job) *wire.Job {
	if len(j.Edges) == 0 {
		return j
	}
	twin := proto.CloneOf(j)
	for _, e := range slices.Backward(j.Edges) {
		if e.Kind == wire.Edge_PARENT {
			twin.ParentUuid = e.Uuid
		} else {
			twin.PredecessorUuid = e.Uuid
		}
	}
	return twin
}

func (h *history) cancel() { h.cancelOf(h.some()) }

func (h *history) cancelOf(uuid string) {
	h.log("cancel %s", uuid)
	h.do(func() (any, error) { return nil, h.model.Cancel(uuid) }, func(e *engine) (any, error) { return nil, e.Cancel(e.Context(), uuid) })
}

func (h *history) update() {
	j := h.draw(h.some())
	if h.one("for all", 20) {
		forAll(j)
	}
	h.log("update %v", j)
	h.do(func() (any, error) { return nil, h.model.Update(withField(j)) }, func(e *engine) (any, error) { return nil, e.Update(e.Context(), j) })
}

func (h *history) retry() {
	uuid := h.some()
	for _, u := range h.uuids { // few jobs have failed: look for one
		if s := h.status(u); s.State == conveyor.StateFailed && h.one("failed", 2) {
			uuid = u
		}
	}
	h.log("retry %s", uuid)
	h.do(func() (any, error) { return nil, h.model.Retry(uuid) }, func(e *engine) (any, error) { return nil, e.Retry(e.Context(), uuid) })
}

func (h *history) release() {
	uuid := h.some()
	for _, u := range h.uuids {
		if h.status(u).State == conveyor.StateOnHold && h.one("on hold", 2) {
			uuid = u
		}
	}
	h.releaseOf(uuid)
}

func (h *history) releaseOf(uuid string) {
	h.log("release %s", uuid)
	h.do(func() (any, error) { return nil, h.model.Release(uuid) }, func(e *engine) (any, error) { return nil, e.Release(e.Context(), uuid) })
}

func (h *history) queue() {
	name := "q"
	if h.one("the other", 4) {
		name = "q2"
	}
	switch h.int("what", 0, 9) {
	case 7:
		h.log("pause %s", name)
		h.do(func() (any, error) { h.model.PauseQueue(name); return nil, nil },
			func(e *engine) (any, error) { return nil, e.PauseQueue(e.Context(), name) })
	case 8:
		h.resumeQueue(name)
	case 9:
		h.log("purge %s", name)
		h.do(func() (any, error) { return h.model.PurgeQueue(name), nil },
			func(e *engine) (any, error) { return e.PurgeQueue(e.Context(), name) })
	default:
		set := conveyor.QueueSettings{Concurrency: h.int("concurrency", 0, 3), Paused: h.one("paused", 4), Fair: h.one("fair", 2)}
		if h.one("keeps", 4) {
			set.KeepFor = time.Duration(h.int("for", 0, 5000)) * time.Millisecond
		}
		h.setQueue(name, set)
	}
}

func (h *history) setQueue(name string, set conveyor.QueueSettings) {
	h.log("queue %s %s", name, set)
	h.do(func() (any, error) { h.model.SetQueue(name, set); return nil, nil },
		func(e *engine) (any, error) { return nil, e.SetQueue(e.Context(), name, set) })
}

func (h *history) resumeQueue(name string) {
	h.log("resume %s", name)
	h.do(func() (any, error) { return nil, h.model.ResumeQueue(name) },
		func(e *engine) (any, error) { return nil, e.ResumeQueue(e.Context(), name) })
}

// labels draws some of few labels.
func (h *history) labels(names ...string) map[string]string {
	out := map[string]string{}
	for _, name := range names {
		if v := h.int("label", 0, 3); v > 0 {
			out[name] = fmt.Sprint("v", v)
		}
	}
	return out
}

// list looks for jobs by labels and facts.
func (h *history) list() {
	o := conveyor.ListOptions{Labels: h.labels("color", "size")}
	for _, name := range []string{"color", conveyor.Any} {
		if h.one("any value", 4) {
			o.Labels[name] = conveyor.Any
		}
	}
	switch h.int("fact", 0, 5) {
	case 3:
		o.Labels["worker"] = rapid.SampledFrom([]string{"w1", "w2", "w3", conveyor.Any}).Draw(h.T, "worker")
	case 4:
		o.Labels[conveyor.Any] = "v1"
	case 5:
		o.Labels["object"] = h.some()
	}
	if h.one("live", 2) {
		o.States = conveyor.LiveStates()
	}
	h.log("list %v", o.Labels)
	h.do(func() (any, error) { return append([]string{}, h.model.List(o)...), nil }, func(e *engine) (any, error) {
		found, err := e.List(e.Context(), o)
		uuids := []string{}
		for _, f := range found {
			uuids = append(uuids, f.UUID)
		}
		return uuids, err
	})
	if len(o.Labels) > 0 {
		h.do(func() (any, error) { return h.model.Exists(o.Labels), nil },
			func(e *engine) (any, error) { return e.Exists(e.Context(), o.Labels) })
	}
}

func (h *history) remove() {
	uuid := h.some()
	h.log("remove %s", uuid)
	h.do(func() (any, error) { return nil, h.model.Remove(uuid) }, func(e *engine) (any, error) { return nil, e.Remove(e.Context(), uuid) })
}

// make adds a child or an heir from inside an attempt, now and then one that is over.
func (h *history) make() {
	from := h.ghosts
	for _, w := range modelWorkers {
		if len(h.held[w]) > 0 && !h.one("ghost", 8) {
			from = h.held[w]
			break
		}
	}
	if len(from) == 0 {
		return
	}
	r := rapid.SampledFrom(from).Draw(h.T, "attempt")
	uuid := h.some()
	if !h.one("again", 3) {
		uuid = h.next()
	}
	if uuid == r.Job.Uuid || h.gone(uuid) {
		return
	}
	j := job(uuid, edge(&wire.Edge{Uuid: r.Job.Uuid, Opening: r.Opening, MadeBy: r.Fence, Kind: wire.Edge_Kind(h.int("kind", 0, 1))}))
	if other := h.some(); h.one("other", 4) && other != uuid && other != r.Job.Uuid {
		j.Edges = append(j.Edges, &wire.Edge{Uuid: other, Kind: wire.Edge_PREDECESSOR, Group: 1, RunIf: wire.Edge_RunIf(h.int("run_if", 0, 2))})
	}
	h.addJobs(enginemodel.Added{}, j)
}

// fenced reports progress of an attempt: a superseded one is refused.
func (h *history) fenced() {
	from := append(slices.Clone(h.held["w1"]), h.ghosts...)
	if len(from) == 0 {
		return
	}
	r := rapid.SampledFrom(from).Draw(h.T, "attempt")
	h.log("progress %s %d", r.Job.Uuid, r.Fence)
	h.do(func() (any, error) { return nil, h.model.Fenced(r.Job.Uuid, r.Fence) },
		func(e *engine) (any, error) {
			return nil, e.SetProgress(e.Context(), r.Job.Uuid, r.Fence, conveyor.Progress{Done: 1, Total: 2, Text: "text"})
		})
}
