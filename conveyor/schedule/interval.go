package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/netresearch/go-cron"
)

// interval is N units of time between ticks.
type interval struct {
	n    int64 // from 1 to unit.most
	unit *unit
}

// unit is what intervals are counted in. Months have no size.
type unit struct {
	name   string
	size   int64 // seconds
	anchor int64 // tick 0, in seconds since 1970
	most   int64 // the longest interval is a century: a slip of the keyboard is refused, and nothing overflows
}

var (
	minutes = &unit{name: "minute", size: 60, most: 60 * 24 * 36525}
	hours   = &unit{name: "hour", size: 60 * 60, most: 24 * 36525}
	days    = &unit{name: "day", size: 24 * 60 * 60, most: 36525}
	weeks   = &unit{name: "week", size: 7 * 24 * 60 * 60, anchor: 4 * 24 * 60 * 60, most: 36525 / 7} // Monday, 1970-01-05
	months  = &unit{name: "month", most: 12 * 100}

	units = []*unit{minutes, hours, days, weeks, months}
)

// String is the interval as it is written: "minute", "15 minutes".
func (i interval) String() string {
	if i.n == 1 {
		return i.unit.name
	}
	return strconv.FormatInt(i.n, 10) + " " + i.unit.name + "s"
}

// parseInterval reads "unit" or "N units", the latter in singular or plural whatever N is.
func parseInterval(every string) (interval, error) {
	refuse := func(format string, args ...any) (interval, error) {
		return interval{}, &Error{Kind: ErrEvery, Attribute: "every", Value: every, Detail: fmt.Sprintf(format, args...)}
	}
	if len(every) > cron.MaxSpecLength {
		return refuse("an interval is a number and a unit, such as \"15 minutes\"")
	}
	words := strings.Fields(every)
	number, counted := "1", false
	if len(words) > 0 && strings.Trim(words[0], "0123456789") == "" {
		number, counted, words = words[0], true, words[1:]
	}
	if len(words) == 0 || !counted && len(words) > 1 && unitOf(words[0]) == nil {
		return refuse("%s", strange(every))
	}
	u := unitOf(words[0])
	switch {
	case u == nil:
		return refuse("%s", strange(every))
	case !counted && words[0] != u.name:
		return refuse("a number is missing; write every = %q for each %[1]s, or a number as in every = \"2 %ss\"", u.name, u.name)
	}
	n, err := strconv.ParseInt(number, 10, 64)
	switch {
	case err != nil || n > u.most:
		return refuse("the longest interval is a century, %d %ss", u.most, u.name)
	case n == 0:
		return refuse(`the shortest interval is one minute; write every = "%s" for each %[1]s, or remove the schedule`, u.name)
	case len(words) > 1:
		return refuse("%s", interval{n, u}.moments(words[1:]))
	}
	return interval{n, u}, nil
}

func unitOf(word string) *unit {
	for _, u := range units {
		if word == u.name || word == u.name+"s" {
			return u
		}
	}
	return nil
}

func (i interval) next(after int64) (int64, bool) {
	if i.unit == months {
		return monthStart((floorDiv(monthOf(after), i.n) + 1) * i.n), true
	}
	step := i.n * i.unit.size
	return i.unit.anchor + max(0, floorDiv(after-i.unit.anchor, step)+1)*step, true
}

func (i interval) prev(at int64) (int64, bool) {
	if i.unit == months {
		return monthStart(floorDiv(monthOf(at), i.n) * i.n), true
	}
	step := i.n * i.unit.size
	return i.unit.anchor + floorDiv(at-i.unit.anchor, step)*step, at >= i.unit.anchor
}

// monthOf counts months from January 1970, which is 0.
func monthOf(second int64) int64 {
	t := time.Unix(second, 0).UTC()
	return int64(t.Year()-1970)*12 + int64(t.Month()-time.January)
}

func monthStart(month int64) int64 {
	return time.Date(1970, time.January+time.Month(month), 1, 0, 0, 0, 0, time.UTC).Unix()
}

// floorDiv rounds down, also below zero.
func floorDiv(a, b int64) int64 {
	if a < 0 {
		return -((b - 1 - a) / b)
	}
	return a / b
}
