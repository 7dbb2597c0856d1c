package conveyor

import (
	"strconv"
	"time"
)

// testClock applies the namespace's clock key, which only tests write: "=ms" fixes the time, "+ms" and "-ms" shift it.
func testClock(now time.Time, clock string) time.Time {
	if clock == "" {
		return now
	}
	ms, err := strconv.ParseInt(clock[1:], 10, 64)
	if err != nil || ms < 0 {
		return now
	}
	switch clock[0] {
	case '=':
		return time.UnixMilli(ms)
	case '+':
		return now.Add(time.Duration(ms) * time.Millisecond)
	case '-':
		return now.Add(-time.Duration(ms) * time.Millisecond)
	}
	return now
}
