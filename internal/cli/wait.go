package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
)

// reading along is what wait and watch have in common: which changes they tell, and how.
type alongside struct {
	redis redisFlag
	after string
	json  bool
}

func (l *alongside) flags(cmd *cobra.Command) {
	l.redis.flags(cmd)
	cmd.Flags().StringVar(&l.after, "after", "", "Tell what came after the place `SEQ[.PART]` in the event stream, as lines of -json name it, or after now. "+
		"Default: all that the latest apply brought about.")
	cmd.Flags().BoolVar(&l.json, "json", false, "Write one JSON object a line, as apply -json does.")
}

// options say from where on to follow.
func (l *alongside) options() (applier.FollowOptions, error) {
	switch l.after {
	case "":
		return applier.FollowOptions{Latest: true}, nil
	case "now":
		return applier.FollowOptions{}, nil
	}
	p, err := applier.ParsePosition(l.after)
	if err != nil {
		return applier.FollowOptions{}, fail("Invalid option", "-after: %v. A line of -json has its place in seq and part.", err)
	}
	return applier.FollowOptions{After: &p}, nil
}

func (a *app) waitCommand() *cobra.Command {
	var l alongside
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "wait [DIR | FILES]", Short: "Wait until a workflow's jobs are settled",
		Long: `Writes a line for each change of a workflow's jobs, and returns when every job is
settled or waits for its time: with exit code 0 if all went well, and 1 if some
did not succeed.

It begins with the first thing that the latest apply did, whoever ran it and
whatever became of that process, and with -after=SEQ.PART right behind a line of
apply -json or wait -json that was seen before: together they have every change
once. The engine keeps some thousand events; when it has none so old any more, a
warning says so, and how the jobs stand comes first.`,
		Example: `waybill apply -detach && waybill wait -timeout=10m
waybill wait -json -after=17.2`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeoutCause(ctx, timeout, errTimeout)
				defer cancel()
			}
			return a.readAlong(ctx, args, l, timeout)
		},
	}
	l.flags(cmd)
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "Give up after so long, as in `10m`. Default: never.")
	return cmd
}

var errTimeout = errors.New("timeout")

// readAlong tells what happens to a workflow's jobs in lines, until all are settled.
func (a *app) readAlong(ctx context.Context, args []string, l alongside, timeout time.Duration) error {
	var d *display
	err := a.tellLines(ctx, args, l, &d)
	if errors.Is(context.Cause(ctx), errTimeout) && err != nil {
		err = fail("The jobs are not settled", "They went on for longer than %s (-timeout), and go on.", timeout)
	}
	return a.inJSON(d, l.json, err)
}

func (a *app) tellLines(ctx context.Context, args []string, l alongside, shown **display) (err error) {
	o, err := l.options()
	if err != nil {
		return err
	}
	w, err := a.load(args, variables{}, settingsOnly, nil)
	if err != nil {
		return err
	}
	s, err := a.open(ctx, l.redis, w, serving)
	if err != nil {
		return err
	}
	defer func() {
		if closing := s.close(); closing != nil && err == nil {
			err = fail("Cannot close the store", "%v.", closing)
		}
	}()
	d := a.newDisplay(s, displayOptions{watch: true, plain: true, json: l.json})
	*shown = d
	if l.json {
		d.json.Version(Version, s.name, s.workflow)
	} else {
		fmt.Fprintln(a.p.Stdout, s.line())
	}
	result, err := applier.Follow(ctx, s.client, s.workflow, o, d)
	switch {
	case err != nil:
		return err
	case result.Interrupted:
		return exit(exitInterrupted)
	case len(result.Bad) > 0:
		return exit(exitError)
	}
	return nil
}
