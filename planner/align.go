package planner

import "reflect"

// pair is one place of two aligned lists: the same value in both, a value of one, or two that changed places.
type pair struct {
	before, after       any
	hasBefore, hasAfter bool
	equal               bool
}

// objects gives the sides of a pair that are objects; nil for others and for a missing side.
func (p pair) objects() (before, after document) {
	if b, ok := p.before.(map[string]any); ok {
		before = b
	} else if p.hasBefore {
		before = document{"value": p.before}
	}
	if a, ok := p.after.(map[string]any); ok {
		after = a
	} else if p.hasAfter {
		after = document{"value": p.after}
	}
	return before, after
}

// maxAligned bounds the work of finding what two lists share, as the product of the lengths that differ. Above it they
// count as different from their first to their last difference.
const maxAligned = 1 << 20

// align finds a longest common subsequence of two lists. Between what is common, objects that stand at the same place are
// paired.
func align(before, after []any) []pair {
	var pairs []pair
	for len(before) > 0 && len(after) > 0 && reflect.DeepEqual(before[0], after[0]) {
		pairs = append(pairs, bothSides(before[0], after[0]))
		before, after = before[1:], after[1:]
	}
	tail := 0
	for tail < len(before) && tail < len(after) && reflect.DeepEqual(before[len(before)-1-tail], after[len(after)-1-tail]) {
		tail++
	}
	ends := after[len(after)-tail:]
	before, after = before[:len(before)-tail], after[:len(after)-tail]
	pairs = append(pairs, middle(before, after)...)
	for _, v := range ends {
		pairs = append(pairs, bothSides(v, v))
	}
	return pairs
}

func bothSides(before, after any) pair {
	return pair{before: before, after: after, hasBefore: true, hasAfter: true, equal: true}
}

func middle(before, after []any) []pair {
	if len(before)*len(after) > maxAligned {
		return different(before, after)
	}
	// length[i][j] is how much before[i:] and after[j:] have in common.
	length := make([][]int, len(before)+1)
	for i := range length {
		length[i] = make([]int, len(after)+1)
	}
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(after) - 1; j >= 0; j-- {
			if reflect.DeepEqual(before[i], after[j]) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var pairs []pair
	i, j, fromI, fromJ := 0, 0, 0, 0
	for i < len(before) && j < len(after) {
		switch {
		case reflect.DeepEqual(before[i], after[j]):
			pairs = append(pairs, different(before[fromI:i], after[fromJ:j])...)
			pairs = append(pairs, bothSides(before[i], after[j]))
			i, j = i+1, j+1
			fromI, fromJ = i, j
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return append(pairs, different(before[fromI:], after[fromJ:])...)
}

// different pairs lists that have nothing in common: objects place by place, of anything else first what goes.
func different(before, after []any) []pair {
	var pairs []pair
	for len(before) > 0 && len(after) > 0 && isObject(before[0]) && isObject(after[0]) {
		pairs = append(pairs, pair{before: before[0], after: after[0], hasBefore: true, hasAfter: true})
		before, after = before[1:], after[1:]
	}
	for _, v := range before {
		pairs = append(pairs, pair{before: v, hasBefore: true})
	}
	for _, v := range after {
		pairs = append(pairs, pair{after: v, hasAfter: true})
	}
	return pairs
}

func isObject(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}
