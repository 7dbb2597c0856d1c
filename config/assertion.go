package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// verdict is what became of a condition.
type verdict struct {
	fails     bool
	message   string // what the configuration says about it; never a sensitive value
	condition hcl.Expression
	ctx       *hcl.EvalContext
}

// judge evaluates the condition and error_message of a validation, precondition or assert block. The message is evaluated
// where the condition holds too, so that a mistake in it is not found on the day when it is needed. ok is false after a report.
func (s *scope) judge(c *content) (v verdict, ok bool) {
	condition, message := c.attr("condition"), c.attr("error_message")
	if condition == nil || message == nil {
		return verdict{}, false // reported
	}
	val, ok := s.present(condition)
	text, hasText := s.message(message)
	if !ok || !hasText {
		return verdict{}, false
	}
	val, _ = val.UnmarkDeep() // whether it holds is no secret
	holds, ok := s.convert(val, cty.Bool, condition.expr, condition.name)
	if !ok {
		return verdict{}, false
	}
	return verdict{fails: holds.False(), message: text, condition: condition.expr, ctx: s.known()}, true
}

// message reads an error_message. One that is made from a sensitive value is replaced.
func (s *scope) message(a *attribute) (string, bool) {
	return s.messageOr(a, "The condition does not hold. Its error_message is made from a sensitive value, so it is not shown.")
}

// messageOr is message with other words for one that is hidden.
func (s *scope) messageOr(a *attribute, hidden string) (string, bool) {
	val, ok := s.present(a)
	if !ok {
		return "", false
	}
	text, secret, ok := s.asText(val, a.expr, a.name)
	if secret {
		text = hidden
	}
	return ShowPlaceholders(text), ok
}

// known is the context of an instance's expressions.
func (s *scope) known() *hcl.EvalContext {
	if s.each != nil {
		return s.each.context(s.ctx)
	}
	return s.ctx
}

// preconditions checks the precondition blocks of a job's instance or of an output.
func (s *scope) preconditions(c *content, sum summary, whose string) {
	for i := range c.blocks {
		b := &c.blocks[i]
		if b.kind.name != "precondition" || !s.l.o.conditions() {
			continue
		}
		in := s.in(b)
		if v, ok := in.judge(b.inner); ok && v.fails {
			in.r.refuted(hcl.DiagError, sum, v.condition.Range(), v, whose, "This is a precondition of %s.", whose)
		}
	}
}

// evaluateChecks checks the assertions of the check blocks, as preconditions are checked. One that does not hold is no reason
// to stop.
func (m *module) evaluateChecks() {
	if !m.l.o.conditions() {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m.dir.checks)) {
		b := m.dir.checks[name]
		c := b.openAll(m.dir.r)
		r := m.report()
		s := m.scope(r, anyRoot, "a check")
		if !m.dir.root {
			c = c.fresh()
		}
		s.prepare(c)
		if len(c.blocks) == 0 && !c.refused {
			r.error(sumMissingBlock, b.header, "The check %q checks nothing. Give it an assert block with a condition and an error_message.", name)
		}
		for i := range c.blocks {
			inner := c.blocks[i].open(r)
			if v, ok := s.judge(inner); ok && v.fails {
				r.refuted(hcl.DiagWarning, sumCheckFailed, v.condition.Range(), v, m.addr, "This is an assertion of the check %q.", name)
			}
		}
	}
}
