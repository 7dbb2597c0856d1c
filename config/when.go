package config

import (
	"time"
)

const millisecond = time.Millisecond // the engine's unit

// defaultRetry is what a job without a retry block gets.
var defaultRetry = Retry{MaxAttempts: 3, MaxLost: 5, Backoff: BackoffExponential, Min: time.Second, Max: time.Hour, Jitter: 0.2}

// maxRetries bounds max_attempts and max_lost.
const maxRetries = 1_000_000

// retry reads the retry block over the defaults.
func (s *scope) retry(c *content, to *Retry) {
	if n, ok := s.integer(c.attr("max_attempts"), 0, maxRetries); ok {
		to.MaxAttempts = n
	}
	if n, ok := s.integer(c.attr("max_lost"), 1, maxRetries); ok {
		to.MaxLost = n
	}
	if i, ok := s.choice(c.attr("backoff"), "exponential", "linear", "constant"); ok {
		to.Backoff = Backoff(i)
	}
	if d, ok := s.duration(c.attr("min"), 0); ok {
		to.Min = d
	}
	if d, ok := s.duration(c.attr("max"), 0); ok {
		to.Max = d
	}
	if f, ok := s.fraction(c.attr("jitter")); ok {
		to.Jitter = f
	}
	if i, ok := s.choice(c.attr("on_exhausted"), "fail", "hold"); ok {
		to.Hold = i == 1
	}
	if to.Min > to.Max {
		a, other := c.attr("max"), "min"
		if a == nil {
			a, other = c.attr("min"), "max"
		}
		s.r.error(sumOutOfRange, a.expr.Range(), "The delay between attempts grows from min, %s, to max, %s, so min cannot be the larger. Change %s or %s.", to.Min, to.Max, a.name, other)
	}
}

// runAt reads the run_at block: exactly one of time, after, every and cron.
func (s *scope) runAt(b *block, job *Job) {
	c := b.inner
	var which *attribute
	for _, name := range []string{"time", "after", "every", "cron"} {
		a := c.attr(name)
		if !s.given(a) {
			continue
		}
		if which != nil {
			s.r.error(sumConflict, a.nameRange, "A run_at block has one of time, after, every and cron, and this one has %s too. Remove one of them.", which.name)
			return
		}
		which = a
	}
	if which == nil {
		s.r.error(sumMissingArgument, b.header, "A run_at block needs one of time = \"2026-11-21T06:00:00Z\", after = \"10m\", every = \"6 hours\" and cron = \"0 2 * * *\".")
		return
	}
	if which.name == "every" || which.name == "cron" {
		s.schedule(b, which, job)
		return
	}
	for _, name := range []string{"timezone", "catchup", "overlap", "enabled"} {
		if a := c.attr(name); s.given(a) {
			s.r.error(sumConflict, a.nameRange, "%s belongs to a schedule, and %s starts the job once. Remove it, or write every or cron instead of %[2]s.", upperFirst(name), which.name)
		}
	}
	job.RunAt = RunAt{Set: true, Range: b.header}
	if which.name == "after" {
		job.RunAt.After, _ = s.duration(which, 0)
		return
	}
	if text, ok := s.text(which); ok {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil || t.Year() < 1970 {
			s.r.error(sumBadTime, which.expr.Range(), "%q is no time of RFC 3339. Write the date, T, the time of day and the zone: 2026-11-21T06:00:00Z or 2026-11-21T07:00:00+01:00.", clip(text))
		}
		job.RunAt.Time = t.UTC()
	}
}
