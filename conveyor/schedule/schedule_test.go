package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/schedule"
)

// minute is how the tests write instants.
const minute = "2006-01-02T15:04Z07:00"

func parse(t testing.TB, every, cron, zone string) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(every, cron, zone)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	instant, err := time.Parse(minute, text)
	if err != nil {
		t.Fatal(err)
	}
	return instant
}

// checkTicks holds the ticks from an instant on against a list of the very next ones, and reads it backwards again.
func checkTicks(t *testing.T, s *schedule.Schedule, after, want string) {
	t.Helper()
	var got []string
	tick := at(t, after)
	for range strings.Fields(want) {
		tick = s.Next(tick)
		got = append(got, tick.Format(minute))
	}
	if diff := cmp.Diff(strings.Fields(want), got); diff != "" {
		t.Fatalf("%s after %s (-want +got):\n%s", s, after, diff)
	}
	for i := len(got) - 1; i >= 0; i-- {
		if prev := s.Prev(tick).Format(minute); prev != got[i] {
			t.Fatalf("Prev(%s) = %s, want %s", tick.Format(minute), prev, got[i])
		}
		tick = tick.Add(-1)
		if i > 0 {
			tick = at(t, got[i]).Add(-1)
		}
	}
}

func TestEvery(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, every, after, want string }{
		{"each minute", "minute", "2026-11-20T10:59Z", "2026-11-20T11:00Z 2026-11-20T11:01Z"},
		{"the beginning is a tick", "hour", "1969-12-31T23:59Z", "1970-01-01T00:00Z 1970-01-01T01:00Z"},
		{"long before the beginning", "day", "0001-01-01T00:00Z", "1970-01-01T00:00Z 1970-01-02T00:00Z"},
		{"six hours", "6 hours", "2023-09-28T12:00Z", "2023-09-28T18:00Z 2023-09-29T00:00Z 2023-09-29T06:00Z"},
		{"seven hours do not begin anew at midnight", "7 hours", "1970-01-01T20:59Z", "1970-01-01T21:00Z 1970-01-02T04:00Z"},
		{"plural of one, singular of many", "1 hours", "2026-11-20T10:30Z", "2026-11-20T11:00Z"},
		{"forty-five minutes", "45 minute", "1970-01-01T00:00Z", "1970-01-01T00:45Z 1970-01-01T01:30Z 1970-01-01T02:15Z"},
		{"day over a change to summer time", "day", "2026-03-28T12:00Z", "2026-03-29T00:00Z 2026-03-30T00:00Z"},
		{"five days", "5 days", "1970-01-01T00:00Z", "1970-01-06T00:00Z 1970-01-11T00:00Z"},
		{"weeks are Mondays", "week", "2026-11-20T00:00Z", "2026-11-23T00:00Z 2026-11-30T00:00Z"},
		{"the first week begins on the 5th", "2 weeks", "1970-01-01T00:00Z", "1970-01-05T00:00Z 1970-01-19T00:00Z"},
		{"months", "month", "2026-11-20T00:00Z", "2026-12-01T00:00Z 2027-01-01T00:00Z"},
		{"quarters begin with January", "3 months", "2026-11-20T00:00Z", "2027-01-01T00:00Z 2027-04-01T00:00Z"},
		{"seven months go on over new year", "7 months", "1970-01-01T00:00Z", "1970-08-01T00:00Z 1971-03-01T00:00Z 1971-10-01T00:00Z"},
		{"a century", "1200 months", "1970-01-01T00:00Z", "2070-01-01T00:00Z 2170-01-01T00:00Z"},
		{"space around", "  15   minutes ", "2026-11-20T10:59Z", "2026-11-20T11:00Z 2026-11-20T11:15Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checkTicks(t, parse(t, tt.every, "", ""), tt.after, tt.want)
		})
	}
}

func TestCron(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, line, after, want string }{
		{"each minute", "* * * * *", "2026-12-31T23:58Z", "2026-12-31T23:59Z 2027-01-01T00:00Z"},
		{"steps", "*/20 8-10/2 * * *", "2026-11-20T08:40Z", "2026-11-20T10:00Z 2026-11-20T10:20Z 2026-11-20T10:40Z 2026-11-21T08:00Z"},
		{"list and range", "5,10-12 0 * * *", "2026-11-20T00:00Z", "2026-11-20T00:05Z 2026-11-20T00:10Z 2026-11-20T00:11Z 2026-11-20T00:12Z 2026-11-21T00:05Z"},
		{"names", "0 6 * Jan-MAR mon-Fri", "2026-03-31T06:00Z", "2027-01-01T06:00Z 2027-01-04T06:00Z"},
		{"Sunday is 7", "0 0 * * 7", "2026-11-20T00:00Z", "2026-11-22T00:00Z 2026-11-29T00:00Z"},
		{"a range to Sunday", "0 0 * * 6-7", "2026-11-20T00:00Z", "2026-11-21T00:00Z 2026-11-22T00:00Z 2026-11-28T00:00Z"},
		{"either day field", "0 0 13 * fri", "2026-11-10T00:00Z", "2026-11-13T00:00Z 2026-11-20T00:00Z 2026-11-27T00:00Z 2026-12-04T00:00Z 2026-12-11T00:00Z 2026-12-13T00:00Z"},
		{"a star narrows", "0 0 */2 * fri", "2026-11-10T00:00Z", "2026-11-13T00:00Z 2026-11-27T00:00Z 2026-12-11T00:00Z"},
		{"a full range does not narrow", "0 0 13 * 0-6", "2026-11-10T00:00Z", "2026-11-11T00:00Z 2026-11-12T00:00Z"},
		{"the 31st", "0 0 31 * *", "2026-01-31T00:00Z", "2026-03-31T00:00Z 2026-05-31T00:00Z 2026-07-31T00:00Z 2026-08-31T00:00Z"},
		{"leap day", "0 0 29 2 *", "2026-01-01T00:00Z", "2028-02-29T00:00Z 2032-02-29T00:00Z"},
		{"leap day over 2100", "0 0 29 2 *", "2096-03-01T00:00Z", "2104-02-29T00:00Z"},
		{"leap day on a Sunday over 2100", "0 0 29 2 */7", "2060-01-01T00:00Z", "2060-02-29T00:00Z 2088-02-29T00:00Z 2128-02-29T00:00Z"},
		{"31 February, or Mondays of February", "0 0 31 2 1", "2026-02-20T00:00Z", "2026-02-23T00:00Z 2027-02-01T00:00Z"},
		{"@hourly", "@hourly", "2026-11-20T10:59Z", "2026-11-20T11:00Z 2026-11-20T12:00Z"},
		{"@daily", "@daily", "2026-11-20T10:59Z", "2026-11-21T00:00Z 2026-11-22T00:00Z"},
		{"@midnight", "@midnight", "2026-11-20T10:59Z", "2026-11-21T00:00Z"},
		{"@weekly", "@weekly", "2026-11-20T10:59Z", "2026-11-22T00:00Z"},
		{"@monthly", "@monthly", "2026-11-20T10:59Z", "2026-12-01T00:00Z"},
		{"@yearly", "@yearly", "2026-11-20T10:59Z", "2027-01-01T00:00Z 2028-01-01T00:00Z"},
		{"@annually", "@annually", "2026-11-20T10:59Z", "2027-01-01T00:00Z"},
		{"the beginning", "0 0 1 1 *", "0001-01-01T00:00Z", "1970-01-01T00:00Z 1971-01-01T00:00Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checkTicks(t, parse(t, "", tt.line, ""), tt.after, tt.want)
		})
	}
}

func TestRange(t *testing.T) {
	t.Parallel()
	for _, s := range []*schedule.Schedule{parse(t, "minute", "", ""), parse(t, "month", "", ""),
		parse(t, "", "* * * * *", "America/New_York"), parse(t, "", "@yearly", "Pacific/Kiritimati")} {
		for name, got := range map[string]time.Time{
			"Prev before 1970":    s.Prev(time.Unix(-1, 0)),
			"Prev of year 1":      s.Prev(time.Time{}),
			"Next of the last":    s.Next(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)),
			"Next of year 200000": s.Next(time.Date(200_000, 1, 1, 0, 0, 0, 0, time.UTC)),
		} {
			if !got.IsZero() {
				t.Errorf("%s: %s gives %s, want the zero time", s, name, got)
			}
		}
		if got := s.Prev(time.Date(200_000, 1, 1, 0, 0, 0, 0, time.UTC)); got.Year() != 9999 {
			t.Errorf("%s: Prev of year 200000 is %s, want the last one of 9999", s, got)
		}
		if got := s.Next(time.Time{}); got.Before(time.Unix(0, 0)) || got.Year() > 1971 {
			t.Errorf("%s: Next of year 1 is %s, want the first one of 1970", s, got)
		}
	}
	var none schedule.Schedule
	if !none.Next(time.Unix(0, 0)).IsZero() || !none.Prev(time.Unix(0, 0)).IsZero() || none.String() != "" {
		t.Error("the zero Schedule fires")
	}
}

func TestBetween(t *testing.T) {
	t.Parallel()
	s := parse(t, "15 minutes", "", "")
	tests := []struct {
		name, from, to string
		limit          int
		want           []string
	}{
		{"later than from, up to to", "2026-11-20T10:00Z", "2026-11-20T10:30Z", 9, []string{"2026-11-20T10:15Z", "2026-11-20T10:30Z"}},
		{"the oldest", "2026-11-20T10:00Z", "2026-11-20T12:00Z", 1, []string{"2026-11-20T10:15Z"}},
		{"none within", "2026-11-20T10:00Z", "2026-11-20T10:14Z", 9, nil},
		{"to before from", "2026-11-20T10:00Z", "2026-11-20T09:00Z", 9, nil},
		{"no limit is none", "2026-11-20T10:00Z", "2026-11-20T12:00Z", 0, nil},
		{"below zero", "2026-11-20T10:00Z", "2026-11-20T12:00Z", -1, nil},
		{"the end of the range", "9999-12-31T23:30Z", "9999-12-31T23:59Z", 9, []string{"9999-12-31T23:45Z"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, tick := range s.Between(at(t, tt.from), at(t, tt.to), tt.limit) {
				got = append(got, tick.Format(minute))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Between (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFraction: ticks are whole seconds, and the instants around them are told apart to the nanosecond.
func TestFraction(t *testing.T) {
	t.Parallel()
	s, tick := parse(t, "", "0 * * * *", "Europe/Berlin"), at(t, "2026-11-20T10:00Z")
	if got := s.Next(tick.Add(-1)); !got.Equal(tick) {
		t.Errorf("Next just before a tick is %s, want %s", got, tick)
	}
	if got := s.Next(tick.Add(1)); !got.Equal(tick.Add(time.Hour)) {
		t.Errorf("Next just behind a tick is %s, want the next one", got)
	}
	if got := s.Prev(tick.Add(-1)); !got.Equal(tick.Add(-time.Hour)) {
		t.Errorf("Prev just before a tick is %s, want the one before", got)
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, every, cron, zone, want string }{
		{"one", "1 minutes", "", "", "every minute"},
		{"many", "015  minute", "", "", "every 15 minutes"},
		{"sizes stay as they are written", "60 minutes", "", "", "every 60 minutes"},
		{"macro", "", "@daily", "", "cron 0 0 * * * UTC"},
		{"Sunday", "", "@weekly", "Europe/Berlin", "cron 0 0 * * 0 Europe/Berlin"},
		{"ranges that are full", "", "00 0 * jan-dec *", "", "cron 0 0 * * * UTC"},
		{"lists", "", "50,10,11,12 1,2 * mar,jan sun,mon", "UTC", "cron 10-12,50 1,2 * 1,3 0,1 UTC"},
		{"steps", "", "0,15,30,45 9-17/2 * */3 *", "", "cron */15 9-17/2 * */3 * UTC"},
		{"a step from one", "", "*/1 1-23/1 * * *", "", "cron * 1-23 * * * UTC"},
		{"two values are no step", "", "5,20 * * * *", "", "cron 5,20 * * * * UTC"},
		{"stars of days stay", "", "0 0 */2 * */3", "", "cron 0 0 */2 * */3 UTC"},
		{"ranges of days stay", "", "0 0 1-31/2 * 0-6", "", "cron 0 0 1-31/2 * 0-6 UTC"},
		{"a step that names only Sunday", "", "0 0 1 * */7", "", "cron 0 0 1 * */7 UTC"},
		{"to Sunday", "", "0 0 * * fri-7", "", "cron 0 0 * * 0,5,6 UTC"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := parse(t, tt.every, tt.cron, tt.zone)
			if s.String() != tt.want {
				t.Fatalf("String() = %q, want %q", s, tt.want)
			}
			again, err := schedule.ParseText(s.String())
			if err != nil || again.String() != tt.want {
				t.Fatalf("ParseText(%q) = %v, %v", s, again, err)
			}
		})
	}
}
