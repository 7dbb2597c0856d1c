package embedded

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// mostTries bounds how often a request is sent. Each try beyond the first met another host that was ending.
const mostTries = 10

// resend repeats requests over a change of hosts, where that is safe: when a request was not sent, when a host
// said that it was not executed, and when it only reads. Everything else fails, and the caller decides.
type resend struct{}

func (resend) DialHook(next redis.DialHook) redis.DialHook { return next }

// try is what is known of one sending beside its error. It travels in the context to the commands that set the
// connection up, which run through the same hook.
type try struct{ setupFailed bool }

type tryKey struct{}

func (resend) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if outer, ok := ctx.Value(tryKey{}).(*try); ok {
			err := next(ctx, cmd)
			outer.setupFailed = outer.setupFailed || lost(err)
			return err
		}
		for n := 1; ; n++ {
			t := &try{}
			err := next(context.WithValue(ctx, tryKey{}, t), cmd)
			if err == nil || n == mostTries || ctx.Err() != nil {
				return err
			}
			if !unexecuted(err) && !t.setupFailed && !(lost(err) && reads(cmd)) {
				return err
			}
			cmd.SetErr(nil)
		}
	}
}

func (resend) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if outer, ok := ctx.Value(tryKey{}).(*try); ok {
			err := next(ctx, cmds)
			outer.setupFailed = outer.setupFailed || lost(err)
			return err
		}
		left := cmds
		for n := 1; ; n++ {
			t := &try{}
			err := next(context.WithValue(ctx, tryKey{}, t), left)
			if err == nil || n == mostTries || ctx.Err() != nil {
				return firstError(cmds, err)
			}
			if left = repeatable(left, err, t.setupFailed); len(left) == 0 {
				return firstError(cmds, err)
			}
			for _, cmd := range left {
				cmd.SetErr(nil)
			}
		}
	}
}

// firstError is what a pipeline returns: the error of its first command that failed, of all tries.
func firstError(cmds []redis.Cmder, err error) error {
	for _, cmd := range cmds {
		if e := cmd.Err(); e != nil {
			return e
		}
	}
	return err
}

// repeatable gives the commands of a pipeline to send again: all of them, or those from the first that the host
// refused, which refuses all behind it too. A transaction is repeated as a whole or not at all.
func repeatable(cmds []redis.Cmder, err error, setupFailed bool) []redis.Cmder {
	if setupFailed || errors.Is(err, errNotSent) || lost(err) && reads(cmds...) {
		return cmds
	}
	for i, cmd := range cmds {
		switch {
		case cmd.Err() == nil || !unexecuted(cmd.Err()):
			continue
		case i > 0 && strings.EqualFold(cmds[0].Name(), "multi"):
			return nil
		}
		for _, behind := range cmds[i:] {
			if !unexecuted(behind.Err()) {
				return nil
			}
		}
		return cmds[i:]
	}
	return nil
}

// unexecuted reports that the host did not execute a command, for certain.
func unexecuted(err error) bool {
	var dial *net.OpError
	switch {
	case err == nil:
		return false
	case errors.Is(err, errNotSent):
		return true
	case errors.As(err, &dial) && dial.Op == "dial":
		return false // dial has waited already
	}
	return redis.HasErrorPrefix(err, "HANDOVER")
}

// reads reports that commands change nothing, so that executing them twice does no harm. A script may do anything.
func reads(cmds ...redis.Cmder) bool {
	for _, cmd := range cmds {
		switch v, ok := verbs[upper(cmd.Name())]; {
		case !ok || v.writes || v.session:
			return false
		}
		switch upper(cmd.Name()) {
		case "EVAL", "EVALSHA", "PUBLISH", "SCRIPT":
			return false
		}
	}
	return true
}
