package applier

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
)

// gate is an observer that stops at its first event until it is opened, and notes what it gets.
type gate struct {
	reached chan struct{} // closed at the first event
	open    chan struct{}
	once    sync.Once
	seen    []string
}

func newGate() *gate { return &gate{reached: make(chan struct{}), open: make(chan struct{})} }

func (g *gate) Observe(e Event) {
	g.once.Do(func() { close(g.reached); <-g.open })
	switch e := e.(type) {
	case JobChanged:
		g.seen = append(g.seen, fmt.Sprintf("%s %s %d %q", e.Addr, e.Status.State, e.Seq, e.Failure))
	case Submitting:
		g.seen = append(g.seen, fmt.Sprintf("submitting %d", e.Done))
	case Warning:
		g.seen = append(g.seen, "warning "+e.Summary)
	case Done:
		g.seen = append(g.seen, "done")
	}
}

// TestMailboxLosesNoFact posts while the observer is stuck: posting returns, and what is left for it is every change of every job,
// every warning, the latest of what only counts, and the end.
func TestMailboxLosesNoFact(t *testing.T) {
	t.Parallel()
	g := newGate()
	m := newMailbox(g)
	m.post(Warning{Summary: "first"})
	<-g.reached
	a, b := config.Addr{Name: "a"}, config.Addr{Name: "b"}
	want := []string{"warning first"}
	const n = 10000
	for i := range n {
		m.post(Submitting{Done: i})
		m.post(JobChanged{Addr: a, Status: conveyor.Status{UUID: "u", State: conveyor.StateRunning}, Seq: int64(2 * i)})
		m.post(JobChanged{Addr: b, Status: conveyor.Status{UUID: "v", State: conveyor.StateQueued}, Seq: int64(2*i + 1)})
		if i == n-1 {
			want = append(want, fmt.Sprint("submitting ", i))
		}
		want = append(want, fmt.Sprintf(`job.a running %d ""`, 2*i), fmt.Sprintf(`job.b queued %d ""`, 2*i+1))
	}
	m.post(Done{})
	want = append(want, "done")
	close(g.open)
	m.close()
	if diff := cmp.Diff(want, g.seen); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
}

// TestMailboxFolds posts more than the mailbox holds: what is left is each job's latest status, and how much is not.
func TestMailboxFolds(t *testing.T) {
	t.Parallel()
	g := newGate()
	m := newMailbox(g)
	m.beyond = 4
	m.post(Warning{Summary: "first"})
	<-g.reached
	a, b := config.Addr{Name: "a"}, config.Addr{Name: "b"}
	changed := func(a config.Addr, seq int64, failure string) {
		m.post(JobChanged{Addr: a, Status: conveyor.Status{UUID: a.Name, State: conveyor.StateQueued}, Seq: seq, Failure: failure})
	}
	for seq := range int64(4) {
		changed(a, seq, "")
	}
	changed(b, 4, "") // b has nothing that could make room
	changed(a, 5, "exit status 3")
	changed(a, 6, "")
	if n := m.events.Len(); n > 5 {
		t.Errorf("%d events wait for a slow observer", n)
	}
	m.post(Done{})
	close(g.open)
	m.close()
	want := []string{"warning first", `job.a queued 0 ""`, `job.a queued 1 ""`, `job.a queued 2 ""`, `job.b queued 4 ""`,
		"warning Changes of jobs were left out", `job.a queued 6 "exit status 3"`, "done"}
	if diff := cmp.Diff(want, g.seen); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
}

// TestMailboxKeepsOrder posts from one goroutine to a fast observer: nothing is lost at the end, and numbers only rise.
func TestMailboxKeepsOrder(t *testing.T) {
	t.Parallel()
	var last int64
	var events int
	m := newMailbox(observerFunc(func(e Event) {
		if c, ok := e.(JobChanged); ok {
			if c.Seq <= last {
				t.Errorf("event %d after %d", c.Seq, last)
			}
			last, events = c.Seq, events+1
		}
	}))
	const n = 5000
	for i := range n {
		m.post(JobChanged{Addr: config.Addr{Name: fmt.Sprint("j", i%7)}, Seq: int64(i + 1)})
	}
	m.close()
	if last != n || events == 0 {
		t.Errorf("the last of %d events is %d, want %d", events, last, n)
	}
}

func TestMailboxWithoutObserver(t *testing.T) {
	t.Parallel()
	m := newMailbox(nil)
	m.post(Done{})
	m.close()
}

type observerFunc func(Event)

func (f observerFunc) Observe(e Event) { f(e) }

func BenchmarkMailbox(b *testing.B) {
	m := newMailbox(observerFunc(func(Event) {}))
	defer m.close()
	b.ReportAllocs()
	for i := range b.N {
		m.post(JobChanged{Addr: config.Addr{Name: "a", Key: config.InstanceKey{Kind: config.KeyInt, Int: i % 1000}}})
	}
}
