package schedule_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/waybill-dev/waybill/conveyor/schedule"
)

// movedZones are zones with clocks of all kinds.
var movedZones = []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Pacific/Apia",
	"Africa/Casablanca", "Asia/Kathmandu", "Africa/Monrovia", "Antarctica/Troll", "Pacific/Kwajalein", "America/St_Johns", "Europe/Dublin"}

var units = []string{"minute", "hour", "day", "week", "month"}

func drawField(t *rapid.T, label string, low, high int) string {
	value := rapid.IntRange(low, high)
	switch rapid.IntRange(0, 4).Draw(t, label+" form") {
	case 0:
		return fmt.Sprintf("*/%d", rapid.IntRange(1, high-low).Draw(t, label))
	case 1:
		a, b := value.Draw(t, label), value.Draw(t, label)
		return fmt.Sprintf("%d-%d", min(a, b), max(a, b))
	case 2:
		return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(rapid.SliceOfN(value, 1, 4).Draw(t, label)), "[]")), ",")
	default:
		return "*"
	}
}

// drawSchedule draws any schedule that is not refused.
func drawSchedule(t *rapid.T) *schedule.Schedule {
	if rapid.Bool().Draw(t, "interval") {
		every := fmt.Sprintf("%d %s", rapid.IntRange(1, 1200).Draw(t, "n"), rapid.SampledFrom(units).Draw(t, "unit"))
		s, err := schedule.Parse(every, "", "")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	line := strings.Join([]string{drawField(t, "minute", 0, 59), drawField(t, "hour", 0, 23), drawField(t, "day", 1, 31),
		drawField(t, "month", 1, 12), drawField(t, "weekday", 0, 6)}, " ")
	s, err := schedule.Parse("", line, rapid.SampledFrom(movedZones).Draw(t, "zone"))
	if errors.Is(err, schedule.ErrNever) {
		s, err = schedule.Parse("", "@monthly", "Europe/Berlin")
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// drawInstant draws an instant, often one near a moved clock.
func drawInstant(t *rapid.T) time.Time {
	at := rapid.Int64Range(0, 4_000_000_000).Draw(t, "at")
	if rapid.Bool().Draw(t, "near a moved clock") {
		zone, err := time.LoadLocation(rapid.SampledFrom(movedZones).Draw(t, "moved"))
		if err != nil {
			t.Fatal(err)
		}
		if _, end := time.Unix(at, 0).In(zone).ZoneBounds(); !end.IsZero() {
			at = end.Unix() + rapid.Int64Range(-100_000, 100_000).Draw(t, "off")
		}
	}
	return time.Unix(at, rapid.SampledFrom([]int64{0, 1, 999_999_999}).Draw(t, "fraction"))
}

func TestTicksProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, after := drawSchedule(t), drawInstant(t)
		tick := s.Next(after)
		if !tick.After(after) {
			t.Fatalf("%s: Next(%s) = %s is not later", s, after, tick)
		}
		if tick.Location() != time.UTC || tick.Nanosecond() != 0 {
			t.Fatalf("%s: %s is no whole second in UTC", s, tick)
		}
		if got := s.Prev(tick); !got.Equal(tick) {
			t.Fatalf("%s: Prev(Next(%s)) = %s, want %s", s, after, got, tick)
		}
		if got := s.Next(tick.Add(-1)); !got.Equal(tick) {
			t.Fatalf("%s: Next just before %s is %s", s, tick, got)
		}
		prev := s.Prev(after)
		if prev.After(after) || !prev.IsZero() && !s.Next(prev).Equal(tick) {
			t.Fatalf("%s: Prev(%s) = %s, and the tick behind it is %s, want %s", s, after, prev, s.Next(prev), tick)
		}
		if got := s.Prev(tick.Add(-1)); !got.Equal(prev) {
			t.Fatalf("%s: there is a tick %s between %s and the next one, %s", s, got, after, tick)
		}
		later := after.Add(time.Duration(rapid.Int64Range(0, int64(400*24*time.Hour)).Draw(t, "later")))
		if s.Next(later).Before(tick) || s.Prev(later).Before(prev) {
			t.Fatalf("%s: the ticks around %s lie before those around %s", s, later, after)
		}
		again, err := schedule.ParseText(s.String())
		if err != nil || again.String() != s.String() {
			t.Fatalf("ParseText(%q) = %v, %v", s, again, err)
		}
		if got := again.Next(after); !got.Equal(tick) {
			t.Fatalf("%s, read again, fires at %s, want %s", s, got, tick)
		}
	})
}

func TestBetweenIsRepeatedNext(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, from, limit := drawSchedule(t), drawInstant(t), rapid.IntRange(0, 50).Draw(t, "limit")
		to := from.Add(time.Duration(rapid.Int64Range(0, int64(200*24*time.Hour)).Draw(t, "span")))
		var want []time.Time
		for tick := s.Next(from); len(want) < limit && !tick.After(to); tick = s.Next(tick) {
			want = append(want, tick)
		}
		if diff := cmp.Diff(want, s.Between(from, to, limit)); diff != "" {
			t.Fatalf("%s between %s and %s (-want +got):\n%s", s, from, to, diff)
		}
	})
}

// TestEvenSpacing: between the ticks of an interval lies always the same time, or the same number of months.
func TestEvenSpacing(t *testing.T) {
	t.Parallel()
	sizes := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour}
	rapid.Check(t, func(t *rapid.T) {
		n, unit := rapid.IntRange(1, 1200).Draw(t, "n"), rapid.SampledFrom(units).Draw(t, "unit")
		s, err := schedule.Parse(fmt.Sprintf("%d %s", n, unit), "", "")
		if err != nil {
			t.Fatal(err)
		}
		tick := s.Next(drawInstant(t))
		want := tick.Add(time.Duration(n) * sizes[unit])
		if unit == "month" {
			want = tick.AddDate(0, n, 0)
			if tick.Day() != 1 || tick.Hour() != 0 {
				t.Fatalf("%s: %s is not the beginning of a month", s, tick)
			}
		}
		if got := s.Next(tick); !got.Equal(want) {
			t.Fatalf("%s: behind %s comes %s, want %s", s, tick, got, want)
		}
	})
}

// TestAgainstClock holds the ticks of a daily line against a clock that is watched in steps of 30 seconds, over days on which
// clocks are moved, all of them at whole half minutes. It knows nothing of offsets and gaps but what the clock shows.
func TestAgainstClock(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(movedZones).Draw(t, "zone")
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		minute, hour := rapid.IntRange(0, 59).Draw(t, "minute"), rapid.IntRange(0, 23).Draw(t, "hour")
		s, err := schedule.Parse("", fmt.Sprintf("%d %d * * *", minute, hour), name)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Unix(30*rapid.Int64Range(10_000, 80_000_000).Draw(t, "start"), 0).In(zone)
		if _, end := start.ZoneBounds(); !end.IsZero() {
			start = end.Truncate(30 * time.Second).Add(-40 * time.Hour) // a zone's file may end at an odd second, where nothing moves
		}
		// The clock as a calendar of its own: the latest it has shown, and at each step the daily time that this passed.
		shown := func(u time.Time) time.Time {
			u = u.In(zone)
			return time.Date(u.Year(), u.Month(), u.Day(), u.Hour(), u.Minute(), u.Second(), 0, time.UTC)
		}
		passed := func(w time.Time) time.Time { // the last daily time up to w
			d := time.Date(w.Year(), w.Month(), w.Day(), hour, minute, 0, 0, time.UTC)
			if d.After(w) {
				d = d.AddDate(0, 0, -1)
			}
			return d
		}
		from := start.Add(-30 * time.Hour)
		latest := shown(from)
		var want []time.Time
		for u := from; u.Before(start.Add(90 * time.Hour)); u = u.Add(30 * time.Second) {
			if w := shown(u); w.After(latest) {
				if passed(w).After(passed(latest)) && u.After(start) {
					want = append(want, u.UTC())
				}
				latest = w
			}
		}
		got := s.Between(start, start.Add(90*time.Hour-30*time.Second), 100)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s from %s (-watched +got):\n%s", s, start, diff)
		}
	})
}

// TestZones loads all time zones that are listed, and fires in each of them.
func TestZones(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("zones.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(text)) {
		s, err := schedule.Parse("", "0 6 * * *", name)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := schedule.ParseText(s.String()); err != nil {
			t.Error(err)
		}
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		if tick := s.Next(time.Unix(1_795_000_000, 0)).In(zone); tick.Hour() != 6 || tick.Minute() != 0 {
			t.Errorf("%s fires at %s", s, tick)
		}
	}
}
