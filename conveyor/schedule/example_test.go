package schedule_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/conveyor/schedule"
)

func ExampleParse() {
	s, err := schedule.Parse("", "30 2 * * *", "Europe/Berlin")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s)
	// On 29 March clocks go from 02:00 to 03:00.
	tick := time.Date(2026, time.March, 27, 12, 0, 0, 0, time.UTC)
	for range 3 {
		tick = s.Next(tick)
		fmt.Println(tick.Format(time.RFC3339))
	}
	// Output:
	// cron 30 2 * * * Europe/Berlin
	// 2026-03-28T01:30:00Z
	// 2026-03-29T01:00:00Z
	// 2026-03-30T00:30:00Z
}

func ExampleParse_refused() {
	_, err := schedule.Parse("4 hours at **:30", "", "")
	fmt.Println(err)
	var mistake *schedule.Error
	if errors.As(err, &mistake) {
		fmt.Println(mistake.Attribute, errors.Is(err, schedule.ErrEvery))
	}
	// Output:
	// not an interval: every = "4 hours at **:30": an interval has no time of its own; at **:30, that is cron = "30 */4 * * *"
	// every true
}

func ExampleParseText() {
	s, err := schedule.ParseText("every 2 weeks")
	if err != nil {
		fmt.Println(err)
		return
	}
	at := time.Date(2026, time.November, 20, 9, 0, 0, 0, time.UTC)
	fmt.Println(s.Prev(at).Format(time.DateOnly), s.Next(at).Format(time.DateOnly))
	// Output: 2026-11-09 2026-11-23
}

func ExampleSchedule_Between() {
	s, err := schedule.Parse("6 hours", "", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	to := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	for _, missed := range s.Between(to.AddDate(0, 0, -1), to, 100) {
		fmt.Println(missed.Format(time.RFC3339))
	}
	// Output:
	// 2026-11-19T18:00:00Z
	// 2026-11-20T00:00:00Z
	// 2026-11-20T06:00:00Z
	// 2026-11-20T12:00:00Z
}
