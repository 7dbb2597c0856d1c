package planner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// TestFiresOverClockChange tells the next times of schedules in Berlin over both changes of the clocks in 2026, as a plan words them.
func TestFiresOverClockChange(t *testing.T) {
	t.Parallel()
	spring := time.Date(2026, 3, 27, 12, 0, 0, 0, time.UTC)  // forward on the 29th, at 02:00
	autumn := time.Date(2026, 10, 23, 12, 0, 0, 0, time.UTC) // back on the 25th, at 03:00
	for name, test := range map[string]struct {
		cron string
		now  time.Time
		want string
	}{
		"forward, an hour that is there": {"0 4 * * *", spring, "fires on Sat 2026-03-28 at 04:00 CET (03:00 UTC), then on Sun 2026-03-29 at 04:00 CEST (02:00 UTC), then on Mon 2026-03-30 at 04:00 CEST (02:00 UTC)"},
		"forward, an hour that is not":   {"30 2 * * *", spring, "fires on Sat 2026-03-28 at 02:30 CET (01:30 UTC), then on Sun 2026-03-29 at 03:00 CEST (01:00 UTC), then on Mon 2026-03-30 at 02:30 CEST (00:30 UTC)"},
		"back, an hour that comes twice": {"30 2 * * *", autumn, "fires on Sat 2026-10-24 at 02:30 CEST (00:30 UTC), then on Sun 2026-10-25 at 02:30 CEST (00:30 UTC), then on Mon 2026-10-26 at 02:30 CET (01:30 UTC)"},
		"back, an hour that comes once":  {"0 4 * * *", autumn, "fires on Sat 2026-10-24 at 04:00 CEST (02:00 UTC), then on Sun 2026-10-25 at 04:00 CET (03:00 UTC), then on Mon 2026-10-26 at 04:00 CET (03:00 UTC)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := edited(workflowOf("a"), "a", func(j *config.Job) {
				j.Schedule = &config.Schedule{Cron: test.cron, Timezone: "Europe/Berlin", Text: "cron " + test.cron + " Europe/Berlin"}
			})
			s := noState()
			s.Now = test.now
			text := row(t, mustMake(t, w, s, planner.Options{}), "a").Text(planner.RenderOptions{})
			var fires []string
			for line := range strings.SplitSeq(text, "\n") {
				if inner, is := strings.CutPrefix(strings.TrimSpace(line), "# ("); is {
					fires = append(fires, strings.TrimSuffix(inner, ")"))
				}
			}
			if diff := cmp.Diff(test.want, strings.Join(fires, ", ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
