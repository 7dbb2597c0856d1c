package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/outbox"
)

// Metrics collects the figures of one process. It is a conveyor.Observer of the clients of any number of namespaces, and safe for
// concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	calls, errors, attempts     *prometheus.CounterVec
	callSeconds, attemptSeconds *prometheus.HistogramVec
	incidents                   map[conveyor.Incident]*prometheus.CounterVec

	mu      sync.Mutex
	clients []*conveyor.Client    // of Client
	worker  *conveyor.Worker      // nil until Worker
	group   *conveyor.WorkerGroup // nil until Group
	relay   *outbox.Relay         // nil until Relay.Relay
	others  []Subject             // of Show
}

var _ conveyor.NamespaceObserver = (*Metrics)(nil)

// Buckets in seconds: calls take a fraction of a millisecond on a near store, attempts up to hours.
var (
	callBuckets    = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}
	attemptBuckets = []float64{.01, .05, .25, 1, 5, 15, 60, 300, 900, 3600, 14400}
)

// New returns figures that are all zero.
func New() *Metrics {
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append([]string{namespaceLabel}, labels...))
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		calls:    vec("waybill_operations_total", "Calls to the store, by operation.", "operation"),
		errors:   vec("waybill_operation_errors_total", "Calls to the store that ended in an error, by operation and kind of error.", "operation", "kind"),
		callSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "waybill_operation_duration_seconds",
			Help: "How long calls to the store took, with all repetitions.", Buckets: callBuckets}, []string{namespaceLabel, "operation"}),
		attempts: vec("waybill_attempts_total", "Attempts of jobs that ended in this process, by queue and outcome.", "queue", "outcome"),
		attemptSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "waybill_attempt_duration_seconds",
			Help: "How long attempts took in this process.", Buckets: attemptBuckets}, []string{namespaceLabel, "queue"}),
		incidents: map[conveyor.Incident]*prometheus.CounterVec{
			conveyor.LeaseExtended: vec("waybill_leases_extended_total", "Leases of running jobs that were renewed by beats of this process."),
			conveyor.AckOutdated:   vec("waybill_acknowledgements_outdated_total", "Ends of attempts that were refused, since the attempt had been superseded."),
			conveyor.JobLost:       vec("waybill_jobs_lost_total", "Jobs that this process took from dead workers and ended leases."),
			conveyor.JobExpired:    vec("waybill_jobs_expired_total", "Jobs that this process ended as they had waited too long."),
			conveyor.JobObsolete:   vec("waybill_jobs_obsolete_total", "Jobs that this process ended as a live job made them obsolete."),
			conveyor.WorkerDied:    vec("waybill_workers_lost_total", "Workers that this process announced dead."),
			conveyor.CallRepeated:  vec("waybill_calls_repeated_total", "Calls to the store that were repeated as their answer did not come."),
			conveyor.WorkerFailed:  vec("waybill_worker_failures_total", "Workers of a namespace that failed and were started again, beside those of others."),
		},
	}
	for _, c := range m.incidents {
		m.registry.MustRegister(c)
	}
	m.registry.MustRegister(m.calls, m.errors, m.callSeconds, m.attempts, m.attemptSeconds, scrape{m}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Client tells of whose namespace the queues are shown. Each client adds one.
func (m *Metrics) Client(c *conveyor.Client) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clients = append(m.clients, c)
}

// Worker tells whose slots and whose health are shown.
func (m *Metrics) Worker(w *conveyor.Worker) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.worker = w
}

// Group tells whose slots and whose health are shown, of a group in place of a worker.
func (m *Metrics) Group(g *conveyor.WorkerGroup) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.group = g
}

func (m *Metrics) theGroup() *conveyor.WorkerGroup {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.group
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
	if m.group != nil {
		all = append(all, m.group)
	}
	if m.relay != nil {
		all = append(all, m.relay)
	}
	return append(all, m.others...)
}

// namespaceLabel is the label of all figures that are of one namespace.
const namespaceLabel = "namespace"

// In is part of conveyor.NamespaceObserver: what it returns counts for a namespace.
func (m *Metrics) In(namespace string) conveyor.Observer {
	o := counting{m: m, namespace: namespace, incidents: make(map[conveyor.Incident]prometheus.Counter, len(m.incidents))}
	for what, c := range m.incidents {
		o.incidents[what] = c.WithLabelValues(namespace) // shown as 0 from the start
	}
	return o
}

// counting is Metrics as the Observer of a namespace.
type counting struct {
	m         *Metrics
	namespace string
	incidents map[conveyor.Incident]prometheus.Counter
}

// Called is part of conveyor.Observer.
func (c counting) Called(operation string, took time.Duration, err error) {
	c.m.calls.WithLabelValues(c.namespace, operation).Inc()
	c.m.callSeconds.WithLabelValues(c.namespace, operation).Observe(took.Seconds())
	if err != nil {
		c.m.errors.WithLabelValues(c.namespace, operation, Kind(err)).Inc()
	}
}

// Attempted is part of conveyor.Observer.
func (c counting) Attempted(queue string, outcome conveyor.Outcome, took time.Duration) {
	c.m.attempts.WithLabelValues(c.namespace, queue, string(outcome)).Inc()
	c.m.attemptSeconds.WithLabelValues(c.namespace, queue).Observe(took.Seconds())
}

// Happened is part of conveyor.Observer.
func (c counting) Happened(what conveyor.Incident, n int) {
	if counter := c.incidents[what]; counter != nil {
		counter.Add(float64(n))
	}
}

// Called, Attempted and Happened are those of a caller that has no namespace to name; a conveyor.Client asks for its own with In.
func (m *Metrics) Called(operation string, took time.Duration, err error) {
	m.In("").Called(operation, took, err)
}

// Attempted is part of conveyor.Observer, see Called.
func (m *Metrics) Attempted(queue string, outcome conveyor.Outcome, took time.Duration) {
	m.In("").Attempted(queue, outcome, took)
}

// Happened is part of conveyor.Observer, see Called.
func (m *Metrics) Happened(what conveyor.Incident, n int) { m.In("").Happened(what, n) }
