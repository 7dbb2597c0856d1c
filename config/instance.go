package config

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

const (
	// maxInstances bounds the jobs of one workflow.
	maxInstances = 1_000_000
	// maxKey bounds a key of for_each, in bytes: it is part of addresses.
	maxKey = 512
)

// jobBlock is one job block: the instances it stands for, and how to get at its body.
type jobBlock struct {
	m      *module // that it is a job of
	name   string
	header hcl.Range
	source *source
	item   *item  // of a plain job that is not parsed yet
	block  *block // once parsed
	broken bool   // reported; it has no instances

	protected hcl.Range    // of prevent_destroy = true; zero without
	shared    *sharedBlock // of a module

	expansion

	valueOnce sync.Once
	value     cty.Value
}

// expansion is the instances that count or for_each makes of a block.
type expansion struct {
	keys   []InstanceKey // sorted; nil before the argument is evaluated
	values []cty.Value   // each.value by index of keys; nil for count
}

// repeat is the argument that makes several instances of the block, nil for a plain job.
func (j *jobBlock) repeat(r *report) *attribute {
	if j.block == nil || j.block.inner == nil {
		return nil
	}
	count, forEach := j.block.inner.attr("count"), j.block.inner.attr("for_each")
	if count != nil && forEach != nil && r != nil {
		r.error(sumCountAndForEach, count.nameRange, "Job %q has both count and for_each, at %s. Keep one of them: count for a number of equal jobs, for_each for one job per element.",
			j.name, place(forEach.nameRange))
	}
	if forEach != nil {
		return forEach
	}
	return count
}

// instances gives the keys of the block's instances; nil after a report.
func (j *jobBlock) instances() []InstanceKey {
	if j.keys == nil && !j.broken && j.repeat(nil) == nil {
		return plainInstance
	}
	return j.keys
}

var plainInstance = []InstanceKey{{}}

// expand evaluates count or for_each of a job.
func (m *module) expand(j *jobBlock) {
	l, a := m.l, j.repeat(nil)
	j.keys = []InstanceKey{}
	if l.crowded && len(m.call.modules) > 1 { // said for one of them
		j.broken = true
		return
	}
	if j.broken || !m.expansion(a, "job", &j.expansion) {
		j.broken = true
		return
	}
	l.total += len(j.keys)
	if l.total > maxInstances && len(j.keys) > 1 {
		m.report().error(sumTooManyJobs, a.expr.Range(), "With this block the workflow has %d jobs; at most %d are supported.", l.total, maxInstances)
		l.total -= len(j.keys)
		j.expansion = expansion{keys: []InstanceKey{}}
		j.broken, l.crowded = true, true
	}
}

// expansion evaluates count or for_each of a block of the module, a job or a module.
func (m *module) expansion(a *attribute, noun string, to *expansion) bool {
	s := m.scope(m.report(), anyRoot, a.name)
	if !s.check(a) {
		return false
	}
	s.ctx = s.context()
	val, ok := s.repetition(a)
	if ok && containsMarked(val) {
		if a.name == "count" || val.IsMarked() {
			s.r.error(sumSensitive, a.expr.Range(), "%s decides on the addresses of jobs, which are shown in plans, so it cannot be made from a sensitive value.", upperFirst(a.name))
			ok = false
		}
	}
	switch {
	case !ok:
		return false
	case a.name == "count":
		return s.expandCount(to, noun, a, val)
	}
	return s.expandForEach(to, noun, a, val)
}

// repetition evaluates count or for_each. The argument of toset is taken as it is when it holds strings: cty sorts a
// set each time it is visited, which takes longer than all the rest when the set is large.
func (s *scope) repetition(a *attribute) (cty.Value, bool) {
	if !isSetOf(a.expr) || a.name != "for_each" {
		return s.value(a)
	}
	list, ok := s.evaluate(a.expr.(*hclsyntax.FunctionCallExpr).Args[0])
	if !ok {
		return cty.NilVal, false
	}
	if list.IsMarked() || list.IsNull() || !stringList(list) {
		return s.value(a)
	}
	return list, true
}

// isSetOf recognises toset(VALUE).
func isSetOf(expr hcl.Expression) bool {
	call, ok := expr.(*hclsyntax.FunctionCallExpr)
	return ok && call.Name == "toset" && len(call.Args) == 1 && !call.ExpandFinal
}

// stringList tells whether a value is a list of strings, all of them plain.
func stringList(v cty.Value) bool {
	if ty := v.Type(); !ty.IsTupleType() && (!ty.IsListType() || ty.ElementType() != cty.String) {
		return false
	}
	for it := v.ElementIterator(); it.Next(); {
		if _, elem := it.Element(); elem.Type() != cty.String || elem.IsMarked() || elem.IsNull() || !elem.IsKnown() || hasPlaceholder(elem.AsString()) {
			return false
		}
	}
	return true
}

func (s *scope) expandCount(j *expansion, noun string, a *attribute, val cty.Value) bool {
	if val.IsNull() {
		s.r.error(sumWrongType, a.expr.Range(), "Count cannot be null. Leave it out for a single %s.", noun)
		return false
	}
	number, ok := s.convert(val, cty.Number, a.expr, a.name)
	if !ok {
		return false
	}
	n, err := wholeNumber(number.AsBigFloat(), 0, maxInstances)
	if err != nil {
		s.r.error(sumOutOfRange, a.expr.Range(), "Count %v.", err)
		return false
	}
	j.keys = make([]InstanceKey, n)
	for i := range j.keys {
		j.keys[i] = InstanceKey{Kind: KeyInt, Int: i}
	}
	return true
}

func (s *scope) expandForEach(j *expansion, noun string, a *attribute, val cty.Value) bool {
	val, _ = val.Unmark()
	ty := val.Type()
	written := isSetOf(a.expr) && !val.IsNull() && !ty.IsSetType() // see repetition
	switch {
	case val.IsNull():
		s.r.error(sumWrongType, a.expr.Range(), "For_each cannot be null. Leave it out for a single %s, or give an empty map for none.", noun)
		return false
	case !written && (ty.IsListType() || ty.IsTupleType()):
		s.r.error(sumWrongType, a.expr.Range(), "For_each needs a map, an object or a set of strings, since each %s is known by its key; this is a list. Write toset(...) around a list of strings.", noun)
		return false
	case ty.IsSetType() && ty.ElementType() != cty.String && ty.ElementType() != cty.DynamicPseudoType && val.LengthInt() > 0:
		s.r.error(sumWrongType, a.expr.Range(), "For_each needs a map, an object or a set of strings; this is a set of %s.", ty.ElementType().FriendlyName())
		return false
	case !written && !ty.IsMapType() && !ty.IsObjectType() && !ty.IsSetType():
		s.r.error(sumWrongType, a.expr.Range(), "For_each needs a map, an object or a set of strings, and this is %s. To make a %s depend on a condition, write count = CONDITION ? 1 : 0.", typeName(ty), noun)
		return false
	case val.LengthInt() > maxInstances:
		s.r.error(sumTooManyJobs, a.expr.Range(), "For_each has %d elements; at most %d %ss are supported.", val.LengthInt(), maxInstances, noun)
		return false
	}
	n := val.LengthInt()
	j.keys = make([]InstanceKey, 0, n)
	j.values = make([]cty.Value, 0, n)
	for it := val.ElementIterator(); it.Next(); {
		key, elem := it.Element()
		if written || ty.IsSetType() {
			key = elem
		}
		if !key.IsKnown() {
			return false // what it is made of is reported
		}
		if key.IsNull() {
			s.r.error(sumBadKey, a.expr.Range(), "A key of for_each is null. Remove it, for example with compact().")
			return false
		}
		k := key.AsString()
		if reason := badKey(k); reason != "" {
			s.r.error(sumBadKey, a.expr.Range(), "The key %q of for_each %s. Keys are parts of addresses; use a short name as the key and the rest as its value.", clip(k), reason)
			return false
		}
		j.keys = append(j.keys, InstanceKey{Kind: KeyString, Str: k})
		j.values = append(j.values, elem)
	}
	if !slices.IsSortedFunc(j.keys, compareKeys) {
		j.sort()
	}
	if written {
		j.keys = slices.CompactFunc(j.keys, func(a, b InstanceKey) bool { return a == b })
		j.values = j.values[:len(j.keys)]
		for i, k := range j.keys {
			j.values[i] = cty.StringVal(k.Str)
		}
	}
	return true
}

func badKey(k string) string {
	switch {
	case k == "":
		return "is empty"
	case len(k) > maxKey:
		return fmt.Sprintf("has %d bytes, at most %d are possible", len(k), maxKey)
	case strings.ContainsFunc(k, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }):
		return "holds control characters"
	case strings.Contains(k, placeholderHead):
		return "holds the uuid of a job, which is known only after apply"
	}
	return ""
}

func compareKeys(a, b InstanceKey) int {
	if a.Kind == KeyInt {
		return a.Int - b.Int
	}
	return strings.Compare(a.Str, b.Str)
}

// sort orders keys and values alike.
func (j *expansion) sort() {
	order := make([]int, len(j.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return compareKeys(j.keys[a], j.keys[b]) })
	keys, values := make([]InstanceKey, len(order)), make([]cty.Value, len(order))
	for i, from := range order {
		keys[i], values[i] = j.keys[from], j.values[from]
	}
	j.keys, j.values = keys, values
}

// has tells whether the block has an instance with this key.
func (j *jobBlock) has(k InstanceKey) bool {
	all := expansion{keys: j.instances()}
	_, found := all.find(k)
	return found
}

// find gives the index of a key.
func (j *expansion) find(k InstanceKey) (int, bool) {
	switch {
	case len(j.keys) == 0 || j.keys[0].Kind != k.Kind:
		return 0, false
	case k.Kind == KeyInt:
		return k.Int, k.Int >= 0 && k.Int < len(j.keys)
	}
	return slices.BinarySearchFunc(j.keys, k, compareKeys)
}

func (j *jobBlock) addr(k InstanceKey) Addr { return Addr{Module: j.m.addr, Name: j.name, Key: k} }

func (j *jobBlock) addrs() []Addr {
	keys := j.instances()
	list := make([]Addr, len(keys))
	for i, k := range keys {
		list[i] = j.addr(k)
	}
	return list
}

// jobType is the type of a job in expressions.
var jobType = sync.OnceValue(func() cty.Type {
	return cty.Object(map[string]cty.Type{"address": cty.String, "uuid": cty.String})
})

func jobValue(a Addr) cty.Value {
	address := a.String()
	return cty.ObjectVal(map[string]cty.Value{"address": cty.StringVal(address), "uuid": cty.StringVal(Placeholder(address))})
}

// object is the block's value in expressions: a job, a map of jobs by key, or a list of jobs.
func (j *jobBlock) object() cty.Value {
	j.valueOnce.Do(func() {
		a := j.repeat(nil)
		switch {
		case j.broken:
			j.value = cty.DynamicVal
		case a == nil:
			j.value = jobValue(j.addr(InstanceKey{}))
		case a.name == "count" && len(j.keys) == 0:
			j.value = cty.ListValEmpty(jobType())
		case a.name == "count":
			list := make([]cty.Value, len(j.keys))
			for i, k := range j.keys {
				list[i] = jobValue(j.addr(k))
			}
			j.value = cty.ListVal(list)
		case len(j.keys) == 0:
			j.value = cty.MapValEmpty(jobType())
		default:
			vals := make(map[string]cty.Value, len(j.keys))
			for _, k := range j.keys {
				vals[k.Str] = jobValue(j.addr(k))
			}
			j.value = cty.MapVal(vals)
		}
	})
	return j.value
}
