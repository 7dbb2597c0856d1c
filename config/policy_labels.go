package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// requiredLabels denies a plan that submits or changes jobs without some label. One whose text is empty is as none.
func (j *policyRun) requiredLabels(a *attribute) {
	r := &j.l.r
	s := j.l.root.scope(r, rootPlan|rootLocal, "required_labels")
	if !s.check(a) {
		return
	}
	s.ctx = s.context()
	var want []string
	good := s.list(a, func(val cty.Value, expr hcl.Expression) {
		text, _, ok := s.asText(val, expr, "a required label")
		switch wrong := wrongLabelName(text); {
		case !ok:
		case wrong != "":
			r.error(sumBadLabel, expr.Range(), "%s", wrong)
		case !slices.Contains(want, text):
			want = append(want, text)
		}
	})
	if !good || j.sampled || r.failed() {
		return
	}
	var found []ruled
	total := 0
	for it := j.plan.GetAttr("changes").ElementIterator(); it.Next(); {
		_, change := it.Element()
		if !change.GetAttr("declared").True() {
			continue
		}
		labels := change.GetAttr("labels").AsValueMap()
		missing := slices.DeleteFunc(slices.Clone(want), func(name string) bool {
			val, has := labels[name]
			return has && strings.TrimSpace(val.AsString()) != ""
		})
		if len(missing) == 0 {
			continue
		}
		if total++; len(found) < maxRuled {
			found = append(found, ruled{name: change.GetAttr("address").AsString(), message: "lacks " + quoted(missing)})
		}
	}
	if total == 0 {
		return
	}
	ruling := Ruling{Rule: a.name, More: total - len(found)}
	var b strings.Builder
	fmt.Fprintf(&b, "Each job that a plan submits or changes needs the %s %s in its meta:", map[bool]string{true: "label", false: "labels"}[len(want) == 1], listed(strings.Split(quoted(want), ", ")))
	for _, f := range found {
		ruling.Addresses = append(ruling.Addresses, f.name)
		b.WriteString("\n  - " + f.name + " " + f.message)
	}
	if ruling.More > 0 {
		fmt.Fprintf(&b, "\n  - and %d more", ruling.More)
	}
	r.ruled(true, a.expr.Range(), b.String(), ruling, verdict{})
}
