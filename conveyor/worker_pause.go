package conveyor

import (
	"context"
	"math/rand/v2"
	"time"
)

// The pauses between repeated calls to a store that does not answer.
const (
	leastPause = 50 * time.Millisecond
	mostPause  = 2 * time.Second
)

// pause grows from leastPause to mostPause, each spread over a quarter of itself so that many clients do not come back at once.
type pause struct{ next time.Duration }

func newPause() *pause { return &pause{leastPause} }

// wait reports whether it waited to the end; false means that ctx ended first.
func (p *pause) wait(ctx context.Context) bool {
	t := time.NewTimer(p.next + rand.N(p.next/4))
	defer t.Stop()
	p.next = min(2*p.next, mostPause)
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
