package conveyor

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// gatheredJobs is how many jobs a call of Add or AddMany may have to be gathered with others.
const gatheredJobs = 20

// gathering makes one call of small additions that goroutines make at the same time: most of what such a call takes is the same for
// one job as for many. What comes while nothing is on its way is sent at once and alone. What comes in the meantime waits for that
// call to end, and goes together in the next. There is no timer.
//
// A gathered call is all or nothing, as the additions in it are. When the store refuses it, it has changed nothing, and each of them
// is called by itself, so that each has its own refusal. When the store cannot be reached all have that error: the call was repeated
// then as any other, which adds nothing twice.
type gathering struct {
	c    *Client
	mu   sync.Mutex
	away bool    // a call is on its way
	next []*load // what goes then, in order; the last has room
}

// load is what goes in one call.
type load struct {
	parts        []*part
	jobs         int
	bytes, edges int
	cancel       context.CancelFunc // set while it is on its way
	done         chan struct{}      // closed when the call has ended
	err          error              // of the call
}

// part is what one caller adds.
type part struct {
	subs []submission
	left bool // the caller's context ended: it is not sent any more
}

// errAlone tells a caller that a gathered call was refused.
var errAlone = errors.New("refused together with others")

// add stores what one call can: alone, or together with what others add.
func (g *gathering) add(ctx context.Context, subs []submission) error {
	if len(subs) > gatheredJobs {
		return g.c.addChunk(ctx, subs)
	}
	g.mu.Lock()
	if !g.away {
		g.away = true
		g.mu.Unlock()
		defer g.goOn(ctx)
		return g.c.addChunk(ctx, subs)
	}
	l, p := g.join(subs)
	g.mu.Unlock()
	select {
	case <-l.done:
	case <-ctx.Done():
		if g.leave(l, p) {
			<-l.done // nobody else waits for the end of the call
		}
		return context.Cause(ctx)
	}
	if errors.Is(l.err, errAlone) {
		return g.c.addChunk(ctx, subs)
	}
	return l.err
}

// join puts an addition into the next call that has room.
func (g *gathering) join(subs []submission) (*load, *part) {
	bytes, edges := 0, 0
	for i := range subs {
		bytes, edges = bytes+len(subs[i].bytes), edges+subs[i].count
	}
	n := len(g.next)
	if n == 0 || g.next[n-1].jobs+len(subs) > MaxBatch || g.next[n-1].bytes+bytes > batchBytes || g.next[n-1].edges+edges > batchEdges {
		g.next = append(g.next, &load{done: make(chan struct{})})
		n++
	}
	l, p := g.next[n-1], &part{subs: subs}
	l.parts = append(l.parts, p)
	l.jobs, l.bytes, l.edges = l.jobs+len(subs), l.bytes+bytes, l.edges+edges
	return l, p
}

// leave takes back an addition whose caller goes, unless it is on its way: then it may be done or not, as when a caller goes in the
// middle of a call of its own. The last to leave a call on its way ends it and is told to wait for that.
func (g *gathering) leave(l *load, p *part) (last bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p.left = true
	for _, other := range l.parts {
		if !other.left {
			return false
		}
	}
	if l.cancel == nil {
		return false
	}
	l.cancel()
	return true
}

// goOn sends what came while a call was on its way. The goroutine that does so ends when nobody waits any more.
func (g *gathering) goOn(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.next) == 0 {
		g.away = false
		return
	}
	go g.send(context.WithoutCancel(ctx))
}

func (g *gathering) send(ctx context.Context) {
	for {
		runtime.Gosched() // who was answered just now and adds the next job comes along
		ctx, cancel := context.WithCancel(ctx)
		l, subs := g.take(cancel)
		if l == nil {
			cancel()
			return
		}
		if len(subs) > 0 {
			l.err = g.c.addChunk(ctx, subs)
			if l.err != nil && !errors.Is(l.err, ErrUnavailable) {
				l.err = errAlone
			}
		}
		cancel()
		close(l.done)
	}
}

// take is the next call with what is left of it; nil when nobody waits, and then nothing is on its way any more.
func (g *gathering) take(cancel context.CancelFunc) (*load, []submission) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.next) == 0 {
		g.away = false
		return nil, nil
	}
	l := g.next[0]
	g.next = g.next[1:]
	l.cancel = cancel
	subs := make([]submission, 0, l.jobs)
	for _, p := range l.parts {
		if !p.left {
			subs = append(subs, p.subs...)
		}
	}
	return l, subs
}

// addChunk stores jobs with one call.
func (c *Client) addChunk(ctx context.Context, subs []submission) error {
	call := newApplyCall("add", nil, nil, len(subs)*4)
	for i := range subs {
		call.add(&subs[i])
	}
	return c.apply(ctx, call)
}
