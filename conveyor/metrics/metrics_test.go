package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/metrics"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// testNamespace is that of the clients of these tests, each on a store of its own.
const testNamespace = "shop"

func TestMain(m *testing.M) { os.Exit(redistest.Run(m)) }

// page asks for one page.
func page(t *testing.T, h http.Handler, path string) (int, string) {
	t.Helper()
	r := httptest.NewRecorder()
	h.ServeHTTP(r, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	body, err := io.ReadAll(r.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.Code, string(body)
}

// unnamed takes the label of the namespace away: most figures are compared without it.
var unnamed = strings.NewReplacer(`namespace="`+testNamespace+`",`, "", `,namespace="`+testNamespace+`"`, "", `{namespace="`+testNamespace+`"}`, "")

// figures are those lines of /metrics that have one of these prefixes, without the label of testNamespace.
func figures(t *testing.T, h http.Handler, prefixes ...string) []string {
	t.Helper()
	status, body := page(t, h, "/metrics")
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, body)
	}
	var out []string
	for line := range strings.Lines(body) {
		line = unnamed.Replace(line)
		for _, p := range prefixes {
			if strings.HasPrefix(line, p) {
				out = append(out, strings.TrimSpace(line))
			}
		}
	}
	return out
}

func wants(t *testing.T, h http.Handler, want []string, prefixes ...string) {
	t.Helper()
	if diff := cmp.Diff(want, figures(t, h, prefixes...)); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}

// TestOperations counts what a client does, on the store alone.
func TestOperations(t *testing.T) {
	t.Parallel()
	m := metrics.New()
	rdb := redistest.Start(t).Client(t)
	c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: testNamespace, Observer: m})
	if err != nil {
		t.Fatal(err)
	}
	ctx, h := t.Context(), m.Handler(metrics.HandlerOptions{})
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	clock := func(ms int64) { ok(rdb.Set(ctx, c.Prefix()+"clock", fmt.Sprintf("=%d", ms), 0).Err()) }
	clock(1_800_000_000_000)
	wants(t, h, nil, "waybill_store_up")
	m.Client(c)
	high := int32(2)
	ok(c.AddMany(ctx, []*wire.Job{{Uuid: "a", Queue: "q", Type: "t"}, {Uuid: "b", Queue: "q", Type: "t", Priority: &high}, {Uuid: "c", Queue: "r", Type: "t"}}))
	ok(c.SetQueue(ctx, "q", conveyor.QueueSettings{Concurrency: 5}))
	ok(c.PauseQueue(ctx, "r"))
	if err := c.Cancel(ctx, "never"); !errors.Is(err, conveyor.ErrNotFound) {
		t.Error(err)
	}
	exchange := func(number int64, done ...conveyor.Ack) {
		t.Helper()
		_, err := c.Exchange(ctx, conveyor.ExchangeRequest{Worker: "w", Number: number, Queues: []string{"q"}, Want: 1, Done: done})
		ok(err)
	}
	exchange(1, conveyor.Ack{UUID: "a", Fence: 7})
	beat := conveyor.WorkerInfo{ID: "w", Queues: []string{"q"}, Running: []conveyor.Holding{{UUID: "b", Fence: 1}, {UUID: "a", Fence: 7}}}
	_, err = c.Beat(ctx, beat)
	ok(err)
	wants(t, h, []string{
		`waybill_queue_concurrency{queue="q"} 5`, `waybill_queue_paused{queue="q"} 0`, `waybill_queue_paused{queue="r"} 1`,
		`waybill_queue_running{queue="q"} 1`, `waybill_queue_running{queue="r"} 0`, `waybill_store_up 1`,
	}, "waybill_queue_concurrency", "waybill_queue_paused", "waybill_queue_running", "waybill_store_up")
	wants(t, h, []string{`waybill_queue_depth{priority="1",queue="q"} 1`, `waybill_queue_depth{priority="1",queue="r"} 1`}, `waybill_queue_depth{priority="1"`)

	clock(1_800_000_000_000 + conveyor.DeadAfter.Milliseconds())
	_, err = c.Tick(ctx)
	ok(err)
	if _, err := c.Exchange(ctx, conveyor.ExchangeRequest{Caller: "x", Number: 2, Want: 1, Queues: []string{"q"}, Lease: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exchange(ctx, conveyor.ExchangeRequest{Caller: "x", Number: 1}); !errors.Is(err, conveyor.ErrOutdated) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := c.Tick(ended); err == nil {
		t.Error("a tick under an ended context succeeded")
	}
	wants(t, h, []string{
		`waybill_operation_errors_total{kind="cancelled",operation="tick"} 1`, `waybill_operation_errors_total{kind="not_found",operation="cancel"} 1`,
		`waybill_operation_errors_total{kind="outdated",operation="exchange"} 1`,
		`waybill_operations_total{operation="add"} 1`, `waybill_operations_total{operation="beat"} 1`, `waybill_operations_total{operation="cancel"} 1`,
		`waybill_operations_total{operation="exchange"} 3`, `waybill_operations_total{operation="queue"} 2`, `waybill_operations_total{operation="tick"} 2`,
	}, "waybill_operation_errors_total", "waybill_operations_total")
	wants(t, h, []string{`waybill_operation_duration_seconds_count{operation="exchange"} 3`}, `waybill_operation_duration_seconds_count{operation="exchange"`)
	wants(t, h, []string{"waybill_acknowledgements_outdated_total 1", "waybill_jobs_lost_total 1", "waybill_leases_extended_total 1", "waybill_workers_lost_total 1"},
		"waybill_acknowledgements", "waybill_jobs_lost", "waybill_leases", "waybill_workers_lost")
}

// TestWorker shows a worker from before its start to after its end.
func TestWorker(t *testing.T) {
	t.Parallel()
	m := metrics.New()
	c, err := conveyor.NewClient(redistest.Start(t).Client(t), conveyor.Options{Namespace: testNamespace, Observer: m})
	if err != nil {
		t.Fatal(err)
	}
	h := m.Handler(metrics.HandlerOptions{})
	healthy := func(path string, want int, says string) {
		t.Helper()
		if status, body := page(t, h, path); status != want || !strings.Contains(body, says) {
			t.Errorf("%s: %d %q, want %d and %q", path, status, body, want, says)
		}
	}
	healthy("/livez", 503, "no worker was started yet")
	w, err := conveyor.NewWorker(c, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: "q"}}, Concurrency: 3})
	if err != nil {
		t.Fatal(err)
	}
	m.Worker(w)
	healthy("/livez", 200, "ok")
	healthy("/readyz", 503, "has not registered yet")
	began, release := make(chan struct{}), make(chan struct{})
	w.HandleRaw("t", func(context.Context, *wire.Job) error { began <- struct{}{}; <-release; return nil })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	if err := c.Add(t.Context(), &wire.Job{Uuid: "a", Queue: "q", Type: "t"}); err != nil {
		t.Fatal(err)
	}
	<-began
	healthy("/livez", 200, "ok")
	healthy("/readyz", 200, "ok")
	wants(t, h, []string{"waybill_worker_capacity 3", "waybill_worker_running 1"}, "waybill_worker_capacity", "waybill_worker_running")
	close(release)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	healthy("/readyz", 503, "has ended")
	wants(t, h, []string{`waybill_attempts_total{outcome="done",queue="q"} 1`, "waybill_worker_running 0"}, "waybill_attempts_total", "waybill_worker_running")
	if got := figures(t, h, "go_goroutines"); len(got) != 1 {
		t.Errorf("figures of the process: %v", got)
	}
}

// TestStoreAway: a scrape without its store shows what this process knows, and says so.
func TestStoreAway(t *testing.T) {
	t.Parallel()
	m := metrics.New()
	rdb := redistest.Miniredis(t)
	c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: testNamespace, Observer: m})
	if err != nil {
		t.Fatal(err)
	}
	m.Client(c)
	if err := rdb.Close(); err != nil {
		t.Fatal(err)
	}
	wants(t, m.Handler(metrics.HandlerOptions{}), []string{"waybill_leases_extended_total 0", "waybill_store_up 0"}, "waybill_leases", "waybill_queue", "waybill_store_up")
}

func TestKind(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for want, err := range map[string]error{
		"": nil, "other": errors.New("x"), "unavailable": fmt.Errorf("x: %w", conveyor.ErrUnavailable), "full": conveyor.ErrFull,
		"outdated": conveyor.ErrOutdated, "corrupt": &conveyor.StepError{Step: conveyor.ErrPush}, "unique": &conveyor.UniqueError{Key: "k"},
		"conflict":  &conveyor.ConflictError{Conflicts: []conveyor.Conflict{{Stale: true}}},
		"not_found": &conveyor.ConflictError{Conflicts: []conveyor.Conflict{{}}}, "deadline": context.DeadlineExceeded,
	} {
		if got := metrics.Kind(err); got != want || seen[got] {
			t.Errorf("%v is %q, want %q", err, got, want)
		}
		seen[want] = true
	}
}
