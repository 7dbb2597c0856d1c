package conveyor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

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

// String is how the settings are stored: "<concurrency>:<weight>:<paused>".
func (s QueueSettings) String() string {
	paused := 0
	if s.Paused {
		paused = 1
	}
	return fmt.Sprintf("%d:%d:%d", s.Concurrency, s.Weight, paused)
}

func parseQueueSettings(text string) (QueueSettings, error) {
	f := strings.Split(text, ":")
	if len(f) != 3 {
		return QueueSettings{}, fmt.Errorf("queue settings %q: %w", text, ErrCorrupt)
	}
	concurrency, err1 := strconv.Atoi(f[0])
	weight, err2 := strconv.Atoi(f[1])
	if err1 != nil || err2 != nil || f[2] != "0" && f[2] != "1" {
		return QueueSettings{}, fmt.Errorf("queue settings %q: %w", text, ErrCorrupt)
	}
	return QueueSettings{Concurrency: concurrency, Weight: weight, Paused: f[2] == "1"}, nil
}

// Queues lists the queues that have jobs or settings, by name.
func (c *Client) Queues(ctx context.Context) ([]QueueInfo, error) {
	pipe := c.rdb.Pipeline()
	settings, depth := pipe.HGetAll(ctx, c.keys.queues()), pipe.HGetAll(ctx, c.keys.depth())
	slots := pipe.HGetAll(ctx, c.keys.slots())
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, read(ctx, "read queues", err)
	}
	infos := map[string]*QueueInfo{}
	of := func(name string) *QueueInfo {
		if infos[name] == nil {
			infos[name] = &QueueInfo{Name: name}
		}
		return infos[name]
	}
	for field, n := range depth.Val() {
		name, lane, ok := strings.Cut(field, ":")
		if !ok || len(lane) != 1 || lane[0] < '0' || lane[0] > '2' {
			return nil, fmt.Errorf("%s: field %q: %w", c.keys.depth(), field, ErrCorrupt)
		}
		of(name).Depth[lane[0]-'0'] = integer(n)
	}
	for name, n := range slots.Val() {
		of(name).Running = integer(n)
	}
	for name, text := range settings.Val() {
		s, err := parseQueueSettings(text)
		if err != nil {
			return nil, fmt.Errorf("%s: queue %s: %w", c.keys.queues(), name, err)
		}
		of(name).Settings = s
	}
	out := make([]QueueInfo, 0, len(infos))
	for _, name := range slices.Sorted(maps.Keys(infos)) {
		out = append(out, *infos[name])
	}
	return out, nil
}

// SetQueue stores a queue's settings and wakes the workers that may now get more.
func (c *Client) SetQueue(ctx context.Context, name string, s QueueSettings) error {
	if !validName(name) {
		return fmt.Errorf("set queue: %w: %q", ErrQueueName, name)
	}
	if s.Concurrency < 0 || s.Weight < 0 {
		return fmt.Errorf("set queue %s: concurrency %d and weight %d must not be negative", name, s.Concurrency, s.Weight)
	}
	_, err := c.run(ctx, queueScript, name, s.String())
	return err
}

// DeleteQueueSettings brings a queue back to the defaults.
func (c *Client) DeleteQueueSettings(ctx context.Context, name string) error {
	if !validName(name) {
		return fmt.Errorf("delete queue settings: %w: %q", ErrQueueName, name)
	}
	_, err := c.run(ctx, queueScript, name, "")
	return err
}
