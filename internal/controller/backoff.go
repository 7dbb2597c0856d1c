package controller

import (
	"math/rand/v2"
	"time"
)

// The pauses after rounds that failed, and before a job that ended badly is retried.
const (
	roundPauseMin = time.Second
	roundPauseMax = 5 * time.Minute
	retryMin      = time.Minute
	retryMax      = time.Hour
)

// doubled is least, doubled n times, and at most most.
func doubled(least, most time.Duration, n int) time.Duration {
	d := least
	for ; n > 0 && d < most; n-- {
		d *= 2
	}
	return min(d, most)
}

// roundPause is the pause after the nth failure in a row, from 0: between half of what the number gives and all of it, so that
// replicas and workflows which failed together do not come back together.
func roundPause(n int) time.Duration {
	d := doubled(roundPauseMin, roundPauseMax, n)
	return d/2 + rand.N(d/2)
}
