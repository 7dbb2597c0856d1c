package applier

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// lab is one namespace with a workflow in it, and a worker that the test moves step by step.
type lab struct {
	*testing.T
	*conveyor.Client
	store    store
	workflow *config.Workflow
	run      Run // what apply starts from; Plan, Workflow and Options are filled in
	number   int64
	runs     []attempt // all that was ever started
}

// attempt is one start of a job.
type attempt struct {
	name, uuid string
	fence      int64
	attempts   int
	lost       int
}

// onBoth runs a test on both stores, and at its end wants the engine's invariants to hold.
func onBoth(t *testing.T, test func(l *lab)) {
	t.Helper()
	t.Parallel()
	onStores(t, func(t *testing.T, s store) {
		l := &lab{T: t, Client: newClient(t, s.connect(t)), store: s, run: Run{Detach: true}}
		test(l)
		l.sound()
	})
}

// another is the same workflow through another connection.
func (l *lab) another() *lab { return l.rival(l.store.connect(l.T)) }

// rival is the same workflow through that connection.
func (l *lab) rival(rdb redis.UniversalClient) *lab {
	l.Helper()
	c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: l.Namespace()})
	l.ok(err)
	return &lab{T: l.T, Client: c, store: l.store, workflow: l.workflow, run: l.run}
}

func (l *lab) ok(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// sound wants no violation of an invariant.
func (l *lab) sound() {
	l.Helper()
	violations, err := l.Verify(context.WithoutCancel(l.Context()))
	l.ok(err)
	for _, v := range violations {
		l.Errorf("violation: %s", v)
	}
}

// declare makes jobs the whole workflow. Jobs are noop in queue "q" unless they say otherwise.
func (l *lab) declare(jobs ...*config.Job) {
	slices.SortFunc(jobs, func(a, b *config.Job) int { return compareAddr(a.Addr, b.Addr) })
	l.workflow = &config.Workflow{Name: "w", Named: true, Jobs: jobs}
}

// job declares one, named as in job.NAME: "a" or `a["eu"]`.
func (l *lab) job(name string, change ...func(*config.Job)) *config.Job {
	l.Helper()
	j := &config.Job{Addr: addr(l.T, "job."+name), Type: "noop", Queue: "q", Priority: 1, Retry: defaultRetry}
	for _, f := range change {
		f(j)
	}
	return j
}

// payload changes a job's work.
func payload(text string) func(*config.Job) {
	return func(j *config.Job) { j.Payload = []byte(text); j.Shown = j.Payload }
}

// timeout changes its handling.
func timeout(d time.Duration) func(*config.Job) { return func(j *config.Job) { j.Timeout = d } }

func (l *lab) under(parents ...string) func(*config.Job) {
	return func(j *config.Job) {
		for _, p := range parents {
			j.Parents = append(j.Parents, config.Parent{Job: addr(l.T, "job."+p)})
		}
	}
}

func (l *lab) after(predecessors ...string) func(*config.Job) {
	return func(j *config.Job) {
		var p config.Predecessor
		for _, name := range predecessors {
			p.Jobs = append(p.Jobs, addr(l.T, "job."+name))
		}
		j.Predecessors = append(j.Predecessors, p)
	}
}

func (l *lab) state() *planner.State {
	l.Helper()
	name := "w"
	if l.workflow != nil {
		name = l.workflow.Name
	}
	s, err := ReadState(l.Context(), l.Client, name)
	l.ok(err)
	return s
}

func (l *lab) plan() *planner.Plan {
	l.Helper()
	s, err := ReadStateFor(l.Context(), l.Client, l.workflow)
	l.ok(err)
	p, diags := planner.Make(l.workflow, s, l.run.Options)
	if diags.HasErrors() {
		l.Fatal(diags)
	}
	return p
}

// tryApply plans and applies.
func (l *lab) tryApply(ctx context.Context) (Result, error) {
	l.Helper()
	return l.carryOut(ctx, l.plan())
}

// carryOut applies a plan that was made before.
func (l *lab) carryOut(ctx context.Context, p *planner.Plan) (Result, error) {
	r := l.run
	r.Plan, r.Workflow = p, l.workflow
	return Apply(ctx, l.Client, r)
}

func (l *lab) apply() Result {
	l.Helper()
	r, err := l.tryApply(l.Context())
	l.ok(err)
	return r
}

// destroy plans and applies the end of everything.
func (l *lab) destroy() Result {
	l.Helper()
	options := l.run.Options
	defer func() { l.run.Options = options }()
	l.run.Options.Destroy = true
	return l.apply()
}

// settledPlan wants that nothing is left to do.
func (l *lab) noChanges() {
	l.Helper()
	for _, r := range changes(l.plan()) {
		l.Errorf("%s is left to do: %s because %s", r.Addr, r.Action, r.Because())
	}
}

// start reserves up to want jobs, as one worker without a beat.
func (l *lab) start(want int) []conveyor.Reservation {
	l.Helper()
	l.number++
	reply, err := l.Exchange(l.Context(), conveyor.ExchangeRequest{
		Caller: "lab", Number: l.number, Lease: time.Hour, Queues: []string{"q"}, Want: want,
	})
	l.ok(err)
	for _, r := range reply.Reserved {
		l.runs = append(l.runs, attempt{r.Job.Name, r.Job.Uuid, r.Fence, r.Attempts, r.Lost})
	}
	return reply.Reserved
}

// end acknowledges started jobs.
func (l *lab) end(verdict conveyor.Verdict, jobs ...conveyor.Reservation) {
	l.Helper()
	l.number++
	request := conveyor.ExchangeRequest{Caller: "lab", Number: l.number}
	for _, j := range jobs {
		request.Done = append(request.Done, conveyor.Ack{UUID: j.Job.Uuid, Fence: j.Fence, Verdict: verdict})
	}
	_, err := l.Exchange(l.Context(), request)
	l.ok(err)
}

// work runs jobs, one after the other, until none is ready, and returns their names.
func (l *lab) work() []string {
	l.Helper()
	var names []string
	for {
		started := l.start(1)
		if len(started) == 0 {
			reply, err := l.Tick(l.Context())
			l.ok(err)
			if reply.Changes == 0 && !reply.More {
				return names
			}
			continue
		}
		names = append(names, started[0].Job.Name[len("job."):])
		l.end(conveyor.VerdictDone, started...)
	}
}

// live is a job's status in one word.
func (l *lab) live(name string) string {
	l.Helper()
	return l.state().Live["job."+name].Status.String()
}

// record is the record of job.NAME.
func (l *lab) record(name string) *planner.Record {
	l.Helper()
	r := l.state().Records["job."+name]
	if r == nil {
		l.Fatalf("job.%s has no record", name)
	}
	return r
}

func numbered(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }
