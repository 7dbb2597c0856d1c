package conveyor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
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

// Logs returns up to limit entries after a position, waiting up to block for the first one; block 0 never waits, and whoever
// waits returns at once when ctx ends.
func (c *Client) Logs(ctx context.Context, uuid string, after LogPosition, limit int, block time.Duration) ([]LogEntry, error) {
	messages, err := c.await(ctx, c.keys.log(uuid), fmt.Sprintf("%d-%d", after.Fence, after.N), int64(max(limit, 1)), block)
	if len(messages) == 0 {
		return nil, err
	}
	entries := make([]LogEntry, 0, len(messages))
	for _, m := range messages {
		entries = append(entries, decodeLogEntry(m))
	}
	return entries, nil
}

// LogEnd returns the last entries, at most limit, of what one attempt of a job has written so far, in order.
func (c *Client) LogEnd(ctx context.Context, uuid string, fence int64, limit int) ([]LogEntry, error) {
	attempt := strconv.FormatInt(fence, 10)
	messages, err := c.rdb.XRevRangeN(ctx, c.keys.log(uuid), attempt, attempt, int64(max(limit, 1))).Result()
	if err != nil {
		return nil, read(ctx, "read "+c.keys.log(uuid), err)
	}
	entries := make([]LogEntry, len(messages))
	for i, m := range messages {
		entries[len(messages)-1-i] = decodeLogEntry(m)
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
	texts, err := c.Failures(ctx, []string{uuid})
	if err != nil {
		return "", err
	}
	return texts[0], nil
}

// Failures is Failure for many jobs, in order, with one command for every thousand.
func (c *Client) Failures(ctx context.Context, uuids []string) ([]string, error) {
	return c.fieldsOf(ctx, c.keys.failures(), uuids)
}
