package schedule_test

import (
	"testing"
	"time"
)

func BenchmarkNext(b *testing.B) {
	after := time.Unix(1_795_000_000, 0)
	for _, bb := range []struct{ name, every, cron, zone string }{
		{"every", "15 minutes", "", ""},
		{"months", "7 months", "", ""},
		{"daily", "", "@daily", ""},
		{"zone", "", "30 6 * * 1-5", "Europe/Berlin"},
		{"leap", "", "0 0 29 2 */7", "Europe/Berlin"},
	} {
		s := parse(b, bb.every, bb.cron, bb.zone)
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Next(after)
			}
		})
		b.Run(bb.name+"/prev", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Prev(after)
			}
		})
	}
}

// BenchmarkBetween lists a month of minutes.
func BenchmarkBetween(b *testing.B) {
	s := parse(b, "", "* * * * *", "Europe/Berlin")
	from := time.Unix(1_795_000_000, 0)
	b.ReportAllocs()
	for b.Loop() {
		if n := len(s.Between(from, from.AddDate(0, 0, 30), 1_000_000)); n != 30*24*60 {
			b.Fatal(n)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		parse(b, "", "*/5 8-18 * jan-mar mon-fri", "Europe/Berlin")
	}
}
