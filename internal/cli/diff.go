package cli

import (
	"fmt"
	"io"
	"strings"
)

// writeDiff shows the lines that differ between two texts, with their common beginning and end left out. That is all
// that reformatting needs: it moves nothing.
func writeDiff(w io.Writer, name string, before, after []byte) {
	a, b := strings.SplitAfter(string(before), "\n"), strings.SplitAfter(string(after), "\n")
	fmt.Fprintf(w, "--- old/%s\n+++ new/%s\n", name, name)
	for len(a) > 0 || len(b) > 0 {
		same := 0
		for same < len(a) && same < len(b) && a[same] == b[same] {
			same++
		}
		a, b = a[same:], b[same:]
		if len(a) == 0 && len(b) == 0 {
			return
		}
		i, j := nextCommon(a, b)
		for _, line := range a[:i] {
			fmt.Fprintf(w, "-%s\n", strings.TrimSuffix(line, "\n"))
		}
		for _, line := range b[:j] {
			fmt.Fprintf(w, "+%s\n", strings.TrimSuffix(line, "\n"))
		}
		a, b = a[i:], b[j:]
	}
}

// nextCommon is the nearest place at which two lists of lines go on alike; their ends when there is none.
func nextCommon(a, b []string) (int, int) {
	for sum := 1; sum < len(a)+len(b); sum++ {
		for i := max(0, sum-len(b)+1); i <= sum && i < len(a); i++ {
			if j := sum - i; j < len(b) && a[i] == b[j] {
				return i, j
			}
		}
	}
	return len(a), len(b)
}
