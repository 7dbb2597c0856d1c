package conveyor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Progress is how far an attempt is.
type Progress struct {
	Done, Total int64  // Total 0: unknown
	Text        string // at most 256 bytes, the rest is cut
	// At is when it came this far, by the store's clock: telling the same again leaves it, so that an attempt whose progress is
	// old is stuck. Only received.
	At time.Time
}

const maxProgressText = 256

// Percent is Done of Total from 0 to 100, rounded down so that 100 means all; false when the total is unknown.
func (p Progress) Percent() (int, bool) {
	if p.Total <= 0 {
		return 0, false
	}
	return int(float64(min(max(p.Done, 0), p.Total)) / float64(p.Total) * 100), true
}

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
	all, err := c.ProgressesOf(ctx, []string{uuid})
	if err != nil {
		return Progress{}, err
	}
	return all[0], nil
}

// ProgressesOf is ProgressOf for many jobs, in order, with one command for every thousand.
func (c *Client) ProgressesOf(ctx context.Context, uuids []string) ([]Progress, error) {
	texts, err := c.fieldsOf(ctx, c.keys.progress(), uuids)
	if err != nil {
		return nil, err
	}
	out := make([]Progress, len(texts))
	for i, text := range texts {
		if text == "" {
			continue
		}
		f := strings.SplitN(text, " ", 4) // <fence>[@<ms>], done, total, text
		if len(f) != 4 {
			return nil, fmt.Errorf("%s: progress of %s: %w", c.keys.progress(), uuids[i], ErrCorrupt)
		}
		out[i] = Progress{Done: integer(f[1]), Total: integer(f[2]), Text: f[3]}
		if _, at, ok := strings.Cut(f[0], "@"); ok {
			out[i].At = time.UnixMilli(integer(at))
		}
	}
	return out, nil
}

// fieldsOf reads fields of a hash, in order; "" for those that are not there.
func (c *Client) fieldsOf(ctx context.Context, key string, fields []string) ([]string, error) {
	out := make([]string, 0, len(fields))
	for part := range slices.Chunk(fields, readSlice) {
		values, err := c.rdb.HMGet(ctx, key, part...).Result()
		if err != nil {
			return nil, read(ctx, "read "+key, err)
		}
		for _, v := range values {
			text, _ := v.(string)
			out = append(out, text)
		}
	}
	return out, nil
}
