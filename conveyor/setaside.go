package conveyor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// ErrNoJob means that what was set aside cannot be put back: its bytes are no job that could be added.
var ErrNoJob = errors.New("is no job that could be added")

// SetAsideEntry is something that nobody could work with where it stood: bytes that are no job, a ticket of a job whose status
// cannot be read, an unreadable status entry, or the bytes of a job without a status.
type SetAsideEntry struct {
	Key   string // where it stood
	Bytes []byte
	Job   *wire.Job // as far as the bytes can be read as one; nil otherwise
}

// maxSetAside bounds what SetAside lists.
const maxSetAside = 1000

// SetAside lists what was set aside, the latest first, at most 1000 entries.
func (c *Client) SetAside(ctx context.Context) ([]SetAsideEntry, error) {
	texts, err := c.rdb.LRange(ctx, c.keys.setAside(), 0, maxSetAside-1).Result()
	if err != nil {
		return nil, read(ctx, "read "+c.keys.setAside(), err)
	}
	out := make([]SetAsideEntry, 0, len(texts))
	for _, text := range texts {
		key, bytes, _ := strings.Cut(text, " ")
		e := SetAsideEntry{Key: key, Bytes: []byte(bytes)}
		job := &wire.Job{}
		if proto.Unmarshal(e.Bytes, job) == nil && job.Uuid != "" {
			e.Job = job
		}
		out = append(out, e)
	}
	return out, nil
}

// Addable tells whether PutBack can add the entry's job.
func (e SetAsideEntry) Addable() error {
	if e.Job == nil {
		return ErrNoJob
	}
	if err := validate(e.Job); err != nil {
		return fmt.Errorf("%w: %w", ErrNoJob, err)
	}
	return nil
}

// PutBack adds the job of an entry that was set aside, with the edges it declares, and drops the entry. A job that is
// known under its uuid stays as it is. ErrNoJob: the bytes are none; ErrNotFound: the entry is not there any more.
func (c *Client) PutBack(ctx context.Context, e SetAsideEntry) error {
	if err := e.Addable(); err != nil {
		return fmt.Errorf("put back from %s: %w", e.Key, err)
	}
	text := e.Key + " " + string(e.Bytes)
	if _, err := c.rdb.LPos(ctx, c.keys.setAside(), text, redis.LPosArgs{}).Result(); err != nil {
		return fmt.Errorf("put back %s: %w", e.Job.Uuid, missing(ctx, err))
	}
	if err := c.Add(ctx, e.Job); err != nil {
		return fmt.Errorf("put back: %w", err)
	}
	return c.DropSetAside(ctx, e)
}

// DropSetAside removes an entry that was set aside for good. ErrNotFound: it is not there any more.
func (c *Client) DropSetAside(ctx context.Context, e SetAsideEntry) error {
	n, err := c.rdb.LRem(ctx, c.keys.setAside(), 1, e.Key+" "+string(e.Bytes)).Result()
	if err == nil && n == 0 {
		return fmt.Errorf("drop what was set aside from %s: %w", e.Key, ErrNotFound)
	}
	return read(ctx, "drop what was set aside", err)
}

// missing makes the reply of a command that found nothing ErrNotFound.
func missing(ctx context.Context, err error) error {
	if errors.Is(err, redis.Nil) {
		return ErrNotFound
	}
	return read(ctx, "look up", err)
}
