package controller

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/internal/redistest"
	"github.com/waybill-dev/waybill/planner"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// lab is a directory, a namespace, and a worker that the test moves step by step. Its clock stands still until it is moved.
type lab struct {
	*testing.T
	client *conveyor.Client
	dir    string
	now    time.Time
	number int64

	environ []string // for what is recalled
}

func newLab(t *testing.T) *lab {
	t.Helper()
	t.Parallel()
	l := &lab{T: t, dir: filepath.Join(t.TempDir(), "flow"), now: time.UnixMilli(1_800_000_000_000)}
	l.client = l.connect(redistest.Namespace())
	l.move(0)
	t.Cleanup(func() {
		violations, err := l.client.Verify(context.Background())
		if err != nil || len(violations) > 0 {
			t.Errorf("violations: %v, error %v", violations, err)
		}
	})
	return l
}

func (l *lab) connect(namespace string) *conveyor.Client {
	l.Helper()
	o := redistest.Shared(l.T).Options()
	o.MaxRetries = -1
	rdb := redis.NewClient(o)
	l.Cleanup(func() { _ = rdb.Close() })
	c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: namespace})
	l.ok(err)
	return c
}

func (l *lab) ok(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// move moves the store's clock.
func (l *lab) move(by time.Duration) {
	l.Helper()
	l.now = l.now.Add(by)
	l.ok(l.client.Redis().Set(l.Context(), l.client.Prefix()+"clock", fmt.Sprintf("=%d", l.now.UnixMilli()), 0).Err())
}

// declare writes the workflow's file: jobs of a type that the lab's worker runs, "b a" being an heir of a. A word with an equals sign
// is an argument.
func (l *lab) declare(jobs ...string) {
	l.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "workflow \"w\" {\n  namespace = %q\n}\n", l.client.Namespace())
	for _, job := range jobs {
		words := strings.Fields(job)
		fmt.Fprintf(&b, "job %q {\n  type  = \"t\"\n  queue = \"q\"\n", words[0])
		for _, w := range words[1:] {
			if name, value, ok := strings.Cut(w, "="); ok {
				fmt.Fprintf(&b, "  %s = { v = %q }\n", name, value)
				continue
			}
			fmt.Fprintf(&b, "  predecessor {\n    jobs = [job.%s]\n  }\n", w)
		}
		b.WriteString("  retry {\n    max_attempts = 1\n  }\n}\n")
	}
	l.write(b.String())
}

func (l *lab) write(text string) {
	l.Helper()
	write(l.T, filepath.Join(l.dir, "main.hcl"), text)
}

// replica is a Loop that the test moves step by step, with what it told.
type replica struct {
	*lab
	*Loop
	told []string
}

func (l *lab) replica(change ...func(*Options)) *replica {
	l.Helper()
	r := &replica{lab: l}
	o := Options{
		Source: NewFiles(l.dir), MaxDestroy: DefaultLimit, Interval: time.Hour,
		Load: func(dir string) (*config.Workflow, hcl.Diagnostics) {
			return config.Load(config.Options{Paths: []string{dir}, NeedVariables: true})
		},
		Settings: func(dir string) (*config.Workflow, hcl.Diagnostics) {
			return config.Load(config.Options{Paths: []string{dir}, Quick: true})
		},
		Recall: func(a *config.Archive, dir string) (*config.Workflow, hcl.Diagnostics) {
			return config.Load(config.Options{Archive: a, Paths: []string{dir}, NeedVariables: true, Environ: l.environ})
		},
		Open: func(_ context.Context, w *config.Workflow) (*Store, error) {
			return &Store{Client: l.connect(w.Namespace), Name: "redis", Close: func() error { return nil }}, nil
		},
		Observe: func(e Event) {
			line := string(e.Kind)
			switch e.Kind {
			case KindApplied, KindHealed:
				line = fmt.Sprintf("%s +%d ~%d -%d", e.Kind, e.Added, e.Changed, e.Destroyed)
			case KindConsent:
				line = fmt.Sprintf("%s -%d", e.Kind, e.Destroyed)
			case KindKept, KindRetried:
				line = fmt.Sprintf("%s %s", e.Kind, e.Job)
			}
			r.told = append(r.told, line)
			l.Logf("%s: %s %v", e.Kind, e.Text, e.Diags)
		},
	}
	for _, f := range change {
		f(&o)
	}
	loop, err := New(o)
	l.ok(err)
	r.Loop = loop
	l.Cleanup(func() { _ = loop.close(context.Background()) })
	return r
}

// steps does one turn in which everything is due, and wants this to be told.
func (r *replica) steps(want ...string) {
	r.Helper()
	r.read, r.round = time.Time{}, time.Time{}
	r.turns(want...)
}

// turns does one turn in which what is due is due, and wants this to be told.
func (r *replica) turns(want ...string) {
	r.Helper()
	r.told = nil
	r.turn(r.Context())
	// That nobody serves the queue is no part of these tests.
	r.told = slices.DeleteFunc(r.told, func(s string) bool { return s == string(KindWarning) })
	if diff := cmp.Diff(want, r.told); diff != "" {
		r.Errorf("told (-want +got):\n%s", diff)
	}
}

// work runs jobs until none is ready. Those that are named fail.
func (l *lab) work(failing ...string) (names []string) {
	l.Helper()
	for {
		l.number++
		reply, err := l.client.Exchange(l.Context(), conveyor.ExchangeRequest{Caller: "lab", Number: l.number, Lease: time.Hour, Queues: []string{"q"}, Want: 1})
		l.ok(err)
		if len(reply.Reserved) == 0 {
			tick, err := l.client.Tick(l.Context())
			l.ok(err)
			if tick.Changes == 0 && !tick.More {
				return names
			}
			continue
		}
		job := reply.Reserved[0]
		name := strings.TrimPrefix(job.Job.Name, "job.")
		names = append(names, name)
		ack := conveyor.Ack{UUID: job.Job.Uuid, Fence: job.Fence, Verdict: conveyor.VerdictDone}
		if slices.Contains(failing, name) {
			ack.Verdict, ack.Failure = conveyor.VerdictFailed, "it broke"
		}
		l.number++
		_, err = l.client.Exchange(l.Context(), conveyor.ExchangeRequest{Caller: "lab", Number: l.number, Done: []conveyor.Ack{ack}})
		l.ok(err)
	}
}

func (l *lab) state() *planner.State {
	l.Helper()
	s, err := applier.ReadState(l.Context(), l.client, "w")
	l.ok(err)
	return s
}

// workflow is what the files declare.
func (l *lab) workflow() *config.Workflow {
	l.Helper()
	w, diags := config.Load(config.Options{Paths: []string{l.dir}, NeedVariables: true})
	if diags.HasErrors() {
		l.Fatal(diags)
	}
	return w
}

// stands wants the workflow's records to be these, each with its live status: "a queued".
func (l *lab) stands(want ...string) {
	l.Helper()
	s := l.state()
	var got []string
	for address := range s.Records {
		got = append(got, strings.TrimPrefix(address, "job.")+" "+s.Live[address].Status.String())
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		l.Errorf("records (-want +got):\n%s", diff)
	}
}

// lose makes the store forget a job.
func (l *lab) lose(name string) {
	l.Helper()
	uuid := l.state().Records["job."+name].UUID.String()
	rdb, prefix := l.client.Redis(), l.client.Prefix()
	l.ok(rdb.HDel(l.Context(), prefix+"status", uuid).Err())
	l.ok(rdb.Del(l.Context(), prefix+"jobs:"+uuid).Err())
}

func remove(t *testing.T, name string) {
	t.Helper()
	if err := os.RemoveAll(name); err != nil {
		t.Fatal(err)
	}
}
