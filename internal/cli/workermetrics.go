package cli

import (
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/conveyor/metrics"
)

// leastHealthTimeout leaves room for a call or two: a worker reaches its store every two seconds.
const leastHealthTimeout = 3 * time.Second

// exposure is what a worker serves about itself; the zero value serves nothing.
type exposure struct {
	metrics  *metrics.Metrics
	listener net.Listener
	server   *http.Server
}

// expose listens on the address of -metrics, before anything else is started; "" is none.
func expose(address string, healthTimeout time.Duration) (*exposure, error) {
	if address == "" {
		return &exposure{}, nil
	}
	if healthTimeout < leastHealthTimeout {
		return nil, fail("Invalid option", "-health-timeout: %s is too short: a worker reaches its store every two seconds, so it has to be at least %s.",
			healthTimeout, leastHealthTimeout)
	}
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return nil, fail("Invalid option", "-metrics: %q is no address: write PORT for this machine alone, or HOST:PORT.", address)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fail("Cannot serve metrics", "-metrics: %v.", err)
	}
	e := &exposure{metrics: metrics.New(), listener: listener}
	e.server = &http.Server{Handler: e.metrics.Handler(metrics.HandlerOptions{HealthTimeout: healthTimeout}), ReadHeaderTimeout: 5 * time.Second}
	return e, nil
}

// serve answers until close.
func (e *exposure) serve(log *slog.Logger) {
	if e.server == nil {
		return
	}
	log.Info("serving metrics and health", "url", "http://"+e.listener.Addr().String()+"/metrics")
	go func() {
		if err := e.server.Serve(e.listener); err != http.ErrServerClosed {
			log.Warn("metrics are not served any more", "error", err)
		}
	}()
}

func (e *exposure) close() {
	if e.server != nil {
		e.server.Close()   //nolint:errcheck // the process ends
		e.listener.Close() //nolint:errcheck // as a rule the server has closed it
	}
}
