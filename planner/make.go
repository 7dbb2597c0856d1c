package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/config/protofile"
)

// Options ask for more, or for less, than the difference between workflow and state.
type Options struct {
	// Destroy plans the end of everything that is recorded, as if nothing were declared.
	Destroy bool
	// Targets limits the plan to these addresses and what they need: everything upstream of them, and jobs waiting for a
	// submission that the plan replaces. An address without key means all instances of its block. Empty: no limit.
	Targets []config.Addr
	// Exclude leaves these addresses and all that is downstream of them out of the plan. An address without key means all
	// instances of its block. It does not go with Targets.
	Exclude []config.Addr
	// RefreshOnly plans for nothing but what changed outside of Waybill: records of jobs that are lost, and of deposed ones that
	// have ended, are forgotten. What is declared is not looked at.
	RefreshOnly bool
	// Replace names declared addresses that run again whatever their state. An address without key means all instances.
	Replace []config.Addr
	// Rerun asks for a new generation of every declared job.
	Rerun bool
	// KeepEnded leaves jobs alone that failed, were cancelled or expired, until something else than that is a reason to run: what is
	// declared of them changes, or an upstream runs again. Jobs that they exclude stay skipped, and what is declared below them anew
	// is skipped too. It is for who plans again and again, and would run what fails for ever.
	KeepEnded bool
	// Retry names declared addresses that KeepEnded does not mean, and that run again if they are on hold. An address without key means
	// all instances.
	Retry []config.Addr
	// Digest hashes data that sensitive values are in, under a key, and names the key. It is needed for workflows with
	// sensitive payloads or outputs only, and called with sensitive = true only; plain data is hashed here.
	Digest func(sensitive bool, data []byte) (Digest, string)
	// KeyID is the id of the key that Digest uses, and jobs are signed with; "" for none.
	KeyID string
	// DigestUnder hashes as Digest does, under another key that is here, by its id; false for one that is not. nil: there is none.
	// A record that was digested under a key that is not here cannot be compared, which is an error. Older are the ids of such keys.
	DigestUnder func(keyID string, data []byte) (Digest, bool)
	Older       []string
	// Rekey plans to write what was signed, sealed or digested under another key than KeyID anew, and nothing runs again for it.
	Rekey bool
}

// Make compares a workflow with its state. It returns no plan with errors; warnings come with a plan. It keeps
// references into both arguments and changes neither.
func Make(w *config.Workflow, s *State, o Options) (*Plan, hcl.Diagnostics) {
	if o.Destroy || o.RefreshOnly {
		w = &config.Workflow{Name: w.Name, Protected: w.Protected}
	}
	s, diags := Moved(s, w)
	if diags.HasErrors() {
		return nil, diags
	}
	if s, diags = Imported(s, w); diags.HasErrors() {
		return nil, diags
	}
	m := &maker{s: s, o: o, leave: w.Removed, messages: w.Messages, ignoredWork: map[int32]bool{}}
	if m.g, diags = NewGraph(w); diags.HasErrors() {
		return nil, diags
	}
	diags = append(diags, m.match()...)
	diags = append(diags, m.digest()...)
	diags = append(diags, m.request()...)
	if diags.HasErrors() {
		return nil, diags
	}
	m.decide()
	m.decideRemoved()
	if protected := m.protect(w.Protected); protected != nil {
		return nil, append(diags, protected...)
	}
	diags = append(diags, m.exclusions()...)
	m.describe()
	m.foretell()
	p := &Plan{Workflow: w.Name, Former: s.Former, Lineage: s.Lineage, Destroy: o.Destroy, RefreshOnly: o.RefreshOnly, Assumed: s.Assumed, Rows: m.inOrder(), Protected: w.Protected,
		Asked: Request{o.Targets, o.Exclude, o.Replace, o.Rerun, o.Rekey}}
	if o.RefreshOnly {
		return p, diags
	}
	if !o.Destroy {
		p.findRenames()
	}
	m.queues = w.Queues
	p.Forecast = m.forecast()
	p.Queues = queueChanges(w, s)
	diags = append(diags, sharedQueues(w, s)...)
	var outputDiags hcl.Diagnostics
	p.Outputs, outputDiags = m.outputChanges(w)
	if outputDiags.HasErrors() {
		return nil, append(diags, outputDiags...)
	}
	return p, diags
}

// maker makes one plan.
type maker struct {
	s *State
	o Options
	g *Graph

	queues      []*config.Queue
	leave       []config.Removed // of the workflow
	messages    *protofile.Set   // likewise; may be nil
	rows        []Row            // of declared jobs, by their number in g
	removed     []Row            // of addresses that are recorded and not declared, upstream first
	included    []bool           // by job; nil without targets and exclusions
	excluding   *exclusion       // nil without exclusions
	requested   []bool           // by job; nil without -replace and -rerun
	limited     bool             // removed rows are limited to targets
	former      []Digest         // by job: the handling had nothing moved; nil until it is asked for
	next        []uuid.UUID      // by job: the uuid of its next generation, zero until it is asked for
	ignoredWork map[int32]bool   // by job: its work differs, in nothing but what ignore_changes leaves alone

	// older: by job, of work that was digested under an older key and has not changed.
	older map[int32]bool

	// renamed are the addresses that have moved, of jobs whose work differs in nothing else.
	renamed map[int32][]config.Addr
}

// match makes a row for every address that is declared or recorded.
func (m *maker) match() (diags hcl.Diagnostics) {
	m.rows = make([]Row, len(m.g.jobs))
	matched := 0
	for i, j := range m.g.jobs {
		r := &m.rows[i]
		r.Addr, r.Job, r.Component, r.Root = j.Addr, j, int(m.g.components[i]), m.g.root(int32(i))
		if r.Prior = m.s.Records[m.g.names[i]]; r.Prior != nil {
			r.Live, r.MovedFrom = m.s.Live[m.g.names[i]], m.s.MovedFrom[m.g.names[i]]
			matched++
		}
	}
	if matched < len(m.s.Records) {
		diags = m.matchRemoved()
	}
	return diags
}

// matchRemoved makes the rows of what is recorded and not declared.
func (m *maker) matchRemoved() (diags hcl.Diagnostics) {
	var jobs []*config.Job
	for name := range m.s.Records {
		addr, err := config.ParseAddr(name)
		if err != nil {
			diags = append(diags, &hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: "Unreadable state",
				Detail: fmt.Sprintf("The state of workflow %q has a record of %q: %s.", m.s.Workflow, name, err),
			})
			continue
		}
		if _, declared := m.g.index[addr]; !declared {
			jobs = append(jobs, &config.Job{Addr: addr})
		}
	}
	slices.SortFunc(diags, func(a, b *hcl.Diagnostic) int { return strings.Compare(a.Detail, b.Detail) })
	first := 0
	if n := len(m.g.order); n > 0 {
		first = int(m.g.components[m.g.order[n-1]]) + 1
	}
	graph := m.recordedGraph(jobs)
	m.removed = make([]Row, len(graph.order))
	for i, j := range graph.order {
		name := graph.names[j]
		m.removed[i] = Row{Addr: graph.jobs[j].Addr, Prior: m.s.Records[name], Live: m.s.Live[name],
			Component: first + int(graph.components[j])}
	}
	return diags
}

// recordedGraph orders jobs by the edges of their records. Records are from different applies, so these may lead in a
// circle; the order of what is in one is that of addresses.
func (m *maker) recordedGraph(jobs []*config.Job) *Graph {
	slices.SortFunc(jobs, func(a, b *config.Job) int { return compareAddr(a.Addr, b.Addr) })
	g := &Graph{jobs: jobs}
	_ = g.number()
	for i, j := range jobs {
		for _, e := range m.s.Records[g.names[i]].Edges {
			if _, ok := g.index[e.Addr]; !ok {
				continue
			}
			if e.Kind.Parent() {
				j.Parents = append(j.Parents, config.Parent{Job: e.Addr})
			} else {
				j.Predecessors = append(j.Predecessors, config.Predecessor{Jobs: []config.Addr{e.Addr}})
			}
		}
	}
	_ = g.connect()
	g.sort()
	if len(g.order) < len(jobs) {
		ordered := make([]bool, len(jobs))
		for _, j := range g.order {
			ordered[j] = true
		}
		last := int32(len(jobs)) // no component has this number
		for j := range int32(len(jobs)) {
			if !ordered[j] {
				g.order = append(g.order, j)
				if g.components[j] < 0 {
					g.components[j] = last
				}
			}
		}
	}
	return g
}

// listed joins names for a sentence, the first most of them.
func listed(names []string, most int) string {
	if len(names) <= most {
		if len(names) < 2 {
			return strings.Join(names, "")
		}
		return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// describe fills in what only rows that write something need.
func (m *maker) describe() {
	for i := range m.rows {
		r := &m.rows[i]
		if r.Action == NoOp || r.Leave {
			continue
		}
		r.Definition = appendDefinition(nil, r.Job)
		r.Hidden = m.hidden(r.Job, r.Definition, m.o.KeyID)
		if r.KeepsWork = m.ignoredWork[int32(i)] && (r.Action == Rerecord || r.Action == Reopen); r.KeepsWork {
			r.keepWork()
			r.Hidden = r.Prior.Hidden
		}
		r.Edges = m.targets(int32(i))
		if r.Reason == ReasonHandling && r.looksSame() {
			r.Reason = ReasonMoved
		}
		if !r.Recurs() { // a template waits for no generation before it
			r.Earlier = m.earlier(r)
		}
	}
	for i := range m.removed {
		m.removed[i].Earlier = m.earlier(&m.removed[i])
	}
}

// targets is what a job waits for, by address.
func (m *maker) targets(job int32) []Target {
	links := m.g.up.of(job)
	if len(links) == 0 {
		return nil
	}
	targets := make([]Target, len(links))
	for k, l := range links {
		targets[k] = Target{Kind: l.kind, Group: int(l.group)}
		if l.inside() {
			targets[k].Addr = m.g.jobs[l.to].Addr
		} else {
			targets[k].UUID = m.g.outside[^l.to]
		}
	}
	return targets
}

// earlier finds the generation before the recorded one, if the recorded one may still wait for it. Once its own work is
// done nothing has to.
func (m *maker) earlier(r *Row) string {
	if r.Prior == nil || !r.Live.Status.Waits() && r.Live.Status != Lost || r.Action == NoOp || r.Action == Forget {
		return ""
	}
	for _, e := range r.Prior.Edges {
		if e.Kind != EdgeSuccessor {
			continue
		}
		if live := m.s.Earlier[e.UUID]; live.Status != Lost && live.Status != Closing && !live.Status.Ended() {
			return e.UUID
		}
	}
	return ""
}

// inOrder lists all rows in the order of Plan.Rows.
func (m *maker) inOrder() []*Row {
	rows := make([]*Row, 0, len(m.rows)+len(m.removed))
	for _, j := range m.g.order {
		rows = append(rows, &m.rows[j])
	}
	for i := range m.removed {
		rows = append(rows, &m.removed[i])
	}
	return rows
}
