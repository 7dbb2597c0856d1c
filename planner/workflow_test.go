package planner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// lineage of all tests.
var lineage = uuid.MustParse("6f1f3c52-5a0e-4a6e-9a3b-0d7f6a1f0c11")

// jobOf declares a job in one line: its address without "job.", then what it waits for.
//
//	^a  child of a                a    heir of a
//	?a  child, may fail           a,b  heir of both, one block
//	!a  heir if it fails          *a   heir always
//	@u  heir of the job u outside the files
func jobOf(line string) *config.Job {
	words := strings.Fields(line)
	j := &config.Job{
		Addr: addr("job." + words[0]), Type: "exec", Queue: "main", Priority: 1,
		Payload: []byte(fmt.Sprintf(`{"command":["./run.sh",%q]}`, words[0])),
		Retry:   config.Retry{MaxAttempts: 3, MaxLost: 5, Min: time.Second, Max: time.Hour, Jitter: 0.2},
	}
	j.Shown = j.Payload
	for i, word := range words[1:] {
		at := hcl.Range{Filename: "main.hcl", Start: hcl.Pos{Line: 10*len(words[0]) + i + 1, Column: 1}}
		sign, rest := word[0], word[1:]
		p := config.Predecessor{Range: at}
		switch sign {
		case '^', '?':
			j.Parents = append(j.Parents, config.Parent{Job: addr("job." + rest), IgnoreFailure: sign == '?', Range: at})
			continue
		case '@':
			p.UUIDs = []string{rest}
			rest = ""
		case '!':
			p.RunIf = config.RunIfFailure
		case '*':
			p.RunIf = config.RunIfAlways
		default:
			rest = word
		}
		for name := range strings.SplitSeq(rest, ",") {
			if name != "" {
				p.Jobs = append(p.Jobs, addr("job."+name))
			}
		}
		j.Predecessors = append(j.Predecessors, p)
	}
	j.Range = hcl.Range{Filename: "main.hcl", Start: hcl.Pos{Line: len(words[0]), Column: 1}}
	return j
}

func addr(s string) config.Addr {
	a, err := config.ParseAddr(s)
	if err != nil {
		panic(err)
	}
	return a
}

func workflowOf(lines ...string) *config.Workflow {
	w := &config.Workflow{Name: "test"}
	for _, line := range lines {
		w.Jobs = append(w.Jobs, jobOf(line))
	}
	return w
}

// edited is a workflow with one job changed.
func edited(w *config.Workflow, name string, edit func(*config.Job)) *config.Workflow {
	next := *w
	next.Jobs = make([]*config.Job, len(w.Jobs))
	for i, j := range w.Jobs {
		if j.Addr.String() == "job."+name {
			clone := *j
			edit(&clone)
			j = &clone
		}
		next.Jobs[i] = j
	}
	return &next
}

func newWork(j *config.Job) {
	j.Payload = append([]byte(nil), strings.Replace(string(j.Payload), "run", "run2", 1)...)
	j.Shown = j.Payload
}

func newHandling(j *config.Job) { j.Timeout += time.Minute }

func noState() *planner.State {
	return &planner.State{Workflow: "test", Lineage: lineage, Records: map[string]*planner.Record{}, Live: map[string]planner.Live{},
		Earlier: map[string]planner.Live{}}
}

func mustMake(t testing.TB, w *config.Workflow, s *planner.State, o planner.Options) *planner.Plan {
	t.Helper()
	p, diags := planner.Make(w, s, o)
	if diags.HasErrors() {
		t.Fatalf("plan: %s", diags)
	}
	return p
}

// stateOf is the state after everything of w was applied and ended well.
func stateOf(t testing.TB, w *config.Workflow) *planner.State {
	t.Helper()
	s := noState()
	p := mustMake(t, w, s, planner.Options{})
	if err := planner.Settle(p, s); err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Rows {
		s.Records[r.Addr.String()] = r.Next
		s.Live[r.Addr.String()] = planner.Live{Status: planner.Completed, Opening: 1}
	}
	return s
}

// actions lists the rows that do something, in plan order.
func actions(p *planner.Plan) []string {
	var all []string
	for _, r := range p.Rows {
		if r.Action != planner.NoOp {
			all = append(all, r.Action.Symbol()+" "+strings.TrimPrefix(r.Addr.String(), "job.")+" "+string(r.Reason))
		}
	}
	return all
}

func expect(t *testing.T, p *planner.Plan, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, actions(p)); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
}

func row(t testing.TB, p *planner.Plan, name string) *planner.Row {
	t.Helper()
	for _, r := range p.Rows {
		if r.Addr.String() == "job."+name {
			return r
		}
	}
	t.Fatalf("no row for job.%s", name)
	return nil
}
