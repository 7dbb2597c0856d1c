package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
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
		Use: "wait [ADDR...] [DIR | FILES]", Short: "Wait until a workflow's jobs, or some of them, are settled",
		Long: `Writes a line for each change of a workflow's jobs, and returns when every job is
settled or waits for its time: with exit code 0 if all went well, 1 if some did not
succeed, and 124 if they were not settled within -timeout.

It begins with the first thing that the latest apply did, whoever ran it and
whatever became of that process, and with -after=SEQ.PART right behind a line of
apply -json or wait -json that was seen before: together they have every change
once. The engine keeps some thousand events; when it has none so old any more, a
warning says so, and how the jobs stand comes first.

With addresses it waits until these jobs are over or on hold, from now on, such as
an occurrence of a job with a schedule: job.nightly@latest. Without, the cycles of
schedules and gates are not waited for, since there is no last of them.`,
		Example: `waybill apply -detach && waybill wait -timeout=10m
waybill wait job.nightly@latest
waybill wait -json -after=17.2`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if timeout > 0 {
				// No deadline: the Redis client would make it one of its connection, and report that instead.
				var cancel context.CancelCauseFunc
				ctx, cancel = context.WithCancelCause(ctx)
				defer cancel(nil)
				defer time.AfterFunc(timeout, func() { cancel(errTimeout) }).Stop()
			}
			return a.readAlong(ctx, args, l, timeout)
		},
	}
	l.flags(cmd)
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "Give up after so long, as in `10m`, with exit code 124. Default: never.")
	return cmd
}

var errTimeout = errors.New("timeout")

// readAlong tells what happens to a workflow's jobs in lines, until all are settled.
func (a *app) readAlong(ctx context.Context, args []string, l alongside, timeout time.Duration) error {
	var d *display
	addrs, paths := addressesIn(args)
	err := error(nil)
	if len(addrs) > 0 {
		err = a.tellSome(ctx, addrs, paths, l, &d)
	} else {
		err = a.tellLines(ctx, args, l, &d)
	}
	if errors.Is(context.Cause(ctx), errTimeout) && err != nil {
		err = &failure{summary: "The jobs are not settled", detail: fmt.Sprintf("They went on for longer than %s (-timeout), and go on.", timeout), code: exitTimeout}
	}
	return a.inJSON(d, l.json, err)
}

func (a *app) tellLines(ctx context.Context, args []string, l alongside, shown **display) (err error) {
	o, err := l.options()
	if err != nil {
		return err
	}
	w, err := a.load(args, &variables{}, settingsOnly, nil)
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

// addressesIn takes the addresses of jobs out of arguments.
func addressesIn(args []string) (addrs, rest []string) {
	for _, arg := range args {
		if strings.HasPrefix(arg, "job.") || strings.HasPrefix(arg, "module.") {
			addrs = append(addrs, arg)
		} else {
			rest = append(rest, arg)
		}
	}
	return addrs, rest
}

// tellSome tells what happens to some jobs, until they are over.
func (a *app) tellSome(ctx context.Context, addrs, paths []string, l alongside, shown **display) error {
	if l.after != "" {
		return fail("Invalid option", "-after is for a whole workflow: leave it out, or the addresses.")
	}
	w, err := a.load(paths, &variables{}, settingsOnly, nil)
	if err != nil {
		return err
	}
	s, err := a.open(ctx, l.redis, w, serving)
	if err != nil {
		return err
	}
	defer s.close() //nolint:errcheck // nothing was written
	r := callRoll(ctx, s)
	from, err := s.client.LastEvent(ctx)
	if err != nil {
		return err
	}
	var uuids []string
	for _, job := range addrs {
		uuid, err := r.find(ctx, s, job)
		if err != nil {
			return err
		}
		uuids = append(uuids, uuid)
	}
	found, err := s.client.Statuses(ctx, uuids)
	if err != nil {
		return err
	}
	for _, j := range found {
		if j.State == conveyor.StateTemplate {
			return fail("Not possible in this state", "%s is a template, which is never over: name an occurrence of it, such as %s@%s.", r.name(j.UUID), r.name(j.UUID), latestTick)
		}
	}
	return a.chases(ctx, ofJobs(s, r, uuids), from, l.json, shown)
}
