package config

import (
	"github.com/hashicorp/hcl/v2"
)

// ObsoleteIf is an obsolete_if block: while another live job carries all the labels, this one is dropped instead of started.
type ObsoleteIf struct {
	Labels map[string]string // never empty
	Range  hcl.Range
}

// maxCycles bounds max_cycles; the engine counts in 32 bits.
const maxCycles = 1_000_000_000

// cycles reads what makes a job run again and again, and what it takes along.
func (s *scope) cycles(c *content, job *Job) {
	if n, ok := s.integer(c.attr("max_cycles"), 0, maxCycles); ok {
		job.MaxCycles = n
	}
	if a := c.attr("sync"); a != nil {
		job.Sync = s.sync(a)
	}
	triggers := c.attr("triggers_gate")
	if triggers != nil {
		job.TriggersGate, _, _ = s.gateLabels(triggers)
	}
	gate, obsolete := c.block("gate"), c.block("obsolete_if")
	if gate != nil {
		s.in(gate).gate(gate, job)
	}
	if obsolete != nil {
		s.in(obsolete).obsoleteIf(obsolete, job)
	}
	switch {
	case gate != nil && job.Schedule != nil:
		s.r.error(sumTwoTriggers, gate.header, "The job has a schedule, at %s, and a gate. Keep one of them. For a job that waits for both, let a scheduled noop job trigger a label of the gate.",
			place(job.Schedule.Range))
	case gate != nil && s.given(triggers):
		s.r.error(sumConflict, triggers.nameRange, "A job with a gate waits for labels and does not trigger any itself. Write triggers_gate into a job that has this one as its predecessor.")
	}
	if obsolete != nil && (gate != nil || job.Schedule != nil) {
		s.r.error(sumConflict, obsolete.header, "A job with %s is a template and never starts itself, so it cannot become obsolete. Write obsolete_if into a job downstream of it, "+
			"or remove the %[2]s.", map[bool]string{true: "a gate", false: "a schedule"}[gate != nil], map[bool]string{true: "gate", false: "schedule"}[gate != nil])
	}
}

func (s *scope) gate(b *block, job *Job) {
	job.Gate = &Gate{Range: b.header}
	a := b.inner.attr("waiting")
	if a == nil {
		return // reported
	}
	var ok bool
	if job.Gate.Waiting, job.Gate.Ranges, ok = s.gateLabels(a); len(job.Gate.Waiting) == 0 && (ok || !s.given(a)) {
		s.r.error(sumMissingArgument, a.expr.Range(), "The gate waits for no label, so nothing would ever open it. Name at least one, such as waiting = [\"loaded\"], and write triggers_gate = [\"loaded\"] into the job whose success counts.")
	}
}

func (s *scope) obsoleteIf(b *block, job *Job) {
	a := b.inner.attr("labels")
	if a == nil {
		return // reported
	}
	labels, ok := s.labels(a)
	if len(labels) == 0 && (ok || !s.given(a)) {
		s.r.error(sumMissingArgument, a.expr.Range(), "Obsolete_if has no labels. Name those that another job carries in its meta, such as { maintenance = \"on\" }, or remove the block.")
	}
	job.ObsoleteIf = &ObsoleteIf{Labels: labels, Range: b.header}
}
