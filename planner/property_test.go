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

// TestPlanAfterApplyIsEmpty plays workflows through edits and failures in the middle of runs: nothing is ever stuck, no
// address has two live copies, and in the end there is nothing left to do.
func TestPlanAfterApplyIsEmpty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e, w := newEngine(), drawWorkflow(t, 7)
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			o := drawOptions(t, w)
			submit(t, e, w, o, -1)
			if p, _ := planner.Make(w, e.now(), planner.Options{}); !limited(o) && !p.Empty() && !onlyStopping(p) {
				t.Fatalf("directly after apply: %q", actions(p))
			}
			if !o.RefreshOnly { // which leaves alone what waits for a lost job
				e.checkReachable(t, w, limited(o))
			}
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
	switch rapid.IntRange(0, 12).Draw(t, "options") {
	case 0, 1:
		o.Targets = some
	case 2:
		o.Replace = some
	case 3:
		o.Rerun = true
	case 4:
		o.Exclude = some
	case 5:
		o.Exclude, o.Rerun = some, true
	case 6:
		o.RefreshOnly = true
	}
	return o
}

// limited tells whether a plan leaves something out.
func limited(o planner.Options) bool { return len(o.Targets)+len(o.Exclude) > 0 || o.RefreshOnly }

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
// targets left out, or was lost and forgotten, and they left out who waits for it.
func (e *engine) checkReachable(t fataler, w *config.Workflow, limited bool) {
	c := e.clone()
	for _, rec := range c.state.Records {
		if c.jobs[rec.UUID.String()] == nil {
			return
		}
		for _, edge := range rec.Edges {
			if limited && c.jobs[edge.UUID] == nil {
				return
			}
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
		if s.Live[changed.String()].Status == planner.Skipped {
			return // its parents were skipped too, and do not open for it
		}
		runs, reopens := map[string]bool{changed.String(): true}, map[string]bool{}
		for again := true; again; {
			again = false
			mark := func(set map[string]bool, name string) {
				if !set[name] && !runs[name] {
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
