package schedule

import (
	"fmt"
	"strings"
	"time"
)

// Schedule is a rule for ticks: an interval, or a cron line in a time zone. It is immutable and safe for concurrent use.
// The zero value never fires; [Parse] and [ParseText] make all others, and those fire for ever.
type Schedule struct {
	text  string // canonical
	ticks ticks
}

// ticks are the instants of a schedule in seconds since 1970. Neither method is asked about times before -1; an answer may
// lie outside the range of the package, and the caller drops it then.
type ticks interface {
	next(after int64) (tick int64, ok bool) // the first one later than after
	prev(at int64) (tick int64, ok bool)    // the last one that is not later than at
}

// last is the last second of the year 9999, the end of what RFC 3339 can write.
const last = 253402300799

// Parse reads a schedule: either every, an interval, or cron, a cron line, which timezone may go with.
// An empty string is an attribute that is not given. The error is an [*Error].
//
// every is "minute", "hour", "day", "week" or "month", or a number of them: "15 minutes". It is always in UTC.
// cron is a line as the package comment says, timezone the IANA name of a time zone, such as "Europe/Berlin"; the default is
// UTC. "Local" is refused, as it means something else on each machine.
func Parse(every, cron, timezone string) (*Schedule, error) {
	switch {
	case every != "" && cron != "":
		return nil, &Error{Kind: ErrConflict, Attribute: "every", Value: every,
			Detail: "a schedule has every or cron, and this one has both; remove one of them"}
	case every != "":
		return parseEvery(every, timezone)
	case cron != "":
		return parseCron(cron, timezone)
	case timezone != "":
		return nil, &Error{Kind: ErrConflict, Attribute: "timezone", Value: timezone,
			Detail: `a time zone alone is no schedule; add a cron line, such as cron = "0 6 * * *"`}
	}
	return nil, &Error{Kind: ErrConflict,
		Detail: `a schedule needs every or cron, such as every = "15 minutes" or cron = "0 6 * * *"`}
}

func parseEvery(every, timezone string) (*Schedule, error) {
	i, err := parseInterval(every)
	if err != nil {
		return nil, err
	}
	if timezone != "" {
		return nil, &Error{Kind: ErrConflict, Attribute: "timezone", Value: timezone,
			Detail: "every = \"" + i.String() + "\" is counted in UTC and has no time zone; " + i.advice(moment{}, "in a time zone")}
	}
	return &Schedule{text: everyPrefix + i.String(), ticks: i}, nil
}

func parseCron(cron, timezone string) (*Schedule, error) {
	c, mistake := parseCrontab(cron)
	if mistake != nil {
		if i, err := parseInterval(strings.TrimPrefix(strings.TrimSpace(cron), "@every ")); err == nil {
			mistake.Detail = fmt.Sprintf("this is an interval; write every = %q", i)
		}
		return nil, mistake
	}
	zone, err := loadZone(timezone)
	if err != nil {
		return nil, err
	}
	return &Schedule{text: cronPrefix + c.String() + " " + zone.String(), ticks: wallClock{c, zone}}, nil
}

// The first words of canonical texts.
const (
	everyPrefix = "every "
	cronPrefix  = "cron "
)

// String gives the canonical text: "every 15 minutes", or "cron 30 6 * * 1-5 Europe/Berlin" with the zone always named.
// Lines that differ in their spelling only ("@daily", "0 0 * * *", "00 0 * jan-dec *") have the same text, and schedules with
// the same text have the same ticks.
func (s *Schedule) String() string { return s.text }

// ParseText reads a canonical text, the one that [Schedule.String] gave, also if an older version of this package did.
// The error is an [*Error].
func ParseText(canonical string) (*Schedule, error) {
	if every, ok := strings.CutPrefix(canonical, everyPrefix); ok && every != "" {
		return Parse(every, "", "")
	}
	if rest, ok := strings.CutPrefix(canonical, cronPrefix); ok {
		if cut := strings.LastIndexByte(rest, ' '); cut > 0 && cut < len(rest)-1 {
			return Parse("", rest[:cut], rest[cut+1:])
		}
	}
	return nil, &Error{Kind: ErrConflict, Value: canonical,
		Detail: `the text of a schedule is "every" with an interval, or "cron" with a line and a time zone; declare the schedule again`}
}

// Next is the first tick later than after, in UTC; zero if there is none before the year 10000.
func (s *Schedule) Next(after time.Time) time.Time {
	at := after.Unix() // rounds down: a tick is later than the second exactly if it is later than the instant within it
	if s.ticks == nil || at >= last {
		return time.Time{}
	}
	return instant(s.ticks.next(max(at, -1)))
}

// Prev is the last tick that is not later than at, in UTC; zero if there is none since 1970.
func (s *Schedule) Prev(at time.Time) time.Time {
	if s.ticks == nil || at.Unix() < 0 {
		return time.Time{}
	}
	return instant(s.ticks.prev(min(at.Unix(), last)))
}

// Between lists the ticks later than from and not later than to, oldest first and at most limit of them: what repeated
// calls of Next give. A limit below 1 gives none.
func (s *Schedule) Between(from, to time.Time, limit int) []time.Time {
	var list []time.Time
	for tick := from; len(list) < limit; list = append(list, tick) {
		if tick = s.Next(tick); tick.IsZero() || tick.After(to) {
			break
		}
	}
	return list
}

func instant(tick int64, ok bool) time.Time {
	if !ok || tick < 0 || tick > last {
		return time.Time{}
	}
	return time.Unix(tick, 0).UTC()
}
