package planner

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
)

// request finds what -target, -replace and -rerun name.
func (m *maker) request() (diags hcl.Diagnostics) {
	if m.o.Rerun || len(m.o.Replace) > 0 {
		m.requested = make([]bool, len(m.rows))
	}
	for i := range m.requested {
		m.requested[i] = m.o.Rerun
	}
	for _, addr := range m.o.Replace {
		found := m.each(addr, func(job int32) { m.requested[job] = true })
		if !found {
			diags = append(diags, m.unknown("Replace names an undeclared job", "-replace", addr, false))
		}
	}
	diags = append(diags, m.exclude()...)
	if len(m.o.Targets) == 0 || diags.HasErrors() {
		return diags
	}
	m.limited, m.included = true, make([]bool, len(m.rows))
	var todo []int32
	for _, addr := range m.o.Targets {
		found := m.each(addr, func(job int32) { todo = append(todo, job) })
		if !found && !slices.ContainsFunc(m.removed, func(r Row) bool { return addr.Covers(r.Addr) }) {
			diags = append(diags, m.unknown("Target does not exist", "-target", addr, true))
		}
	}
	if diags.HasErrors() {
		return diags
	}
	m.include(todo, false)
	return append(diags, &hcl.Diagnostic{
		Severity: hcl.DiagWarning, Summary: "Only targets are planned",
		Detail: "With -target this plan leaves out changes of other jobs, and of jobs downstream of the targets. A plan without it shows them.",
	})
}

func matchesAny(targets []config.Addr, addr config.Addr) bool {
	return slices.ContainsFunc(targets, func(t config.Addr) bool { return t.Covers(addr) })
}

// each calls f with every declared job that an address means.
func (m *maker) each(addr config.Addr, f func(job int32)) (found bool) {
	if addr.IsModule() { // its modules need not stand together
		for job := range m.rows {
			if addr.Covers(m.rows[job].Addr) {
				f(int32(job))
				found = true
			}
		}
		return found
	}
	from, _ := slices.BinarySearchFunc(m.g.jobs, addr, func(j *config.Job, a config.Addr) int { return compareAddr(j.Addr, a) })
	for job := from; job < len(m.rows) && addr.Covers(m.rows[job].Addr); job++ {
		f(int32(job))
		found = true
	}
	return found
}

// include adds jobs and what they need to the targets: everything upstream. With waiting also what waits directly below any of
// them, and what that needs.
func (m *maker) include(todo []int32, waiting bool) {
	for len(todo) > 0 {
		job := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if m.included[job] {
			continue
		}
		m.included[job] = true
		for _, l := range m.g.up.of(job) {
			if l.inside() {
				todo = append(todo, l.to)
			}
		}
		todo = append(todo, m.g.triggers.above(job)...)
		if !waiting {
			continue
		}
		for _, below := range [][]int32{m.g.children.of(job), m.g.heirs.of(job)} {
			for _, d := range below {
				if m.waits(d) {
					todo = append(todo, d)
				}
			}
		}
	}
}

func (m *maker) waits(job int32) bool {
	status := m.rows[job].Live.Status
	return m.rows[job].Prior != nil && (status.Waits() || status == Template)
}

// widen adds the jobs that targets alone would leave waiting for a submission that is withdrawn: nothing would ever
// release them. It tells whether there are any.
func (m *maker) widen() bool {
	todo := m.leftWaiting()
	if todo == nil {
		return false
	}
	for job, in := range m.included {
		if in {
			m.included[job] = false
			todo = append(todo, int32(job))
		}
	}
	m.include(todo, true)
	return true
}

// leftWaiting lists the jobs that are left out and would be stranded.
func (m *maker) leftWaiting() (jobs []int32) {
	for job := range int32(len(m.rows)) {
		if !m.included[job] && m.stranded(&m.rows[job], nil) {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// stranded tells whether a job is held by an edge, as it was submitted, to what this plan replaces, reopens or deletes. Of a
// template, its occurrences are.
func (m *maker) stranded(r *Row, deleted map[config.Addr]bool) bool {
	if r.Prior == nil || r.Live.Status != Held && r.Live.Status != Template {
		return false
	}
	return slices.ContainsFunc(r.Prior.Edges, func(e Edge) bool {
		up, ok := m.g.index[e.Addr]
		if !ok || m.rows[up].Prior == nil {
			return deleted[e.Addr]
		}
		u := &m.rows[up]
		switch u.Action {
		case Create, Replace:
			return !sameUUID(m.nextUUID(up), e.UUID)
		case Reopen:
			return !e.Kind.Parent() && e.Opening != u.nextOpening()
		default:
			return false
		}
	})
}

// unknown is the diagnostic for an address on the command line that means nothing. It has no range: it is in no file.
func (m *maker) unknown(summary, flag string, addr config.Addr, recorded bool) *hcl.Diagnostic {
	detail := fmt.Sprintf("%s=%s names a job that is not declared", flag, addr)
	switch {
	case addr.IsModule() && recorded:
		detail = fmt.Sprintf("%s=%s names a module that has neither jobs nor records", flag, addr)
	case addr.IsModule():
		detail = fmt.Sprintf("%s=%s names a module that has no jobs", flag, addr)
	case recorded:
		detail += " and has no record"
	}
	detail += "."
	if near := Near(addr, m.addrs()); near != "" {
		detail += fmt.Sprintf(" Did you mean %s?", near)
	}
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail}
}
