package conveyor

import (
	"context"
	"time"
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
	return errUnbuilt
}

// LogPosition is a place in a job's log. The zero value is its start.
type LogPosition struct{ Fence, N int64 }

// Logs returns up to limit entries after a position, waiting up to block for the first one.
func (c *Client) Logs(ctx context.Context, uuid string, after LogPosition, limit int, block time.Duration) ([]LogEntry, error) {
	return nil, errUnbuilt
}

// Progress is how far an attempt is.
type Progress struct {
	Done, Total int64
	Text        string // at most 256 bytes
}

// SetProgress tells how far a running attempt is. A stale fence is ErrOutdated.
func (c *Client) SetProgress(ctx context.Context, uuid string, fence int64, p Progress) error {
	return errUnbuilt
}

// ProgressOf returns the progress of a running job's attempt; the zero value when it told none.
func (c *Client) ProgressOf(ctx context.Context, uuid string) (Progress, error) {
	return Progress{}, errUnbuilt
}

// Result returns what a job's successful attempt stored; ErrNotFound when there is none.
func (c *Client) Result(ctx context.Context, uuid string) ([]byte, error) { return nil, errUnbuilt }

// Failure returns the text of a job's last failure; "" when there is none.
func (c *Client) Failure(ctx context.Context, uuid string) (string, error) { return "", errUnbuilt }
