package approve

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

func load(t testing.TB, file string) *config.Workflow {
	t.Helper()
	w, diags := config.Load(config.Options{Paths: []string{filepath.Join("testdata", file)}, NeedVariables: true})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return w
}

// keyed is a digest function under a key of its own.
func keyed(sensitive bool, data []byte) (planner.Digest, string) {
	h := hmac.New(sha256.New, []byte("a key for tests"))
	h.Write(data)
	return planner.Digest(h.Sum(nil)[:16]), "0badcafe"
}

func noState() *planner.State {
	return &planner.State{Lineage: uuid.MustParse("6f1f3c52-5a0e-4a6e-9a3b-0d7f6a1f0c11"), Records: map[string]*planner.Record{},
		Live: map[string]planner.Live{}, Earlier: map[string]planner.Live{}}
}

func planOf(t testing.TB, w *config.Workflow, s *planner.State, o planner.Options) *planner.Plan {
	t.Helper()
	o.Digest, o.KeyID = keyed, "0badcafe"
	p, diags := planner.Make(w, s, o)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return p
}

// stateOf is the state after everything of w was applied and ended well.
func stateOf(t testing.TB, w *config.Workflow) *planner.State {
	t.Helper()
	s := noState()
	p := planOf(t, w, s, planner.Options{})
	if err := planner.Settle(p, s); err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Rows {
		s.Records[r.Addr.String()] = r.Next
		s.Live[r.Addr.String()] = planner.Live{Status: planner.Completed, Opening: 1}
	}
	s.Queues, s.Outputs = map[string]planner.QueueSettings{}, map[string]string{}
	for _, q := range p.Queues {
		s.Queues[q.Name] = *q.Next
	}
	for _, o := range p.Outputs {
		s.Outputs[o.Name] = o.Next
	}
	return s
}

// sales is a plan in which everything happens that can happen to a job.
func sales(t testing.TB) *planner.Plan {
	t.Helper()
	s := stateOf(t, load(t, "sales/before.hcl"))
	s.Live[`job.clean["us"]`] = planner.Live{Status: planner.Failed, Opening: 1, Cause: "exit status 1: disk full"}
	s.Live["job.legacy"] = planner.Live{Status: planner.Running, Opening: 1}
	s.Live["job.vanished"] = planner.Live{}
	return planOf(t, load(t, "sales/after.hcl"), s, planner.Options{})
}

func salesDestroyed(t testing.TB) *planner.Plan {
	t.Helper()
	w := load(t, "sales/before.hcl")
	return planOf(t, w, stateOf(t, w), planner.Options{Destroy: true})
}

// blockJobs declares one job block: with n instances, each after what its like of after did.
func blockJobs(name string, n int, after string) []*config.Job {
	jobs := make([]*config.Job, n)
	for i := range jobs {
		a := config.Addr{Name: name, Key: config.InstanceKey{Kind: config.KeyInt, Int: i}}
		payload := fmt.Appendf(nil, `{"command":["./%s.sh","--part","%d"]}`, name, i)
		jobs[i] = &config.Job{Addr: a, Type: "exec", Queue: "main", Priority: 1, Payload: payload, Shown: payload}
		if after != "" {
			a.Name = after
			jobs[i].Predecessors = []config.Predecessor{{Jobs: []config.Addr{a}}}
		}
	}
	return jobs
}

// many is a plan of n changes: half of them two large blocks, half of them jobs of their own in chains of ten.
func many(t testing.TB, n int) *planner.Plan {
	t.Helper()
	w := &config.Workflow{Name: "many"}
	w.Jobs = append(w.Jobs, blockJobs("split", n/4, "")...)
	w.Jobs = append(w.Jobs, blockJobs("merge", n/4, "split")...)
	for i := range n - n/4*2 {
		j := blockJobs(fmt.Sprintf("step%06d", i), 1, "")[0]
		j.Addr.Key = config.InstanceKey{}
		if i%10 > 0 {
			j.Predecessors = []config.Predecessor{{Jobs: []config.Addr{{Name: fmt.Sprintf("step%06d", i-1)}}}}
		}
		w.Jobs = append(w.Jobs, j)
	}
	return planOf(t, w, noState(), planner.Options{})
}
