package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/history"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/rig"
	"github.com/waybill-dev/waybill/conveyor/embedded"
)

func init() { redis.SetLogger(silence{}) }

// silence is what the Redis client's own log goes to: faults are what a soak is made of.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// namespace is that of all jobs of a soak.
const namespace = "soak"

// role is what a process of a soak is, told by the conductor on its command line.
type role struct {
	Kind       string         `json:"kind"` // "worker" or "applier"
	Who        string         `json:"who"`  // unique to this run of the process
	Histories  string         `json:"histories"`
	Socket     string         `json:"socket,omitempty"` // of the network to Redis
	Dir        string         `json:"dir,omitempty"`    // of the embedded store
	Durability rig.Durability `json:"durability"`
	Seed       uint64         `json:"seed"`
	Began      time.Time      `json:"began"` // the soak

	Number   int  `json:"number"`             // of an applier
	InFlight int  `json:"in_flight"`          // of an applier: workflows that are not settled, at most
	Finish   bool `json:"finish,omitempty"`   // an applier: no new workflows
	Capacity int  `json:"capacity,omitempty"` // of a worker
}

// play runs a role until SIGTERM.
func play(text string) error {
	var r role
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return fmt.Errorf("option -as: %w", err)
	}
	log, err := history.Create(r.Histories, r.Who)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := log.Add(history.Record{Kind: history.Up, Text: fmt.Sprint("pid ", os.Getpid())}); err != nil {
		return err
	}
	watched, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	defer unwatch()
	go watchStalls(watched, log)

	err = r.run(ctx, log)
	if err != nil {
		_ = log.Add(history.Record{Kind: history.Trouble, Text: err.Error()})
		return err
	}
	return log.Add(history.Record{Kind: history.Down})
}

func (r role) run(ctx context.Context, log *history.Writer) error {
	rdb, done, err := r.connect(ctx)
	if err != nil {
		return err
	}
	defer done()
	client, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: namespace})
	if err != nil {
		return err
	}
	switch r.Kind {
	case "worker":
		return r.work(ctx, client, log)
	case "applier":
		return r.submit(ctx, client, log)
	}
	return fmt.Errorf("option -as: kind %q", r.Kind)
}

// connect leads to the store, through the network or into the embedded one.
func (r role) connect(ctx context.Context) (redis.UniversalClient, func(), error) {
	if r.Dir == "" {
		rdb := clientOf(r.Socket)
		return rdb, func() { _ = rdb.Close() }, nil
	}
	store, err := embedded.Open(ctx, r.Dir, embedded.Options{})
	if err != nil {
		return nil, nil, err
	}
	return store.Client(), func() { _ = store.Close() }, nil
}

// clientOf has the options that the waybill command uses.
func clientOf(socket string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Network: "unix", Addr: socket, MaxRetries: -1, DialerRetries: 1, DialTimeout: 5 * time.Second, ContextTimeoutEnabled: true,
	})
}

// stallAfter is how long a process may not get the processor until its history says so: leases can end then without a fault.
const stallAfter = time.Second

// watchStalls notes when the process stood still, be it by SIGSTOP or since the machine was busy.
func watchStalls(ctx context.Context, log *history.Writer) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		if now.Sub(last) > stallAfter {
			_ = log.Add(history.Record{Kind: history.Stalled, At: last.UnixNano(), Until: now.UnixNano()})
		}
		last = now
	}
}
