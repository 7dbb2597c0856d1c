package metrics_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/metrics"
	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// told passes rounds on, and says that there was one.
type told struct {
	*metrics.Relay
	rounds chan struct{}
}

func (t told) Relayed(r outbox.Round) {
	t.Relay.Relayed(r)
	t.rounds <- struct{}{}
}

// TestRelay shows a relay that pushes, one whose queue is away, and what lies in the table.
func TestRelay(t *testing.T) {
	t.Parallel()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, db := t.Context(), sqltest.Open(t, sqltest.SQLite)
	table := outbox.Table{Dialect: outbox.SQLite}
	ok(table.Migrate(ctx, db))
	server := redistest.Start(t)
	m := metrics.New()
	client, err := conveyor.NewClient(server.Client(t), conveyor.Options{Observer: m})
	ok(err)
	shown := m.Outbox(table, db)
	h := m.Handler(metrics.HandlerOptions{HealthTimeout: time.Hour})
	woken, rounds := make(chan func(), 1), make(chan struct{}, 100)
	relay, err := outbox.NewRelay(db.DB, table, client, outbox.RelayOptions{Observer: told{shown, rounds}, Interval: time.Hour, Leeway: -1, Wake: func(ctx context.Context, wake func()) error {
		woken <- wake
		<-ctx.Done()
		return nil
	}})
	ok(err)
	says := func(path string, want int, text string) {
		t.Helper()
		if status, body := page(t, h, path); status != want || !strings.Contains(body, text) {
			t.Errorf("%s: %d %s, want %d %s", path, status, body, want, text)
		}
	}
	says("/livez", http.StatusServiceUnavailable, "no worker")
	shown.Relay(relay)
	says("/livez", http.StatusServiceUnavailable, "not started yet")

	write := func(uuid string) {
		t.Helper()
		s := outbox.NewScheduler(table)
		ok(s.AddJob(&wire.Job{Uuid: uuid, Type: "t", Queue: "q"}))
		ok(s.CreatePendingJobs(ctx, db))
	}
	write("a")
	_, err = db.ExecContext(ctx, "INSERT INTO waybill_outbox (uuid, job) VALUES ('broken', X'FF')")
	ok(err)
	_, err = relay.Once(ctx)
	ok(err)
	server.Kill()
	write("b")
	if _, err := relay.Once(ctx); err == nil {
		t.Error("a relay without a queue did well")
	}
	wants(t, h, []string{
		`waybill_outbox_batch_duration_seconds_count 1`, `waybill_outbox_database_up 1`, `waybill_outbox_dead 1`, `waybill_outbox_dead_lettered_total 1`,
		`waybill_outbox_failures_total{what="database"} 0`, `waybill_outbox_failures_total{what="queue"} 1`,
		`waybill_outbox_pending 1`, `waybill_outbox_pushed_total 1`, `waybill_outbox_rounds_total 2`,
	}, "waybill_outbox_batch_duration_seconds_count", "waybill_outbox_d", "waybill_outbox_f", "waybill_outbox_p", "waybill_outbox_r")

	server.Restart(t)
	running, stop := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- relay.Run(running) }()
	wake := <-woken
	says("/livez", http.StatusOK, "ok")
	wake()
	for relay.Stats().Pushed < 2 {
		<-rounds
	}
	says("/readyz", http.StatusOK, "ok")
	stop()
	ok(<-done)
	says("/readyz", http.StatusServiceUnavailable, "the relay has ended")
	says("/livez", http.StatusServiceUnavailable, "the relay has ended")
	ok(db.Close())
	wants(t, h, []string{`waybill_outbox_database_up 0`}, "waybill_outbox_database_up")
}
