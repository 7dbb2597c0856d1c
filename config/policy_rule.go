package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Ruling is the Extra of a diagnostic by which a policy denies a plan or warns of it.
type Ruling struct {
	Rule string // the label of the rule, or required_labels
	// Addresses are the jobs that the rule holds for, where it was evaluated for several: at most maxRuled, in the order of the plan.
	Addresses []string
	More      int // how many there are besides
}

// maxRuled bounds how many jobs one ruling names.
const maxRuled = 20

const (
	// maxAsked bounds the elements of a rule's for_each, unless the plan has more jobs.
	maxAsked = 10_000
	// maxMessage bounds what one ruling shows of the message for one element, in bytes.
	maxMessage = 2_000
)

// ruled is one element that a rule holds for.
type ruled struct {
	name, message string
	verdict       verdict
}

// rule evaluates one rule, over its elements where it has for_each.
func (j *policyRun) rule(b *block) {
	outer := &j.l.r
	r := &report{seen: map[finding]struct{}{}} // a mistake is told for the first element alone
	c := b.open(r)
	s := j.l.root.scope(r, rootPlan|rootLocal, "a rule without it")
	each := c.attr("for_each")
	if each != nil {
		s.what = "its for_each"
		s.check(each)
		s.roots |= rootEach
	}
	s.prepare(c)
	var found []ruled
	total := 0
	if !r.failed() {
		if each == nil {
			found = j.element(s, c, nil, "", 0)
			total = len(found)
		} else {
			found, total = j.elements(s, c, each)
		}
	}
	for _, d := range r.diags {
		if d.Severity == hcl.DiagError && !j.sampled {
			undecided := *d
			undecided.Detail += fmt.Sprintf(" The rule %q cannot be decided, so the plan is denied.", b.label)
			d = &undecided
		}
		outer.addOne(d)
	}
	if len(found) > 0 && !j.sampled {
		j.tell(b, c.attr("condition").expr.Range(), found, total)
	}
}

// elements evaluates a rule for each element of its for_each. total counts those that it holds for, and found has the first of them.
func (j *policyRun) elements(s *scope, c *content, each *attribute) (found []ruled, total int) {
	val, ok := s.present(each)
	unknown := !ok && j.sampled && !s.r.failed() && val != cty.NilVal
	switch {
	case unknown && !val.Type().IsPrimitiveType():
		return j.element(s, c, &instance{key: InstanceKey{Kind: KeyString}, value: cty.DynamicVal}, "", 0), 0
	case !ok && !unknown:
		return nil, 0
	}
	val, _ = val.Unmark()
	if ty := val.Type(); ty.IsPrimitiveType() || !val.CanIterateElements() {
		s.r.error(sumWrongType, each.expr.Range(), "For_each of a rule needs a list, a set, a map or an object, and this is %s. A rule that is asked once needs no for_each.", typeName(ty))
		return nil, 0
	}
	if most := max(maxAsked, j.jobs); val.LengthInt() > most {
		s.r.error(sumTooManySteps, each.expr.Range(), "For_each has %d elements; a rule is asked for at most %d, and for each job of a plan that has more.", val.LengthInt(), maxAsked)
		return nil, 0
	}
	n := -1
	for it := val.ElementIterator(); it.Next(); {
		key, elem := it.Element()
		n++
		turn := &instance{key: InstanceKey{Kind: KeyString, Str: elementKey(key, n)}, value: elem}
		here := j.element(s, c, turn, elementName(elem, turn.key.Str), len(found))
		if total += len(here); len(found) < maxRuled {
			found = append(found, here...)
		}
		if s.r.failed() {
			return found, total
		}
	}
	return found, total
}

// elementKey is each.key: the key of a map or object, the text of a set's element, the index in a list.
func elementKey(key cty.Value, n int) string {
	key, _ = key.Unmark()
	if key.Type() == cty.String && key.IsKnown() && !key.IsNull() {
		return key.AsString()
	}
	return strconv.Itoa(n)
}

// elementName is what a ruling calls an element: its address, if it is a job or a change of one.
func elementName(elem cty.Value, key string) string {
	plain, _ := elem.Unmark()
	ty := plain.Type()
	if ty.IsObjectType() && ty.HasAttribute("address") && !plain.IsNull() && plain.IsKnown() {
		if a, _ := plain.GetAttr("address").Unmark(); a.Type() == cty.String && a.IsKnown() && !a.IsNull() {
			return a.AsString()
		}
	}
	return key
}

// element evaluates a rule once. It gives one element if the rule holds. The message is made only then, since it may tell what else
// is not there, and only if fewer than maxRuled were told before; in a sample it always is.
func (j *policyRun) element(s *scope, c *content, each *instance, name string, told int) []ruled {
	in := *s
	in.each = each
	condition, message := c.attr("condition"), c.attr("error_message")
	if condition == nil || message == nil {
		return nil // reported
	}
	before := len(s.r.diags)
	holds, ok := in.present(condition)
	if ok {
		holds, _ = holds.UnmarkDeep()
		holds, ok = in.convert(holds, cty.Bool, condition.expr, condition.name)
	}
	if ok && holds.False() && !j.sampled {
		return nil
	}
	if ok && !j.sampled && told >= maxRuled {
		return []ruled{{}} // it only counts
	}
	ctx := in.known()
	text, hasText := "", false
	if ok || j.sampled {
		text, hasText = in.messageOr(message, "The error_message is made from a sensitive value, so it is not shown.")
	}
	switch {
	case ok && hasText && strings.TrimSpace(text) == "":
		s.r.error(sumBadText, message.expr.Range(), "Error_message is what people read when the rule holds, and this is empty.")
	case ok && hasText && holds.True():
		return []ruled{{name: clip(name), message: clipTo(strings.TrimSpace(text), maxMessage), verdict: verdict{condition: condition.expr, ctx: ctx}}}
	case (!ok || !hasText) && !j.sampled && len(s.r.diags) == before && !j.l.r.failed():
		s.r.error(sumUndecided, condition.expr.Range(), "Nothing is known of what this rule is made from. Please report this, it is a defect of Waybill.")
	}
	if each != nil && name != "" && !j.sampled { // for whom it cannot be decided
		for i, d := range s.r.diags[before:] {
			about := *d
			about.Detail += " This is about " + clip(name) + "."
			s.r.diags[before+i] = &about
		}
	}
	return nil
}

// tell reports that a rule holds.
func (j *policyRun) tell(b *block, at hcl.Range, found []ruled, total int) {
	deny, verb := b.kind.name == "deny", "denies"
	if !deny {
		verb = "warns of"
	}
	ruling := Ruling{Rule: b.label, More: total - min(total, maxRuled)}
	var v verdict
	if total == 1 { // the values that it is made of would mislead about the other elements
		v = found[0].verdict
	}
	for i := range found {
		if found[i].name != "" {
			ruling.Addresses = append(ruling.Addresses, found[i].name)
		}
	}
	j.l.r.ruled(deny, at, rulingText(b.label, verb, found, ruling.More), ruling, v)
}

// rulingText tells what a rule says of which jobs: its message once where it is the same for all.
func rulingText(rule, verb string, found []ruled, more int) string {
	first := found[0]
	if len(found) == 1 && more == 0 {
		text := first.message
		if first.name != "" && !strings.Contains(text, first.name) {
			text = first.name + ": " + text
		}
		return fmt.Sprintf("%s This is the rule %q.", sentenceEnd(text), rule)
	}
	same := !slices.ContainsFunc(found, func(f ruled) bool { return f.message != first.message })
	var b strings.Builder
	if same {
		fmt.Fprintf(&b, "%s This is the rule %q, which %s:", sentenceEnd(first.message), rule, verb)
	} else {
		fmt.Fprintf(&b, "The rule %q %s:", rule, verb)
	}
	for _, f := range found {
		line := f.name
		switch {
		case same:
		case strings.Contains(f.message, f.name):
			line = f.message
		default:
			line += ": " + f.message
		}
		b.WriteString("\n  - " + line)
	}
	if more > 0 {
		fmt.Fprintf(&b, "\n  - and %d more", more)
	}
	return b.String()
}

// sentenceEnd ends a text as a sentence, so that another one can follow it.
func sentenceEnd(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}
