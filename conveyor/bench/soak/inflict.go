package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/waybill-dev/waybill/conveyor/bench/soak/history"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/rig"
)

// inflictAll has the faults happen as they are scheduled, and mends what is left of them.
func (c *conductor) inflictAll(ctx context.Context) {
	var going sync.WaitGroup
	for _, f := range schedule(c.o.Seed, c.o.Duration, c.o.Every, faultKinds(c.o.Durability)) {
		if !pause(ctx, time.Until(c.began.Add(f.At))) {
			break
		}
		going.Go(func() { c.inflict(ctx, f) })
	}
	pause(ctx, time.Until(c.began.Add(c.o.Duration)))
	going.Wait()
	c.store.Lock()
	defer c.store.Unlock()
	c.mendClock()
	for _, m := range c.crew.members {
		if m.proxy != nil {
			m.proxy.LoseRequests(0)
			m.proxy.LoseReplies(0)
		}
	}
}

// pause reports whether d has passed; false: ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// inflict has one fault happen, from its begin to its end.
func (c *conductor) inflict(ctx context.Context, f fault) {
	r := history.Record{Kind: history.Fault, Name: string(f.Kind)}
	var err error
	switch f.Kind {
	case killWorker, stopWorker, pauseWorker, partition:
		err = c.toMember(ctx, "worker", f, &r)
	case killApplier, pauseApplier:
		err = c.toMember(ctx, "applier", f, &r)
	default:
		c.store.Lock()
		r.At = time.Now().UnixNano()
		c.say("%s", f)
		err = c.toStore(ctx, f, &r)
		c.store.Unlock()
	}
	if err != nil {
		c.say("        %s: %v", f.Kind, err)
		r.Text = err.Error()
	}
	if r.At == 0 {
		return // nobody was free for it
	}
	r.Until = time.Now().UnixNano()
	c.note(r)
}

// toMember does something to a worker or an applier that no other fault has.
func (c *conductor) toMember(ctx context.Context, kind string, f fault, r *history.Record) error {
	m := c.crew.take(kind, f.Pick)
	if m == nil {
		c.say("%s: every %s has met one already, skipped", f, kind)
		return nil
	}
	defer m.release()
	r.At = time.Now().UnixNano()
	switch f.Kind {
	case killWorker, killApplier:
		r.Whom = m.signal(syscall.SIGKILL)
		c.say("%s %s", f, r.Whom)
	case stopWorker:
		r.Whom = m.signal(syscall.SIGTERM)
		c.say("%s %s", f, r.Whom)
	case partition:
		m.proxy.Partition()
		r.Whom = m.current()
		c.say("%s %s", f, r.Whom)
		pause(ctx, f.For)
		m.proxy.Heal()
	default:
		r.Whom = m.signal(syscall.SIGSTOP)
		c.say("%s %s", f, r.Whom)
		pause(ctx, f.For)
		m.signal(syscall.SIGCONT)
	}
	return nil
}

// toStore does something that everybody meets.
func (c *conductor) toStore(ctx context.Context, f fault, r *history.Record) (err error) {
	switch f.Kind {
	case killStore:
		defer c.upheaval()()
		c.redis.Kill()
		r.Loses = c.losesBy(time.Unix(0, r.At))
		pause(ctx, f.For)
		return c.redis.Restart()
	case powerCut:
		defer c.upheaval()()
		return c.cutPower(ctx, f, r)
	case failover:
		defer c.upheaval()()
		r.Loses = c.losesBy(time.Unix(0, r.At))
		err = c.redis.Failover(context.WithoutCancel(ctx))
		c.eachNetwork((*rig.Proxy).Cut)
		return err
	case pauseStore:
		c.redis.Pause()
		pause(ctx, f.For)
		c.redis.Resume()
	case cut:
		c.eachNetwork((*rig.Proxy).Cut)
	case delay:
		c.eachNetwork(func(p *rig.Proxy) { p.Delay(50*time.Millisecond + time.Duration(f.Pick%200)*time.Millisecond) })
		pause(ctx, f.For)
		c.eachNetwork(func(p *rig.Proxy) { p.Delay(0) })
	case loseRequests:
		c.eachNetwork(func(p *rig.Proxy) { p.LoseRequests(1 + f.Pick%5) })
	case loseReplies:
		c.eachNetwork(func(p *rig.Proxy) { p.LoseReplies(1 + f.Pick%5) })
	case clockStep:
		return c.stepClock([]time.Duration{9 * time.Second, -4 * time.Second, 0}[f.Pick%3])
	case scriptFlush:
		return c.redis.Client().ScriptFlush(ctx).Err()
	case memoryLimit:
		return c.limitMemory(ctx, f)
	case killHost, pauseHost:
		return c.toHost(ctx, f, r)
	case killEverybody:
		for _, m := range c.crew.members {
			m.signal(syscall.SIGCONT)
			m.signal(syscall.SIGKILL)
		}
	}
	return nil
}

func (c *conductor) eachNetwork(do func(*rig.Proxy)) {
	for _, m := range c.crew.members {
		do(m.proxy)
	}
}

// upheaval says that the store may lose something until the end of what it returns.
func (c *conductor) upheaval() (end func()) {
	c.upheavals.Add(1)
	return func() { c.upheavals.Add(1) }
}

// losesBy is since when the store may have lost what it acknowledged when it is killed now, by what its setting promises; 0: nothing is
// lost. An everysec file is on its way to the disk for up to two seconds.
func (c *conductor) losesBy(killed time.Time) int64 {
	switch c.o.Durability {
	case rig.None:
		return 1
	case rig.EverySec:
		return killed.Add(-2 * time.Second).UnixNano()
	case rig.Replica: // the replica is behind by what is on its way; applies wait for it
		return killed.Add(-2 * time.Second).UnixNano()
	}
	return 0
}

// cutPower has the machine lose its power: nobody survives, and the store's journal ends about a second before.
func (c *conductor) cutPower(ctx context.Context, f fault, r *history.Record) error {
	lost := func(at time.Time, err error) error {
		r.Loses = at.UnixNano()
		return err
	}
	if c.redis != nil { // the store's machine is another one than the workers'
		err := lost(c.redis.PowerCut())
		pause(ctx, f.For)
		if err == nil {
			err = c.redis.Restart()
		}
		return err
	}
	for _, m := range c.crew.members {
		m.hold()
	}
	defer func() {
		for _, m := range c.crew.members {
			m.letGo()
		}
	}()
	err := lost(c.embedded.PowerCut())
	pause(ctx, f.For)
	return err
}

// stepClock has the store's clock differ from the true time: the engine knows no other clock. The key is the one that its tests write.
func (c *conductor) stepClock(to time.Duration) error {
	rdb, key := c.redis.Client(), "{"+namespace+"}:clock"
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	now := time.Now()
	if c.stepped != 0 { // from when to when it was wrong
		c.note(history.Record{Kind: history.Fault, Name: "clock off", At: c.steppedAt.UnixNano(), Until: now.UnixNano(), Text: c.stepped.String()})
	}
	c.stepped, c.steppedAt = to, now
	if to == 0 {
		return rdb.Del(ctx, key).Err()
	}
	return rdb.Set(ctx, key, fmt.Sprintf("%+d", to.Milliseconds()), 0).Err()
}

// mendClock sets the store's clock right. That is a step like any other, though none of those that were drawn.
func (c *conductor) mendClock() {
	if c.stepped == 0 {
		return
	}
	r := history.Record{Kind: history.Fault, Name: "mend the clock", At: time.Now().UnixNano()}
	if err := c.stepClock(0); err != nil {
		c.say("        mend the clock: %v", err)
		r.Text = err.Error()
	}
	r.Until = time.Now().UnixNano()
	c.note(r)
}

// limitMemory leaves the store no room for a while.
func (c *conductor) limitMemory(ctx context.Context, f fault) error {
	rdb := c.redis.Client()
	facts, err := rdb.InfoMap(ctx, "memory").Result()
	if err != nil {
		return err
	}
	if err := rdb.ConfigSet(ctx, "maxmemory", facts["Memory"]["used_memory"]).Err(); err != nil {
		return err
	}
	pause(ctx, f.For)
	return rdb.ConfigSet(context.WithoutCancel(ctx), "maxmemory", "0").Err()
}

// toHost does something to the process that hosts the embedded store.
func (c *conductor) toHost(ctx context.Context, f fault, r *history.Record) error {
	for range 50 { // after everybody was killed the next host takes a moment
		m := c.host()
		if m == nil {
			pause(ctx, 100*time.Millisecond)
			continue
		}
		if f.Kind == killHost {
			m.signal(syscall.SIGCONT)
			r.Text = m.signal(syscall.SIGKILL)
			return nil
		}
		r.Text = m.signal(syscall.SIGSTOP)
		pause(ctx, f.For)
		m.signal(syscall.SIGCONT)
		return nil
	}
	return errors.New("nobody hosts the store")
}

// host is who hosts the embedded store; nil for nobody, or somebody who has gone.
func (c *conductor) host() *member {
	pid := c.embedded.Host()
	for _, m := range c.crew.members {
		if m.is(pid) {
			return m
		}
	}
	return nil
}
