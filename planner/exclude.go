package planner

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
)

// exclusion is what -exclude leaves out of a plan: the named jobs and all that is downstream of them.
type exclusion struct {
	addrs []config.Addr
	by    []int32 // by declared job: the one further up that it is left out for, itself for a named one, notExcluded for none
	some  bool    // a declared job is left out
}

const notExcluded = -1

// exclude finds what -exclude names.
func (m *maker) exclude() (diags hcl.Diagnostics) {
	if len(m.o.Exclude) == 0 {
		return nil
	}
	if len(m.o.Targets) > 0 {
		return hcl.Diagnostics{{
			Severity: hcl.DiagError, Summary: "Targets and exclusions together",
			Detail: "-target says what a plan is limited to, and -exclude what it leaves out. Give one of the two.",
		}}
	}
	x := &exclusion{addrs: m.o.Exclude, by: make([]int32, len(m.rows))}
	for i := range x.by {
		x.by[i] = notExcluded
	}
	for _, addr := range x.addrs {
		found := m.each(addr, func(job int32) { m.spread(x, job) })
		if !found && !slices.ContainsFunc(m.removed, func(r Row) bool { return addr.Covers(r.Addr) }) {
			diags = append(diags, m.unknown("Exclusion does not exist", "-exclude", addr, true))
		}
	}
	for _, addr := range m.o.Replace {
		m.each(addr, func(job int32) {
			if by := x.by[job]; by != notExcluded {
				diags = append(diags, m.excludedReplace(job, by))
			}
		})
	}
	m.excluding, m.included = x, make([]bool, len(m.rows))
	for job, by := range x.by {
		m.included[job] = by == notExcluded
		if by != notExcluded && m.requested != nil {
			m.requested[job] = false
		}
	}
	return diags
}

// excludedReplace says that a job is asked for and left out.
func (m *maker) excludedReplace(job, by int32) *hcl.Diagnostic {
	why := "-exclude leaves it out"
	if by != job {
		why = fmt.Sprintf("it is left out because it waits for %s, which -exclude names", m.g.names[by])
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Job is excluded and replaced",
		Detail: fmt.Sprintf("-replace asks for a new generation of %s, and %s. Give one of the two.", m.g.names[job], why),
	}
}

// spread leaves out a job and all that waits for it: its children, its heirs, and the heirs of those that it is a child of,
// upward, since they are complete after it.
func (m *maker) spread(x *exclusion, named int32) {
	x.some, x.by[named] = true, named
	todo, above := []int32{named}, []int32(nil)
	waits := func(list []int32) {
		for _, job := range list {
			if x.by[job] == notExcluded {
				x.by[job] = named
				todo = append(todo, job)
			}
		}
	}
	held := map[int32]bool{} // parents whose heirs are left out
	for len(todo) > 0 {
		job := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		waits(m.g.children.of(job))
		waits(m.g.heirs.of(job))
		above = append(above[:0], job)
		for len(above) > 0 {
			child := above[len(above)-1]
			above = above[:len(above)-1]
			for _, l := range m.g.up.of(child) {
				if l.kind.Parent() && l.inside() && !held[l.to] {
					held[l.to] = true
					waits(m.g.heirs.of(l.to))
					above = append(above, l.to)
				}
			}
		}
	}
}

// cause is why a job is left out that is not named itself.
func (x *exclusion) cause(m *maker, job int32) []Cause {
	if by := x.by[job]; by != job && by != notExcluded {
		return []Cause{{m.rows[by].Addr, ReasonExcluded}}
	}
	return nil
}

// exclusion says why a row is left out.
func (r *Row) exclusion() string {
	switch {
	case len(r.Causes) == 0:
		return "it is excluded"
	case r.Job == nil: // it stays for what waits for it
		return r.Causes[0].Addr.String() + ", which is left out, waits for it"
	default:
		return "it waits for " + r.Causes[0].Addr.String() + ", which is excluded"
	}
}

// maxReleases bounds how often excluded jobs are looked through for those that cannot be left out. What releases another needs
// one more look; jobs that a plan leaves waiting keep their uuid, so that in practice nothing does.
const maxReleases = 4

// release plans excluded jobs that the others would leave waiting for a submission that is withdrawn: nothing would ever start
// them. It tells whether there are any.
func (m *maker) release(round int) bool {
	todo := m.leftWaiting()
	if todo == nil {
		return false
	}
	m.include(todo, round >= maxReleases)
	return true
}

// overruled lists the excluded jobs that are planned nevertheless.
func (m *maker) overruled() (names []string) {
	for job, by := range m.excluding.by {
		if by != notExcluded && m.included[job] && m.rows[job].Action != NoOp {
			names = append(names, m.g.names[job])
		}
	}
	return names
}

// exclusions warns of what the plan leaves out, and of what it could not.
func (m *maker) exclusions() (diags hcl.Diagnostics) {
	if m.excluding == nil {
		return nil
	}
	diags = append(diags, &hcl.Diagnostic{
		Severity: hcl.DiagWarning, Summary: "Some jobs are left out",
		Detail: "With -exclude this plan leaves out the changes of the excluded jobs and of what waits for them. A plan without it shows them.",
	})
	if names := m.overruled(); names != nil {
		diags = append(diags, &hcl.Diagnostic{
			Severity: hcl.DiagWarning, Summary: "Excluded jobs are changed nevertheless",
			Detail: fmt.Sprintf("%s would wait for ever: what was submitted before is replaced or reopened by this plan, and nothing else ever "+
				"starts a job that waits for it. To leave this out too, exclude what it waits for.", listed(names, 5)),
		})
	}
	return diags
}

// excludeRemoved decides which rows of what is not declared any more are left out: those that are named, and those that an
// excluded job waits for, as it was submitted, which would never start without them.
func (m *maker) excludeRemoved() {
	awaited := map[config.Addr]config.Addr{} // to the one that waits
	await := func(r *Row) {
		if r.Prior == nil || r.Live.Status != Held && r.Live.Status != Template {
			return
		}
		for _, e := range r.Prior.Edges {
			if e.Addr != (config.Addr{}) {
				awaited[e.Addr] = r.Addr
			}
		}
	}
	for job := range m.rows {
		if !m.included[job] {
			await(&m.rows[job])
		}
	}
	for i := range slices.Backward(m.removed) { // what waits comes after what it waits for
		r := &m.removed[i]
		by, waits := awaited[r.Addr]
		switch {
		case matchesAny(m.excluding.addrs, r.Addr):
			r.Action, r.Reason = NoOp, ReasonExcluded
		case waits:
			r.Action, r.Reason, r.Causes = NoOp, ReasonExcluded, []Cause{{by, ReasonExcluded}}
		default:
			continue
		}
		await(r)
	}
}
