package schedule

import "time"

// wallClock reads a cron line off the clock of a zone. The tick of a plain time w is the first instant at which that clock
// shows w or later. As plain times ascend, so do their ticks; those in one gap share a tick, and a time that the clock has
// passed has its tick behind it, although the clock, set back, shows it again. So the line's times later than the
// latest that the clock has ever shown up to an instant are exactly those whose tick is later than that instant.
type wallClock struct {
	line crontab
	zone *time.Location
}

func (c wallClock) next(after int64) (int64, bool) {
	w, ok := c.line.next(latestShown(c.zone, after))
	if !ok {
		return 0, false
	}
	return firstShowing(c.zone, w, after), true
}

func (c wallClock) prev(at int64) (int64, bool) {
	w, ok := c.line.prev(latestShown(c.zone, at))
	if !ok {
		return 0, false
	}
	return firstShowing(c.zone, w, w-widest), true
}

// widest is more seconds than clocks differ by, from UTC-12 to UTC+14, and so more than a clock is ever moved by.
const widest = 27 * 60 * 60

// latestShown is the latest plain time that the zone's clock has shown up to an instant: what it shows then, or what it
// showed before it was set back.
func latestShown(zone *time.Location, at int64) int64 {
	t := time.Unix(at, 0).In(zone)
	_, offset := t.Zone()
	latest := at + int64(offset)
	for start, _ := t.ZoneBounds(); !start.IsZero() && start.Unix() > at-widest; start, _ = t.ZoneBounds() {
		t = start.Add(-time.Second)
		_, offset = t.Zone()
		latest = max(latest, t.Unix()+int64(offset))
	}
	return latest
}

// firstShowing is the first instant at which the zone's clock shows a plain time or later. The search begins at the instant
// from, at which it must not have done so yet.
func firstShowing(zone *time.Location, plain, from int64) int64 {
	for {
		t := time.Unix(from, 0).In(zone)
		_, offset := t.Zone()
		_, end := t.ZoneBounds()
		if !end.IsZero() && end.Unix() <= from {
			// For the 31 December of leap years after 2037 package time names the midnight that it begins with.
			end = time.Unix((floorDiv(from, 24*60*60)+1)*24*60*60, 0)
		}
		from = max(from, plain-int64(offset))
		if end.IsZero() || from < end.Unix() {
			return from
		}
		from = end.Unix()
	}
}
