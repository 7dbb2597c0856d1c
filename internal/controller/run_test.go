package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor/metrics"
)

// TestReplicasTogether lets three replicas run while the files change, while jobs disappear, and while one after the other stops.
func TestReplicasTogether(t *testing.T) {
	l := newLab(t)
	l.declare("a")
	ctx := t.Context()
	var stops []context.CancelFunc
	var running sync.WaitGroup
	for range 3 {
		r := l.replica(func(o *Options) {
			o.Observe = func(Event) {}
			o.MaxDestroy = Limit{N: 100, Percent: true}
		})
		own, stop := context.WithCancel(ctx)
		stops = append(stops, stop)
		running.Go(func() {
			if err := r.Run(own); err != nil {
				t.Error(err)
			}
		})
	}
	until := func(want ...string) {
		t.Helper()
		for {
			s := l.state()
			var got []string
			for address := range s.Records {
				got = append(got, strings.TrimPrefix(address, "job.")+" "+s.Live[address].Status.String())
			}
			if slices.Sort(got); slices.Equal(got, want) {
				return
			}
			select {
			case <-ctx.Done():
				t.Fatalf("records are %v, want %v", got, want)
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	until("a queued")
	for n := range 3 {
		l.declare("a", fmt.Sprintf("b%d", n), "c payload="+fmt.Sprint(n))
		until("a queued", fmt.Sprintf("b%d queued", n), "c queued")
		if n < 2 {
			stops[n]()
		}
	}
	stops[2]()
	running.Wait()
	for _, lock := range []func() (*applier.Holder, error){
		func() (*applier.Holder, error) { return applier.ReadLeader(ctx, l.client, "w") },
		func() (*applier.Holder, error) { return applier.ReadLock(ctx, l.client, "w") },
	} {
		if h, err := lock(); h != nil || err != nil {
			t.Errorf("held by %v after all have stopped, error %v", h, err)
		}
	}
	if diff := cmp.Diff([]string{"a", "b2", "c"}, sorted(l.work())); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

// TestOnce does one round and tells whether the files were applied.
func TestOnce(t *testing.T) {
	l := newLab(t)
	l.declare("a", "b", "c")
	once := func() (*replica, error) {
		r := l.replica()
		return r, r.Once(t.Context(), 0)
	}
	_, err := once()
	l.ok(err)
	l.stands("a queued", "b queued", "c queued")
	l.declare("a")
	if r, err := once(); !errors.Is(err, ErrNotApplied) || !slices.Contains(r.told, "consent -2") {
		t.Errorf("error %v, told %v", err, r.told)
	}
	l.write("job {")
	if r, err := once(); !errors.Is(err, ErrNotApplied) || !slices.Contains(r.told, "rejected") {
		t.Errorf("error %v, told %v", err, r.told)
	}
	l.declare("a", "b", "c", "d")
	leader := l.replica()
	leader.steps("revision", "leading", "applied +1 ~0 -0")
	if _, err := once(); err == nil || !strings.Contains(err.Error(), "another controller leads workflow \"w\"") {
		t.Errorf("error %v", err)
	}
}

// TestFigures shows what replicas did, and how they are.
func TestFigures(t *testing.T) {
	l := newLab(t)
	l.declare("a", "b")
	leader, standby := l.replica(), l.replica()
	pages := func(r *replica) func(path string) string {
		m := metrics.New()
		m.Show(Collector{r.Loop}, r.Loop)
		h := m.Handler(metrics.HandlerOptions{HealthTimeout: time.Hour})
		return func(path string) string {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			body, err := io.ReadAll(w.Result().Body)
			l.ok(err)
			return fmt.Sprintf("%d %s", w.Code, body)
		}
	}
	leads, stands := pages(leader), pages(standby)
	if got, want := leads("/readyz"), "503 no round was done yet\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	leader.steps("revision", "leading", "applied +2 ~0 -0")
	standby.steps("revision", "standby")
	l.work("b")
	leader.steps("kept job.b", "in_sync")
	l.lose("a")
	leader.steps("healed +1 ~0 -0")
	figures := leads("/metrics")
	for _, want := range []string{
		`waybill_controller_leader{workflow="w"} 1`, `waybill_controller_rounds_total{workflow="w"} 3`,
		`waybill_controller_failures_total{workflow="w"} 0`, `waybill_controller_changes_total{change="add",workflow="w"} 3`,
		`waybill_controller_healed_total{workflow="w"} 1`, `waybill_controller_kept_jobs{workflow="w"} 1`,
		`waybill_controller_jobs{state="failed",workflow="w"} 1`, `waybill_controller_revision_rejected{workflow="w"} 0`,
		fmt.Sprintf(`waybill_controller_revision_info{is="applied",revision=%q,workflow="w"} 1`, leader.newest.id),
	} {
		if !strings.Contains(figures, want+"\n") {
			t.Errorf("%s is missing in\n%s", want, figures)
		}
	}
	if figures := stands("/metrics"); !strings.Contains(figures, `waybill_controller_leader{workflow="w"} 0`+"\n") {
		t.Errorf("a standby leads: %s", figures)
	}
	for _, page := range []string{leads("/livez"), leads("/readyz"), stands("/livez"), stands("/readyz")} {
		if page != "200 ok\n" {
			t.Errorf("got %q", page)
		}
	}
}

// TestRejectedNoMore has two replicas that start on a configuration that cannot be read, which is mended.
func TestRejectedNoMore(t *testing.T) {
	l := newLab(t)
	l.write("job \"a\" {")
	leader, standby := l.replica(), l.replica()
	for _, r := range []*replica{leader, standby} {
		r.steps("revision", "rejected")
		if r.Ready(time.Hour) == nil || !r.figures.isRejected {
			t.Error("it is ready without a configuration")
		}
	}
	l.declare("a")
	leader.steps("revision", "leading", "applied +1 ~0 -0")
	standby.steps("revision", "standby")
	for _, r := range []*replica{leader, standby} {
		if err := r.Ready(time.Hour); err != nil || r.figures.isRejected {
			t.Errorf("ready: %v, rejected %t", err, r.figures.isRejected)
		}
	}
}
