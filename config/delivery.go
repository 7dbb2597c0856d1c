package config

import (
	"github.com/hashicorp/hcl/v2"
)

// Delivery is a delivery block that does not leave the choice of the worker to the queue.
type Delivery struct {
	All    bool   // to each worker that is alive when the job is submitted
	Worker string // else the id of the one that gets it
	Range  hcl.Range
}

// delivery reads the delivery block. Its retention is the job's under another name, since what is limited is the same.
func (s *scope) delivery(c *content, job *Job) {
	b := c.block("delivery")
	if b == nil {
		return
	}
	s = s.in(b)
	to, worker, retention := b.inner.attr("to"), b.inner.attr("worker"), b.inner.attr("retention")
	if d, ok := s.duration(retention, millisecond); ok {
		job.Retention = d
	}
	if other := c.attr("retention"); s.given(retention) && s.given(other) {
		s.r.error(sumConflict, retention.nameRange, "The job has a retention of its own, at %s. Both limit how long it waits for its start: remove one of them.", place(other.nameRange))
	}
	all := false
	if text, ok := s.text(to); ok {
		switch text {
		case "any":
		case "all":
			all = true
		case "one", "uni", "worker":
			s.r.error(sumBadChoice, to.expr.Range(), "To is \"any\" or \"all\". For one worker write worker = \"ID\" instead.")
		default:
			s.r.error(sumBadChoice, to.expr.Range(), "To is \"any\" or \"all\", and not %q.%s For one worker write worker = \"ID\" instead.", clip(text), didYouMeanOf(text, "any", "all"))
		}
	}
	switch id, ok := s.text(worker); {
	case s.given(to) && s.given(worker):
		s.r.error(sumConflict, worker.nameRange, "A delivery block has one of to and worker. Keep worker for a job that one worker gets, to = \"all\" for one that all get.")
	case ok && s.r.storeName("worker", id, worker.expr.Range()):
		job.Delivery = &Delivery{Worker: id, Range: b.header}
	case all:
		job.Delivery = &Delivery{All: true, Range: b.header}
		s.broadcast(c, b)
	}
}

// broadcast refuses what a job for all workers cannot have: it ends as soon as it is handed to them, so there is nothing that
// could wait, and nobody whose success would count.
func (s *scope) broadcast(c *content, b *block) {
	for i := range c.blocks {
		switch other := &c.blocks[i]; other.kind.name {
		case "parent", "predecessor", "run_at", "gate":
			s.r.error(sumConflict, other.header, "A job that is delivered to all workers, see %s, goes to those that are alive when it is submitted, so it cannot wait. "+
				"Remove this %s block, or deliver to any worker.", place(b.header), other.kind.name)
		}
	}
	if a := c.attr("triggers_gate"); s.given(a) {
		s.r.error(sumConflict, a.nameRange, "A job that is delivered to all workers, see %s, is done as soon as it is handed to them, whatever they make of it, so it has no success that could trigger a gate. "+
			"Remove one of the two.", place(b.header))
	}
}
