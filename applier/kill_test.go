package applier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/internal/redistest"
)

var errKilled = errors.New("killed")

// executioner is a connection of an apply that dies at its k-th write: directly before it, so that the request is
// never sent, or directly after it, so that it is done and the reply is lost. Whatever comes later is refused too. A
// write is a script, but for the renewals of the lock, which come by the clock.
type executioner struct {
	mu     sync.Mutex
	at     int // which write, from 1; 0 never
	after  bool
	writes int
	dead   bool
	phase  string // of the write that comes next
	struck string // phase of the death
	phases []string
	stop   context.CancelFunc
}

func (x *executioner) DialHook(next redis.DialHook) redis.DialHook { return next }

func (x *executioner) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if !isWrite(cmd) {
			if x.isDead() {
				cmd.SetErr(errKilled)
				return errKilled
			}
			return next(ctx, cmd)
		}
		kill, before := x.count()
		if before {
			cmd.SetErr(errKilled)
			return errKilled
		}
		err := next(ctx, cmd)
		if kill {
			cmd.SetErr(errKilled)
			return errKilled
		}
		return err
	}
}

func (x *executioner) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if x.isDead() {
			for _, cmd := range cmds {
				cmd.SetErr(errKilled)
			}
			return errKilled
		}
		return next(ctx, cmds)
	}
}

func isWrite(cmd redis.Cmder) bool {
	return redistest.IsScript(cmd) && cmd.Args()[1] != renewScript.Hash()
}

func (x *executioner) isDead() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.dead
}

// count takes note of a write and says whether the connection is dead before or after it.
func (x *executioner) count() (kill, before bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.dead {
		return true, true
	}
	x.writes++
	x.phases = append(x.phases, x.phase)
	if x.writes != x.at {
		return false, false
	}
	x.dead, x.struck = true, x.phase
	x.stop()
	return true, !x.after
}

func (x *executioner) probe(phase string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.phase = phase
}

// killed applies under an executioner and returns it.
func (l *lab) killed(at int, after, destroy bool) *executioner {
	l.Helper()
	ctx, cancel := context.WithCancel(l.Context())
	defer cancel()
	x := &executioner{at: at, after: after, stop: cancel}
	rdb := l.store.connect(l.T)
	rdb.AddHook(x)
	victim := l.rival(rdb)
	victim.run.probe, victim.run.Options.Destroy = x.probe, destroy
	_, err := victim.tryApply(ctx)
	if at == 0 {
		l.ok(err)
	}
	return x
}

// killScenario is an apply to be killed: what comes before it, and what must hold once it was repeated.
type killScenario struct {
	prepare func(l *lab)
	destroy bool
	// runs is how often each job runs from the killed apply on, whatever happens.
	runs map[string]int
	// early may run once more: the earlier generation, when workers are faster than the second apply.
	early []string
	// renamed are jobs, or blocks, that run once under either name, when workers are faster than the second apply.
	renamed map[string]string
}

// killScenarios covers a first apply, an edited one, one that edits what waits and runs, and a destroy.
func killScenarios() map[string]killScenario {
	return map[string]killScenario{
		"first": {
			prepare: func(l *lab) { l.declare(salesLike(l, "1", "old")...) },
			runs: map[string]int{"extract[0]": 1, "extract[1]": 1, "extract[2]": 1, "clean[0]": 1, "clean[1]": 1, "clean[2]": 1,
				"join": 1, "report": 1, "old[0]": 1, "old[1]": 1, "old[2]": 1, "lone": 1},
		},
		"edited": {
			prepare: func(l *lab) {
				l.declare(salesLike(l, "1", "old")...)
				l.apply()
				l.work()
				l.declare(salesLike(l, "2", "new")...)
			},
			runs: map[string]int{"clean[1]": 1, "join": 1, "report": 1, "new[0]": 1, "new[1]": 1, "new[2]": 1},
		},
		"edited while it waits": {
			prepare: func(l *lab) {
				l.declare(salesLike(l, "1", "old")...)
				l.apply()
				l.declare(salesLike(l, "2", "new")...)
			},
			runs: map[string]int{"extract[0]": 1, "extract[1]": 1, "extract[2]": 1, "clean[0]": 1, "clean[1]": 1, "clean[2]": 1,
				"join": 1, "report": 1, "new[0]": 1, "new[1]": 1, "new[2]": 1, "lone": 1},
			early: []string{"clean[1]", "join", "report"},
		},
		"moved": {
			prepare: func(l *lab) {
				l.declare(salesLike(l, "1", "old")...)
				l.apply()
				l.end(conveyor.VerdictDone, l.start(2)...)
				jobs := salesLike(l, "1", "new")
				for _, j := range jobs {
					switch j.Addr.Name {
					case "join":
						j.Addr.Name = "joined"
					case "report":
						l.after("joined")(j)
						j.Predecessors = j.Predecessors[1:]
					}
				}
				l.declare(jobs...)
				l.moved("old", "new")
				l.moved("join", "joined")
			},
			runs: map[string]int{"extract[2]": 1, "clean[0]": 1, "clean[1]": 1, "clean[2]": 1,
				"joined": 1, "report": 1, "new[0]": 1, "new[1]": 1, "new[2]": 1, "lone": 1},
			renamed: map[string]string{"join": "joined", "old[0]": "new[0]", "old[1]": "new[1]", "old[2]": "new[2]"},
		},
		"carried over": {
			prepare: func(l *lab) {
				l.declare(salesLike(l, "1", "old")...)
				l.workflow.Name = "v"
				l.workflow.Queues = []*config.Queue{{Name: "q", Weight: 3}}
				l.apply()
				l.end(conveyor.VerdictDone, l.start(2)...)
				l.declare(salesLike(l, "1", "new")...)
				l.workflow.MovedFrom = "v"
				l.workflow.Queues = []*config.Queue{{Name: "q", Weight: 2}}
				l.moved("old", "new")
			},
			runs: map[string]int{"extract[2]": 1, "clean[0]": 1, "clean[1]": 1, "clean[2]": 1,
				"join": 1, "report": 1, "new[0]": 1, "new[1]": 1, "new[2]": 1, "lone": 1},
			renamed: map[string]string{"old[0]": "new[0]", "old[1]": "new[1]", "old[2]": "new[2]"},
		},
		"recurring": {
			prepare: func(l *lab) { l.nightly() },
			runs:    map[string]int{"once": 1},
		},
		"recurring from now on": {
			prepare: func(l *lab) {
				l.nightly(func(j *config.Job) { j.Schedule = nil })
				l.apply()
				l.work()
				l.nightly()
			},
			runs: map[string]int{},
		},
		"recurring no more": {
			prepare: func(l *lab) {
				l.nightly()
				l.apply()
				l.work()
				l.nightly(func(j *config.Job) { j.Schedule = nil })
			},
			runs: map[string]int{"r": 1, "b": 1, "c": 1},
		},
		"destroy": {
			prepare: func(l *lab) {
				l.declare(salesLike(l, "1", "old")...)
				l.apply()
				for range 4 { // some done, some queued, some held
					l.end(conveyor.VerdictDone, l.start(1)...)
				}
			},
			destroy: true,
		},
	}
}

// salesLike is a workflow with everything that submission treats differently: roots, children, an heir of several parents, a
// chain under it, and jobs on their own, some of them under a name that may change.
func salesLike(l *lab, version, name string) []*config.Job {
	jobs := []*config.Job{
		l.job("join", l.after("extract[0]", "extract[1]", "extract[2]")), l.job("report", l.after("join")), l.job("lone"),
	}
	for i := range 3 {
		extract := numbered("extract", i)
		v := "1"
		if i == 1 {
			v = version
		}
		jobs = append(jobs, l.job(numbered(name, i)), l.job(extract), l.job(numbered("clean", i), l.under(extract), payload(v)))
	}
	return jobs
}

// wantedPhases must each be met by a kill, before and after the write.
var wantedPhases = map[string][]string{
	"first":                 {"lock", "first chunk", "rows", "last chunk", "release"},
	"edited":                {"lock", "first chunk", "reopen", "removal", "last chunk", "release"},
	"edited while it waits": {"lock", "first chunk", "rows", "removal", "last chunk", "release"},
	"moved":                 {"lock", "first chunk", "rows", "last chunk", "release"},
	"carried over":          {"lock", "carry", "queues", "first chunk", "rows", "last chunk", "release"},
	"recurring":             {"lock", "first chunk", "rows", "last chunk", "release"},
	"recurring from now on": {"lock", "first chunk", "rows", "last chunk", "release"},
	"recurring no more":     {"lock", "first chunk", "rows", "last chunk", "release"},
	"destroy":               {"lock", "first chunk", "removal", "last chunk", "release"},
}

// TestKilledApply kills an apply at each of its writes, and applies again: every job is submitted once and runs once to
// its end, whether or not workers were at it in between.
func TestKilledApply(t *testing.T) {
	t.Parallel()
	for name, scenario := range killScenarios() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onStores(t, func(t *testing.T, s store) {
				kills := killEverywhere(t, s, scenario)
				phases := slices.Sorted(maps.Keys(kills))
				for _, phase := range phases {
					t.Logf("%-22s %-12s %d kills before the write, %d after it", name, phase, kills[phase][0], kills[phase][1])
				}
				for _, phase := range wantedPhases[name] {
					if kills[phase][0] == 0 || kills[phase][1] == 0 {
						t.Errorf("no kill before or after a write of phase %q; there are %q", phase, phases)
					}
				}
			})
		})
	}
}

// killEverywhere counts the kills of each phase, before and after the write.
func killEverywhere(t *testing.T, s store, scenario killScenario) map[string][2]int {
	rdb := s.connect(t)
	fresh := func() *lab {
		l := &lab{T: t, Client: newClient(t, rdb), store: s, run: Run{Detach: true, batch: 3}}
		scenario.prepare(l)
		return l
	}
	fresh().killed(0, false, scenario.destroy) // loads the scripts: what is not known to the server is sent twice
	phases := fresh().killed(0, false, scenario.destroy).phases
	kills := map[string][2]int{}
	seeded := rand.New(rand.NewPCG(1, 2))
	for at := range len(phases) {
		for side, after := range []bool{false, true} {
			l := fresh()
			began := len(l.runs)
			x := l.killed(at+1, after, scenario.destroy)
			for _, phase := range phasesAt(phases, at) {
				n := kills[phase]
				n[side]++
				kills[phase] = n
			}
			busy := seeded.IntN(2) == 0
			what := fmt.Sprintf("killed in phase %s, write %d, after it: %t, workers in between: %t", x.struck, at+1, after, busy)
			if busy {
				l.work()
			}
			l.expireLock()
			if seeded.IntN(4) == 0 { // the next one is killed too
				l.killed(1+seeded.IntN(len(phases)), seeded.IntN(2) == 0, scenario.destroy)
				l.expireLock()
			}
			l.finish(scenario)
			l.check(what, scenario, l.runs[began:])
			if t.Failed() {
				return kills
			}
		}
	}
	return kills
}

// phasesAt names what a write is.
func phasesAt(phases []string, at int) []string {
	chunk := func(phase string) bool {
		return strings.Contains("rows+reopen+removal", strings.Split(phase, "+")[0])
	}
	names := strings.Split(phases[at], "+")
	if chunk(phases[at]) {
		if !slices.ContainsFunc(phases[:at], chunk) {
			names = append(names, "first chunk")
		}
		if !slices.ContainsFunc(phases[at+1:], chunk) {
			names = append(names, "last chunk")
		}
	}
	return names
}

// expireLock lets the time pass that a dead holder's lock takes.
func (l *lab) expireLock() {
	l.Helper()
	now, err := l.Now(l.Context())
	l.ok(err)
	setClock(l.T, l.Client, now.Add(lockLease).UnixMilli())
}

// finish applies once more and lets everything run.
func (l *lab) finish(scenario killScenario) {
	l.Helper()
	if scenario.destroy {
		l.destroy()
		l.work()
		l.destroy()
		return
	}
	l.apply()
	l.work()
}

// check wants that every job ran as often as it had to, under one uuid, and that nothing is left to do.
func (l *lab) check(what string, scenario killScenario, runs []attempt) {
	l.Helper()
	fatal := func(format string, args ...any) {
		l.Helper()
		l.Errorf("%s: %s", what, fmt.Sprintf(format, args...))
	}
	count, uuids := map[string]int{}, map[string]bool{}
	for _, r := range runs {
		count[strings.TrimPrefix(r.name, "job.")]++
		if uuids[r.uuid] || r.fence != 1 || r.lost != 0 || r.attempts != 0 {
			fatal("%s ran again: %+v", r.name, r)
		}
		uuids[r.uuid] = true
	}
	s := l.state()
	if scenario.destroy {
		if len(s.Records) > 0 {
			fatal("%d records are left", len(s.Records))
		}
		queues, err := l.Queues(l.Context())
		l.ok(err)
		for _, q := range queues {
			if q.Depth != [3]int64{} || q.Running != 0 {
				fatal("queue %s is not empty: %+v", q.Name, q)
			}
		}
		l.sound()
		return
	}
	want := maps.Clone(scenario.runs)
	for was, is := range scenario.renamed {
		if count[is] += count[was]; count[was] > 0 {
			delete(count, was)
		}
	}
	for i := range 3 { // workers in between may finish what the killed apply was about to rename away
		if old := numbered("old", i); want[old] == 0 {
			delete(count, old)
		}
	}
	for _, name := range scenario.early {
		if count[name] == want[name]+1 {
			count[name]--
		}
	}
	if diff := cmp.Diff(want, count); diff != "" {
		fatal("runs (-want +got):\n%s", diff)
	}
	for _, r := range l.plan().Rows {
		if live := r.Live.Status.String(); live != map[bool]string{false: "completed", true: "template"}[r.Recurs()] {
			fatal("%s is %s", r.Addr, live)
		}
	}
	for _, r := range changes(l.plan()) {
		fatal("%s is left to do: %s because %s", r.Addr, r.Action, r.Because())
	}
	l.sound()
}
