package conveyor_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Workers serve their inboxes by themselves, also one without queues, and signed jobs for all are as good as signed.
func TestWorkerInboxes(t *testing.T) {
	onBothStores(t, func(s *workers) {
		ring, err := conveyor.NewKeyring("0123456789abcdef0123456789abcdef")
		s.ok(err)
		var mu sync.Mutex
		got := map[string][]string{}
		for _, id := range []string{"a", "b"} {
			o := conveyor.WorkerOptions{ID: id, Keyring: ring, Queues: []conveyor.QueueShare{}}
			w, err := conveyor.NewWorker(s.Client, o)
			s.ok(err)
			w.HandleRaw("note", func(_ context.Context, j *wire.Job) error {
				mu.Lock()
				defer mu.Unlock()
				got[id] = append(got[id], j.Name)
				return nil
			}, conveyor.Signed())
			s.run(w)
		}
		for { // until both are known
			known, err := s.Workers(s.Context())
			s.ok(err)
			if len(known) == 2 {
				break
			}
			_, err = s.Events(s.Context(), 0, 0)
			s.ok(err)
		}
		note := func(uuid string, d *wire.Delivery) *wire.Job {
			j := &wire.Job{Uuid: uuid, Name: uuid, Type: "note", Queue: "q", Delivery: d}
			s.ok(ring.Sign(s.Namespace(), j))
			return j
		}
		s.ok(s.Add(s.Context(), note("one", &wire.Delivery{To: wire.Delivery_WORKER, Worker: "b"})))
		s.await(ended, "one")
		s.ok(s.Add(s.Context(), note("all", &wire.Delivery{To: wire.Delivery_ALL})))
		for _, st := range s.await(ended, conveyor.DeliveryUUID("all", "a"), conveyor.DeliveryUUID("all", "b")) {
			if st.State != conveyor.StateCompleted {
				s.Errorf("%s is %s", st.UUID, st.State)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if diff := cmp.Diff(map[string][]string{"a": {"all"}, "b": {"one", "all"}}, got); diff != "" {
			s.Errorf("run (-want +got):\n%s", diff)
		}
	})
}
