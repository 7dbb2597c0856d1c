package metrics

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/waybill-dev/waybill/conveyor"
)

// DefaultHealthTimeout is how long a worker may be without an answer from the store before it counts as dead.
const DefaultHealthTimeout = 30 * time.Second

// HandlerOptions configures Handler. The zero value works.
type HandlerOptions struct {
	// HealthTimeout is within what time the worker must have reserved or ticked successfully to be alive. Default: 30 s.
	HealthTimeout time.Duration
}

// Handler serves /metrics, and for supervisors /livez and /readyz: 200 and "ok", or 503 and the reason. A worker is alive
// when it reserved or ticked successfully within HealthTimeout, and ready when it takes jobs too. It asks for no
// credentials: serve it where only those may come who may see the names of queues.
func (m *Metrics) Handler(o HandlerOptions) http.Handler {
	if o.HealthTimeout <= 0 {
		o.HealthTimeout = DefaultHealthTimeout
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry}))
	mux.Handle("GET /livez", m.health(o.HealthTimeout, (*conveyor.Worker).Live))
	mux.Handle("GET /readyz", m.health(o.HealthTimeout, (*conveyor.Worker).Ready))
	return mux
}

func (m *Metrics) health(within time.Duration, ask func(*conveyor.Worker, time.Duration) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		err := errors.New("no worker was started yet")
		if _, worker := m.sources(); worker != nil {
			err = ask(worker, within)
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		if err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, err)
			return
		}
		fmt.Fprintln(w, "ok")
	})
}
