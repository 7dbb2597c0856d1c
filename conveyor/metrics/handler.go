package metrics

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// DefaultHealthTimeout is how long a worker may be without an answer from the store before it counts as dead.
const DefaultHealthTimeout = 30 * time.Second

// HandlerOptions configures Handler. The zero value works.
type HandlerOptions struct {
	// HealthTimeout is within what time the worker must have reserved or ticked successfully to be alive. Default: 30 s.
	HealthTimeout time.Duration
}

// Handler serves /metrics, and for supervisors /livez and /readyz: 200 and "ok", or 503 and the reason. A worker is alive
// when it reserved or ticked successfully within HealthTimeout, and ready when it takes jobs too; of a relay see Relay. A group of workers is
// when one of them is: the others are named below the "ok", and told by waybill_store_up and waybill_worker_failures_total. It asks for no
// credentials: serve it where only those may come who may see the names of queues.
func (m *Metrics) Handler(o HandlerOptions) http.Handler {
	if o.HealthTimeout <= 0 {
		o.HealthTimeout = DefaultHealthTimeout
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry}))
	mux.Handle("GET /livez", m.health(o.HealthTimeout, Subject.Live))
	mux.Handle("GET /readyz", m.health(o.HealthTimeout, Subject.Ready))
	return mux
}

// Subject is something that a process is there for: it is healthy when all of them are. Workers and relays are subjects.
type Subject interface {
	// Live and Ready tell why it is not, nil when it is. What has to happen now and then has happened within the time.
	Live(within time.Duration) error
	Ready(within time.Duration) error
}

// health answers for the subjects of the process, of which there is at least one.
func (m *Metrics) health(within time.Duration, judge func(Subject, time.Duration) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		subjects := m.subjects()
		var err error
		if len(subjects) == 0 {
			err = errors.New("no worker was started yet")
		}
		for _, s := range subjects {
			if err = judge(s, within); err != nil {
				break
			}
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		if err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, err)
			return
		}
		fmt.Fprintln(w, "ok")
		if g := m.theGroup(); g != nil {
			for _, trouble := range g.Troubles(within) {
				fmt.Fprintln(w, trouble)
			}
		}
	})
}
