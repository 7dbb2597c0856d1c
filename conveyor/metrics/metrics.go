package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/outbox"
)

// Metrics collects the figures of one process. It is a conveyor.Observer and safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	calls, errors, attempts                     *prometheus.CounterVec
	callSeconds, attemptSeconds                 *prometheus.HistogramVec
	extended, outdated, lost, expired, obsolete prometheus.Counter
	died, repeated                              prometheus.Counter

	mu     sync.Mutex
	client *conveyor.Client // nil until Client
	worker *conveyor.Worker // nil until Worker
	relay  *outbox.Relay    // nil until Relay.Relay
	others []Subject        // of Show
}

var _ conveyor.Observer = (*Metrics)(nil)

// Buckets in seconds: calls take a fraction of a millisecond on a near store, attempts up to hours.
var (
	callBuckets    = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}
	attemptBuckets = []float64{.01, .05, .25, 1, 5, 15, 60, 300, 900, 3600, 14400}
)

// New returns figures that are all zero.
func New() *Metrics {
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	one := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		calls:    vec("waybill_operations_total", "Calls to the store, by operation.", "operation"),
		errors:   vec("waybill_operation_errors_total", "Calls to the store that ended in an error, by operation and kind of error.", "operation", "kind"),
		callSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "waybill_operation_duration_seconds",
			Help: "How long calls to the store took, with all repetitions.", Buckets: callBuckets}, []string{"operation"}),
		attempts: vec("waybill_attempts_total", "Attempts of jobs that ended in this process, by queue and outcome.", "queue", "outcome"),
		attemptSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "waybill_attempt_duration_seconds",
			Help: "How long attempts took in this process.", Buckets: attemptBuckets}, []string{"queue"}),
		extended: one("waybill_leases_extended_total", "Leases of running jobs that were renewed by beats of this process."),
		outdated: one("waybill_acknowledgements_outdated_total", "Ends of attempts that were refused, since the attempt had been superseded."),
		lost:     one("waybill_jobs_lost_total", "Jobs that this process took from dead workers and ended leases."),
		expired:  one("waybill_jobs_expired_total", "Jobs that this process ended as they had waited too long."),
		obsolete: one("waybill_jobs_obsolete_total", "Jobs that this process ended as a live job made them obsolete."),
		died:     one("waybill_workers_lost_total", "Workers that this process announced dead."),
		repeated: one("waybill_calls_repeated_total", "Calls to the store that were repeated as their answer did not come."),
	}
	m.registry.MustRegister(m.calls, m.errors, m.callSeconds, m.attempts, m.attemptSeconds, m.extended, m.outdated, m.lost, m.expired, m.obsolete,
		m.died, m.repeated, scrape{m}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Client tells of whose namespace the queues are shown.
func (m *Metrics) Client(c *conveyor.Client) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.client = c
}

// Worker tells whose slots and whose health are shown.
func (m *Metrics) Worker(w *conveyor.Worker) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.worker = w
}

func (m *Metrics) sources() (*conveyor.Client, *conveyor.Worker) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.client, m.worker
}

// Show adds the figures of something else that this process is there for, and tells of its health.
func (m *Metrics) Show(figures prometheus.Collector, subjects ...Subject) {
	m.registry.MustRegister(figures)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.others = append(m.others, subjects...)
}

func (m *Metrics) subjects() (all []Subject) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.worker != nil {
		all = append(all, m.worker)
	}
	if m.relay != nil {
		all = append(all, m.relay)
	}
	return append(all, m.others...)
}

// Called is part of conveyor.Observer.
func (m *Metrics) Called(operation string, took time.Duration, err error) {
	m.calls.WithLabelValues(operation).Inc()
	m.callSeconds.WithLabelValues(operation).Observe(took.Seconds())
	if err != nil {
		m.errors.WithLabelValues(operation, Kind(err)).Inc()
	}
}

// Attempted is part of conveyor.Observer.
func (m *Metrics) Attempted(queue string, outcome conveyor.Outcome, took time.Duration) {
	m.attempts.WithLabelValues(queue, string(outcome)).Inc()
	m.attemptSeconds.WithLabelValues(queue).Observe(took.Seconds())
}

// Happened is part of conveyor.Observer.
func (m *Metrics) Happened(what conveyor.Incident, n int) {
	counters := map[conveyor.Incident]prometheus.Counter{
		conveyor.LeaseExtended: m.extended, conveyor.AckOutdated: m.outdated, conveyor.JobLost: m.lost, conveyor.JobExpired: m.expired,
		conveyor.JobObsolete: m.obsolete, conveyor.WorkerDied: m.died, conveyor.CallRepeated: m.repeated,
	}
	if c := counters[what]; c != nil {
		c.Add(float64(n))
	}
}
