package config

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// The readers of arguments. Each gives false when the argument is absent or null, so that its default stands, and
// when a mistake was reported.

// plain evaluates an argument that is shown in plans and stored in the clear, and converts it.
func (s *scope) plain(a *attribute, want cty.Type) (cty.Value, bool) {
	if a == nil {
		return cty.NilVal, false
	}
	val, ok := s.value(a)
	if !ok || val.IsNull() {
		return cty.NilVal, false
	}
	if containsMarked(val) {
		s.r.error(sumSensitive, a.expr.Range(), "%s is shown in plans and stored as it is, so it cannot be made from a sensitive value. "+
			"Sensitive values may stand in command, env, stdin, headers, body, url and payload.", upperFirst(a.name))
		return cty.NilVal, false
	}
	return s.convert(val, want, a.expr, a.name)
}

func (s *scope) convert(val cty.Value, want cty.Type, expr hcl.Expression, name string) (cty.Value, bool) {
	got, err := convertAny(val, want)
	if err != nil {
		s.r.error(sumWrongType, expr.Range(), "%s needs %s, and this is %s: %s.", upperFirst(name), typeName(want), typeName(val.Type()), conversionError(err))
		return cty.NilVal, false
	}
	return got, got.IsKnown()
}

// given tells whether an argument stands there with a value other than null, or with a mistake.
func (s *scope) given(a *attribute) bool {
	if a == nil {
		return false
	}
	val, ok := s.value(a)
	if !ok {
		return true
	}
	val, _ = val.Unmark()
	return !val.IsNull()
}

// typeName names a type in sentences.
func typeName(ty cty.Type) string {
	switch {
	case ty == cty.String:
		return "a string"
	case ty == cty.Number:
		return "a number"
	case ty == cty.Bool:
		return "true or false"
	case ty.IsTupleType(), ty.IsListType():
		return "a list"
	case ty.IsObjectType():
		return "an object"
	case ty.IsMapType():
		return "a map"
	case ty.IsSetType():
		return "a set"
	}
	return ty.FriendlyName()
}

// present requires a value where null is no choice.
func (s *scope) present(a *attribute) (cty.Value, bool) {
	val, ok := s.value(a)
	if ok && val.IsNull() {
		s.r.error(sumWrongType, a.expr.Range(), "%s cannot be null.", upperFirst(a.name))
		return cty.NilVal, false
	}
	return val, ok
}

func (s *scope) text(a *attribute) (string, bool) {
	val, ok := s.plain(a, cty.String)
	if !ok {
		return "", false
	}
	return val.AsString(), true
}

func (s *scope) boolean(a *attribute) (value, ok bool) {
	val, ok := s.plain(a, cty.Bool)
	return ok && val.True(), ok
}

// integer reads a whole number from lowest to highest.
func (s *scope) integer(a *attribute, lowest, highest int) (int, bool) {
	val, ok := s.plain(a, cty.Number)
	if !ok {
		return 0, false
	}
	n, err := wholeNumber(val.AsBigFloat(), lowest, highest)
	if err != nil {
		s.r.error(sumOutOfRange, a.expr.Range(), "%s %v.", upperFirst(a.name), err)
	}
	return n, err == nil
}

func wholeNumber(f *big.Float, lowest, highest int) (int, error) {
	n, accuracy := f.Int64()
	if accuracy != big.Exact || n < int64(lowest) || n > int64(highest) {
		return 0, fmt.Errorf("is a whole number from %d to %d, and not %s", lowest, highest, f.Text('g', 10))
	}
	return int(n), nil
}

// fraction reads a number from 0 to 1.
func (s *scope) fraction(a *attribute) (float64, bool) {
	val, ok := s.plain(a, cty.Number)
	if !ok {
		return 0, false
	}
	f, _ := val.AsBigFloat().Float64()
	if f < 0 || f > 1 {
		s.r.error(sumOutOfRange, a.expr.Range(), "%s is a number from 0 to 1, and not %s.", upperFirst(a.name), val.AsBigFloat().Text('g', 10))
		return 0, false
	}
	return f, true
}

// choice reads one of a few words and gives its index.
func (s *scope) choice(a *attribute, words ...string) (int, bool) {
	text, ok := s.text(a)
	if !ok {
		return 0, false
	}
	i := slices.Index(words, text)
	if i < 0 {
		s.r.error(sumBadChoice, a.expr.Range(), "%s is one of %s, and not %q.%s", upperFirst(a.name), quoted(words), clip(text), didYouMeanOf(text, words...))
	}
	return i, i >= 0
}

func quoted(words []string) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(list, ", ")
}

// maxDuration is the longest duration that is taken for meant: a hundred years.
const maxDuration = 100 * 365 * 24 * time.Hour

// duration reads a time span of at least lowest; the engine counts whole milliseconds.
func (s *scope) duration(a *attribute, lowest time.Duration) (time.Duration, bool) {
	text, ok := s.text(a)
	if !ok {
		return 0, false
	}
	return s.parseDuration(text, a, lowest)
}

func (s *scope) parseDuration(text string, a *attribute, lowest time.Duration) (time.Duration, bool) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		s.r.error(sumBadDuration, a.expr.Range(), "%q is no duration. Write numbers with the units h, m, s and ms, such as %s.", clip(text), durationHint(text))
	case d < lowest:
		s.r.error(sumBadDuration, a.expr.Range(), "%s is at least %s, and not %s.", upperFirst(a.name), lowest, text)
	case d > maxDuration:
		s.r.error(sumBadDuration, a.expr.Range(), "%s is at most 100 years, and not %s.", upperFirst(a.name), clip(text))
	case d%time.Millisecond != 0:
		s.r.error(sumBadDuration, a.expr.Range(), "%s is counted in whole milliseconds, and %s is not a number of these.", upperFirst(a.name), clip(text))
	default:
		return d, true
	}
	return 0, false
}

// durationHint guesses what was meant by 30, "2d" or "6 hours".
func durationHint(text string) string {
	var n int
	var unit string
	switch fields, _ := fmt.Sscanf(text, "%d%s", &n, &unit); {
	case n <= 0 || n > 1_000_000:
	case fields == 1:
		return fmt.Sprintf(`"%ds"`, n)
	case strings.HasPrefix(unit, "d"):
		return fmt.Sprintf(`"%dh"`, 24*n)
	case strings.HasPrefix(unit, "w"):
		return fmt.Sprintf(`"%dh"`, 7*24*n)
	case strings.HasPrefix(unit, "h"):
		return fmt.Sprintf(`"%dh"`, n)
	case strings.HasPrefix(unit, "m"):
		return fmt.Sprintf(`"%dm"`, n)
	case strings.HasPrefix(unit, "s"):
		return fmt.Sprintf(`"%ds"`, n)
	}
	return `"90s", "5m" or "1h30m"`
}
