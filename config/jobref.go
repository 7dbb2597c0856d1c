package config

import (
	"fmt"
	"maps"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// checkJob checks a reference to a job and what follows its name.
func (s *scope) checkJob(name string, t hcl.Traversal) bool {
	j := s.m.jobs[name]
	if j == nil {
		s.undeclared(sumUndeclaredJob, "job", name, t, maps.Keys(s.m.jobs))
		return false
	}
	rest := t[2:]
	if a := j.repeat(nil); a == nil {
		if len(rest) > 0 {
			if _, isIndex := rest[0].(hcl.TraverseIndex); isIndex {
				s.r.error(sumBadReference, t.SourceRange(), "Job %q has neither count nor for_each, so it has no instances to choose from: write job.%s.", name, name)
				return false
			}
		}
	} else if len(rest) > 0 {
		switch step := rest[0].(type) {
		case hcl.TraverseAttr:
			s.r.error(sumMissingKey, t.SourceRange(), "Job %q has %s set, so there are several of it. %s", name, a.name, j.howToIndex("."+step.Name))
			return false
		case hcl.TraverseIndex:
			if !s.checkKey(j, step.Key, t.SourceRange()) {
				return false
			}
		}
		rest = rest[1:]
	}
	if !s.checkJobAttribute(name, rest, t.SourceRange()) {
		return false
	}
	s.needJob(j)
	return true
}

func (s *scope) checkJobAttribute(name string, rest hcl.Traversal, at hcl.Range) bool {
	if len(rest) == 0 {
		return true
	}
	step, isAttr := rest[0].(hcl.TraverseAttr)
	switch {
	case !isAttr:
		return true // hcl words it
	case step.Name == "uuid", step.Name == "address", step.Name == "result":
		return true
	}
	s.r.error(sumBadReference, at, "%q is no attribute of a job: job.%s has uuid, address and result.%s", clip(step.Name), name, didYouMeanOf(step.Name, "uuid", "address", "result"))
	return false
}

// checkKey checks a key that is written out. One that is computed is checked with its value.
func (s *scope) checkKey(j *jobBlock, key cty.Value, at hcl.Range) bool {
	if !key.IsKnown() || j.broken {
		return true
	}
	k, ok := instanceKey(key, j.repeat(nil).name == "count")
	if ok && j.has(k) {
		return true
	}
	if s.perhapsUnused(at) {
		return true
	}
	s.noInstance(j, key, at)
	return false
}

// instanceKey makes the key that an index means.
func instanceKey(v cty.Value, count bool) (InstanceKey, bool) {
	v, _ = v.Unmark()
	switch {
	case v.IsNull() || !v.IsKnown():
		return InstanceKey{}, false
	case count && v.Type() == cty.Number:
		n, err := wholeNumber(v.AsBigFloat(), 0, maxInstances)
		return InstanceKey{Kind: KeyInt, Int: n}, err == nil
	case !count && v.Type() == cty.String:
		return InstanceKey{Kind: KeyString, Str: v.AsString()}, true
	}
	return InstanceKey{}, false
}

func (s *scope) noInstance(j *jobBlock, key cty.Value, at hcl.Range) {
	written := strings.TrimPrefix(Written(hcl.Traversal{hcl.TraverseIndex{Key: key}}), "[")
	all := expansion{keys: j.instances()}
	s.r.error(sumNoInstance, at, "Job %q has no instance with the key %s.%s", j.name, strings.TrimSuffix(written, "]"), all.hint("job."+j.name, key))
}

// hint says which keys there are, for one that is not there.
func (j *expansion) hint(block string, key cty.Value) string {
	switch keys := j.keys; {
	case len(keys) == 0:
		return " It has none at all."
	case keys[0].Kind == KeyInt:
		return fmt.Sprintf(" It has count = %d: %s[0] to %s[%d].", len(keys), block, block, len(keys)-1)
	case key.Type() == cty.String && !key.IsNull():
		return didYouMean(key.AsString(), func(yield func(string) bool) {
			for _, k := range keys {
				if !yield(k.Str) {
					return
				}
			}
		})
	default:
		return fmt.Sprintf(" Its keys are strings, such as %q.", clip(keys[0].Str))
	}
}

// howToIndex says how to name one of several instances, and all of them.
func (j *jobBlock) howToIndex(attr string) string {
	key := "0"
	if a := j.repeat(nil); a != nil && a.name == "for_each" {
		key = `"KEY"`
		if len(j.keys) > 0 {
			key = fmt.Sprintf("%q", clip(j.keys[0].Str))
		}
	}
	one := fmt.Sprintf("Write job.%s[%s]%s for one of them", j.name, key, attr)
	if attr == "" {
		return one + "."
	}
	return fmt.Sprintf("%s, or [for j in job.%s : j%s] for all.", one, j.name, attr)
}
