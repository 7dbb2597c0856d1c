package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/history"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/rig"
	"github.com/waybill-dev/waybill/conveyor/embedded"
	"github.com/waybill-dev/waybill/internal/testserver"
)

// conductor runs a soak: it starts everybody, has the faults happen, and never meets one itself.
type conductor struct {
	o         options
	out       io.Writer
	dir       string // servers, sockets
	histories string
	began     time.Time
	log       *history.Writer
	crew      crew
	redis     *rig.Redis    // nil for the embedded store
	embedded  *rig.Embedded // nil for Redis

	store     sync.Mutex // held by who does something to the store
	stepped   time.Duration
	steppedAt time.Time
	upheavals atomic.Int64 // how often the store began or ended to be one that may have lost something

	mu sync.Mutex // guards out
}

// perform runs a soak and leaves its histories.
func (c *conductor) perform(ctx context.Context) (err error) {
	if c.dir, err = testserver.TempDir("soak"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(c.dir) }()
	if c.log, err = history.Create(c.histories, "conductor"); err != nil {
		return err
	}
	defer func() { _ = c.log.Close() }()
	if err := c.open(); err != nil {
		return err
	}
	defer c.close()
	c.began = time.Now().Truncate(time.Millisecond)
	if err := c.enlist(); err != nil {
		return err
	}
	defer c.crew.kill()

	watching, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	var beside sync.WaitGroup
	defer beside.Wait()
	defer unwatch()
	beside.Go(func() { c.watch(watching) })
	beside.Go(func() { c.verifyOften(watching) })
	beside.Go(func() { c.watchTurns(watching) })

	c.inflictAll(ctx)
	c.note(history.Record{Kind: history.Fault, Name: "end of faults", At: time.Now().UnixNano(), Until: time.Now().UnixNano()})
	c.say("%6.1fs  the faults are over; what is left has %s to end", time.Since(c.began).Seconds(), c.o.Settle)
	if !c.crew.end("applier", c.o.Settle) {
		c.say("        not everything has ended in that time")
	}
	if !c.crew.end("worker", 30*time.Second) {
		c.say("        not every worker has ended in order")
	}
	unwatch()
	beside.Wait()
	return c.lastLook(context.WithoutCancel(ctx))
}

func (c *conductor) open() (err error) {
	if c.o.Store == "embedded" {
		c.embedded = rig.NewEmbedded(filepath.Join(c.dir, "store"))
		return nil
	}
	c.redis, err = rig.StartRedis(c.dir, c.o.Durability)
	return err
}

func (c *conductor) close() {
	if c.redis != nil {
		c.redis.Close()
	} else {
		c.embedded.Close()
	}
}

// enlist starts the workers and appliers, each behind a network of its own.
func (c *conductor) enlist() error {
	add := func(name string, r role) error {
		m := &member{name: name, role: r, ended: make(chan struct{})}
		m.role.Histories, m.role.Durability, m.role.Seed, m.role.Began = c.histories, c.o.Durability, c.o.Seed, c.began
		if c.embedded != nil {
			m.role.Dir = c.embedded.Dir
		} else {
			var err error
			if m.proxy, err = rig.NewProxy(filepath.Join(c.dir, name), c.redis.Dial); err != nil {
				return err
			}
			m.role.Socket = m.proxy.Addr()
		}
		c.crew.members = append(c.crew.members, m)
		return c.crew.join(m)
	}
	for i := range c.o.Workers {
		if err := add(fmt.Sprintf("worker%d", i), role{Kind: "worker", Capacity: c.o.Capacity}); err != nil {
			return err
		}
	}
	for i := range c.o.Appliers {
		if err := add(fmt.Sprintf("applier%d", i), role{Kind: "applier", Number: i, InFlight: c.o.InFlight}); err != nil {
			return err
		}
	}
	return nil
}

// say prints a line of progress.
func (c *conductor) say(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = fmt.Fprintf(c.out, format+"\n", args...)
}

// note writes into the conductor's history. A disk that takes nothing ends what it is about anyway.
func (c *conductor) note(r history.Record) {
	if err := c.log.Add(r); err != nil {
		c.say("soak: %v", err)
	}
}

// silentAfter is from when on a store that does not answer is noted: leases can end then, whatever the reason.
const silentAfter = time.Second

// watch notes when the store does not answer. The embedded store's silence is that of its host, which has a history of its own.
func (c *conductor) watch(ctx context.Context) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if c.redis != nil {
			ask, cancel := context.WithTimeout(ctx, silentAfter)
			err := c.redis.Client().Ping(ask).Err()
			cancel()
			if err != nil {
				continue
			}
		}
		now := time.Now()
		if now.Sub(last) > silentAfter {
			c.note(history.Record{Kind: history.Silent, At: last.UnixNano(), Until: now.UnixNano()})
		}
		last = now
	}
}

// verifyEvery is how often the whole namespace is checked while it is in use.
const verifyEvery = 10 * time.Second

func (c *conductor) verifyOften(ctx context.Context) {
	tick := time.NewTicker(verifyEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		before := c.upheavals.Load()
		_ = c.reading(ctx, func(client *conveyor.Client) error { // a store that is away is looked at another time
			found, err := client.Verify(ctx)
			if err == nil && c.upheavals.Load() == before && before%2 == 0 { // else it has seen two stores
				c.verified(found)
			}
			return err
		})
	}
}

func (c *conductor) verified(found []conveyor.Violation) {
	r := history.Record{Kind: history.Verify}
	for _, v := range found {
		r.Violations = append(r.Violations, v.String())
		c.say("%6.1fs  VIOLATION %s", time.Since(c.began).Seconds(), v)
	}
	c.note(r)
}

// reading lends a client that meets no fault.
func (c *conductor) reading(ctx context.Context, use func(*conveyor.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var rdb redis.UniversalClient
	if c.redis != nil {
		rdb = c.redis.Client()
	} else {
		store, err := embedded.ReadOnly(ctx, c.embedded.Dir, embedded.Options{})
		if err != nil {
			return err
		}
		defer func() { _ = store.Close() }()
		rdb = store.Client()
	}
	client, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: namespace})
	if err != nil {
		return err
	}
	return use(client)
}

// lastLook checks what is left once everybody has gone.
func (c *conductor) lastLook(ctx context.Context) error {
	err := c.reading(ctx, func(client *conveyor.Client) error {
		d, err := client.Diagnose(ctx, 0)
		if err != nil {
			return err
		}
		for _, o := range d.Orphans {
			d.Violations = append(d.Violations, conveyor.Violation{Invariant: "orphan", UUID: o.UUID, Detail: fmt.Sprintf("waits for %v, never seen", o.Unseen)})
		}
		for _, e := range d.SetAside {
			d.Violations = append(d.Violations, conveyor.Violation{Invariant: "set aside", Key: e.Key, Detail: "an entry that cannot be read"})
		}
		for _, key := range append(d.Damaged, d.Strange...) {
			d.Violations = append(d.Violations, conveyor.Violation{Invariant: "strange key", Key: key, Detail: "it is none of the engine's"})
		}
		for _, w := range d.Silent {
			d.Violations = append(d.Violations, conveyor.Violation{Invariant: "I14", Detail: "worker " + w.ID + " is still registered"})
		}
		c.verified(d.Violations)
		return nil
	})
	if err != nil {
		return errors.Join(errors.New("the store cannot be checked at the end"), err)
	}
	return nil
}
