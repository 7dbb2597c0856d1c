package outbox

import (
	"math/rand/v2"
	"time"
)

// backoff are the pauses between failures in a row: from least to most, each twice the one before.
type backoff struct {
	least, most time.Duration
	failures    int
}

// next is the next pause. It is spread over its upper half, so that relays that failed together do not come back together.
func (b *backoff) next() time.Duration {
	d := b.least
	for range b.failures {
		if d = 2 * d; d >= b.most {
			d = b.most
			break
		}
	}
	b.failures++
	return spread(d, d/2)
}

// reset begins again, and tells whether there were failures.
func (b *backoff) reset() bool {
	failed := b.failures > 0
	b.failures = 0
	return failed
}

// spread takes off a part of d, up to by.
func spread(d, by time.Duration) time.Duration { return d - rand.N(by+1) }
