package config

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agext/levenshtein"
)

// nearest finds the candidate that was probably meant, "" if none is near. Ties go to the first in alphabetical
// order. Long names are not compared: it takes the product of the lengths.
func nearest(name string, candidates iter.Seq[string]) string {
	const longest = 64
	if len(name) > longest {
		return ""
	}
	best, distance := "", max(2, len(name)/4)+1
	for c := range candidates {
		if c != name && strings.EqualFold(c, name) {
			return c
		}
		if c == "" || c == name || len(c) > longest || abs(len(c)-len(name)) > distance {
			continue
		}
		d := levenshtein.Distance(name, c, nil)
		if d < distance && d < len(name) || d == distance && best != "" && c < best {
			best, distance = c, d
		}
	}
	return best
}

// didYouMean is the sentence that ends a diagnostic about an unknown name, with the space in front of it.
func didYouMean(name string, candidates iter.Seq[string]) string {
	if near := nearest(name, candidates); near != "" {
		return fmt.Sprintf(" Did you mean %q?", near)
	}
	return ""
}

func didYouMeanOf(name string, candidates ...string) string {
	return didYouMean(name, slices.Values(candidates))
}

func abs(n int) int { return max(n, -n) }

// clip shortens what a file holds for use in a sentence.
func clip(s string) string {
	return clipTo(s, 80)
}

// clipTo is clip to so many bytes.
func clipTo(s string, longest int) string {
	if len(s) <= longest {
		return s
	}
	cut := longest
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}
