package config

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// checkVersion compares this program's version with the constraints of required_version: a list of
// comparisons such as ">= 0.1, < 2.0" or "~> 1.4", all of which have to hold.
func (l *loader) checkVersion(constraints string, at hcl.Range) {
	current, numbered := parseVersion(l.o.Version)
	for c := range strings.SplitSeq(constraints, ",") {
		c = strings.TrimSpace(c)
		op := c[:len(c)-len(strings.TrimLeft(c, "<>=!~"))]
		want, ok := parseVersion(strings.TrimSpace(c[len(op):]))
		holds, known := compareVersions(op, current, want)
		if !ok || !known {
			l.r.error(sumBadVersion, at, "%q is no comparison of versions. Write one of = != > >= < <= ~> and a version, several separated by commas: \">= 0.1, < 2.0\".", clip(c))
			return
		}
		if numbered && !holds {
			l.r.error(sumUnsupportedVersion, at, "This is Waybill %s, and the workflow needs %s. Use such a version, or change required_version if this one serves.", l.o.Version, clip(constraints))
			return
		}
	}
}

// parseVersion reads 1, 1.2 or v1.2.3-rc1; the last part is ignored. There are at most as many numbers as written.
func parseVersion(s string) (numbers []int, ok bool) {
	s = strings.TrimPrefix(s, "v")
	s, _, _ = strings.Cut(s, "-")
	s, _, _ = strings.Cut(s, "+")
	parts := strings.Split(s, ".")
	if len(parts) > 3 {
		return nil, false
	}
	for _, p := range parts {
		n, err := strconv.ParseUint(p, 10, 31)
		if err != nil {
			return nil, false
		}
		numbers = append(numbers, int(n))
	}
	return numbers, true
}

func compareVersions(op string, have, want []int) (holds, known bool) {
	order := 0
	for i := range 3 {
		if order == 0 {
			order = cmp.Compare(at(have, i), at(want, i))
		}
	}
	switch op {
	case "", "=":
		return order == 0, true
	case "!=":
		return order != 0, true
	case ">":
		return order > 0, true
	case ">=":
		return order >= 0, true
	case "<":
		return order < 0, true
	case "<=":
		return order <= 0, true
	case "~>": // the last number written may be larger, the others may not
		for i := range max(len(want)-1, 1) {
			if at(have, i) != at(want, i) {
				return false, true
			}
		}
		return order >= 0, true
	}
	return false, false
}

func at(numbers []int, i int) int {
	if i < len(numbers) {
		return numbers[i]
	}
	return 0
}
