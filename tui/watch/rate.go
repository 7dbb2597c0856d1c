package watch

import (
	"strings"
	"time"
)

// window is how far back the rates of a queue go.
const window = 120 // seconds

// rates are the starts and ends of a queue's jobs in each of the last seconds.
type rates struct {
	at             int64 // the second of the newest sample, Unix
	starts, ends   [window]float64
	started, ended int64 // counted so far
	known          bool
}

// count takes the counters as they stood at a moment. What came since the last time is spread over the seconds between.
func (r *rates) count(at time.Time, started, ended int64) {
	now := at.Unix()
	if !r.known || started < r.started || ended < r.ended {
		r.advance(now)
		r.started, r.ended, r.known = started, ended, true
		return
	}
	past := min(max(now-r.at, 1), window)
	r.advance(now)
	for i := range past {
		slot := (r.at - i) % window
		r.starts[slot] += float64(started-r.started) / float64(past)
		r.ends[slot] += float64(ended-r.ended) / float64(past)
	}
	r.started, r.ended = started, ended
}

// advance makes now the newest second; those that were left out had nothing.
func (r *rates) advance(now int64) {
	for i := range min(max(now-r.at, 0), window) {
		slot := (now - i) % window
		r.starts[slot], r.ends[slot] = 0, 0
	}
	r.at = max(r.at, now)
}

// recent is how many jobs a second started and ended in the last ten whole seconds before now.
func (r *rates) recent(now time.Time) (starts, ends float64) {
	const seconds = 10
	for i := range int64(seconds) {
		slot := r.at - i
		if slot > now.Unix()-seconds && slot >= 0 {
			starts += r.starts[slot%window]
			ends += r.ends[slot%window]
		}
	}
	return starts / seconds, ends / seconds
}

// series are the jobs that started, or ended, in the window before now, summed up in so many steps, the latest last.
func (r *rates) series(now time.Time, steps int, starts bool) []float64 {
	if steps <= 0 {
		return nil
	}
	sums, newest, counts := make([]float64, steps), now.Unix(), &r.ends
	if starts {
		counts = &r.starts
	}
	for i := range int64(window) {
		second := r.at - i
		age := newest - second
		if second < 0 || age < 0 || age >= window {
			continue
		}
		sums[steps-1-int(age*int64(steps)/window)] += counts[second%window]
	}
	return sums
}

var sparks = []rune("▁▂▃▄▅▆▇█")

// spark draws a series, one cell a step; a step without anything is a dot, so that little differs from nothing.
func spark(series []float64) string {
	most := 0.0
	for _, v := range series {
		most = max(most, v)
	}
	var b strings.Builder
	for _, v := range series {
		if v <= 0 {
			b.WriteRune('·')
			continue
		}
		b.WriteRune(sparks[min(int(v/most*float64(len(sparks))), len(sparks)-1)])
	}
	return b.String()
}
