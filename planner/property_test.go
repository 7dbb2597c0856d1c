package planner_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// drawWorkflow draws a workflow that can start: edges lead to earlier jobs only, and those that make a job wait for itself
// in other ways are dropped again.
func drawWorkflow(t *rapid.T, most int) *config.Workflow {
	n := rapid.IntRange(1, most).Draw(t, "jobs")
	var lines []string
	names := rapid.Permutation([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "k"}).Draw(t, "names")[:n]
	for i, name := range names {
		lines = append(lines, name+drawEdges(t, names[:i]))
		if _, diags := planner.NewGraph(workflowOf(lines...)); diags.HasErrors() {
			lines[i] = name
		}
	}
	return workflowOf(lines...)
}

func drawEdges(t *rapid.T, names []string) (line string) {
	if len(names) == 0 {
		return ""
	}
	some := func(label string) []string {
		drawn := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, min(2, len(names)), rapid.ID).Draw(t, label)
		slices.Sort(drawn)
		return drawn
	}
	for _, p := range some("parents") {
		line += " " + rapid.SampledFrom([]string{"^", "^", "^", "?"}).Draw(t, "kind") + p
	}
	if heirs := some("predecessors"); len(heirs) > 0 {
		line += " " + rapid.SampledFrom([]string{"", "", "", "!", "*"}).Draw(t, "run_if")
		for i, p := range heirs {
			if i > 0 {
				line += ","
			}
			line += p
		}
	}
	return line
}

// drawEdit changes a workflow: work, handling, on_change, edges, jobs that come and go.
func drawEdit(t *rapid.T, w *config.Workflow) *config.Workflow {
	next := &config.Workflow{Name: w.Name, Jobs: slices.Clone(w.Jobs)}
	for range rapid.IntRange(0, 3).Draw(t, "edits") {
		i := rapid.IntRange(0, len(next.Jobs)-1).Draw(t, "job")
		j := *next.Jobs[i]
		switch rapid.IntRange(0, 5).Draw(t, "edit") {
		case 0, 1:
			newWork(&j)
			j.Payload = fmt.Appendf(nil, `{"command":["./run.sh","%d"]}`, rapid.IntRange(0, 1<<30).Draw(t, "payload"))
			j.Shown = j.Payload
		case 2:
			newHandling(&j)
		case 3:
			j.OnChange = config.OnChange(rapid.IntRange(0, 1).Draw(t, "on_change"))
		case 4:
			var others []string
			for _, o := range next.Jobs {
				if o != next.Jobs[i] {
					others = append(others, o.Addr.Name)
				}
			}
			edges := jobOf(j.Addr.Name + drawEdges(t, others))
			j.Parents, j.Predecessors = edges.Parents, edges.Predecessors
		case 5:
			name := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "new")
			if slices.ContainsFunc(next.Jobs, func(o *config.Job) bool { return o.Addr.Name == name }) {
				continue
			}
			added := &config.Workflow{Name: w.Name, Jobs: append(slices.Clone(next.Jobs), jobOf(name+drawEdges(t, []string{j.Addr.Name})))}
			if _, diags := planner.NewGraph(added); !diags.HasErrors() {
				next = added
			}
			continue
		}
		changed := &config.Workflow{Name: w.Name, Jobs: slices.Clone(next.Jobs)}
		changed.Jobs[i] = &j
		if _, diags := planner.NewGraph(changed); !diags.HasErrors() {
			next = changed
		}
	}
	if len(next.Jobs) > 1 && rapid.IntRange(0, 3).Draw(t, "drop") == 0 {
		gone := rapid.IntRange(0, len(next.Jobs)-1).Draw(t, "dropped")
		dropped := &config.Workflow{Name: w.Name, Jobs: slices.Delete(slices.Clone(next.Jobs), gone, gone+1)}
		if _, diags := planner.NewGraph(dropped); !diags.HasErrors() {
			next = dropped
		}
	}
	return next
}

type fataler interface {
	Fatalf(format string, args ...any)
}

// submit plans and applies, all of it or the first rows only, and returns the plan.
func submit(t fataler, e *engine, w *config.Workflow, o planner.Options, limit int) *planner.Plan {
	s := e.now()
	p, diags := planner.Make(w, s, o)
	if diags.HasErrors() {
		t.Fatalf("plan: %s", diags)
	}
	if err := planner.Settle(p, s); err != nil {
		t.Fatalf("settle: %s", err)
	}
	if err := e.apply(inOrder(p), limit); err != nil {
		t.Fatalf("apply: %s", err)
	}
	return p
}

func allWell(string) bool { return true }

func finishAll(t fataler, e *engine) {
	if err := e.run(allWell); err != nil {
		t.Fatalf("run: %s", err)
	}
	if stuck := e.stuck(); stuck != nil {
		t.Fatalf("never end: %q\n%s", stuck, e)
	}
}

// settledDown applies until a plan is empty: what ran into failures runs again, what was deposed is forgotten. The last plan has
// to be empty after few rounds.
func settledDown(t fataler, e *engine, w *config.Workflow) {
	var last []string
	for range 4 {
		p := submit(t, e, w, planner.Options{}, -1)
		if p.Empty() {
			return
		}
		last = actions(p)
		finishAll(t, e)
	}
	t.Fatalf("plans do not come to an end; the last was %q", last)
}

// TestPlanAfterApplyIsEmpty plays workflows through edits and failures in the middle of runs: nothing is ever stuck, no
// address has two live copies, and in the end there is nothing left to do.
func TestPlanAfterApplyIsEmpty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e, w := newEngine(), drawWorkflow(t, 7)
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			o := drawOptions(t, w)
			submit(t, e, w, o, -1)
			if p, _ := planner.Make(w, e.now(), planner.Options{}); len(o.Targets) == 0 && !p.Empty() && !onlyStopping(p) {
				t.Fatalf("directly after apply: %q", actions(p))
			}
			e.checkReachable(t, w)
			for range rapid.IntRange(0, 30).Draw(t, "moves") {
				moves := e.moves()
				if len(moves) == 0 {
					break
				}
				move := moves[rapid.IntRange(0, len(moves)-1).Draw(t, "move")]
				if err := move.do(rapid.IntRange(0, 4).Draw(t, "outcome") > 0); err != nil {
					t.Fatalf("%s", err)
				}
			}
			e.lose(t)
			w = drawEdit(t, w)
		}
		settledDown(t, e, w)
	})
}

// drawOptions mostly asks for nothing special.
func drawOptions(t *rapid.T, w *config.Workflow) (o planner.Options) {
	some := []config.Addr{rapid.SampledFrom(w.Jobs).Draw(t, "some").Addr}
	switch rapid.IntRange(0, 9).Draw(t, "options") {
	case 0, 1:
		o.Targets = some
	case 2:
		o.Replace = some
	case 3:
		o.Rerun = true
	}
	return o
}

// lose sometimes removes a job from the store.
func (e *engine) lose(t *rapid.T) {
	if len(e.state.Records) > 0 && rapid.IntRange(0, 5).Draw(t, "lose") == 0 {
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(e.state.Records))).Draw(t, "lost")
		if earlier := e.now().Earlier; len(earlier) > 0 {
			return // who loses a successor and deletes it from the configuration may see the earlier one run on
		}
		delete(e.jobs, e.state.Records[name].UUID.String())
	}
}

// checkReachable checks on a copy that what is declared comes to an end once it is submitted, unless a job is lost that
// targets left out.
func (e *engine) checkReachable(t fataler, w *config.Workflow) {
	c := e.clone()
	for _, rec := range c.state.Records {
		if c.jobs[rec.UUID.String()] == nil {
			return
		}
	}
	if err := c.run(allWell); err != nil {
		t.Fatalf("run: %s", err)
	}
	for _, j := range w.Jobs {
		rec := c.state.Records[j.Addr.String()]
		if rec != nil && !c.jobs[rec.UUID.String()].live.Status.Ended() {
			t.Fatalf("would never end after this apply: %s\n%s\nand at last:\n%s", j.Addr, e, c)
		}
	}
}

// onlyStopping tells whether a plan waits for the end of deposed jobs only, whose records go later.
func onlyStopping(p *planner.Plan) bool {
	return !slices.ContainsFunc(p.Rows, func(r *planner.Row) bool { return r.Action != planner.NoOp && r.Action != planner.Forget })
}

// TestKilledApply cuts an apply short after any row. The next one submits exactly what is missing: every submission is
// made once, and with the uuid it would have had.
func TestKilledApply(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkflow(t, 7)
		killed, whole := newEngine(), newEngine()
		for _, e := range []*engine{killed, whole} {
			submit(t, e, w, planner.Options{}, -1)
			finishAll(t, e)
		}
		fails := rapid.Bool().Draw(t, "fails")
		if fails {
			name := rapid.SampledFrom(w.Jobs).Draw(t, "failed").Addr.String()
			for _, e := range []*engine{killed, whole} {
				job := e.jobs[e.state.Records[name].UUID.String()]
				job.live.Status = planner.Failed
				e.tellParents(job)
				e.refail()
			}
		}
		w = drawEdit(t, w)
		p := submit(t, whole, w, planner.Options{}, -1)
		for limit := range len(inOrder(p)) + 1 {
			e := killed.clone()
			submit(t, e, w, planner.Options{}, limit)
			submit(t, e, w, planner.Options{}, -1)
			if diff := cmp.Diff(whole.submissions(), e.submissions()); diff != "" {
				t.Fatalf("killed after %d rows of %q (-whole +killed):\n%s\nwhole:\n%s\nkilled:\n%s", limit, actions(p), diff, whole, e)
			}
			finishAll(t, e)
			settledDown(t, e, w)
		}
	})
}

// TestKilledApplyGoesOn is TestKilledApply with workers that go on between the kill and the next apply. No address may get
// more generations than a whole apply would have given it.
func TestKilledApplyGoesOn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkflow(t, 7)
		killed, whole := newEngine(), newEngine()
		for _, e := range []*engine{killed, whole} {
			submit(t, e, w, planner.Options{}, -1)
			finishAll(t, e)
		}
		w = drawEdit(t, w)
		p := submit(t, whole, w, planner.Options{}, -1)
		finishAll(t, whole)
		settledDown(t, whole, w)
		for limit := range len(inOrder(p)) + 1 {
			e := killed.clone()
			submit(t, e, w, planner.Options{}, limit)
			for range rapid.IntRange(0, 30).Draw(t, "moves") {
				moves := e.moves()
				if len(moves) == 0 {
					break
				}
				if err := moves[rapid.IntRange(0, len(moves)-1).Draw(t, "move")].do(true); err != nil {
					t.Fatalf("%s", err)
				}
			}
			submit(t, e, w, planner.Options{}, -1)
			finishAll(t, e)
			settledDown(t, e, w)
			if diff := cmp.Diff(whole.generations(), e.generations()); diff != "" {
				t.Fatalf("killed after %d rows of %q (-whole +killed):\n%s", limit, actions(p), diff)
			}
		}
	})
}

// generations tells how often each recorded address was submitted, how often that opened, and how it ended.
func (e *engine) generations() map[string]string {
	all := map[string]string{}
	for name, rec := range e.state.Records {
		job := e.jobs[rec.UUID.String()]
		all[name] = fmt.Sprintf("generation %d, %s", rec.Generation, job.live.Status)
	}
	return all
}

// refail lets completed parents and heirs follow a failure that a test made up.
func (e *engine) refail() {
	for range len(e.jobs) {
		for _, id := range slices.Sorted(maps.Keys(e.jobs)) {
			job := e.jobs[id]
			if job.live.Status == planner.Completed && job.live.FailedChildren > 0 {
				job.live.Status, job.live.ChildFailed = planner.Failed, true
				e.tellParents(job)
			}
		}
	}
}

func (e *engine) clone() *engine {
	c := &engine{jobs: map[string]*played{}, state: &planner.State{}}
	*c.state = *e.state
	c.state.Records = maps.Clone(e.state.Records)
	for id, job := range e.jobs {
		copied := *job
		c.jobs[id] = &copied
	}
	return c
}

// submissions tells which uuids were ever added, and how often.
func (e *engine) submissions() map[string]string {
	all := map[string]string{}
	for id, job := range e.jobs {
		all[id] = fmt.Sprintf("%s added %d times, opening %d", job.name, job.adds, job.live.Opening)
	}
	return all
}

// TestMinimalSet edits one job of a finished workflow and compares what runs with the rule itself, applied until nothing new
// comes: what is downstream of what runs, parents of it reopen, and what is heir of what reopens.
func TestMinimalSet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e, w := newEngine(), drawWorkflow(t, 9)
		submit(t, e, w, planner.Options{}, -1)
		finishAll(t, e)
		changed := rapid.SampledFrom(w.Jobs).Draw(t, "changed").Addr
		s := e.now()
		runs, reopens := map[string]bool{changed.String(): true}, map[string]bool{}
		if s.Live[changed.String()].Status == planner.Skipped {
			reopens = nil
		}
		for again := true; again; {
			again = false
			mark := func(set map[string]bool, name string) {
				if set != nil && !set[name] && !runs[name] {
					set[name], again = true, true
				}
			}
			for _, j := range w.Jobs {
				name := j.Addr.String()
				for _, p := range j.Parents {
					if runs[p.Job.String()] {
						mark(runs, name)
					}
					if status := s.Live[p.Job.String()].Status; (runs[name] || reopens[name]) && status == planner.Completed {
						mark(reopens, p.Job.String())
					}
				}
				for _, p := range j.Predecessors {
					for _, a := range p.Jobs {
						if runs[a.String()] || reopens[a.String()] {
							mark(runs, name)
						}
					}
				}
			}
		}
		p, diags := planner.Make(edited(w, changed.Name, newWork), s, planner.Options{})
		if diags.HasErrors() {
			t.Fatalf("%s", diags)
		}
		if reopens == nil {
			return // what a skipped parent holds open is told elsewhere
		}
		for _, r := range p.Rows {
			name := r.Addr.String()
			want := planner.NoOp
			switch {
			case runs[name]:
				want = planner.Replace
			case reopens[name]:
				want = planner.Reopen
			}
			if r.Action != want {
				t.Fatalf("%s: %s, want %s; edges %v", name, r.Action, want, r.Job)
			}
		}
	})
}

// TestStartOrder checks that plans list every job after all it waits for, and that its number of the component is that of
// its neighbours.
func TestStartOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkflow(t, 10)
		p, diags := planner.Make(w, noState(), planner.Options{})
		if diags.HasErrors() {
			t.Fatalf("%s", diags)
		}
		at := map[string]int{}
		for i, r := range p.Rows {
			at[r.Addr.String()] = i
			if i > 0 && r.Component != p.Rows[i-1].Component && r.Component != p.Rows[i-1].Component+1 {
				t.Fatalf("component %d after %d", r.Component, p.Rows[i-1].Component)
			}
		}
		// below lists a job and all children below it.
		var below func(name string) []string
		below = func(name string) []string {
			all := []string{name}
			for _, j := range w.Jobs {
				for _, p := range j.Parents {
					if p.Job.String() == name {
						all = append(all, below(j.Addr.String())...)
					}
				}
			}
			return all
		}
		for i, r := range p.Rows {
			for _, target := range r.Edges {
				up := at[target.Addr.String()]
				if up >= i || p.Rows[up].Component != r.Component {
					t.Fatalf("%s stands before %s, or in another component", r.Addr, target.Addr)
				}
				if target.Kind.Parent() {
					continue
				}
				for _, name := range below(target.Addr.String()) {
					if at[name] >= i {
						t.Fatalf("%s stands before %s, which %s is complete only after", r.Addr, name, target.Addr)
					}
				}
			}
		}
	})
}

// TestSameInputSameBytes shuffles jobs and blocks.
func TestSameInputSameBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e, w := newEngine(), drawWorkflow(t, 8)
		submit(t, e, w, planner.Options{}, -1)
		finishAll(t, e)
		next := drawEdit(t, w)
		want := planBytes(t, next, e.now())
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		shuffled := &config.Workflow{Name: next.Name}
		for _, j := range next.Jobs {
			clone := *j
			clone.Parents, clone.Predecessors = slices.Clone(j.Parents), slices.Clone(j.Predecessors)
			r.Shuffle(len(clone.Parents), func(a, b int) { clone.Parents[a], clone.Parents[b] = clone.Parents[b], clone.Parents[a] })
			for k := range clone.Predecessors {
				jobs := slices.Clone(clone.Predecessors[k].Jobs)
				r.Shuffle(len(jobs), func(a, b int) { jobs[a], jobs[b] = jobs[b], jobs[a] })
				clone.Predecessors[k].Jobs = jobs
			}
			shuffled.Jobs = append(shuffled.Jobs, &clone)
		}
		r.Shuffle(len(shuffled.Jobs), func(a, b int) { shuffled.Jobs[a], shuffled.Jobs[b] = shuffled.Jobs[b], shuffled.Jobs[a] })
		if diff := cmp.Diff(string(want), string(planBytes(t, shuffled, e.now()))); diff != "" {
			t.Fatalf("another plan (-want +got):\n%s", diff)
		}
	})
}

// planBytes is a plan in every form but the plan file, which holds the blocks of jobs as they are written.
func planBytes(t fataler, w *config.Workflow, s *planner.State) []byte {
	p, diags := planner.Make(w, s, planner.Options{})
	if diags.HasErrors() {
		t.Fatalf("%s", diags)
	}
	var b bytes.Buffer
	if err := p.Render(&b, planner.RenderOptions{}); err != nil {
		t.Fatalf("%s", err)
	}
	for m := range p.Messages() {
		fmt.Fprintf(&b, "%s %s %s\n", m.Type, m.Text, m.Body)
	}
	if err := planner.Settle(p, s); err != nil {
		t.Fatalf("%s", err)
	}
	for _, r := range p.Rows {
		if r.Next != nil {
			b.Write(r.Next.AppendTo(nil))
		}
	}
	return b.Bytes()
}
