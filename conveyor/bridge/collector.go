package bridge

import (
	"context"
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// scrapeTimeout bounds what one scrape reads of the fleet's store.
const scrapeTimeout = 5 * time.Second

var (
	eventsTotal = figure("waybill_bridge_events_total", "What this bridge did, by kind, as its lines name it.", "kind")
	jobsHeld    = figure("waybill_bridge_jobs", "Jobs that this bridge reserved and the fleet has.")
	lastRound   = figure("waybill_bridge_last_round_timestamp_seconds", "When a round last did all it set out to do; 0: never.")
	fleetUp     = figure("waybill_bridge_fleet_up", "1 when this scrape could read the fleet's store.")
	fleetJobs   = figure("waybill_bridge_fleet_jobs", "Jobs of the namespace that the fleet has, whichever bridge handed them over.")
	clientsJobs = figure("waybill_bridge_clients_jobs", "Jobs that clients of the fleet enqueued, and that are jobs here and not closed there.")
	setAside    = figure("waybill_bridge_set_aside", "Entries that clients of the fleet enqueued, and that could be no jobs.")
)

func figure(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Collector shows a bridge to Prometheus: what it did, and by each scrape what lies in the fleet's store.
func Collector(b *Bridge) prometheus.Collector { return collector{b} }

type collector struct{ b *Bridge }

// Describe is part of prometheus.Collector.
func (c collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{eventsTotal, jobsHeld, lastRound, fleetUp, fleetJobs, clientsJobs, setAside} {
		out <- d
	}
}

// Collect is part of prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64) { out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	c.b.mu.Lock()
	counts, held, contact := maps.Clone(c.b.counts), c.b.held, c.b.contact
	c.b.mu.Unlock()
	for _, kind := range kinds {
		out <- prometheus.MustNewConstMetric(eventsTotal, prometheus.CounterValue, float64(counts[kind]), string(kind))
	}
	gauge(jobsHeld, float64(held))
	at := 0.0
	if !contact.IsZero() {
		at = float64(contact.UnixMilli()) / 1000
	}
	gauge(lastRound, at)

	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	pipe := c.b.o.Fleet.Pipeline()
	handed, taken, aside := pipe.SCard(ctx, c.b.keys.handed()), pipe.SCard(ctx, c.b.keys.taken()), pipe.LLen(ctx, c.b.keys.setAside())
	if _, err := pipe.Exec(ctx); err != nil {
		gauge(fleetUp, 0)
		return
	}
	gauge(fleetUp, 1)
	gauge(fleetJobs, float64(handed.Val()))
	gauge(clientsJobs, float64(taken.Val()))
	gauge(setAside, float64(aside.Val()))
}
