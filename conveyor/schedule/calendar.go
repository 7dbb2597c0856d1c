package schedule

import (
	"math/bits"
	"time"
)

// This file searches a cron line's times on a plain calendar, where each day has 24 hours; wallClock brings them to a
// time zone. A plain time is the seconds since 1970-01-01 00:00 of that calendar.

// farthest is how many months a search goes: a 29 February on a given day of the week returns after 40 years at most, as
// from 1888 to 1928 or over 2100.
const farthest = 12 * 41

// next is the first plain time of the line later than after.
func (c crontab) next(after int64) (int64, bool) {
	from := time.Unix((floorDiv(after, 60)+1)*60, 0).UTC()
	year, month, day := from.Date()
	minute := from.Hour()*60 + from.Minute()
	for range farthest {
		if c.months>>month&1 != 0 {
			for left := c.daysOf(year, month) >> day << day; left != 0; left &= left - 1 {
				if d := bits.TrailingZeros64(left); d > day {
					return plain(year, month, d, c.first()), true
				} else if m, ok := c.minuteFrom(minute); ok {
					return plain(year, month, d, m), true
				}
			}
		}
		day, minute = 0, 0 // day 0 is before the first, so that minute is not asked for again
		if month++; month > time.December {
			year, month = year+1, time.January
		}
	}
	return 0, false
}

// prev is the last plain time of the line that is not later than at.
func (c crontab) prev(at int64) (int64, bool) {
	from := time.Unix(at, 0).UTC()
	year, month, day := from.Date()
	minute := from.Hour()*60 + from.Minute()
	for range farthest {
		if c.months>>month&1 != 0 {
			for left := c.daysOf(year, month) & (1<<(day+1) - 1); left != 0; {
				d := bits.Len64(left) - 1
				if d < day {
					return plain(year, month, d, c.final()), true
				} else if m, ok := c.minuteTo(minute); ok {
					return plain(year, month, d, m), true
				}
				left &^= 1 << d
			}
		}
		day, minute = 32, 0
		if month--; month < time.January {
			year, month = year-1, time.December
		}
	}
	return 0, false
}

func plain(year int, month time.Month, day, minute int) int64 {
	return time.Date(year, month, day, 0, minute, 0, 0, time.UTC).Unix()
}

// daysOf is the mask of a month's days on which the line fires.
func (c crontab) daysOf(year int, month time.Month) uint64 {
	end := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC)
	all := uint64(1)<<(end.Day()+1) - 2
	weekday := (int(end.Weekday()) + 36 - end.Day()) % 7 // of the first: 36 is 1 and weeks enough to stay above zero
	var week uint64
	for day := 1; day <= 31; day++ {
		week |= c.weekdays >> weekday & 1 << day
		weekday = (weekday + 1) % 7
	}
	if c.starDays || c.starWeekdays {
		return all & c.days & week
	}
	return all & (c.days | week)
}

// minuteFrom is the first minute of a day, from 0 to 1439, that the line names and that is not before from.
func (c crontab) minuteFrom(from int) (int, bool) {
	hour := from / 60
	if c.hours>>hour&1 != 0 {
		if left := c.minutes >> (from % 60); left != 0 {
			return from + bits.TrailingZeros64(left), true
		}
	}
	if left := c.hours >> (hour + 1); left != 0 {
		return (hour+1+bits.TrailingZeros64(left))*60 + bits.TrailingZeros64(c.minutes), true
	}
	return 0, false
}

// minuteTo is the last minute of a day that the line names and that is not behind to.
func (c crontab) minuteTo(to int) (int, bool) {
	hour := to / 60
	if c.hours>>hour&1 != 0 {
		if left := c.minutes & (1<<(to%60+1) - 1); left != 0 {
			return hour*60 + bits.Len64(left) - 1, true
		}
	}
	if left := c.hours & (1<<hour - 1); left != 0 {
		return (bits.Len64(left)-1)*60 + bits.Len64(c.minutes) - 1, true
	}
	return 0, false
}

func (c crontab) first() int {
	return bits.TrailingZeros64(c.hours)*60 + bits.TrailingZeros64(c.minutes)
}
func (c crontab) final() int { return (bits.Len64(c.hours)-1)*60 + bits.Len64(c.minutes) - 1 }
