package schedule_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/schedule"
)

func TestRefuse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, every, cron, zone string
		kind                    error
		attribute               string
		want                    string // the part of the detail that matters
	}{
		{"nothing", "", "", "", schedule.ErrConflict, "", `needs every or cron`},
		{"both", "day", "@daily", "", schedule.ErrConflict, "every", `remove one of them`},
		{"zone alone", "", "", "Europe/Berlin", schedule.ErrConflict, "timezone", `add a cron line`},
		{"day in a zone", "day", "", "Europe/Berlin", schedule.ErrConflict, "timezone", `in a time zone, that is cron = "0 0 * * *"`},
		{"week in a zone", "week", "", "Europe/Berlin", schedule.ErrConflict, "timezone", `cron = "0 0 * * 1"`},
		{"year in a zone", "12 months", "", "UTC", schedule.ErrConflict, "timezone", `cron = "0 0 1 1 *"`},
		{"hours in a zone", "360 minutes", "", "UTC", schedule.ErrConflict, "timezone", `cron = "0 */6 * * *"`},
		{"five days in a zone", "5 days", "", "Europe/Berlin", schedule.ErrConflict, "timezone",
			`no cron line says 5 days in a time zone; each day it is cron = "0 0 * * *"`},
		{"seven minutes in a zone", "7 minutes", "", "UTC", schedule.ErrConflict, "timezone", `no cron line says 7 minutes`},

		{"zero", "0 minutes", "", "", schedule.ErrEvery, "every", `the shortest interval is one minute; write every = "minute"`},
		{"below zero", "-5 minutes", "", "", schedule.ErrEvery, "every", `write "minute"`},
		{"below zero, short", "-5m", "", "", schedule.ErrEvery, "every", `does not go back`},
		{"blank", "  ", "", "", schedule.ErrEvery, "every", `write "minute"`},
		{"number alone", "15", "", "", schedule.ErrEvery, "every", `has no unit`},
		{"many without a number", "hours", "", "", schedule.ErrEvery, "every", `a number is missing; write every = "hour"`},
		{"misspelt", "15 minuts", "", "", schedule.ErrEvery, "every", `did you mean "minutes"?`},
		{"capital", "15 Minutes", "", "", schedule.ErrEvery, "every", `did you mean "minutes"?`},
		{"seconds", "30 seconds", "", "", schedule.ErrEvery, "every", `shortest interval is one minute`},
		{"year", "year", "", "", schedule.ErrEvery, "every", `a year is "12 months"`},
		{"quarters", "2 quarters", "", "", schedule.ErrEvery, "every", `a quarter is "3 months"`},
		{"duration", "90m", "", "", schedule.ErrEvery, "every", `write every = "90 minutes"`},
		{"duration in hours", "1h60m", "", "", schedule.ErrEvery, "every", `write every = "2 hours"`},
		{"odd duration", "90s", "", "", schedule.ErrEvery, "every", `whole minutes`},
		{"short duration", "30s", "", "", schedule.ErrEvery, "every", `shortest interval is one minute`},
		{"long duration", "2000000h", "", "", schedule.ErrEvery, "every", `a century`},
		{"the word every", "@every 15 minutes", "", "", schedule.ErrEvery, "every", `write every = "15 minutes"`},
		{"cron line", "*/5 * * * *", "", "", schedule.ErrEvery, "every", `write cron = "*/5 * * * *"`},
		{"macro", "@daily", "", "", schedule.ErrEvery, "every", `write cron = "0 0 * * *"`},
		{"too long an interval", "5218 weeks", "", "", schedule.ErrEvery, "every", `5217 weeks`},
		{"too large a number", "99999999999999999999 days", "", "", schedule.ErrEvery, "every", `a century`},
		{"a long text", strings.Repeat("every ", 100_000), "", "", schedule.ErrEvery, "every", `a number and a unit`},

		{"hours at a minute", "4 hours at **:30", "", "", schedule.ErrEvery, "every", `that is cron = "30 */4 * * *"`},
		{"hour at a minute", "hour at **:05", "", "", schedule.ErrEvery, "every", `that is cron = "5 * * * *"`},
		{"five hours at a minute", "5 hours at **:30", "", "", schedule.ErrEvery, "every",
			`no cron line says 5 hours at **:30; each hour it is cron = "30 * * * *"`},
		{"day at a time", "day at 08:15", "", "", schedule.ErrEvery, "every", `that is cron = "15 8 * * *"`},
		{"days at a time", "5 days at 08:00", "", "", schedule.ErrEvery, "every", `each day it is cron = "0 8 * * *"`},
		{"week on a day", "week on Wednesday", "", "", schedule.ErrEvery, "every", `that is cron = "0 0 * * 3"`},
		{"week on a day at a time", "1 week on sun at 06:00", "", "", schedule.ErrEvery, "every", `that is cron = "0 6 * * 0"`},
		{"week at a time", "week at 06:00", "", "", schedule.ErrEvery, "every", `that is cron = "0 6 * * 1"`},
		{"two weeks on a day", "2 weeks on Wednesday at 06:00", "", "", schedule.ErrEvery, "every",
			`no cron line says 2 weeks on Wednesday at 06:00; each week it is cron = "0 6 * * 3"`},
		{"months on a day", "3 months on the 15th", "", "", schedule.ErrEvery, "every", `that is cron = "0 0 15 */3 *"`},
		{"months on a day at a time", "3 months on the 15th at 17:00", "", "", schedule.ErrEvery, "every", `that is cron = "0 17 15 */3 *"`},
		{"year on a day", "12 months on 2nd", "", "", schedule.ErrEvery, "every", `that is cron = "0 0 2 1 *"`},
		{"five months", "5 months at 17:00", "", "", schedule.ErrEvery, "every", `each month it is cron = "0 17 1 * *"`},
		{"minutes at a time", "5 minutes at 08:00", "", "", schedule.ErrEvery, "every", `write every = "5 minutes", or a cron line`},
		{"day at no time", "day at 25:00", "", "", schedule.ErrEvery, "every", `"at 25:00" is none that a cron line could say`},
		{"month on no day", "month on the 32nd", "", "", schedule.ErrEvery, "every", `write every = "month", or a cron line`},

		{"four fields", "", "0 6 * *", "", schedule.ErrCron, "cron", `this one has 4`},
		{"blank line", "", " ", "", schedule.ErrCron, "cron", `this one has 0`},
		{"seconds field", "", "0 0 6 * * *", "", schedule.ErrCron, "cron", `seconds and years are not supported`},
		{"interval", "", "15 minutes", "", schedule.ErrCron, "cron", `write every = "15 minutes"`},
		{"@every", "", "@every 2 hours", "", schedule.ErrCron, "cron", `write every = "2 hours"`},
		{"@every with a duration", "", "@every 2h", "", schedule.ErrCron, "cron", `the named lines are @hourly`},
		{"unknown macro", "", "@dayly", "", schedule.ErrCron, "cron", `did you mean "@daily"?`},
		{"@reboot", "", "@reboot", "", schedule.ErrCron, "cron", `the named lines are`},
		{"zone within", "", "TZ=Europe/Berlin 0 6 * * *", "", schedule.ErrCron, "cron", `write timezone instead of TZ=Europe/Berlin`},
		{"zone within, long", "", "CRON_TZ=UTC 0 6 * * *", "", schedule.ErrCron, "cron", `write timezone`},
		{"hour 24", "", "0 24 * * *", "", schedule.ErrCron, "cron", `the hour field is "24": 24 is out of bounds; write 0 to 23`},
		{"minute 60", "", "60 * * * *", "", schedule.ErrCron, "cron", `write 0 to 59`},
		{"day 0", "", "0 0 0 * *", "", schedule.ErrCron, "cron", `write 1 to 31`},
		{"month 13", "", "0 0 1 13 *", "", schedule.ErrCron, "cron", `write 1 to 12 or jan to dec`},
		{"day of week 8", "", "0 0 * * 8", "", schedule.ErrCron, "cron", `write 0 to 7 or sun to sat`},
		{"a number without end", "", "0 99999999999999999999 * * *", "", schedule.ErrCron, "cron", `out of bounds`},
		{"name of a day", "", "0 0 * * monday", "", schedule.ErrCron, "cron", `"monday" is no number and no name`},
		{"misspelt month", "", "0 0 1 sept *", "", schedule.ErrCron, "cron", `did you mean "sep"?`},
		{"name in the wrong field", "", "0 mon * * *", "", schedule.ErrCron, "cron", `"mon" is no number`},
		{"range down", "", "0 22-2 * * *", "", schedule.ErrCron, "cron", `a range goes up; write 22-23,0-2`},
		{"range of names down", "", "0 0 * * fri-sun", "", schedule.ErrCron, "cron", `write 5-6,0`},
		{"range from 7", "", "0 0 * * 7-2", "", schedule.ErrCron, "cron", `write 0-2`},
		{"two hyphens", "", "1-2-3 * * * *", "", schedule.ErrCron, "cron", `no value, range or step`},
		{"two slashes", "", "*/2/3 * * * *", "", schedule.ErrCron, "cron", `no value, range or step`},
		{"star in a range", "", "*-5 * * * *", "", schedule.ErrCron, "cron", `no value, range or step`},
		{"empty part", "", "1,,2 * * * *", "", schedule.ErrCron, "cron", `nothing between two commas`},
		{"comma at the end", "", "1, * * * *", "", schedule.ErrCron, "cron", `nothing between two commas`},
		{"step zero", "", "*/0 * * * *", "", schedule.ErrCron, "cron", `the step 0 does not fit`},
		{"step too wide", "", "*/90 * * * *", "", schedule.ErrCron, "cron", `every = "90 minutes"`},
		{"step without a range", "", "5/15 * * * *", "", schedule.ErrCron, "cron", `a step needs a range; write 5-59/15`},
		{"star in a list of days", "", "0 0 */2,5 * 1", "", schedule.ErrCron, "cron", `write the range instead of the star`},
		{"question mark", "", "0 0 ? * 1", "", schedule.ErrCron, "cron", `extensions of other schedulers`},
		{"last day", "", "0 0 L * *", "", schedule.ErrCron, "cron", `extensions of other schedulers`},
		{"weekday", "", "0 0 15W * *", "", schedule.ErrCron, "cron", `extensions of other schedulers`},
		{"last Friday", "", "0 0 * * 5L", "", schedule.ErrCron, "cron", `extensions of other schedulers`},
		{"third Friday", "", "0 0 * * fri#3", "", schedule.ErrCron, "cron", `extensions of other schedulers`},
		{"hash", "", "H * * * *", "", schedule.ErrCron, "cron", `extensions of other schedulers`},
		{"a long line", "", strings.Repeat("1,", 600) + "1 * * * *", "", schedule.ErrCron, "cron", `at most 1024 characters`},

		{"31 February", "", "0 0 31 2 *", "", schedule.ErrNever, "cron", `no month that it names has a day 31`},
		{"30 and 31 February", "", "0 0 30,31 feb *", "", schedule.ErrNever, "cron", `a day 30`},
		{"31st of short months", "", "0 0 31 4,6,9,11 */2", "", schedule.ErrNever, "cron", `the last day of a month`},

		{"misspelt zone", "", "@daily", "Europe/Berln", schedule.ErrZone, "timezone", `did you mean "Europe/Berlin"?`},
		{"city alone", "", "@daily", "new york", schedule.ErrZone, "timezone", `did you mean "America/New_York"?`},
		{"case", "", "@daily", "europe/berlin", schedule.ErrZone, "timezone", `did you mean "Europe/Berlin"?`},
		{"local", "", "@daily", "Local", schedule.ErrZone, "timezone", `another on the next one`},
		{"offset", "", "@daily", "+02:00", schedule.ErrZone, "timezone", `write an IANA name`},
		{"a file beside", "", "@daily", "../etc/passwd", schedule.ErrZone, "timezone", `write an IANA name`},
		{"what only machines have", "", "@daily", "posixrules", schedule.ErrZone, "timezone", `write an IANA name`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := schedule.Parse(tt.every, tt.cron, tt.zone)
			if s != nil || !errors.Is(err, tt.kind) {
				t.Fatalf("Parse = %v, %v, want %v", s, err, tt.kind)
			}
			var mistake *schedule.Error
			if !errors.As(err, &mistake) || mistake.Attribute != tt.attribute {
				t.Fatalf("the mistake is in %+v, want it in %q", mistake, tt.attribute)
			}
			if !strings.Contains(mistake.Detail, tt.want) {
				t.Errorf("Detail = %s\nwant %s", mistake.Detail, tt.want)
			}
			if !strings.Contains(err.Error(), tt.kind.Error()) || len(err.Error()) > 700 {
				t.Errorf("Error() = %s", err)
			}
		})
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, every, cron, want string
	}{
		{"attribute", "", "0 25 * * *",
			`not a cron line: cron = "0 25 * * *": the hour field is "25": 25 is out of bounds; write 0 to 23, *, a range such as 2-5, a step such as */2, or a list of them`},
		{"none", "", "", `conflicting schedule: a schedule needs every or cron, such as every = "15 minutes" or cron = "0 6 * * *"`},
		{"clipped", "1" + strings.Repeat("0", 200) + " days", "",
			`not an interval: every = "1` + strings.Repeat("0", 79) + `...": the longest interval is a century, 36525 days`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := schedule.Parse(tt.every, tt.cron, "")
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseTextRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "every", "every ", "cron", "cron ", "cron 0", "cron  UTC", "15 minutes", "@daily",
		"every 15 minutes UTC", "cron 0 0 * * *", "cron 0 0 * * * Local", "cron 0 0 31 2 * UTC", "Every day"} {
		if s, err := schedule.ParseText(text); err == nil {
			t.Errorf("ParseText(%q) = %s, want an error", text, s)
		} else if mistake := (*schedule.Error)(nil); !errors.As(err, &mistake) {
			t.Errorf("ParseText(%q): %T is no *Error", text, err)
		}
	}
}
