package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-dev/waybill/conveyor/outbox"
)

// Relay shows what an outbox relay does, and what lies in its table. It is made before the relay, as its Observer:
//
//	shown := m.Outbox(table, db)
//	relay, err := outbox.NewRelay(db, table, client, outbox.RelayOptions{Observer: shown})
//	...
//	shown.Relay(relay)
//
// The process is healthy when its relay is: see outbox.Relay's Live and Ready.
type Relay struct {
	m     *Metrics
	table outbox.Table
	db    outbox.DB

	rounds, pushed, dead prometheus.Counter
	failures             *prometheus.CounterVec
	seconds              prometheus.Histogram
	succeeded            prometheus.Gauge
}

var _ outbox.RelayObserver = (*Relay)(nil)

// Outbox adds the figures of a relay to m. It is called once.
func (m *Metrics) Outbox(t outbox.Table, db outbox.DB) *Relay {
	one := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	r := &Relay{
		m: m, table: t, db: db,
		rounds: one("waybill_outbox_rounds_total", "Rounds of the relay, also of those that found nothing."),
		pushed: one("waybill_outbox_pushed_total", "Rows whose jobs the queue acknowledged, and that were removed."),
		dead:   one("waybill_outbox_dead_lettered_total", "Rows that became dead letters."),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waybill_outbox_failures_total",
			Help: "Rounds that ended in an error, by what failed: queue or database."}, []string{"what"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "waybill_outbox_batch_duration_seconds",
			Help: "How long rounds took that pushed something.", Buckets: callBuckets}),
		succeeded: prometheus.NewGauge(prometheus.GaugeOpts{Name: "waybill_outbox_last_success_timestamp_seconds",
			Help: "When a round last did all it set out to do; 0: never."}),
	}
	for _, what := range []string{"queue", "database"} {
		r.failures.WithLabelValues(what)
	}
	m.registry.MustRegister(r.rounds, r.pushed, r.dead, r.failures, r.seconds, r.succeeded, backlog{r})
	return r
}

// Relay tells whose health is shown.
func (r *Relay) Relay(relay *outbox.Relay) {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	r.m.relay = relay
}

// Relayed is part of outbox.RelayObserver.
func (r *Relay) Relayed(round outbox.Round) {
	r.rounds.Inc()
	r.pushed.Add(float64(round.Pushed))
	r.dead.Add(float64(round.Dead))
	if round.Pushed > 0 {
		r.seconds.Observe(round.Took.Seconds())
	}
	if round.Err == nil {
		r.succeeded.Set(float64(time.Now().UnixMilli()) / 1000)
	}
	for what, err := range map[string]error{"queue": outbox.ErrQueue, "database": outbox.ErrDatabase} {
		if errors.Is(round.Err, err) {
			r.failures.WithLabelValues(what).Inc()
		}
	}
}

var (
	outboxUp      = desc("waybill_outbox_database_up", "1 when this scrape could read the outbox.")
	outboxPending = desc("waybill_outbox_pending", "Rows that wait to be pushed; 100000 stands for as many or more.")
	outboxDead    = desc("waybill_outbox_dead", "Dead letters; 100000 stands for as many or more.")
	outboxOldest  = desc("waybill_outbox_oldest_seconds", "How long the first row in line has waited, by the database's clock.")
)

// backlog reads what lies in the table, by each scrape.
type backlog struct{ r *Relay }

// Describe is part of prometheus.Collector.
func (b backlog) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{outboxUp, outboxPending, outboxDead, outboxOldest} {
		out <- d
	}
}

// Collect is part of prometheus.Collector.
func (b backlog) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	lies, err := b.r.table.Backlog(ctx, b.r.db)
	if err != nil {
		gauge(out, outboxUp, 0)
		return
	}
	gauge(out, outboxUp, 1)
	gauge(out, outboxPending, float64(lies.Pending))
	gauge(out, outboxDead, float64(lies.Dead))
	gauge(out, outboxOldest, lies.Oldest.Seconds())
}
