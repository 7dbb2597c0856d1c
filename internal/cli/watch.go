package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
)

func (a *app) watchCommand() *cobra.Command {
	var r redisFlag
	cmd := &cobra.Command{
		Use: "watch [DIR | FILES]", Short: "See a workflow's jobs run",
		Long: `Shows the jobs of a workflow live, whoever submitted them, until you press q. It
changes nothing, and may be opened and closed at any time.

Where stdout is no terminal it writes a line for each change and returns when
every job is settled or waits for its time, with exit code 1 if some did not
succeed.`,
		Example: `waybill watch
waybill watch -redis redis://127.0.0.1:6379 examples/sales`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.watch(cmd.Context(), args, r, false) },
	}
	r.flags(cmd)
	return cmd
}

func (a *app) waitCommand() *cobra.Command {
	var r redisFlag
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "wait [DIR | FILES]", Short: "Wait until a workflow's jobs are settled",
		Long: `Writes a line for each change of a workflow's jobs, and returns when every job is
settled or waits for its time: with exit code 0 if all went well, and 1 if some
did not succeed.`,
		Example: `waybill apply -detach && waybill wait -timeout=10m`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeoutCause(ctx, timeout, errTimeout)
				defer cancel()
			}
			err := a.watch(ctx, args, r, true)
			if errors.Is(context.Cause(ctx), errTimeout) && err != nil {
				return fail("The jobs are not settled", "They went on for longer than %s (-timeout), and go on.", timeout)
			}
			return err
		},
	}
	r.flags(cmd)
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "Give up after so long, as in `10m`. Default: never.")
	return cmd
}

var errTimeout = errors.New("timeout")

// watch follows a workflow. A view on a terminal goes on until its user leaves; lines end when all is settled.
func (a *app) watch(ctx context.Context, args []string, r redisFlag, lines bool) (err error) {
	w, err := a.load(args, variables{}, settingsOnly, nil)
	if err != nil {
		return err
	}
	s, err := a.open(ctx, r, w, serving)
	if err != nil {
		return err
	}
	sc := a.newDisplay(s, displayOptions{watch: true, plain: lines})
	defer func() {
		sc.close()
		if closing := s.close(); closing != nil && err == nil {
			err = fail("Cannot close the store", "%v.", closing)
		}
	}()
	if sc.live == nil {
		fmt.Fprintln(a.p.Stdout, s.line())
	}
	for {
		result, err := applier.Follow(ctx, s.client, s.workflow, applier.FollowOptions{}, sc)
		switch {
		case err != nil:
			return err
		case result.Interrupted && sc.live != nil:
			return nil // q is how a view is left
		case result.Interrupted:
			return exit(exitInterrupted)
		case sc.live != nil:
			if !news(ctx, s) {
				return nil
			}
			continue
		case len(result.Bad) > 0:
			return exit(exitError)
		}
		return nil
	}
}

// news waits until something happens in the namespace; false when ctx ends first.
func news(ctx context.Context, s *store) bool {
	const pause = 500 * time.Millisecond
	seen, err := s.client.LastEvent(ctx)
	if err != nil {
		return ctx.Err() == nil // whoever follows on meets the error
	}
	for {
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return false
		case <-timer.C:
		}
		if last, err := s.client.LastEvent(ctx); err != nil || last != seen {
			return ctx.Err() == nil
		}
	}
}
