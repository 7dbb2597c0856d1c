package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Gate is a gate block. It makes the job a template that emits an occurrence whenever, for each label, a job that triggers it
// has succeeded since the last one.
type Gate struct {
	Waiting []string    // labels, sorted
	Ranges  []hcl.Range // where each of Waiting is written
	Range   hcl.Range
}

// maxGateLabels bounds the labels of one gate, and those that one job triggers.
const maxGateLabels = 64

// gateLabels reads a list of labels of gates, sorted, and where each is written. It is false for null, and after a report.
func (s *scope) gateLabels(a *attribute) (names []string, ranges []hcl.Range, ok bool) {
	val, ok := s.plain(a, cty.DynamicPseudoType)
	if !ok {
		return nil, nil, false
	}
	if ty := val.Type(); !ty.IsTupleType() && !ty.IsListType() && !ty.IsSetType() {
		s.r.error(sumWrongType, a.expr.Range(), "%s needs a list of labels, such as [\"loaded\"], and this is %s.", upperFirst(a.name), typeName(ty))
		return nil, nil, false
	}
	type label struct {
		name string
		at   hcl.Range
	}
	var list []label
	i := -1
	for it := val.ElementIterator(); it.Next(); {
		i++
		_, elem := it.Element()
		at := elementRange(a.expr, i)
		if !elem.IsKnown() {
			ok = false // what it comes from is reported
		}
		if elem.IsNull() || !elem.IsKnown() {
			continue
		}
		got, err := convertAny(elem, cty.String)
		if err != nil {
			ok = false
			s.r.error(sumWrongType, at, "A label of a gate is a string, and this is %s.", typeName(elem.Type()))
			continue
		}
		name := got.AsString()
		if wrong := wrongGateLabel(name); wrong != "" {
			ok = false
			s.r.error(sumBadLabel, at, "%s", wrong)
			continue
		}
		if slices.ContainsFunc(list, func(l label) bool { return l.name == name }) {
			ok = false
			s.r.error(sumBadLabel, at, "The label %q stands twice in %s. A label is waited for, and triggered, once for each cycle: remove one of the two.", clip(name), a.name)
			continue
		}
		if list = append(list, label{name, at}); len(list) > maxGateLabels {
			s.r.error(sumBadLabel, a.expr.Range(), "%s has more than %d labels. Let a noop job wait for some of the jobs as its predecessors, and trigger one label for all of them.", upperFirst(a.name), maxGateLabels)
			return nil, nil, false
		}
	}
	slices.SortFunc(list, func(a, b label) int { return strings.Compare(a.name, b.name) })
	for _, l := range list {
		names, ranges = append(names, l.name), append(ranges, l.at)
	}
	return names, ranges, ok
}

func wrongGateLabel(name string) string {
	switch {
	case hasPlaceholder(name):
		return "The label of a gate holds the uuid of a job, which is another one each time that job is submitted. Use the job's address: job.NAME.address."
	case slices.Contains(reservedLabels, name):
		return fmt.Sprintf("The label %q is reserved: under %s Waybill shows facts of its own. Choose another name, such as %q.", name, strings.Join(reservedLabels, ", "), "my-"+name)
	case name == "":
		return "A label of a gate is empty. Remove it, or name what has to happen first, such as \"loaded\"."
	case name == "*":
		return `The label of a gate cannot be "*": labels of gates are compared exactly, and elsewhere that stands for any.`
	case len(name) > maxLabelName:
		return fmt.Sprintf("The label %q of a gate has %d bytes; at most %d are possible.", clip(name), len(name), maxLabelName)
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Sprintf("The label %q of a gate holds a control character.", clip(name))
	}
	return ""
}

// elementRange is where an element of a list is written; the whole expression where the list is not written out.
func elementRange(expr hcl.Expression, i int) hcl.Range {
	if list, ok := expr.(*hclsyntax.TupleConsExpr); ok && i < len(list.Exprs) {
		return list.Exprs[i].Range()
	}
	return expr.Range()
}
