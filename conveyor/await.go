package conveyor

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// awaitSlice is how long one blocking read of a stream lasts: an idle reader costs a command a second, and a read that
// nobody waits for any more is gone after as long.
const awaitSlice = time.Second

// await reads up to count entries of a stream after an id, waiting up to block for the first one; none is no error.
func (c *Client) await(ctx context.Context, key, after string, count int64, block time.Duration) ([]redis.XMessage, error) {
	for deadline := time.Now().Add(block); ; {
		args := &redis.XReadArgs{Streams: []string{key, after}, Count: count, Block: -1}
		left := time.Until(deadline)
		if block > 0 && left > 0 {
			args.Block = min(max(left, time.Millisecond), awaitSlice)
		}
		streams, err := interruptible(ctx, func() ([]redis.XStream, error) { return c.rdb.XRead(ctx, args).Result() })
		switch {
		case err == nil:
			return streams[0].Messages, nil
		case !errors.Is(err, redis.Nil):
			return nil, read(ctx, "read "+key, err)
		case time.Until(deadline) <= 0:
			return nil, nil
		}
	}
}

// interruptible makes a blocking call and returns when ctx ends, which go-redis does not: it leaves a read alone until the
// answer comes or its deadline does. Such a call is left behind then; it ends by itself and its answer is dropped, so it must
// be one that changes nothing that matters.
func interruptible[T any](ctx context.Context, call func() (T, error)) (T, error) {
	if ctx.Done() == nil {
		return call()
	}
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := call()
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var zero T
		return zero, context.Cause(ctx)
	}
}
