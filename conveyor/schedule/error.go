package schedule

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agext/levenshtein"
)

// The kinds of mistakes; every error of this package is one of them, and an [*Error].
var (
	ErrEvery    = errors.New("not an interval")
	ErrCron     = errors.New("not a cron line")
	ErrZone     = errors.New("not a time zone")
	ErrNever    = errors.New("schedule that never fires")
	ErrConflict = errors.New("conflicting schedule")
)

// Error is a schedule that is refused.
type Error struct {
	Kind      error  // one of the sentinels; errors.Is finds it
	Attribute string // what holds the mistake: every, cron, timezone; "" for a canonical text or if none is given at all
	Value     string // its text
	Detail    string // what is wrong and what to do, as a sentence without a capital and a full stop
}

// Error joins all fields to one line.
func (e *Error) Error() string {
	switch {
	case e.Attribute != "":
		return fmt.Sprintf("%v: %s = %q: %s", e.Kind, e.Attribute, clip(e.Value), e.Detail)
	case e.Value != "":
		return fmt.Sprintf("%v: %q: %s", e.Kind, clip(e.Value), e.Detail)
	}
	return fmt.Sprintf("%v: %s", e.Kind, e.Detail)
}

// Unwrap gives the kind.
func (e *Error) Unwrap() error { return e.Kind }

// clip shortens what somebody wrote for use in a sentence.
func clip(s string) string {
	const longest = 80
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest], "") + "..."
}

// didYouMean is the end of a sentence about an unknown name: the name that was probably meant, or nothing. Ties go to the
// first candidate. A name that agrees but for case, or is the last part of a candidate ("Berlin"), is the nearest of all.
func didYouMean(name string, candidates []string) string {
	const longest = 64 // the effort is the product of the lengths
	if name == "" || len(name) > longest {
		return ""
	}
	best, distance := "", max(2, len(name)/4)+1
	lower := strings.ToLower(strings.ReplaceAll(name, " ", "_"))
	for _, c := range candidates {
		known := strings.ToLower(c)
		if known == lower || strings.HasSuffix(known, "/"+lower) {
			best = c
			break
		}
		if d := levenshtein.Distance(lower, known, nil); d < distance && d < len(lower) {
			best, distance = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}
