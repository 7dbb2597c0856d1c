package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// Bounds of what a job's worker masks: a longer text is not printed by chance, and what is masked is stored with the job.
const (
	maxMaskedText  = 8 << 10
	maxMaskedTexts = 64 << 10
)

// masks are what the worker of a job masks: the sensitive texts of the job's work and, since a program may print a part of them, the sensitive
// variables and locals of its module, and of those around it, that stand in one of them. Longer ones go first when there are too many.
func (m *module) masks(texts []string) []string {
	if len(texts) == 0 {
		return nil
	}
	seen := map[string]bool{}
	add := func(text string) { seen[text] = true }
	for _, text := range texts {
		add(text)
	}
	for ; m != nil; m = m.outer {
		for _, part := range m.sensitiveTexts() {
			if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, part) }) {
				add(part)
			}
		}
	}
	size := 0
	var list []string
	for _, text := range slices.SortedFunc(maps.Keys(seen), byLength) {
		if size+len(text) > maxMaskedTexts {
			break
		}
		if text != "" && len(text) <= maxMaskedText && !hasReading(text) && !hasPlaceholder(text) {
			size += len(text)
			list = append(list, text)
		}
	}
	return list
}

// byLength orders texts by length, and those of one length by their bytes.
func byLength(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// sensitiveTexts are the texts in the module's sensitive variables and locals.
func (m *module) sensitiveTexts() []string {
	m.secret.Do(func() {
		for _, v := range m.variables {
			m.texts = append(m.texts, markedTexts(v.value)...)
		}
		for _, x := range m.locals {
			m.texts = append(m.texts, markedTexts(x.value)...)
		}
		slices.Sort(m.texts)
		m.texts = slices.Compact(m.texts)
	})
	return m.texts
}

// markedTexts are the texts in the sensitive parts of a value.
func markedTexts(v cty.Value) (list []string) {
	if v.IsMarked() {
		plain, _ := v.UnmarkDeep()
		return textsIn(plain)
	}
	if v == cty.NilVal || v.IsNull() || !v.IsKnown() || v.Type().IsSetType() || !v.CanIterateElements() {
		return nil
	}
	for it := v.ElementIterator(); it.Next(); {
		_, elem := it.Element()
		list = append(list, markedTexts(elem)...)
	}
	return list
}

// textsIn are the texts in a value without marks.
func textsIn(v cty.Value) (list []string) {
	switch {
	case v == cty.NilVal || v.IsNull() || !v.IsKnown():
	case v.Type() == cty.String:
		list = append(list, v.AsString())
	case v.CanIterateElements():
		for it := v.ElementIterator(); it.Next(); {
			_, elem := it.Element()
			list = append(list, textsIn(elem)...)
		}
	}
	return list
}
