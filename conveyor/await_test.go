package conveyor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
)

// TestWaitingCallsEnd: calls that would wait for an hour return when their context ends, though the read that they made does not.
func TestWaitingCallsEnd(t *testing.T) {
	onBoth(t, func(e *engine) {
		for name, call := range map[string]func(c *conveyor.Client, ctx context.Context) error{
			"events": func(c *conveyor.Client, ctx context.Context) error { _, err := c.Events(ctx, 0, time.Hour); return err },
			"logs": func(c *conveyor.Client, ctx context.Context) error {
				_, err := c.Logs(ctx, "a", conveyor.LogPosition{}, 1, time.Hour)
				return err
			},
			"wake-ups": func(c *conveyor.Client, ctx context.Context) error {
				_, err := c.WaitWake(ctx, "w", time.Hour)
				return err
			},
		} {
			e.Run(name, func(e *engine) {
				rdb := e.another()
				defer rdb.Close() //nolint:errcheck // ends what is left behind
				ctx, cancel := context.WithCancelCause(e.Context())
				why := errors.New("enough")
				rdb.AddHook(&whenSent{func() { cancel(why) }})
				c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: e.Namespace()})
				e.ok(err)
				e.refused(call(c, ctx), why)
			})
		}
	})
}

// whenSent calls a function when a command is about to be sent that waits.
type whenSent struct{ call func() }

func (*whenSent) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h *whenSent) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "xread" || cmd.Name() == "blpop" {
			go h.call()
		}
		return next(ctx, cmd)
	}
}
func (*whenSent) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
