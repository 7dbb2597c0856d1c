package applier

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// TestRandomLives applies random workflows, lets some of their jobs run, edits them, kills applies, and goes on so for a
// while. At the end, when the last apply is through and everything has run, nothing must be left to do, every job
// declared must be completed, and no submission may have started twice. WAYBILL_SEED repeats one life.
func TestRandomLives(t *testing.T) {
	t.Parallel()
	lives := map[string]uint64{"redis": 100, "embedded": 20}
	onStores(t, func(t *testing.T, s store) {
		rdb := s.connect(t)
		first, count := uint64(1), lives[s.name]
		if text := os.Getenv("WAYBILL_SEED"); text != "" {
			seed, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			first, count = seed, 1
		}
		for seed := first; seed < first+count; seed++ {
			l := &randomLife{
				lab:  &lab{T: t, Client: newClient(t, rdb), store: s, run: Run{Detach: true}},
				rand: rand.New(rand.NewPCG(seed, 7)),
				seed: seed,
			}
			l.live()
		}
	})
}

// randomLife is one workflow's life.
type randomLife struct {
	*lab
	rand    *rand.Rand
	seed    uint64
	running []conveyor.Reservation
	story   []string
	failed  bool
}

func (l *randomLife) told(format string, args ...any) {
	l.story = append(l.story, fmt.Sprintf(format, args...))
}

func (l *randomLife) live() {
	l.run.batch = 1 + l.rand.IntN(6)
	l.redeclare()
	for range 3 + l.rand.IntN(6) {
		switch l.rand.IntN(6) {
		case 0:
			l.redeclare()
		case 1:
			at, after, destroy := 1+l.rand.IntN(12), l.rand.IntN(2) == 0, l.rand.IntN(8) == 0
			todo := l.todo(destroy)
			x := l.killed(at, after, destroy)
			l.told("killed at write %d of %d (%s), after it: %t:%s", at, x.writes, x.struck, after, todo)
			l.expireLock()
		case 2, 3:
			l.applyOrHeld()
		default:
			l.someWork()
		}
	}
	l.conclude()
}

// redeclare makes a new random workflow, or edits the one there is.
func (l *randomLife) redeclare() {
	for {
		var jobs []*config.Job
		n := 2 + l.rand.IntN(9)
		for i := range n {
			if l.rand.IntN(6) == 0 {
				continue
			}
			jobs = append(jobs, l.randomJob(i))
		}
		prune(jobs)
		l.giveKeys(jobs)
		l.declare(jobs...)
		if _, diags := planner.Make(l.workflow, &planner.State{Workflow: "w"}, planner.Options{}); !diags.HasErrors() {
			l.told("declared %s", l.sketch())
			return
		}
	}
}

func (l *randomLife) randomJob(i int) *config.Job {
	j := l.job(fmt.Sprintf("j%d", i), payload(fmt.Sprint(l.rand.IntN(2))))
	j.OnChange = config.OnChange(l.rand.IntN(3))
	if l.rand.IntN(4) == 0 {
		j.Timeout = time.Duration(l.rand.IntN(3)) * time.Minute
	}
	if l.rand.IntN(4) == 0 {
		j.Labels = map[string]string{"team": fmt.Sprint(l.rand.IntN(2))}
	}
	if l.rand.IntN(8) == 0 {
		hourly(j)
	}
	if i == 0 {
		return j
	}
	for range l.rand.IntN(3) {
		up := fmt.Sprintf("j%d", l.rand.IntN(i))
		if l.rand.IntN(2) == 0 {
			l.under(up)(j)
			j.Parents[len(j.Parents)-1].IgnoreFailure = l.rand.IntN(4) == 0
			continue
		}
		ups := []string{up}
		if other := fmt.Sprintf("j%d", l.rand.IntN(i)); other != up && l.rand.IntN(3) == 0 {
			ups = append(ups, other)
		}
		l.after(ups...)(j)
		if l.rand.IntN(4) == 0 {
			j.Predecessors[len(j.Predecessors)-1].RunIf = config.RunIf(l.rand.IntN(3))
		}
	}
	return j
}

// giveKeys gives some jobs unique keys, each to one. With the next declaration the keys go to others.
func (l *randomLife) giveKeys(jobs []*config.Job) {
	for i, place := range l.rand.Perm(len(jobs)) {
		if l.rand.IntN(3) == 0 {
			jobs[place].Unique = fmt.Sprintf("k%d", i)
		}
	}
}

// prune drops edges to what is not declared, and doubled ones.
func prune(jobs []*config.Job) {
	declared := map[config.Addr]bool{}
	for _, j := range jobs {
		declared[j.Addr] = true
	}
	for _, j := range jobs {
		seen := map[config.Addr]bool{}
		var parents []config.Parent
		for _, p := range j.Parents {
			if declared[p.Job] && !seen[p.Job] {
				seen[p.Job] = true
				parents = append(parents, p)
			}
		}
		var predecessors []config.Predecessor
		for _, p := range j.Predecessors {
			p.Jobs = slices.DeleteFunc(p.Jobs, func(a config.Addr) bool { return !declared[a] || seen[a] })
			if len(p.Jobs) == 0 {
				continue
			}
			for _, a := range p.Jobs {
				seen[a] = true
			}
			predecessors = append(predecessors, p)
		}
		j.Parents, j.Predecessors = parents, predecessors
	}
}

func (l *randomLife) sketch() string {
	text := ""
	for _, j := range l.workflow.Jobs {
		text += fmt.Sprintf(" %s(%s", j.Addr.Name, j.Payload)
		if j.Schedule != nil {
			text += " hourly"
		}
		if j.Unique != "" {
			text += " key " + j.Unique
		}
		for _, p := range j.Parents {
			text += " under " + p.Job.Name
			if p.IgnoreFailure {
				text += " leniently"
			}
		}
		for _, p := range j.Predecessors {
			text += " after"
			for _, a := range p.Jobs {
				text += " " + a.Name
			}
			if p.RunIf != config.RunIfSuccess {
				text += " if " + p.RunIf.String()
			}
		}
		text += ")"
	}
	return text
}

// todo lists what a plan would change now.
func (l *randomLife) todo(destroy bool) string {
	l.run.Options.Destroy = destroy
	defer func() { l.run.Options.Destroy = false }()
	text := ""
	for _, r := range changes(l.plan()) {
		text += fmt.Sprintf(" %s %s, was %s;", r.Action, r.Addr.Name, r.Live.Status)
	}
	return text
}

// applyOrHeld applies; a key that a job which still runs holds may keep a row back.
func (l *randomLife) applyOrHeld() {
	l.Helper()
	l.told("applied:%s", l.todo(false))
	if _, err := l.tryApply(l.Context()); err != nil {
		l.told("%v", err)
		if !errors.Is(err, conveyor.ErrUnique) {
			l.ok(err)
		}
	}
}

// someWork starts and ends a few jobs; some go on running.
func (l *randomLife) someWork() {
	for range l.rand.IntN(6) {
		if l.rand.IntN(4) == 0 {
			l.someCycle()
		}
		l.running = append(l.running, l.start(1)...)
		if len(l.running) > 0 && l.rand.IntN(3) > 0 {
			i := l.rand.IntN(len(l.running))
			verdict := conveyor.VerdictDone
			if l.rand.IntN(6) == 0 {
				verdict = conveyor.VerdictFailed
			}
			l.end(verdict, l.running[i])
			l.told("ended %s, verdict %d", l.running[i].Job.Name, verdict)
			l.running = append(l.running[:i], l.running[i+1:]...)
		}
	}
	_, err := l.Tick(l.Context())
	l.ok(err)
}

// someCycle begins a cycle of a scheduled job, if there is one.
func (l *randomLife) someCycle() {
	var roots []string
	for name, r := range l.state().Records {
		found, err := l.Templates(l.Context(), []string{r.UUID.String()})
		l.ok(err)
		if found[0].Kind == conveyor.TemplateScheduled {
			roots = append(roots, name)
		}
	}
	if len(roots) == 0 {
		return
	}
	slices.Sort(roots)
	name := roots[l.rand.IntN(len(roots))]
	l.told("cycle %s of %s", l.cycle(strings.TrimPrefix(name, "job.")).Format(time.RFC3339Nano), name)
}

// conclude applies and works until nothing moves any more, and looks at what is there.
func (l *randomLife) conclude() {
	for range 4 { // what was cancelled while it ran needs one more apply, and what that leaves behind another
		l.applyOrHeld()
		l.end(conveyor.VerdictDone, l.running...)
		l.running = nil
		l.work()
	}
	started := map[string]bool{}
	for _, r := range l.runs {
		if started[r.uuid] {
			l.fail("%s (%s) started twice", r.name, r.uuid)
		}
		started[r.uuid] = true
	}
	for _, r := range changes(l.plan()) {
		l.fail("%s is left to do: %s because %s", r.Addr, r.Action, r.Because())
	}
	s, conditional := l.state(), false
	for _, j := range l.workflow.Jobs {
		conditional = conditional || slices.ContainsFunc(j.Predecessors, func(p config.Predecessor) bool { return p.RunIf == config.RunIfFailure })
	}
	survey, err := l.Survey(l.Context())
	l.ok(err)
	for _, status := range survey.Jobs {
		if !status.State.Ended() && status.State != conveyor.StateTemplate {
			l.fail("%s, of template %q, is still %s", status.UUID, status.Template, status.State)
		}
	}
	recurs := map[config.Addr]bool{}
	for _, r := range l.plan().Rows {
		recurs[r.Addr] = r.Recurs()
	}
	for _, j := range l.workflow.Jobs {
		live := s.Live[j.Addr.String()]
		if recurs[j.Addr] {
			if live.Status != planner.Template {
				l.fail("%s, which recurs, is %s", j.Addr, live.Status)
			}
			continue
		}
		if live.Status != planner.Completed && !(live.Status == planner.Skipped && conditional) {
			l.fail("%s is %s", j.Addr, live.Status)
		}
	}
	if len(s.Records) != len(l.workflow.Jobs) {
		l.fail("%d records for %d jobs", len(s.Records), len(l.workflow.Jobs))
	}
	violations, err := l.Verify(l.Context())
	l.ok(err)
	for _, v := range violations {
		l.fail("violation: %s", v)
	}
	if l.failed {
		l.Logf("seed %d, batches of %d:", l.seed, l.run.batch)
		for _, line := range l.story {
			l.Log(line)
		}
	}
}

func (l *randomLife) fail(format string, args ...any) {
	l.Helper()
	l.failed = true
	l.Errorf("seed %d: "+format, append([]any{l.seed}, args...)...)
}
