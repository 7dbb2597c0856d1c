package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
)

func (a *app) watchCommand() *cobra.Command {
	var l alongside
	cmd := &cobra.Command{
		Use: "watch [DIR | FILES]", Short: "See a workflow's jobs run",
		Long: `Shows the jobs of a workflow live, whoever submitted them, until you press q. It
changes nothing, and may be opened and closed at any time.

Where stdout is no terminal, or with -json or -after, it does what wait does: it
writes a line for each change and returns when every job is settled or waits for
its time, with exit code 1 if some did not succeed.`,
		Example: `waybill watch
waybill watch -redis redis://127.0.0.1:6379 examples/sales`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if l.json || l.after != "" || !a.live() {
				return a.readAlong(cmd.Context(), args, l, 0)
			}
			return a.watch(cmd.Context(), args, l.redis)
		},
	}
	l.flags(cmd)
	return cmd
}

// watch shows a workflow until its user leaves.
func (a *app) watch(ctx context.Context, args []string, r redisFlag) (err error) {
	w, err := a.load(args, variables{}, settingsOnly, nil)
	if err != nil {
		return err
	}
	s, err := a.open(ctx, r, w, serving)
	if err != nil {
		return err
	}
	sc := a.newDisplay(s, displayOptions{watch: true})
	defer func() {
		sc.close()
		if closing := s.close(); closing != nil && err == nil {
			err = fail("Cannot close the store", "%v.", closing)
		}
	}()
	for {
		result, err := applier.Follow(ctx, s.client, s.workflow, applier.FollowOptions{}, sc)
		if err != nil {
			return err
		}
		if result.Interrupted || !news(ctx, s) { // q is how a view is left
			return nil
		}
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
