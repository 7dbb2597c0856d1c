package conveyor

import (
	"context"
	"time"
)

// The beat of workers: a worker that is silent for DeadAfter is dead and its jobs go back to their places.
const (
	BeatEvery = 2 * time.Second
	DeadAfter = 6 * time.Second
)

// WorkerInfo is a worker as it announces itself with each beat, and as observers see it.
type WorkerInfo struct {
	ID       string
	Host     string
	PID      int
	Team     string
	Queues   []string
	Types    []string // job types it has a handler for
	KeyIDs   []string // keys it can verify and open payloads with
	Capacity int
	Started  time.Time

	Running  []Holding // what the worker believes it runs; only sent
	Load     int       // jobs it owns by the store's books; only received
	LastBeat time.Time // by the store's clock; only received
	Alive    bool      // by the store's clock; only received
}

// Holding names one attempt.
type Holding struct {
	UUID  string
	Fence int64
}

// BeatReply answers a Beat.
type BeatReply struct {
	Cancel   []string  // uuids among Running whose cancel was asked for
	Outdated []string  // uuids among Running that are no longer this worker's under that fence: stop them, write nothing
	Unknown  []Holding // attempts the store holds for this worker that are not in Running
	Now      time.Time
}

// Beat registers a worker or renews it, and with it the lease of all its jobs.
func (c *Client) Beat(ctx context.Context, w WorkerInfo) (BeatReply, error) {
	return BeatReply{}, errUnbuilt
}

// Leave hands back what the worker still owns, each job to its place with nothing spent, and deregisters it.
func (c *Client) Leave(ctx context.Context, workerID string) error { return errUnbuilt }

// WaitWake blocks until something may have become ready for a worker whose last Exchange came back short, or until
// timeout. It is a hint: false tells only that nothing was heard.
func (c *Client) WaitWake(ctx context.Context, workerID string, timeout time.Duration) (bool, error) {
	return false, errUnbuilt
}

// Workers lists the registered workers by id.
func (c *Client) Workers(ctx context.Context) ([]WorkerInfo, error) { return nil, errUnbuilt }

// QueueSettings steers a queue. The zero value is the default: unlimited, weight 1, not paused.
type QueueSettings struct {
	Concurrency int // running jobs at most, over all workers; 0: unlimited
	Weight      int // share of a worker's turns; 0 is 1
	Paused      bool
}

// QueueInfo is a queue as observers see it. Depths are counters: no list is scanned.
type QueueInfo struct {
	Name     string
	Depth    [3]int64 // queued jobs by priority
	Running  int64
	Settings QueueSettings
}

// Queues lists the queues that have jobs or settings, by name.
func (c *Client) Queues(ctx context.Context) ([]QueueInfo, error) { return nil, errUnbuilt }

// SetQueue stores a queue's settings.
func (c *Client) SetQueue(ctx context.Context, name string, s QueueSettings) error { return errUnbuilt }

// DeleteQueueSettings brings a queue back to the defaults.
func (c *Client) DeleteQueueSettings(ctx context.Context, name string) error { return errUnbuilt }
