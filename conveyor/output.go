package conveyor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Bounds of what an attempt leaves behind.
const (
	MaxLog     = 1 << 20 // bytes of log kept per attempt; what is over is counted
	MaxResult  = 1 << 20 // bytes
	MaxFailure = 4 << 10 // bytes of a failure text
)

// LogEntry is one piece of a job's log as its handler wrote it.
type LogEntry struct {
	Fence   int64 // the attempt
	N       int64 // number within the attempt, from 1
	At      time.Time
	Text    []byte
	Dropped int64 // bytes left out so far since the attempt's log is full; Text is empty then
}

// AppendLog adds one piece to the log of a running attempt. n counts the pieces of the attempt from 1: a repeated n is
// a no-op. A stale fence is ErrOutdated.
func (c *Client) AppendLog(ctx context.Context, uuid string, fence, n int64, text []byte) error {
	if !validName(uuid) || fence < 1 || n < 1 {
		return fmt.Errorf("append log: uuid %q, fence %d, piece %d: %w", uuid, fence, n, ErrUUID)
	}
	_, err := c.run(ctx, logScript, uuid, fence, n, MaxLog, text)
	return err
}

// LogPosition is a place in a job's log. The zero value is its start.
type LogPosition struct{ Fence, N int64 }

// Logs returns up to limit entries after a position, waiting up to block for the first one; block 0 never waits.
func (c *Client) Logs(ctx context.Context, uuid string, after LogPosition, limit int, block time.Duration) ([]LogEntry, error) {
	args := &redis.XReadArgs{
		Streams: []string{c.keys.log(uuid), fmt.Sprintf("%d-%d", after.Fence, after.N)}, Count: int64(max(limit, 1)), Block: -1,
	}
	if block > 0 {
		args.Block = max(block, time.Millisecond)
	}
	streams, err := c.rdb.XRead(ctx, args).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, read(ctx, "read "+c.keys.log(uuid), err)
	}
	entries := make([]LogEntry, 0, len(streams[0].Messages))
	for _, m := range streams[0].Messages {
		entries = append(entries, decodeLogEntry(m))
	}
	return entries, nil
}

// decodeLogEntry reads an entry numbered <fence>-<n>: time t, and text x or the count d of bytes left out.
func decodeLogEntry(m redis.XMessage) LogEntry {
	text := func(field string) string {
		s, _ := m.Values[field].(string)
		return s
	}
	fence, n, _ := strings.Cut(m.ID, "-")
	return LogEntry{
		Fence: integer(fence), N: integer(n), At: time.UnixMilli(integer(text("t"))), Text: []byte(text("x")), Dropped: integer(text("d")),
	}
}

// Progress is how far an attempt is.
type Progress struct {
	Done, Total int64
	Text        string // at most 256 bytes, the rest is cut
}

const maxProgressText = 256

// SetProgress tells how far a running attempt is. A stale fence is ErrOutdated.
func (c *Client) SetProgress(ctx context.Context, uuid string, fence int64, p Progress) error {
	if !validName(uuid) || fence < 1 {
		return fmt.Errorf("set progress: uuid %q, fence %d: %w", uuid, fence, ErrUUID)
	}
	_, err := c.run(ctx, progressScript, uuid, fence, p.Done, p.Total, bounded(p.Text, maxProgressText))
	return err
}

// ProgressOf returns what a job's attempts told last; the zero value when they told nothing.
func (c *Client) ProgressOf(ctx context.Context, uuid string) (Progress, error) {
	text, err := c.rdb.HGet(ctx, c.keys.progress(), uuid).Result()
	if errors.Is(err, redis.Nil) {
		return Progress{}, nil
	}
	if err != nil {
		return Progress{}, read(ctx, "read "+c.keys.progress(), err)
	}
	f := strings.SplitN(text, " ", 4) // fence, done, total, text
	if len(f) != 4 {
		return Progress{}, fmt.Errorf("%s: progress of %s: %w", c.keys.progress(), uuid, ErrCorrupt)
	}
	return Progress{Done: integer(f[1]), Total: integer(f[2]), Text: f[3]}, nil
}

// Result returns what a job's successful attempt stored; ErrNotFound when there is none.
func (c *Client) Result(ctx context.Context, uuid string) ([]byte, error) {
	b, err := c.rdb.HGet(ctx, c.keys.results(), uuid).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("result of %s: %w", uuid, ErrNotFound)
	}
	return b, read(ctx, "read "+c.keys.results(), err)
}

// Failure returns the text of a job's last failure; "" when there is none.
func (c *Client) Failure(ctx context.Context, uuid string) (string, error) {
	text, err := c.rdb.HGet(ctx, c.keys.failures(), uuid).Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return text, read(ctx, "read "+c.keys.failures(), err)
}
