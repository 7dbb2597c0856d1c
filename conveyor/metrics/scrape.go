package metrics

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// scrapeTimeout bounds what a scrape waits for the store: less than any scraper waits for it.
const scrapeTimeout = 3 * time.Second

var (
	up       = desc("waybill_store_up", "1 when this scrape could read the store.")
	depth    = desc("waybill_queue_depth", "Queued jobs, by queue and priority.", "queue", "priority")
	running  = desc("waybill_queue_running", "Running jobs of a queue, over all workers.", "queue")
	limit    = desc("waybill_queue_concurrency", "Running jobs at most, of queues with a limit.", "queue")
	paused   = desc("waybill_queue_paused", "1 when a queue is paused, by declaration or by hand.", "queue")
	capacity = desc("waybill_worker_capacity", "Attempts that the worker of this process runs at a time.")
	active   = desc("waybill_worker_running", "Attempts that run in this process.")
	progress = desc("waybill_worker_oldest_progress_seconds", "How long ago the running attempt that is longest without progress made some, or began.")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// scrape reads what is not counted but looked up.
type scrape struct{ m *Metrics }

// Describe is part of prometheus.Collector.
func (s scrape) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{up, depth, running, limit, paused, capacity, active, progress} {
		out <- d
	}
}

// Collect is part of prometheus.Collector.
func (s scrape) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	client, worker := s.m.sources()
	if worker != nil {
		w := worker.Stats()
		gauge(capacity, float64(w.Capacity))
		gauge(active, float64(w.Running))
		gauge(progress, w.OldestProgress.Seconds())
	}
	if client == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	queues, err := client.Queues(ctx)
	if err != nil {
		gauge(up, 0)
		return
	}
	gauge(up, 1)
	for _, q := range queues {
		for priority, n := range q.Depth {
			gauge(depth, float64(n), q.Name, strconv.Itoa(priority))
		}
		gauge(running, float64(q.Running), q.Name)
		if q.Settings.Concurrency > 0 {
			gauge(limit, float64(q.Settings.Concurrency), q.Name)
		}
		stands := 0.0
		if q.Paused() {
			stands = 1
		}
		gauge(paused, stands, q.Name)
	}
}
