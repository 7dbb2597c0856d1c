package board

import (
	"strconv"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/schedule"
)

// Recurrence is a schedule in words, from its canonical text: "every 15 minutes", "daily at 02:00 Europe/Berlin". A line that has no
// short words stays a line: "cron 5-55/10 8-18 * * 1-5 UTC".
func Recurrence(when string) string {
	f := strings.Fields(when)
	if len(f) != 7 || f[0] != "cron" {
		return when
	}
	minute, hour, day, month, weekday, zone := f[1], f[2], f[3], f[4], f[5], f[6]
	clock, fixed := clockOf(hour, minute)
	daily := day == "*" && month == "*" && weekday == "*"
	step, stepped := strings.CutPrefix(minute, "*/")
	days, named := weekdays(weekday)
	switch {
	case daily && hour == "*" && minute == "*":
		return "every minute"
	case daily && hour == "*" && stepped:
		return "every " + step + " minutes"
	case daily && hour == "*" && number(minute) >= 0:
		return "hourly at minute " + minute
	case daily && fixed:
		return "daily at " + clock + " " + zone
	case fixed && day == "*" && month == "*" && named:
		return days + " at " + clock + " " + zone
	case fixed && number(day) > 0 && month == "*" && weekday == "*":
		return "on day " + day + " of each month at " + clock + " " + zone
	}
	return when
}

// clockOf is a time of day, if it is but one.
func clockOf(hour, minute string) (string, bool) {
	h, m := number(hour), number(minute)
	if h < 0 || m < 0 {
		return "", false
	}
	return time.Date(2000, 1, 1, h, m, 0, 0, time.UTC).Format("15:04"), true
}

// weekdays names days by the numbers of a cron line.
func weekdays(list string) (string, bool) {
	var names []string
	for part := range strings.SplitSeq(list, ",") {
		from, to, ranged := strings.Cut(part, "-")
		if number(from) < 0 || number(from) > 7 || ranged && (number(to) < 0 || number(to) > 7) {
			return "", false
		}
		name := time.Weekday(number(from) % 7).String()
		if ranged {
			name += " to " + time.Weekday(number(to)%7).String()
		}
		names = append(names, name)
	}
	return strings.Join(names, ", "), true
}

// number is -1 for what is none.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// Zone is the time zone of a schedule's canonical text: that of its cron line, else UTC.
func Zone(when string) *time.Location {
	if rest, ok := strings.CutPrefix(when, "cron "); ok {
		if zone, err := time.LoadLocation(rest[strings.LastIndexByte(rest, ' ')+1:]); err == nil {
			return zone
		}
	}
	return time.UTC
}

// Ticks are the next n times of a schedule, from its canonical text, beginning with next; none for next zero.
func Ticks(when string, next time.Time, n int) []time.Time {
	s, err := schedule.ParseText(when)
	if err != nil || next.IsZero() {
		return nil
	}
	ticks := []time.Time{next}
	for len(ticks) < n {
		if next = s.Next(next); next.IsZero() {
			break
		}
		ticks = append(ticks, next)
	}
	return ticks
}

// overdueAfter is how late a cycle may begin without people being told: workers look at the clock a moment after it.
const overdueAfter = 5 * time.Second

// Overdue is the first time of a schedule that has come and for which nobody has done anything: no worker is there. It is zero
// when there is none.
func Overdue(t conveyor.Template, now time.Time) time.Time {
	if t.Next.IsZero() || now.Sub(t.Next) < overdueAfter {
		return time.Time{}
	}
	return t.Next
}

// NextTimes are the next n times of a schedule, without those that are overdue; none while no cycle of it begins.
func NextTimes(t conveyor.Template, now time.Time, n int) []time.Time {
	if !Overdue(t, now).IsZero() {
		if s, err := schedule.ParseText(t.When); err == nil {
			return Ticks(t.When, s.Next(now), n)
		}
	}
	return Ticks(t.When, t.Next, n)
}

// At is a moment as people say it, in a zone that is named: "today 14:05 UTC", "tomorrow 02:00 Europe/Berlin", "Sun 29 Nov 02:00 UTC",
// "2027-03-01 02:00 UTC". Seconds are said when there are some.
func At(t, now time.Time, zone *time.Location) string {
	if t.IsZero() {
		return "never"
	}
	t, now = t.In(zone), now.In(zone)
	clock := t.Format("15:04")
	if t.Second() != 0 {
		clock = t.Format("15:04:05")
	}
	day := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
	switch days := int(day(t).Sub(day(now)) / (24 * time.Hour)); {
	case days == 0:
		return "today " + clock + " " + zone.String()
	case days == 1:
		return "tomorrow " + clock + " " + zone.String()
	case days == -1:
		return "yesterday " + clock + " " + zone.String()
	case days > -180 && days < 180:
		return t.Format("Mon 2 Jan ") + clock + " " + zone.String()
	}
	return t.Format("2006-01-02 ") + clock + " " + zone.String()
}
