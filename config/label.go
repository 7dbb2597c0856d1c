package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// The bounds of a job's labels; the engine has the same. Names and values are counted in bytes.
const (
	maxLabels     = 64
	maxLabelName  = 128
	maxLabelValue = 1 << 10
)

// reservedLabels are the names under which the engine shows facts of its own.
var reservedLabels = []string{"object", "worker", "cycles", "expiry", "cancel", "tick-1", "tick+1", "method"}

// labels reads an object of labels. A null leaves its label out, so that labels can depend on conditions. It is
// false for null, and after a report.
func (s *scope) labels(a *attribute) (labels map[string]string, ok bool) {
	val, ok := s.plain(a, cty.DynamicPseudoType)
	if !ok {
		return nil, false
	}
	if ty := val.Type(); !ty.IsObjectType() && !ty.IsMapType() {
		s.r.error(sumWrongType, a.expr.Range(), "%s needs an object of strings, such as { team = \"sales\" }, and this is %s.", upperFirst(a.name), typeName(ty))
		return nil, false
	}
	labels = make(map[string]string, val.LengthInt())
	for it := val.ElementIterator(); it.Next(); {
		key, elem := it.Element()
		if !elem.IsKnown() {
			ok = false // what it comes from is reported
		}
		if elem.IsNull() || !elem.IsKnown() {
			continue
		}
		name := key.AsString()
		if wrong := wrongLabelName(name); wrong != "" {
			ok = false
			at, _ := s.itemRanges(a.expr, name)
			s.r.error(sumBadLabel, at, "%s", wrong)
			continue
		}
		got, err := convertAny(elem, cty.String)
		if err != nil {
			ok = false
			_, at := s.itemRanges(a.expr, name)
			s.r.error(sumWrongType, at, "The label %q needs a string, and this is %s.", name, typeName(elem.Type()))
			continue
		}
		if wrong := wrongLabelValue(name, got.AsString()); wrong != "" {
			ok = false
			_, at := s.itemRanges(a.expr, name)
			s.r.error(sumBadLabel, at, "%s", wrong)
			continue
		}
		labels[name] = got.AsString()
	}
	if len(labels) > maxLabels {
		ok = false
		s.r.error(sumBadLabel, a.expr.Range(), "%s has %d labels; at most %d are possible.%s", upperFirst(a.name), len(labels), maxLabels,
			map[bool]string{true: " What nobody looks jobs up by belongs into the payload."}[a.name == "meta"])
	}
	if len(labels) == 0 {
		return nil, ok
	}
	return labels, ok
}

// wrongLabelName says what is wrong with the name of a label, "" if nothing is.
func wrongLabelName(name string) string {
	switch {
	case slices.Contains(reservedLabels, name):
		return fmt.Sprintf("The label %q is reserved: under %s Waybill shows facts of its own. Choose another name, such as %q.", name, strings.Join(reservedLabels, ", "), "my-"+name)
	case name == "":
		return "A label has an empty name."
	case name == "*":
		return `A label cannot be called "*": in filters that stands for any name.`
	case len(name) > maxLabelName:
		return fmt.Sprintf("The name %q of a label has %d bytes; at most %d are possible.", clip(name), len(name), maxLabelName)
	case strings.ContainsRune(name, 0):
		return fmt.Sprintf("The name %q of a label holds a NUL byte.", clip(name))
	}
	return ""
}

func wrongLabelValue(name, value string) string {
	switch {
	case hasPlaceholder(value):
		return fmt.Sprintf("The label %q holds the uuid of a job, which is not known before apply. Use the job's address: job.NAME.address.", name)
	case value == "*":
		return fmt.Sprintf(`The label %q cannot have the value "*": in filters that stands for any value.`, name)
	case len(value) > maxLabelValue:
		return fmt.Sprintf("The label %q has a value of %d bytes; at most %d are possible. What nobody looks jobs up by belongs into the payload.", name, len(value), maxLabelValue)
	case strings.ContainsRune(value, 0):
		return fmt.Sprintf("The value of the label %q holds a NUL byte.", name)
	}
	return ""
}

// itemRanges finds where a key of an object and its value are written; the whole expression where the object is not
// written out.
func (s *scope) itemRanges(expr hcl.Expression, name string) (key, value hcl.Range) {
	if object, ok := expr.(*hclsyntax.ObjectConsExpr); ok {
		for _, item := range object.Items {
			if val, ok := s.evaluate(item.KeyExpr); ok && val.Type() == cty.String && !val.IsMarked() && val.AsString() == name {
				return item.KeyExpr.Range(), item.ValueExpr.Range()
			}
		}
	}
	return expr.Range(), expr.Range()
}
