package schedule_test

import "testing"

// TestMovedClock: lines on the days on which the clock of their zone is moved.
func TestMovedClock(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, zone, line, after, want string }{
		// 2026-03-29 02:00 CET is 03:00 CEST, at 01:00Z; 2026-10-25 03:00 CEST is 02:00 CET, at 01:00Z.
		{"Berlin, in the gap", "Europe/Berlin", "30 2 * * *", "2026-03-27T23:00Z", "2026-03-28T01:30Z 2026-03-29T01:00Z 2026-03-30T00:30Z"},
		{"Berlin, several in the gap are one", "Europe/Berlin", "*/15 2 * * *", "2026-03-28T01:31Z", "2026-03-28T01:45Z 2026-03-29T01:00Z 2026-03-30T00:00Z"},
		{"Berlin, the end of the gap is one with the gap", "Europe/Berlin", "30 2,3 * * *", "2026-03-28T03:00Z", "2026-03-29T01:00Z 2026-03-29T01:30Z 2026-03-30T00:30Z"},
		{"Berlin, each hour over the gap", "Europe/Berlin", "0 * * * *", "2026-03-28T23:00Z", "2026-03-29T00:00Z 2026-03-29T01:00Z 2026-03-29T02:00Z"},
		{"Berlin, in the hour that comes twice", "Europe/Berlin", "30 2 * * *", "2026-10-24T12:00Z", "2026-10-25T00:30Z 2026-10-26T01:30Z"},
		{"Berlin, each half hour over it", "Europe/Berlin", "*/30 * * * *", "2026-10-24T23:30Z", "2026-10-25T00:00Z 2026-10-25T00:30Z 2026-10-25T02:00Z 2026-10-25T02:30Z"},
		{"Berlin, asked in the second showing", "Europe/Berlin", "45 2 * * *", "2026-10-25T01:10Z", "2026-10-26T01:45Z"},
		{"Berlin, at the end of the second showing", "Europe/Berlin", "0 3 * * *", "2026-10-25T00:59Z", "2026-10-25T02:00Z 2026-10-26T02:00Z"},

		// 2026-03-08 02:00 EST is 03:00 EDT, at 07:00Z; 2026-11-01 02:00 EDT is 01:00 EST, at 06:00Z.
		{"New York, in the gap", "America/New_York", "30 2 * * *", "2026-03-07T08:00Z", "2026-03-08T07:00Z 2026-03-09T06:30Z"},
		{"New York, once in the repeated hour", "America/New_York", "30 1 * * *", "2026-10-31T12:00Z", "2026-11-01T05:30Z 2026-11-02T06:30Z"},
		{"New York, Sunday night", "America/New_York", "15 2 * mar sun", "2026-03-02T00:00Z", "2026-03-08T07:00Z 2026-03-15T06:15Z"},

		// Half an hour: 2026-10-04 02:00 +10:30 is 02:30 +11, at 2026-10-03T15:30Z; 2026-04-05 02:00 +11 is 01:30 +10:30, at 2026-04-04T15:00Z.
		{"Lord Howe, in the gap", "Australia/Lord_Howe", "15 2 * * *", "2026-10-02T12:00Z", "2026-10-02T15:45Z 2026-10-03T15:30Z 2026-10-04T15:15Z"},
		{"Lord Howe, behind the gap", "Australia/Lord_Howe", "45 2 * * *", "2026-10-02T17:00Z", "2026-10-03T15:45Z 2026-10-04T15:45Z"},
		{"Lord Howe, in the repeated half hour", "Australia/Lord_Howe", "45 1 * * *", "2026-04-03T15:00Z", "2026-04-04T14:45Z 2026-04-05T15:15Z"},
		{"Lord Howe, quarters over it", "Australia/Lord_Howe", "*/15 * * * *", "2026-04-04T14:15Z", "2026-04-04T14:30Z 2026-04-04T14:45Z 2026-04-04T15:30Z 2026-04-04T15:45Z"},

		// At midnight: 2026-09-06 00:00 -04 is 01:00 -03, at 04:00Z; 2026-04-05 00:00 -03 is the 4th, 23:00 -04, at 03:00Z.
		{"Santiago, no midnight", "America/Santiago", "@daily", "2026-09-04T12:00Z", "2026-09-05T04:00Z 2026-09-06T04:00Z 2026-09-07T03:00Z"},
		{"Santiago, the last hour twice", "America/Santiago", "30 23 * * *", "2026-04-04T12:00Z", "2026-04-05T02:30Z 2026-04-06T03:30Z"},
		{"Santiago, midnight after it", "America/Santiago", "@daily", "2026-04-04T12:00Z", "2026-04-05T04:00Z 2026-04-06T04:00Z"},

		// Apia went from UTC-10 to UTC+14: after 2011-12-29 came the 31st, at 2011-12-30T10:00Z.
		{"Apia, a day that was not", "Pacific/Apia", "0 6 * * *", "2011-12-28T17:00Z", "2011-12-29T16:00Z 2011-12-30T10:00Z 2011-12-30T16:00Z"},
		{"Apia, the 30th", "Pacific/Apia", "0 6 30 12 *", "2011-01-01T00:00Z", "2011-12-30T10:00Z 2012-12-29T16:00Z"},
		{"Apia, each hour of it", "Pacific/Apia", "30 * * * *", "2011-12-30T08:30Z", "2011-12-30T09:30Z 2011-12-30T10:00Z 2011-12-30T10:30Z"},

		// Past the years that a zone's file lists, where its rule goes on.
		{"Berlin, at the end of a leap year", "Europe/Berlin", "@hourly", "2040-12-30T22:30Z", "2040-12-30T23:00Z 2040-12-31T00:00Z 2040-12-31T01:00Z"},
		{"New York, over the end of a leap year", "America/New_York", "0 12 * * *", "2096-12-30T18:00Z", "2096-12-31T17:00Z 2097-01-01T17:00Z"},
		{"Berlin, a gap far ahead", "Europe/Berlin", "30 2 * * *", "2044-03-26T12:00Z", "2044-03-27T01:00Z 2044-03-28T00:30Z"},

		{"Kathmandu, quarters of an hour", "Asia/Kathmandu", "0 0 * * *", "2026-11-20T00:00Z", "2026-11-20T18:15Z 2026-11-21T18:15Z"},
		{"Kiritimati, ahead", "Pacific/Kiritimati", "@daily", "2026-11-20T09:00Z", "2026-11-20T10:00Z 2026-11-21T10:00Z"},
		{"Dublin, whose summer is the standard", "Europe/Dublin", "30 1 * * *", "2026-10-24T12:00Z", "2026-10-25T00:30Z 2026-10-26T01:30Z"},
		{"Casablanca, twice a year around Ramadan", "Africa/Casablanca", "30 2 * * *", "2026-02-14T00:00Z", "2026-02-14T01:30Z 2026-02-15T01:30Z 2026-02-16T02:30Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checkTicks(t, parse(t, "", tt.line, tt.zone), tt.after, tt.want)
		})
	}
}
