package controller

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("waybill_controller_"+name, help, append([]string{"workflow"}, labels...), nil)
}

var (
	leader      = desc("leader", "1 when this replica leads.")
	rounds      = desc("rounds_total", "Rounds of this replica, also of those that found nothing.")
	failures    = desc("failures_total", "Rounds of this replica that could not be ended.")
	lastSuccess = desc("last_success_timestamp_seconds", "When a round last did all it set out to do; 0: never.")
	lastRound   = desc("round_duration_seconds", "How long the last round took.")
	changes     = desc("changes_total", "Changes that this replica submitted, by kind: add, change, destroy.", "change")
	healed      = desc("healed_total", "Of those, changes that undid a drift: the revision had been applied before.")
	retried     = desc("retried_total", "Jobs that this replica submitted again since they had ended badly.")
	revision    = desc("revision_info", "1 for the revision that the source shows, and for the one that the store was last made equal to.", "revision", "is")
	isRejected  = desc("revision_rejected", "1 while the revision that the source shows cannot be applied.")
	waits       = desc("waits_for_consent", "1 while a plan that destroys more than is allowed waits for consent.")
	kept        = desc("kept_jobs", "Jobs that ended badly and are left alone.")
	jobs        = desc("jobs", "Recorded jobs of the workflow as of the last round, by how they stand.", "state")
	all         = []*prometheus.Desc{leader, rounds, failures, lastSuccess, lastRound, changes, healed, retried, revision, isRejected, waits, kept, jobs}
)

// Collector shows the figures of several Loops. Of two for one workflow it shows the first.
type Collector []*Loop

var _ prometheus.Collector = Collector(nil)

// Describe is part of prometheus.Collector.
func (c Collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range all {
		out <- d
	}
}

// Collect is part of prometheus.Collector.
func (c Collector) Collect(out chan<- prometheus.Metric) {
	shown := map[string]bool{}
	for _, l := range c {
		f := &l.figures
		f.mu.Lock()
		if f.workflow != "" && !shown[f.workflow] {
			shown[f.workflow] = true
			f.collect(out)
		}
		f.mu.Unlock()
	}
}

func (f *figures) collect(out chan<- prometheus.Metric) {
	send := func(kind prometheus.ValueType) func(*prometheus.Desc, float64, ...string) {
		return func(d *prometheus.Desc, v float64, labels ...string) {
			out <- prometheus.MustNewConstMetric(d, kind, v, append([]string{f.workflow}, labels...)...)
		}
	}
	count, gauge := send(prometheus.CounterValue), send(prometheus.GaugeValue)
	gauge(leader, truth(f.leading))
	count(rounds, float64(f.rounds))
	count(failures, float64(f.failures))
	gauge(lastSuccess, seconds(f.success))
	gauge(lastRound, f.took.Seconds())
	count(changes, float64(f.added), "add")
	count(changes, float64(f.changed), "change")
	count(changes, float64(f.destroyed), "destroy")
	count(healed, float64(f.healed))
	count(retried, float64(f.retried))
	if f.newest != "" {
		gauge(revision, 1, f.newest, "newest")
	}
	if f.current != "" {
		gauge(revision, 1, f.current, "applied")
	}
	gauge(isRejected, truth(f.isRejected))
	gauge(waits, truth(f.waiting))
	gauge(kept, float64(f.kept))
	for state, n := range f.jobs {
		gauge(jobs, float64(n), state)
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
