package metrics

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-dev/waybill/conveyor"
)

// scrapeTimeout bounds what a scrape waits for the store: less than any scraper waits for it.
const scrapeTimeout = 3 * time.Second

var (
	up       = desc("waybill_store_up", "1 when this scrape could read the namespace.", namespaceLabel)
	depth    = desc("waybill_queue_depth", "Queued jobs, by queue and priority.", namespaceLabel, "queue", "priority")
	running  = desc("waybill_queue_running", "Running jobs of a queue, over all workers.", namespaceLabel, "queue")
	limit    = desc("waybill_queue_concurrency", "Running jobs at most, of queues with a limit.", namespaceLabel, "queue")
	paused   = desc("waybill_queue_paused", "1 when a queue is paused, by declaration or by hand.", namespaceLabel, "queue")
	capacity = desc("waybill_worker_capacity", "Attempts that this process runs at a time, of all its namespaces together.")
	active   = desc("waybill_worker_running", "Attempts that run in this process.", namespaceLabel)
	progress = desc("waybill_worker_oldest_progress_seconds", "How long ago the running attempt that is longest without progress made some, or began.",
		namespaceLabel)
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// gauge passes a figure on.
func gauge(out chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

// scrape reads what is not counted but looked up.
type scrape struct{ m *Metrics }

// Describe is part of prometheus.Collector.
func (s scrape) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{up, depth, running, limit, paused, capacity, active, progress} {
		out <- d
	}
}

// Collect is part of prometheus.Collector. The namespaces are read at the same time, so that one that does not answer keeps none of the
// others from being shown.
func (s scrape) Collect(out chan<- prometheus.Metric) {
	s.m.mu.Lock()
	clients, worker, group := slices.Clone(s.m.clients), s.m.worker, s.m.group
	s.m.mu.Unlock()
	stats := map[string]conveyor.WorkerStats{}
	switch {
	case group != nil:
		gauge(out, capacity, float64(group.Capacity()))
		stats = group.Stats()
	case worker != nil:
		w := worker.Stats()
		gauge(out, capacity, float64(w.Capacity))
		stats[worker.Namespace()] = w
	}
	for namespace, w := range stats {
		gauge(out, active, float64(w.Running), namespace)
		gauge(out, progress, w.OldestProgress.Seconds(), namespace)
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	var all sync.WaitGroup
	for _, c := range clients {
		all.Go(func() { collectQueues(ctx, c, out) })
	}
	all.Wait()
}

// collectQueues reads the queues of a namespace.
func collectQueues(ctx context.Context, client *conveyor.Client, out chan<- prometheus.Metric) {
	namespace := client.Namespace()
	queues, err := client.Queues(ctx)
	if err != nil {
		gauge(out, up, 0, namespace)
		return
	}
	gauge(out, up, 1, namespace)
	for _, q := range queues {
		for priority, n := range q.Depth {
			gauge(out, depth, float64(n), namespace, q.Name, strconv.Itoa(priority))
		}
		gauge(out, running, float64(q.Running), namespace, q.Name)
		if q.Settings.Concurrency > 0 {
			gauge(out, limit, float64(q.Settings.Concurrency), namespace, q.Name)
		}
		stands := 0.0
		if q.Paused() {
			stands = 1
		}
		gauge(out, paused, stands, namespace, q.Name)
	}
}
