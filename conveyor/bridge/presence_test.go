package bridge

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestPresence shows a bridge among the workers of its namespace while it runs, tells of its health, and keeps deliveries from it.
func TestPresence(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	handed := make(chan Event, 1)
	b := r.bridge("1", func(o *Options) { o.Observe = func(e Event) { handed <- e } })
	if err := b.Ready(time.Hour); err == nil || b.Live(time.Hour) != nil || b.Live(0) == nil {
		t.Errorf("before it runs it is ready: %v; live: %v, %v", err, b.Live(time.Hour), b.Live(0))
	}
	r.add(job("a"))
	ctx, cancel := context.WithCancel(r.ctx)
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	<-handed
	workers, err := r.client.Workers(r.ctx)
	if err != nil || len(workers) != 1 {
		t.Fatal(workers, err)
	}
	if w := workers[0]; w.ID != "bridge-1" || w.Bridge == "" || w.Capacity != 0 || !w.Alive || !slices.Equal(w.Queues, []string{queue}) || !slices.Equal(w.Types, w.Queues) {
		t.Errorf("it is shown as %+v", w)
	}
	all := job("all")
	all.Delivery = &wire.Delivery{To: wire.Delivery_ALL}
	r.add(all)
	if in, err := r.client.Inspect(r.ctx, "all"); err != nil || len(in.Delivered) != 0 {
		t.Errorf("what goes to all workers went to %v, %v", in.Delivered, err)
	}
	cancel()
	if e := <-handed; e.Kind != Back {
		t.Errorf("it told %v, want that it took the job back", e)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if workers, err := r.client.Workers(r.ctx); err != nil || len(workers) != 0 {
		t.Errorf("after it ended these workers are shown: %v, %v", workers, err)
	}
	if err := b.Ready(time.Hour); err == nil || !strings.Contains(err.Error(), "ends") {
		t.Errorf("after it ended it is ready: %v", err)
	}
	r.wantStates("a queued", "a")
	if got := figures(t, Collector(b)); got["waybill_bridge_events_total handed"] != 1 || got["waybill_bridge_events_total back"] != 1 ||
		got["waybill_bridge_events_total taken"] != 0 || got["waybill_bridge_fleet_up"] != 1 || got["waybill_bridge_fleet_jobs"] != 0 ||
		got["waybill_bridge_last_round_timestamp_seconds"] == 0 {
		t.Errorf("the figures are %v", got)
	}
}

// figures are those of a collector, by name and value of the label.
func figures(tb testing.TB, c prometheus.Collector) map[string]float64 {
	tb.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(c); err != nil {
		tb.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			got[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return got
}

// TestPresenceIsNoSlot leaves the jobs of a fair queue to workers: a bridge that is registered has no slots.
func TestPresenceIsNoSlot(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if err := r.client.SetQueue(r.ctx, queue, conveyor.QueueSettings{Fair: true}); err != nil {
		t.Fatal(err)
	}
	b := r.bridge("1")
	r.round(b)
	r.add(job("a"), job("b"))
	reply, err := r.client.Exchange(r.ctx, conveyor.ExchangeRequest{Caller: "ours", Worker: "ours", Number: 1, Queues: []string{queue}, Want: 2})
	if err != nil || len(reply.Reserved) != 2 {
		t.Errorf("a worker got %d jobs, want 2; %v", len(reply.Reserved), err)
	}
}
