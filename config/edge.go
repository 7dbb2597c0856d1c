package config

import (
	"strings"
)

// edges reads the parent and predecessor blocks.
func (s *scope) edges(c *content, job *Job) {
	for i := range c.blocks {
		switch b := &c.blocks[i]; b.kind.name {
		case "parent":
			s.in(b).parent(b, job)
		case "predecessor":
			s.in(b).predecessor(b, job)
		}
	}
}

func (s *scope) parent(b *block, job *Job) {
	c := b.inner
	p := Parent{Range: b.header}
	if i, ok := s.choice(c.attr("on_child_failure"), "fail", "ignore"); ok {
		p.IgnoreFailure = i == 1
	}
	a := s.oneOf(b, "job", "uuid")
	if a == nil {
		return
	}
	if a.name == "uuid" {
		uuid, ok := s.uuid(a)
		if !ok {
			return
		}
		p.UUID = uuid
	} else {
		addrs, ok := s.upstream(a, job)
		if !ok || len(addrs) != 1 {
			return
		}
		p.Job = addrs[0]
	}
	job.Parents = append(job.Parents, p)
}

func (s *scope) predecessor(b *block, job *Job) {
	c := b.inner
	p := Predecessor{Range: b.header}
	if i, ok := s.choice(c.attr("run_if"), "success", "failure", "always"); ok {
		p.RunIf = RunIf(i)
	}
	a := s.oneOf(b, "job", "jobs", "uuid")
	if a == nil {
		return
	}
	if a.name == "uuid" {
		uuid, ok := s.uuid(a)
		if !ok {
			return
		}
		p.UUIDs = []string{uuid}
	} else {
		addrs, ok := s.upstream(a, job)
		if !ok {
			return
		}
		if len(addrs) == 0 { // it is satisfied
			if p.RunIf == RunIfFailure {
				s.r.error(sumNoJobs, a.expr.Range(), "There are no jobs in this, so none of them can fail, and this job would never start. "+
					"Leave the job out too, with count or for_each, or make the block with a dynamic one.")
			}
			return
		}
		p.Jobs = addrs
	}
	job.Predecessors = append(job.Predecessors, p)
}

// oneOf finds the one argument of an edge that names its jobs.
func (s *scope) oneOf(b *block, names ...string) *attribute {
	var found *attribute
	for _, name := range names {
		a := b.inner.attr(name)
		if a != nil && found != nil {
			s.r.error(sumConflict, a.nameRange, "A %s block has one of %s. Use several blocks to wait for several things.", b.kind.name, strings.Join(names, ", "))
			return nil
		}
		if a != nil {
			found = a
		}
	}
	if found == nil {
		s.r.error(sumMissingArgument, b.header, "A %s block says whom it waits for: %s", b.kind.name, map[bool]string{
			true:  "job = job.NAME, or uuid = \"UUID\" for a job that is not in these files.",
			false: "job = job.NAME, jobs = [job.A, job.B], or uuid = \"UUID\" for a job that is not in these files.",
		}[b.kind.name == "parent"])
	}
	return found
}

func (s *scope) uuid(a *attribute) (string, bool) {
	text, ok := s.text(a)
	switch {
	case !ok:
		return "", false
	case hasPlaceholder(text):
		s.r.error(sumBadEdge, a.expr.Range(), "Uuid is for jobs that are not in these files. Write job = and the job itself.")
		return "", false
	}
	return text, s.r.storeName("uuid", text, a.expr.Range())
}

// upstream gives the jobs that an edge's argument names, none of them the job itself.
func (s *scope) upstream(a *attribute, job *Job) ([]Addr, bool) {
	addrs := a.targets
	if a.state != exprConstant {
		if !s.check(a) {
			return nil, false
		}
		addrs = s.targets(a)
	}
	for _, addr := range addrs {
		if addr == job.Addr {
			s.r.error(sumSelfEdge, a.expr.Range(), "%s waits for itself, so it would never start. Name another job.", upperFirst(addr.String()))
			return nil, false
		}
	}
	return addrs, addrs != nil
}
