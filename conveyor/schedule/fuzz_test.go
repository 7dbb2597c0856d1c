package schedule_test

import (
	"errors"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor/schedule"
)

// FuzzParse: whatever is written is refused with an *Error, or is a schedule whose text means the same and whose ticks
// ascend. It never panics, nor searches for long.
func FuzzParse(f *testing.F) {
	for _, seed := range []struct{ every, cron, zone string }{
		{"15 minutes", "", ""}, {"2 weeks on Wednesday at 06:00", "", ""}, {"3 months on the 15th", "", ""}, {"@every 1h", "", ""},
		{"", "*/5 8-18 * jan,feb mon-fri", "Europe/Berlin"}, {"", "0 0 29 2 */7", "Pacific/Apia"}, {"", "@daily", "America/Santiago"},
		{"", "0 0 31 2 *", ""}, {"", "5/15 L W#2 ? 7-2", "Local"}, {"day", "@daily", "UTC"}, {"", "15 minutes", ""},
	} {
		f.Add(seed.every, seed.cron, seed.zone, int64(1_795_000_000))
	}
	f.Fuzz(func(t *testing.T, every, cron, zone string, at int64) {
		s, err := schedule.Parse(every, cron, zone)
		if err != nil {
			var mistake *schedule.Error
			if !errors.As(err, &mistake) || mistake.Detail == "" || s != nil {
				t.Fatalf("Parse = %v, %v", s, err)
			}
			return
		}
		again, err := schedule.ParseText(s.String())
		if err != nil || again.String() != s.String() {
			t.Fatalf("ParseText(%q) = %v, %v", s, again, err)
		}
		after := time.Unix(at, 0)
		tick := s.Next(after)
		if tick.IsZero() {
			if after.Year() < 9000 {
				t.Fatalf("%s: no tick after %s", s, after)
			}
			return
		}
		if !tick.After(after) || !s.Prev(tick).Equal(tick) || !again.Next(after).Equal(tick) {
			t.Fatalf("%s: Next(%s) = %s, Prev of it %s, read again %s", s, after, tick, s.Prev(tick), again.Next(after))
		}
	})
}
