package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/graph"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/history"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/rig"
)

// story writes the histories of an engine that does everything right.
type story struct {
	began   time.Time
	now     int64
	records []history.Record
}

func (s *story) add(r history.Record) {
	s.now += int64(time.Millisecond)
	r.At = s.now
	s.records = append(s.records, r)
}

// tell is a soak of some workflows, one after the other.
func tell(seed uint64, graphs int) *story {
	s := &story{began: time.Unix(1795338921, 0)}
	s.now = s.began.UnixNano()
	for n := range graphs {
		s.graph(graph.Draw(seed, 0, n))
	}
	return s
}

func (s *story) graph(g *graph.Graph) {
	outcomes, uuids, states := g.Outcomes(), map[string]string{}, map[string]history.State{}
	for _, j := range g.Jobs {
		uuids[j.Name] = g.Name + "-" + j.Name
	}
	s.add(history.Record{Kind: history.Planned, Who: "applier0.1", Graph: g.Name})
	s.add(history.Record{Kind: history.Applied, Who: "applier0.1", Graph: g.Name, Jobs: uuids})
	pending := slices.Clone(g.Jobs)
	for len(pending) > 0 { // a job runs once all that it waits for is over: earlier than it has to for children
		j := pending[0]
		pending = pending[1:]
		if !s.ready(g, j, states, outcomes) {
			pending = append(pending, j)
			continue
		}
		states[j.Name] = s.run(g, j, uuids[j.Name], outcomes[j.Name])
	}
	s.add(history.Record{Kind: history.Settled, Who: "applier0.1", Graph: g.Name, States: states})
}

// ready tells whether a job's upstreams are over, and what these wait for.
func (s *story) ready(g *graph.Graph, j *graph.Job, over map[string]history.State, outcomes map[string]graph.Outcome) bool {
	var complete func(name string) bool
	complete = func(name string) bool {
		_, done := over[name]
		return done && !slices.ContainsFunc(g.Jobs, func(k *graph.Job) bool {
			return slices.ContainsFunc(k.Parents, func(p graph.Parent) bool { return p.Job == name }) && !complete(k.Name)
		})
	}
	for _, p := range j.Parents {
		if _, done := over[p.Job]; !done {
			return false
		}
	}
	for _, b := range j.Blocks {
		if slices.ContainsFunc(b.Jobs, func(up string) bool { return !complete(up) }) {
			return false
		}
	}
	return len(j.Gate) == 0 || len(over) == len(g.Jobs)-1
}

func (s *story) run(g *graph.Graph, j *graph.Job, uuid string, o graph.Outcome) history.State {
	st := history.State{UUID: uuid}
	s.now = max(s.now, s.began.Add(j.RunAt).UnixNano()) + int64(j.After)
	attempt := func(r history.Record, result history.Result) {
		r.Who, r.Graph, r.Kind = "worker0.1", g.Name, history.Start
		s.add(r)
		r.Kind, r.Result = history.End, result
		s.add(r)
	}
	r := history.Record{Job: j.Name, UUID: uuid}
	switch o {
	case graph.SkippedFail, graph.SkippedOK:
		st.State, st.Success = conveyor.StateSkipped, o == graph.SkippedOK
		return st
	case graph.NeverFires, graph.Fires:
		if st.State = conveyor.StateTemplate; o == graph.Fires {
			st.Cycles = 1
			attempt(history.Record{Job: j.Name, UUID: uuid + "@1", Fence: 1, Tick: 1}, history.Well)
		}
		return st
	}
	fails := map[graph.Ends]int{graph.Flaky: j.Script.Fails, graph.Doomed: j.MaxAttempts, graph.Permanent: 1}[j.Script.Ends]
	for range fails {
		st.Fence++
		st.Attempts++
		r.Fence = st.Fence
		attempt(r, history.Error)
	}
	if st.State = conveyor.StateFailed; o == graph.Failed {
		return st
	}
	st.Fence++
	r.Fence = st.Fence
	attempt(r, history.Well)
	for i := range j.Script.Children {
		name := childName(j.Name, i)
		s.add(history.Record{Kind: history.Child, Who: "worker0.1", Graph: g.Name, Job: name, UUID: uuid + name, Parent: uuid, Fence: st.Fence})
		attempt(history.Record{Job: name, UUID: uuid + name, Fence: 1}, history.Well)
	}
	if st.ChildFailed = o == graph.FailedByChild; !st.ChildFailed {
		st.State = conveyor.StateCompleted
	}
	return st
}

func (s *story) check(d rig.Durability) *Report {
	slices.SortStableFunc(s.records, func(a, b history.Record) int { return int(a.At - b.At) })
	return Check(Run{Seed: 1, Durability: d, Began: s.began, Records: s.records})
}

// find is the place of the first record that fits.
func (s *story) find(t *testing.T, fits func(history.Record) bool) int {
	t.Helper()
	i := slices.IndexFunc(s.records, fits)
	if i < 0 {
		t.Fatal("the story has no such record")
	}
	return i
}

func TestPerfectStory(t *testing.T) {
	t.Parallel()
	r := tell(1, 100).check(rig.Always)
	for _, v := range r.Violations {
		t.Error(v)
	}
	if r.Graphs != 100 || r.Attempts == 0 || r.Retries == 0 || r.Children == 0 || r.Cycles == 0 {
		t.Errorf("it has too little: %+v", r)
	}
}

// TestCheck plants one breach of each rule.
func TestCheck(t *testing.T) {
	t.Parallel()
	kind := func(k history.Kind) func(history.Record) bool {
		return func(r history.Record) bool { return r.Kind == k }
	}
	plain := func(r history.Record) bool { return r.Kind == history.End && r.Result == history.Well && r.Tick == 0 }
	waits := func(s *story) func(history.Record) bool {
		return func(r history.Record) bool {
			if r.Kind != history.Start || strings.Contains(r.Job, ".") || r.Fence != 1 {
				return false
			}
			var n int
			for _, c := range r.Graph[len("a0-g"):] {
				n = n*10 + int(c-'0')
			}
			j := graph.Draw(1, 0, n).Job(r.Job)
			return len(j.Parents) > 0
		}
	}
	tests := []struct {
		name   string
		breach func(t *testing.T, s *story)
		want   string // how the violation begins
	}{
		{"a workflow that never ends", func(t *testing.T, s *story) {
			i := s.find(t, kind(history.Settled))
			s.records = slices.Delete(s.records, i, i+1)
		}, "lost: "},
		{"a loss", func(t *testing.T, s *story) {
			r := s.records[s.find(t, kind(history.Applied))]
			r.Kind, r.At = history.Lost, r.At+1
			s.records = append(s.records, r)
		}, "lost: "},
		{"nobody has asked", func(t *testing.T, s *story) { s.records[s.find(t, kind(history.Start))].UUID = "strange" }, "asked: "},
		{"a job of no workflow", func(t *testing.T, s *story) { s.records[s.find(t, kind(history.Start))].Job = "strange" }, "asked: "},
		{"twice", func(t *testing.T, s *story) {
			r := s.records[s.find(t, plain)]
			r.Kind, r.Fence, r.At = history.Start, r.Fence+1, r.At+1000
			s.records = append(s.records, r)
		}, "twice: "},
		{"a fence twice", func(t *testing.T, s *story) {
			r := s.records[s.find(t, plain)]
			r.Kind, r.At = history.Start, r.At+1000
			s.records = append(s.records, r)
		}, "fence: "},
		{"another outcome", func(t *testing.T, s *story) {
			states := s.records[s.find(t, kind(history.Settled))].States
			for name, st := range states {
				st.State = conveyor.StateCancelled
				states[name] = st
				return
			}
		}, "outcome: "},
		{"a success that nobody had", func(t *testing.T, s *story) { s.records[s.find(t, plain)].Result = history.Stopped }, "outcome: "},
		{"before its parent", func(t *testing.T, s *story) {
			r := &s.records[s.find(t, waits(s))]
			r.At = s.records[s.find(t, func(o history.Record) bool { return o.Kind == history.Planned && o.Graph == r.Graph })].At + 1
		}, "order: "},
		{"a gate that fires twice", func(t *testing.T, s *story) {
			r := s.records[s.find(t, func(r history.Record) bool { return r.Kind == history.End && r.Tick > 0 })]
			start := r
			start.Kind, start.Result = history.Start, ""
			r.Tick, start.Tick, r.UUID, start.UUID = 2, 2, "again", "again"
			s.records = append(s.records, start, r)
		}, "once: "},
		{"Verify found something", func(_ *testing.T, s *story) {
			s.add(history.Record{Kind: history.Verify, Violations: []string{"I1: a job is nowhere"}})
		}, "verify: I1"},
		{"a child of an attempt that did not count", func(t *testing.T, s *story) { s.records[s.find(t, kind(history.Child))].Fence = 9 }, "asked: "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := tell(1, 40)
			test.breach(t, s)
			found := s.check(rig.Always).Violations
			if !slices.ContainsFunc(found, func(v string) bool { return strings.HasPrefix(v, test.want) }) {
				t.Errorf("no violation begins with %q: %q", test.want, found)
			}
		})
	}
}

// TestExcuses: what a fault explains is counted and is no violation; what it does not explain is one.
func TestExcuses(t *testing.T) {
	t.Parallel()
	again := func(t *testing.T, fault history.Record, lost int) *Report {
		s := tell(1, 1)
		i := s.find(t, func(r history.Record) bool { return r.Kind == history.End && r.Result == history.Well && r.Tick == 0 })
		r := s.records[i]
		fault.Kind, fault.At, fault.Until = history.Fault, r.At+1, r.At+2
		start, end := r, r
		start.Kind, start.Fence, start.Who, start.At, start.Result = history.Start, r.Fence+1, "worker1.1", r.At+10, ""
		end.Fence, end.Who, end.At = r.Fence+1, "worker1.1", r.At+11
		states := s.records[s.find(t, func(r history.Record) bool { return r.Kind == history.Settled })].States
		st := states[r.Job]
		st.Fence, st.Lost = st.Fence+1, lost
		states[r.Job] = st
		for k := range s.records { // the children are the second attempt's
			if c := &s.records[k]; c.Kind == history.Child && c.Parent == r.UUID {
				c.Fence++
			}
		}
		s.records = append(s.records, fault, start, end)
		return s.check(rig.Always)
	}
	tests := []struct {
		name  string
		fault history.Record
		lost  int
		good  bool
	}{
		{"its worker was killed", history.Record{Name: "kill worker", Whom: "worker0.1"}, 1, true},
		{"another worker was killed", history.Record{Name: "kill worker", Whom: "worker2.1"}, 1, false},
		{"the store was paused", history.Record{Name: "pause store"}, 1, true},
		{"the store counts no lease", history.Record{Name: "pause store"}, 0, false},
		{"a fault that ends no lease", history.Record{Name: "flush scripts"}, 1, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := again(t, test.fault, test.lost)
			if good := len(r.Violations) == 0; good != test.good {
				t.Errorf("violations %q", r.Violations)
			}
			if test.good && Sum(r.Duplicates) != 1 {
				t.Errorf("duplicates %v", r.Duplicates)
			}
		})
	}
}

// TestClockSteps: how long after its edges a job begins is judged unless the store's clock was stepped meanwhile, be it to set it right.
func TestClockSteps(t *testing.T) {
	t.Parallel()
	for fault, good := range map[string]bool{"step the clock": true, "mend the clock": true, "pause store": false} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			s := tell(1, 40)
			i := s.find(t, func(r history.Record) bool { return r.Kind == history.Start && r.Fence == 1 && after(r) > 0 })
			early := int64(after(s.records[i]))
			for k := i; k < len(s.records); k++ { // all that follows is as much earlier, so that nothing else is wrong
				s.records[k].At -= early / 2
			}
			s.records = append(s.records, history.Record{Kind: history.Fault, Name: fault, At: s.records[i].At, Until: s.records[i].At})
			found := s.check(rig.Always).Violations
			if violated := slices.ContainsFunc(found, func(v string) bool { return strings.HasPrefix(v, "after: ") }); violated == good {
				t.Errorf("violations %q", found)
			}
		})
	}
}

// after is how long after its edges the job of a record begins at the earliest.
func after(r history.Record) time.Duration {
	var n int
	if _, err := fmt.Sscanf(r.Graph, "a0-g%d", &n); err != nil {
		return 0
	}
	if j := graph.Draw(1, 0, n).Job(r.Job); j != nil {
		return j.After
	}
	return 0
}

// TestLostChild: an heir need not wait for what its predecessor added from inside and the store lost before it came to run.
func TestLostChild(t *testing.T) {
	t.Parallel()
	for _, loses := range []bool{true, false} {
		t.Run(fmt.Sprintf("the store loses something %v", loses), func(t *testing.T) {
			t.Parallel()
			s := tell(1, 100)
			i := s.find(t, func(r history.Record) bool { return r.Kind == history.Child && hasHeir(r) })
			child := s.records[i]
			fault := history.Record{Kind: history.Fault, Name: "power failure", At: child.At, Until: child.At}
			if loses {
				fault.Loses = child.At
			}
			s.records = slices.DeleteFunc(s.records, func(r history.Record) bool { return r.Kind != history.Child && r.UUID == child.UUID })
			s.records = append(s.records, fault)
			found := s.check(rig.EverySec).Violations
			if violated := slices.ContainsFunc(found, func(v string) bool { return strings.HasPrefix(v, "order: ") }); violated == loses {
				t.Errorf("violations %q", found)
			}
		})
	}
}

// hasHeir tells whether a job that runs waits for the parent of a child record to be complete.
func hasHeir(child history.Record) bool {
	var n int
	if _, err := fmt.Sscanf(child.Graph, "a0-g%d", &n); err != nil {
		return false
	}
	g := graph.Draw(1, 0, n)
	parent, _, _ := strings.Cut(child.Job, ".")
	outcomes := g.Outcomes()
	return slices.ContainsFunc(g.Jobs, func(j *graph.Job) bool {
		ran := outcomes[j.Name] == graph.Completed
		return ran && slices.ContainsFunc(j.Blocks, func(b graph.Block) bool { return slices.Contains(b.Jobs, parent) })
	})
}

// TestFenceAgain: one worker runs a job twice at once under one fence, since the store lost the first reservation. What waits for the job
// may begin after the first of them has done the work.
func TestFenceAgain(t *testing.T) {
	t.Parallel()
	s := tell(1, 1)
	i := s.find(t, func(r history.Record) bool { return r.Kind == history.End && r.Result == history.Well && r.Tick == 0 })
	start, end := s.records[i], s.records[i]
	start.Kind, start.Result = history.Start, ""
	start.At--
	end.At = s.now + 1
	fault := history.Record{Kind: history.Fault, Name: "power failure", At: start.At - 1, Until: start.At - 1, Loses: start.At - 2}
	s.records = append(s.records, fault, start, end)
	for _, v := range s.check(rig.EverySec).Violations {
		t.Error(v)
	}
}
