package board

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
)

func TestRecurrence(t *testing.T) {
	t.Parallel()
	for when, want := range map[string]string{
		"every 15 minutes":                 "every 15 minutes",
		"cron 0 2 * * * Europe/Berlin":     "daily at 02:00 Europe/Berlin",
		"cron * * * * * UTC":               "every minute",
		"cron */5 * * * * UTC":             "every 5 minutes",
		"cron 5 * * * * UTC":               "hourly at minute 5",
		"cron 30 6 * * 1-5 Europe/Berlin":  "Monday to Friday at 06:30 Europe/Berlin",
		"cron 0 9 * * 1,3,7 UTC":           "Monday, Wednesday, Sunday at 09:00 UTC",
		"cron 0 9 1 * * UTC":               "on day 1 of each month at 09:00 UTC",
		"cron 0 9 1 * 1 UTC":               "cron 0 9 1 * 1 UTC",
		"cron 0,30 9 * * * UTC":            "cron 0,30 9 * * * UTC",
		"cron 0 9 * * */2 UTC":             "cron 0 9 * * */2 UTC",
		"cron 5-55/10 8-18 * * 1-5 UTC":    "cron 5-55/10 8-18 * * 1-5 UTC",
		"":                                 "",
		"cron 0 9 * * 1-9 America/Chicago": "cron 0 9 * * 1-9 America/Chicago",
	} {
		if got := Recurrence(when); got != want {
			t.Errorf("%q is %q, want %q", when, got, want)
		}
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	berlin := Zone("cron 0 2 * * * Europe/Berlin")
	now := time.Date(2026, 11, 21, 22, 30, 0, 0, time.UTC) // 23:30 in Berlin
	for at, want := range map[string]string{
		"2026-11-21T22:45:00Z": "today 23:45 Europe/Berlin",
		"2026-11-21T23:00:00Z": "tomorrow 00:00 Europe/Berlin",
		"2026-11-22T01:00:07Z": "tomorrow 02:00:07 Europe/Berlin",
		"2026-11-20T22:59:00Z": "yesterday 23:59 Europe/Berlin",
		"2026-11-29T01:00:00Z": "Sun 29 Nov 02:00 Europe/Berlin",
		"2027-07-01T00:00:00Z": "2027-07-01 02:00 Europe/Berlin",
	} {
		moment, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := At(moment, now, berlin); got != want {
			t.Errorf("%s is %q, want %q", at, got, want)
		}
	}
	if got := At(time.Time{}, now, berlin); got != "never" {
		t.Errorf("no time is %q", got)
	}
}

// TestNextTimes: what has come without anybody being there is told apart from what is to come.
func TestNextTimes(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		moment, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return moment
	}
	for name, row := range map[string]struct{ next, overdue, first string }{
		"to come":          {"2026-11-21T12:05:00Z", "", "2026-11-21T12:05:00Z"},
		"come just now":    {"2026-11-21T12:00:00Z", "", "2026-11-21T12:00:00Z"},
		"come an hour ago": {"2026-11-21T11:00:00Z", "2026-11-21T11:00:00Z", "2026-11-21T12:05:00Z"},
		"none":             {"", "", ""},
	} {
		schedule, now := conveyor.Template{When: "every 5 minutes"}, at("2026-11-21T12:00:04Z")
		if row.next != "" {
			schedule.Next = at(row.next)
		}
		text := func(when time.Time) string {
			if when.IsZero() {
				return ""
			}
			return when.Format(time.RFC3339)
		}
		var first time.Time
		if next := NextTimes(schedule, now, 2); len(next) > 0 {
			first = next[0]
		}
		if diff := cmp.Diff([]string{row.overdue, row.first}, []string{text(Overdue(schedule, now)), text(first)}); diff != "" {
			t.Errorf("%s: overdue and next (-want +got):\n%s", name, diff)
		}
	}
}

// TestTicks goes over the end of summer time: the clock says the same each day.
func TestTicks(t *testing.T) {
	t.Parallel()
	const when = "cron 0 2 * * * Europe/Berlin"
	var got []string
	for _, tick := range Ticks(when, time.Date(2026, 10, 24, 0, 0, 0, 0, time.UTC), 3) {
		got = append(got, tick.In(Zone(when)).Format(time.RFC3339))
	}
	want := []string{"2026-10-24T02:00:00+02:00", "2026-10-25T02:00:00+02:00", "2026-10-26T02:00:00+01:00"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ticks (-want +got):\n%s", diff)
	}
	if Ticks(when, time.Time{}, 3) != nil || Ticks("junk", time.Now(), 3) != nil {
		t.Error("what does not fire has ticks")
	}
}
