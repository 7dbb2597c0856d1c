// Package schedule says when a schedule fires: it turns the words of a workflow, an interval ("15 minutes") or a cron line
// with a time zone, into ticks.
//
// [Parse] is the entry point; [Schedule.Next], [Schedule.Prev] and [Schedule.Between] answer, and [Schedule.String] gives the
// text that is kept in the store and read again by [ParseText]. The package opens no connection and reads no clock: time is
// an argument, so that whoever asks with the same time gets the same ticks.
//
// # Intervals
//
// An interval is counted from 1970-01-01T00:00Z on and knows no time zone: "N minutes", hours and days from that instant,
// weeks from Monday the 5th, months by number from January 1970. Ticks are so evenly spaced for any N, over midnight and new
// year: "7 months" is seven months after the last time, although it is not January each year; where N divides 12 it is.
//
// # Cron lines
//
// A cron line has the five fields of crontab(5), or is one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly and
// @annually. If both day fields are given, a day that either of them names will do; but a day field that begins with a star,
// as in */2, only narrows the other one, as crontab has it.
//
// The line is read off the clock of its time zone, UTC unless named. It fires at the first instant at which that clock
// shows its time or a later one. From this one rule follows what happens when the clock is moved:
//
//   - a time that is skipped fires at the end of the gap, once however many times of the line are in it;
//   - a time that is shown twice fires at the first showing, and not again at the second;
//   - ticks strictly increase, and none is lost.
//
// # Range
//
// Ticks are whole seconds, in UTC, from 1970 to 9999.
package schedule
