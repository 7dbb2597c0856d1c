package conveyor

import (
	"fmt"
	"strconv"
	"strings"
)

// The priorities of jobs: a queue gives out all of a higher one before any of a lower one.
const (
	PriorityLow    int32 = 0
	PriorityNormal int32 = 1 // of jobs without one
	PriorityHigh   int32 = 2
)

var priorityNames = [...]string{PriorityLow: "low", PriorityNormal: "normal", PriorityHigh: "high"}

// ParsePriority reads a priority by its name, in whatever case, or by its number: "low" or 0, "normal" or 1, "high" or 2.
// Anything else is ErrPriority.
func ParsePriority(text string) (int32, error) {
	for p, name := range priorityNames {
		if strings.EqualFold(text, name) || text == strconv.Itoa(p) {
			return int32(p), nil
		}
	}
	return 0, fmt.Errorf("%w: %q is none of low, normal, high", ErrPriority, text)
}

// PriorityName is the name of a priority, its number when it has none.
func PriorityName(priority int32) string {
	if priority < 0 || int(priority) >= len(priorityNames) {
		return strconv.Itoa(int(priority))
	}
	return priorityNames[priority]
}
