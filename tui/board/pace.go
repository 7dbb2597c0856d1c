package board

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Pace tells how fast jobs are settled, and how long the rest takes if they go on like this. The zero value knows nothing.
type Pace struct {
	samples []sample // once a second, at most paceSamples
}

type sample struct {
	at      time.Time
	settled int
}

const (
	paceSamples = 600             // ten minutes
	paceSpan    = 8 * time.Second // what is looked back at when jobs are quick
	paceJobs    = 10              // so many settled jobs make a rate that does not jump
	paceLeast   = 3               // with fewer nothing is said
)

// Sample notes how many jobs are settled now.
func (p *Pace) Sample(now time.Time, settled int) {
	if n := len(p.samples); n > 0 && (!now.After(p.samples[n-1].at) || settled < p.samples[n-1].settled) {
		p.samples = p.samples[:0] // the clock was set, or jobs reopened
	}
	if len(p.samples) == paceSamples {
		p.samples = append(p.samples[:0], p.samples[1:]...)
	}
	p.samples = append(p.samples, sample{now, settled})
}

// Rate is how many jobs are settled a second of late; false while too little is known.
func (p *Pace) Rate() (perSecond float64, known bool) {
	if len(p.samples) < 2 {
		return 0, false
	}
	last := p.samples[len(p.samples)-1]
	from := p.samples[0]
	for i := len(p.samples) - 2; i >= 0; i-- {
		from = p.samples[i]
		if last.at.Sub(from.at) >= paceSpan && last.settled-from.settled >= paceJobs {
			break
		}
	}
	jobs, span := last.settled-from.settled, last.at.Sub(from.at)
	if jobs < paceLeast || span < 2*time.Second {
		return 0, false
	}
	return float64(jobs) / span.Seconds(), true
}

// Words are the rate and the time that so many more jobs take, "" for what is not known.
func (p *Pace) Words(remaining int) (rate, left string) {
	perSecond, known := p.Rate()
	if !known {
		return "", ""
	}
	switch {
	case perSecond >= 10:
		rate = Thousands(int(perSecond)) + " jobs/s"
	case perSecond >= 1:
		rate = strings.TrimSuffix(strconv.FormatFloat(perSecond, 'f', 1, 64), ".0") + " jobs/s"
	default:
		rate = strings.TrimSuffix(strconv.FormatFloat(perSecond*60, 'f', 1, 64), ".0") + " jobs/min"
	}
	seconds := float64(remaining) / perSecond
	if remaining <= 0 || seconds > 1000*3600 {
		return rate, ""
	}
	return rate, "about " + roughly(time.Duration(seconds*float64(time.Second))) + " left"
}

// roughly is a time that is not known exactly.
func roughly(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%ds", max(1, int(d.Seconds()+0.5)))
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()+2.5)/5*5)
	case d < 10*time.Minute:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60/10*10)
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()+0.5))
	default:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}
