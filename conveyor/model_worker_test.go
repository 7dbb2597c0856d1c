package conveyor_test

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/waybill-dev/waybill/conveyor"
)

func (h *history) exchange() {
	worker := rapid.SampledFrom(modelWorkers).Draw(h.T, "worker")
	caller := worker
	if worker == "" {
		caller = "caller"
	}
	h.numbers[caller]++
	r := conveyor.ExchangeRequest{Caller: caller, Worker: worker, Number: h.numbers[caller], Queues: []string{"q", "q2"}, Want: h.int("want", 0, 4)}
	if worker == "" {
		r.Lease = 5 * time.Second
		if h.one("holder", 3) {
			r.Holder = "holder"
		}
	}
	if h.one("turn", 3) {
		r.Queues = []string{"q2", "q"}
	}
	var kept []conveyor.Reservation
	for _, held := range h.held[worker] {
		if h.one("runs on", 3) {
			kept = append(kept, held)
			if h.one("extended", 3) {
				r.Done = append(r.Done, conveyor.Ack{UUID: held.Job.Uuid, Fence: held.Fence, Verdict: conveyor.VerdictExtend,
					Delay: time.Duration(h.int("extension", 1, 9000)) * time.Millisecond})
			}
			continue
		}
		r.Done = append(r.Done, h.end(held))
	}
	reply := h.exchangeAs(r)
	kept = slices.DeleteFunc(kept, func(k conveyor.Reservation) bool { // it lost the job, and has it again
		return slices.ContainsFunc(reply.Reserved, func(r conveyor.Reservation) bool { return r.Job.Uuid == k.Job.Uuid })
	})
	h.held[worker] = append(kept, reply.Reserved...)
}

// end draws how an attempt ends.
func (h *history) end(held conveyor.Reservation) conveyor.Ack {
	a := ack(held, conveyor.VerdictDone)
	if h.one("leaves", 4) {
		a.Sync = map[string]string{}
		if !h.one("nothing", 4) {
			a.Sync["cursor"] = fmt.Sprint(held.Fence, held.Job.Tick)
		}
	}
	if h.one("well", 2) {
		if h.one("result", 2) {
			a.Result = []byte(fmt.Sprintf("result %d", held.Fence))
		}
		return a
	}
	a.Verdict = conveyor.Verdict(h.int("verdict", 0, 6))
	a.Delay = time.Duration(h.int("delay", 0, 3)) * 500 * time.Millisecond
	if a.Verdict != conveyor.VerdictDone {
		a.Failure = fmt.Sprintf("failure %d", held.Fence)
	}
	return a
}

func (h *history) exchangeAs(r conveyor.ExchangeRequest) conveyor.ExchangeReply {
	h.log("exchange %+v", r)
	h.last[r.Caller] = r
	reply, _ := h.do(func() (any, error) { return h.model.Exchange(r) },
		func(e *engine) (any, error) { return e.Exchange(e.Context(), r) }).(conveyor.ExchangeReply)
	return reply
}

// repeat makes a caller's last exchange once more, or an earlier one, after others have been made.
func (h *history) repeat() {
	caller := rapid.SampledFrom([]string{"caller", "w1", "w2", "w3"}).Draw(h.T, "caller")
	r, ok := h.last[caller]
	if !ok {
		return
	}
	if r.Number > 1 && h.one("earlier", 3) {
		r.Number--
	}
	h.log("repeat %+v", r)
	before := h.numbers[caller]
	h.do(func() (any, error) { return h.model.Exchange(r) }, func(e *engine) (any, error) { return e.Exchange(e.Context(), r) })
	h.numbers[caller] = before
}

// crash is a worker that forgets everything; what it held it may still acknowledge much later.
func (h *history) crash() {
	worker := rapid.SampledFrom(modelWorkers).Draw(h.T, "worker")
	h.log("crash %q", worker)
	h.ghosts = append(h.ghosts, h.held[worker]...)
	delete(h.held, worker)
}

// ghost acknowledges attempts that were forgotten, most of them superseded by now.
func (h *history) ghost() {
	if len(h.ghosts) == 0 {
		return
	}
	h.numbers["late"]++
	r := conveyor.ExchangeRequest{Caller: "late", Number: h.numbers["late"]}
	for _, g := range h.ghosts {
		if h.one("speaks", 2) {
			r.Done = append(r.Done, h.end(g))
		}
	}
	h.exchangeAs(r)
}

func (h *history) tick() {
	h.log("tick")
	type answer struct {
		Dead        []string
		Next, Cycle time.Duration
	}
	h.do(func() (any, error) {
		dead, next, cycle := h.model.Tick()
		return answer{append([]string{}, dead...), next, cycle}, nil
	}, func(e *engine) (any, error) {
		r, err := e.Tick(e.Context())
		return answer{append([]string{}, r.Dead...), r.Next, r.Cycle}, err
	})
}

func (h *history) beat() { h.beatOf(rapid.SampledFrom(modelWorkers[1:]).Draw(h.T, "worker")) }

// beatOf gives up what the store says is not the worker's any more.
func (h *history) beatOf(worker string) {
	info := conveyor.WorkerInfo{ID: worker, Queues: []string{"q", "q2"}, Capacity: h.int("capacity", 0, 4)}
	if h.one("other queues", 4) {
		info.Queues = []string{"q2"}
	}
	for _, r := range h.held[worker] {
		info.Running = append(info.Running, conveyor.Holding{UUID: r.Job.Uuid, Fence: r.Fence})
	}
	h.log("beat %s %v", worker, info.Running)
	got, _ := h.do(func() (any, error) { return h.model.Beat(info), nil },
		func(e *engine) (any, error) { return e.Beat(e.Context(), info) }).(conveyor.BeatReply)
	h.held[worker] = slices.DeleteFunc(h.held[worker], func(r conveyor.Reservation) bool { return slices.Contains(got.Outdated, r.Job.Uuid) })
}

func (h *history) leave() {
	worker := rapid.SampledFrom(modelWorkers[1:]).Draw(h.T, "worker")
	h.log("leave %s", worker)
	h.ghosts = append(h.ghosts, h.held[worker]...)
	delete(h.held, worker)
	h.do(func() (any, error) { h.model.Leave(worker); return nil, nil },
		func(e *engine) (any, error) { return nil, e.Leave(e.Context(), worker) })
	delete(h.numbers, worker) // it may come again under the same name, and counts from 1
	delete(h.last, worker)
}
