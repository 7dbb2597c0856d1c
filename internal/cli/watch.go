package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/watch"
)

func (a *app) watchCommand() *cobra.Command {
	var l alongside
	namespace := ""
	cmd := &cobra.Command{
		Use: "watch [DIR | FILES]", Short: "See workflows, queues and workers live",
		Long: `Shows all workflows of the namespace live, whoever submitted them, until you press
q: their jobs as a tree, in layers or as a list, logs as they grow, queues, workers,
and what waits for a time. It opens on the workflow that is named or is here; esc
shows all. Where there is none, -redis or WAYBILL_REDIS says where to look.

Jobs can be retried, cancelled and released from it, queues paused and resumed, and
schedules run, paused and resumed; it asks before it changes anything. Press ? for its keys.

Where stdout is no terminal, or with -json or -after, it does what wait does: it
writes a line for each change and returns when every job is settled or waits for
its time, with exit code 1 if some did not succeed.`,
		Example: `waybill watch
waybill watch -redis redis://127.0.0.1:6379 examples/sales
waybill watch -redis redis://127.0.0.1:6379 -namespace shop`,
		RunE: func(cmd *cobra.Command, args []string) error {
			lines := l.json || l.after != "" || !a.live()
			if lines && namespace != "" {
				return fail("No terminal", "-namespace shows a whole namespace on a terminal. Lines are written of one workflow: name its directory instead.")
			}
			if lines {
				return a.readAlong(cmd.Context(), args, l, 0)
			}
			return a.watch(cmd.Context(), place{l.redis, namespace}, args)
		},
	}
	l.flags(cmd)
	cmd.Flags().StringVar(&namespace, "namespace", "", "Without a workflow: the Redis key namespace `NAME`.")
	return cmd
}

// watch shows a namespace on the terminal until its user leaves.
func (a *app) watch(ctx context.Context, p place, args []string) (err error) {
	if p.namespace == "" && len(args) == 0 && a.redisNamed(p.redis) && !workflowHere() {
		p.namespace = config.DefaultNamespace
	}
	s, err := p.open(ctx, a, args, serving)
	if err != nil {
		return err
	}
	defer func() {
		if closing := s.close(); closing != nil && err == nil {
			err = fail("Cannot close the store", "%v.", closing)
		}
	}()
	o := watch.Options{In: a.p.Stdin, Out: a.p.Stdout, NoColor: !a.ink(a.p.Stdout).On, Now: s.now, Actions: desk{s.client}, Workflow: s.workflow,
		Stop: func(int) { a.stops.stop() }, Suspend: suspendSelf}
	if name := s.client.Namespace(); name != config.DefaultNamespace {
		o.Namespace = name
	}
	view, err := watch.New(o)
	if err != nil {
		return err
	}
	a.stops.screen(view.Kill)
	defer a.stops.screen(nil)
	view.Start()
	defer a.pauses.with(view.Pause)()
	view.Observe(s.opened())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // a view that has failed shows nothing more
		defer cancel()
		view.Wait() //nolint:errcheck // Close tells it
	}()
	err = applier.Watch(ctx, s.client, applier.WatchOptions{}, view)
	if closing := view.Close(); err == nil {
		err = closing
	}
	return err
}

// workflowHere tells whether there are files of a workflow in this directory. One that cannot be read has some, as far as is
// known: loading them says what is wrong.
func workflowHere() bool {
	entries, err := os.ReadDir(".")
	return err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return strings.HasSuffix(e.Name(), ".hcl") || strings.HasSuffix(e.Name(), ".hcl.json")
	})
}

// desk does what the watch view asks for.
type desk struct{ client *conveyor.Client }

// piecesAtOnce is how many pieces of a log one call reads.
const piecesAtOnce = 500

func (d desk) Retry(ctx context.Context, uuid string) error   { return d.client.Retry(ctx, uuid) }
func (d desk) Cancel(ctx context.Context, uuid string) error  { return d.client.Cancel(ctx, uuid) }
func (d desk) Release(ctx context.Context, uuid string) error { return d.client.Release(ctx, uuid) }

func (d desk) PauseQueue(ctx context.Context, name string) error {
	return d.client.PauseQueue(ctx, name)
}

func (d desk) ResumeQueue(ctx context.Context, name string) error {
	return d.client.ResumeQueue(ctx, name)
}

func (d desk) RunTemplate(ctx context.Context, uuid string) error {
	_, err := d.client.RunTemplate(ctx, uuid)
	return err
}

func (d desk) PauseTemplate(ctx context.Context, uuid string) error {
	return d.client.PauseTemplate(ctx, uuid)
}

func (d desk) ResumeTemplate(ctx context.Context, uuid string) error {
	return d.client.ResumeTemplate(ctx, uuid)
}

func (d desk) ResetCycles(ctx context.Context, uuid string) error {
	return d.client.ResetCycles(ctx, uuid)
}

func (d desk) Cycles(ctx context.Context, uuid string) ([]conveyor.Cycle, error) {
	c, err := roll{}.cyclic(ctx, &store{client: d.client}, uuid)
	if err != nil {
		return nil, err
	}
	return c.cycles(ctx, &store{client: d.client}, 0)
}

func (d desk) Logs(ctx context.Context, uuid string, after conveyor.LogPosition) ([]conveyor.LogEntry, error) {
	return d.client.Logs(ctx, uuid, after, piecesAtOnce, 0)
}

func (d desk) Inspect(ctx context.Context, uuid string) (*conveyor.Inspection, error) {
	return d.client.Inspect(ctx, uuid)
}

// Payload shows what job show does.
func (d desk) Payload(ctx context.Context, workflow string, addr config.Addr, uuid string) ([]string, error) {
	record, err := applier.ReadRecord(ctx, d.client, workflow, addr)
	if err != nil {
		return nil, err
	}
	job, status, err := d.client.Get(ctx, uuid)
	if err != nil && !errors.Is(err, conveyor.ErrCorrupt) && !errors.Is(err, conveyor.ErrNotFound) {
		return nil, err
	}
	kind := job.GetType()
	switch {
	case record != nil && record.UUID.String() != uuid && record.UUID.String() != status.Template:
		record = nil // of another generation
	case record != nil && kind == "":
		kind = record.Type
	}
	return payloadOf(kind, record, job, nil).lines(), nil
}
