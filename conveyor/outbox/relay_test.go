package outbox_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestBehaviourB6 is what recovery has to do, sentence by sentence.
func TestBehaviourB6(t *testing.T) {
	t.Parallel()
	eachRig(t, func(r *rig) {
		r.Behaviour("B6a rows older than the leeway are pushed in batches, others wait", func(r *rig) {
			r.write("a", "b", "c", "d", "e", "young")
			r.execute("UPDATE {} SET created_at = '2020-01-01 00:00:00' WHERE uuid <> 'young'")
			r.once(r.relay(r.client, outbox.RelayOptions{Leeway: 1e12, Batch: 2}), outbox.Relayed{Pushed: 5})
			r.wants([]string{"a", "b", "c", "d", "e"}, "young")
			var got []int
			for range 3 {
				got = append(got, (<-r.seen.list).Pushed)
			}
			if diff := cmp.Diff([]int{2, 2, 1}, got); diff != "" {
				r.Errorf("batches (-want +got):\n%s", diff)
			}
		})
		r.Behaviour("B6b a row is removed only after its push", func(r *rig) {
			r.write("a")
			p := redistest.Shared(r).Proxy(r)
			p.Plan(func(int) redistest.Fault { return redistest.LoseRequest })
			relay := r.relay(r.through(p), outbox.RelayOptions{})
			if _, err := relay.Once(r.Context()); err == nil {
				r.Error("a push that was lost succeeded")
			}
			r.wants(nil, "a")
			p.Plan(func(int) redistest.Fault { return redistest.LoseReply })
			if _, err := relay.Once(r.Context()); err == nil {
				r.Error("a push that nobody acknowledged succeeded")
			}
			p.Plan(nil)
			r.once(relay, outbox.Relayed{Pushed: 1})
			r.wants([]string{"a"})
		})
		r.Behaviour("B6c it sees every row however many", func(r *rig) {
			var want []string
			for i := range 450 {
				want = append(want, fmt.Sprintf("j%04d", i))
			}
			r.write(want...)
			r.once(r.relay(r.client, outbox.RelayOptions{Batch: 201}), outbox.Relayed{Pushed: len(want)})
			r.wants(want)
		})
		r.Behaviour("B6d it survives an outage of the queue of any length, with backoff", func(r *rig) {
			r.write("a", "b")
			p := redistest.Shared(r).Proxy(r)
			p.Plan(func(int) redistest.Fault { return redistest.LoseRequest })
			stop := r.run(r.relay(r.through(p), outbox.RelayOptions{MinBackoff: time.Millisecond, MaxBackoff: 2 * time.Millisecond, PushTimeout: 100 * time.Millisecond}))
			for range 20 {
				if round := <-r.seen.list; !errors.Is(round.Err, outbox.ErrQueue) || errors.Is(round.Err, outbox.ErrDatabase) {
					r.Errorf("round %+v, want one that failed for the queue", round)
				}
			}
			r.wants(nil, "a", "b")
			p.Plan(nil)
			for pushed := 0; pushed < 2; { // after an outage batches are small at first
				pushed += (<-r.seen.list).Pushed
			}
			stop()
			r.wants([]string{"a", "b"})
		})
		r.Behaviour("B6e what cannot be decoded is a dead letter, and its neighbours go on", func(r *rig) {
			r.write("a")
			r.writeRow("broken", []byte("\xff\xff"))
			r.writeJob(&wire.Job{Uuid: "typeless", Queue: "q"})
			r.write("b")
			relay := r.relay(r.client, outbox.RelayOptions{})
			r.once(relay, outbox.Relayed{Pushed: 2, Dead: 2})
			r.once(relay, outbox.Relayed{})
			r.wants([]string{"a", "b"}, "broken: the row holds no job: "+protoError, "typeless: job typeless: type is empty")
		})
		r.Behaviour("B6f any number of relays push a row once", func(r *rig) {
			var want []string
			for i := range 400 {
				want = append(want, fmt.Sprintf("j%04d", i))
			}
			r.write(want...)
			var all sync.WaitGroup
			pushed := make([]int, 4)
			for i := range pushed {
				relay := r.relay(r.client, outbox.RelayOptions{Batch: 20})
				all.Go(func() {
					done, err := relay.Once(r.Context())
					if err != nil {
						r.Error(err)
					}
					pushed[i] = done.Pushed
				})
			}
			all.Wait()
			if sum := pushed[0] + pushed[1] + pushed[2] + pushed[3]; sum != len(want) {
				r.Errorf("%v pushed, that is %d of %d", pushed, sum, len(want))
			}
			if n := len(r.queued()); n != len(want) {
				r.Errorf("%d on the queue, want %d", n, len(want))
			}
		})
		r.Behaviour("B6g after a partial push only the unpushed rows remain", func(r *rig) {
			var all []string
			for i := range 250 {
				all = append(all, fmt.Sprintf("j%04d", i))
			}
			p := redistest.Shared(r).Proxy(r)
			relay := r.relay(r.through(p), outbox.RelayOptions{PushTimeout: time.Second})
			r.write("warm")
			r.once(relay, outbox.Relayed{Pushed: 1}) // the server knows the script from here on
			r.write(all...)
			asked := p.Requests()
			p.Plan(func(n int) redistest.Fault {
				if n == asked+1 {
					return redistest.Pass
				}
				return redistest.LoseRequest
			})
			if _, err := relay.Once(r.Context()); !errors.Is(err, outbox.ErrQueue) {
				r.Errorf("error %v", err)
			}
			r.wants(append([]string{"warm"}, all[:conveyor.MaxBatch]...), all[conveyor.MaxBatch:]...)
			p.Plan(nil)
			r.once(relay, outbox.Relayed{Pushed: 50})
			r.wants(append([]string{"warm"}, all...))
		})
	})
}
