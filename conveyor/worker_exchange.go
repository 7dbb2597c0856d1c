package conveyor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// maxResultBytes bounds the results that one call carries, though never to less than one result.
const maxResultBytes = 4 << 20

// exchanging is the state of the loop that acknowledges and reserves.
type exchanging struct {
	number int64 // of the latest call
	hungry bool  // a queue may have jobs
	single bool  // one acknowledgement a call: one of several was refused for good
	began  <-chan struct{}
}

// serve acknowledges and reserves until work ended and all is acknowledged, or base ends.
func (w *Worker) serve(work, base context.Context, quit context.CancelCauseFunc) error {
	x := &w.exchanging
	x.hungry = true
	due := time.NewTimer(time.Hour)
	fallback := time.NewTimer(BeatEvery)
	defer due.Stop()
	defer fallback.Stop()
	ended := work.Done()
	var fatal error
	for {
		draining := work.Err() != nil
		w.returnStrays()
		acks := w.takeAcks(x.single)
		want, queues := 0, []string(nil)
		if !draining && (x.hungry || len(acks) > 0) {
			want, queues = w.appetite()
		}
		if draining || want == 0 && len(acks) > 0 {
			w.share.withdraw()
		}
		if len(acks) == 0 && want == 0 {
			if draining && w.idle() {
				return fatal
			}
			select {
			case <-base.Done():
				return errors.Join(fatal, fmt.Errorf("worker %s did not end in order: %w", w.o.ID, context.Cause(base)))
			case <-ended:
				ended = nil
			case <-w.endedHint:
			case <-w.readyHint:
				x.hungry = true
			case <-due.C:
				x.hungry = true
			case <-fallback.C:
				x.hungry = true
				fallback.Reset(BeatEvery)
			}
			continue
		}

		given := w.share.patient()
		reply, err := w.exchange(base, ExchangeRequest{Worker: w.o.ID, Queues: queues, Want: want, Done: acks})
		given()
		kept := w.share.settle(len(reply.Reserved))
		if err != nil {
			if base.Err() != nil {
				return errors.Join(fatal, fmt.Errorf("worker %s did not end in order: %w (%w)", w.o.ID, context.Cause(base), err))
			}
			if fatal == nil {
				fatal = fmt.Errorf("worker %s: %w", w.o.ID, err)
				quit(fatal)
			}
			w.refused(acks, want, err)
			continue
		}
		w.acknowledged(acks, reply.Outdated)
		w.giveUp(reply.Broken)
		if want > 0 {
			x.hungry = len(reply.Reserved) >= want || reply.More
			fallback.Reset(BeatEvery)
			if reply.Next > 0 {
				due.Reset(reply.Next)
			} else {
				due.Stop()
			}
		}
		w.handBack(reply.Reserved[kept:])
		w.start(work, base, reply.Reserved[:kept])
		w.gather(kept)
	}
}

// gather lets attempts that end at once do so before the next call, so that it acknowledges them all: a call costs the store
// much more than one acknowledgement does. Attempts that wait for anything are not waited for.
func (w *Worker) gather(started int) {
	for range 2 * started {
		w.mu.Lock()
		active := w.active
		w.mu.Unlock()
		if active == 0 {
			return
		}
		runtime.Gosched()
	}
}

// exchange makes one call and repeats it under the same number until it is answered, so that whatever it did is learned.
func (w *Worker) exchange(base context.Context, r ExchangeRequest) (ExchangeReply, error) {
	w.exchanging.number++
	r.Caller, r.Number = w.o.ID, w.exchanging.number
	for pause := newPause(); ; {
		reply, err := w.engine.Exchange(base, r)
		if err == nil {
			w.reached()
			return reply, nil
		}
		if !transient(err) {
			return reply, err
		}
		w.o.Logger.Warn("exchange is repeated", "worker", w.o.ID, "number", r.Number, "error", err)
		if !pause.wait(base) {
			return reply, err
		}
	}
}

// refused puts the acknowledgements of a refused call back, to be sent without a reservation and one by one: what refused
// it may concern one job only. One that is refused alone is given up; its job goes back when the worker leaves.
func (w *Worker) refused(acks []Ack, want int, err error) {
	if len(acks) == 1 && want == 0 {
		w.o.Logger.Error("acknowledgement refused", "worker", w.o.ID, "uuid", acks[0].UUID, "error", err)
		w.acknowledged(acks, nil)
		return
	}
	w.exchanging.single = true
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acks = append(acks, w.acks...)
}

// appetite is how many jobs the worker can start now, and the queues to take them from.
func (w *Worker) appetite() (int, []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	want := min(w.o.Concurrency-w.active, MaxBatch)
	if want > 0 {
		want = w.share.claim(want)
	}
	if want <= 0 {
		return 0, nil
	}
	return want, w.turns.next() // without queues there is still the inbox
}

// idle tells that no handler runs and nothing is left to acknowledge.
func (w *Worker) idle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.active == 0 && len(w.acks) == 0
}

// takeAcks takes what one call may carry.
func (w *Worker) takeAcks(single bool) []Ack {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, size := 0, 0
	for n < min(len(w.acks), MaxBatch) {
		size += len(w.acks[n].Result)
		for name, value := range w.acks[n].Sync {
			size += len(name) + len(value)
		}
		if n > 0 && (single || size > maxResultBytes) {
			break
		}
		n++
	}
	acks := w.acks[:n:n]
	if w.acks = w.acks[n:]; len(w.acks) == 0 {
		w.acks = nil
	} else {
		hint(w.endedHint)
	}
	return acks
}

// handBack returns jobs to their places for which there is no slot any more, see share.settle.
func (w *Worker) handBack(surplus []Reservation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range surplus {
		w.acks = append(w.acks, Ack{UUID: r.Job.GetUuid(), Fence: r.Fence, Verdict: VerdictBack})
	}
}

// giveUp has jobs that cannot be read acknowledged as the store proposes.
func (w *Worker) giveUp(broken []Ack) {
	if len(broken) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range broken {
		w.o.Logger.Error("job cannot be read", "worker", w.o.ID, "uuid", b.UUID, "error", b.Failure)
		w.acks = append(w.acks, b)
	}
}

// acknowledged forgets attempts whose acknowledgements were answered.
func (w *Worker) acknowledged(acks []Ack, outdated []int) {
	for _, i := range outdated {
		if i >= 0 && i < len(acks) {
			w.o.Logger.Warn("acknowledgement refused", "worker", w.o.ID, "uuid", acks[i].UUID, "fence", acks[i].Fence, "error", ErrOutdated)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range acks {
		delete(w.held, Holding{a.UUID, a.Fence})
	}
}
