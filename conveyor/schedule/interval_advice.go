package schedule

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// moment is a place within a unit of time: the minute of an hour, the time of a day, and the day of a week or month.
// The zero value is the beginning of each.
type moment struct {
	minute, hour int
	weekday      int // Sunday is 0, as in cron lines; counts if of a week
	day          int // of the month; 0 and 1 are the first
}

// cronLine is the cron line that fires at a moment of the interval's units and at no other time, "" if there is none: cron
// begins anew with each hour, day and year, so that only what divides those can be said.
func (i interval) cronLine(m moment) string {
	n := i.n
	switch {
	case i.unit == minutes && n%60 == 0:
		return interval{n / 60, hours}.cronLine(m)
	case i.unit == hours && n%24 == 0:
		return interval{n / 24, days}.cronLine(m)
	case i.unit == minutes && 60%n == 0:
		return star(n) + " * * * *"
	case i.unit == hours && 24%n == 0:
		return fmt.Sprintf("%d %s * * *", m.minute, star(n))
	case i.unit == days && n == 1:
		return fmt.Sprintf("%d %d * * *", m.minute, m.hour)
	case i.unit == weeks && n == 1:
		return fmt.Sprintf("%d %d * * %d", m.minute, m.hour, m.weekday)
	case i.unit == months && n == 12:
		return fmt.Sprintf("%d %d %d 1 *", m.minute, m.hour, max(1, m.day))
	case i.unit == months && 12%n == 0:
		return fmt.Sprintf("%d %d %d %s *", m.minute, m.hour, max(1, m.day), star(n))
	}
	return ""
}

func star(n int64) string {
	if n == 1 {
		return "*"
	}
	return fmt.Sprintf("*/%d", n)
}

// advice says how to have the interval at a moment, or in a time zone, which only cron lines can.
func (i interval) advice(m moment, what string) string {
	if i.unit == weeks && m == (moment{}) {
		m.weekday = 1 // weeks begin on Monday
	}
	if line := i.cronLine(m); line != "" {
		return fmt.Sprintf("%s, that is cron = %q", what, line)
	}
	if line := (interval{1, i.unit}).cronLine(m); line != "" && i.unit != minutes {
		return fmt.Sprintf("no cron line says %s %s; each %s it is cron = %q", i, what, i.unit.name, line)
	}
	return fmt.Sprintf("no cron line says %s %s", i, what)
}

var (
	clockTime = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([01]?[0-9]|2[0-3]|\*\*):([0-5][0-9])$`) })
	ordinal   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:the )?([1-9]|[12][0-9]|3[01])(?:st|nd|rd|th)?$`) })
	longTime  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^| )at (.*)$`) })
)

// moments explains why the words behind an interval, such as "on Wednesday at 06:00", are refused, and gives the cron line
// that says the same.
func (i interval) moments(words []string) string {
	const refused = "an interval has no time of its own"
	rest := strings.Join(words, " ")
	m, ok := i.momentOf(rest)
	if !ok {
		return fmt.Sprintf("%s, and %q is none that a cron line could say; write every = %q, or a cron line", refused, clip(rest), i)
	}
	return refused + "; " + i.advice(m, clip(rest))
}

// momentOf reads "at 08:00" of days, weeks and months, "at **:30" of hours, "on Wednesday" of weeks and "on the 15th" of months.
func (i interval) momentOf(rest string) (m moment, ok bool) {
	if at := longTime().FindStringSubmatchIndex(rest); at != nil {
		parts := clockTime().FindStringSubmatch(rest[at[2]:at[3]])
		if parts == nil || (parts[1] == "**") != (i.unit == hours) || i.unit == minutes {
			return m, false
		}
		m.hour, _ = strconv.Atoi(strings.Trim(parts[1], "*")) // "" is hour 0, which hours do not use
		m.minute, _ = strconv.Atoi(parts[2])
		rest, ok = rest[:at[0]], true
	}
	on, has := strings.CutPrefix(rest, "on ")
	switch {
	case rest == "":
		if i.unit == weeks {
			m.weekday = 1
		}
		return m, ok
	case !has:
		return m, false
	case i.unit == weeks:
		m.weekday, ok = weekdayOf(on)
		return m, ok
	case i.unit == months && ordinal().MatchString(on):
		m.day, _ = strconv.Atoi(ordinal().FindStringSubmatch(on)[1])
		return m, true
	}
	return m, false
}

func weekdayOf(word string) (int, bool) {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.EqualFold(word, d.String()) || strings.EqualFold(word, d.String()[:3]) {
			return int(d), true
		}
	}
	return 0, false
}

// strange explains why a text is no interval at all, and looks for what was meant.
func strange(every string) string {
	const grammar = `write "minute", "hour", "day", "week", "month", or a number of them such as "15 minutes"`
	text := strings.TrimSpace(every)
	if rest, ok := strings.CutPrefix(strings.TrimPrefix(text, "@"), "every "); ok {
		if i, err := parseInterval(rest); err == nil {
			return fmt.Sprintf("the attribute says so already; write every = %q", i)
		}
	}
	if c, err := parseCrontab(text); err == nil {
		return fmt.Sprintf("this is a cron line; write cron = %q", c)
	}
	if d, err := time.ParseDuration(strings.ReplaceAll(text, " ", "")); err == nil {
		switch {
		case d < 0:
			return "an interval does not go back; " + grammar
		case d < time.Minute:
			return "the shortest interval is one minute; " + grammar
		case int64(d/time.Minute) > minutes.most:
			return "the longest interval is a century; " + grammar
		case d%time.Hour == 0:
			return fmt.Sprintf("write every = %q", interval{int64(d / time.Hour), hours})
		case d%time.Minute == 0:
			return fmt.Sprintf("write every = %q", interval{int64(d / time.Minute), minutes})
		}
		return "an interval is whole minutes; " + grammar
	}
	word := strings.TrimLeft(text, "0123456789 \t")
	switch strings.TrimSuffix(strings.ToLower(word), "s") {
	case "":
		return "a number alone has no unit; " + grammar
	case "second":
		return "the shortest interval is one minute; " + grammar
	case "quarter":
		return `a quarter is "3 months"; ` + grammar
	case "year":
		return `a year is "12 months"; ` + grammar
	}
	names := make([]string, 0, 2*len(units))
	for _, u := range units {
		names = append(names, u.name+"s", u.name)
	}
	return grammar + didYouMean(word, names)
}
