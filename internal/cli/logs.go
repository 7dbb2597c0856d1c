package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/screen"
)

const (
	logPage  = 500 // entries of one read
	logBlock = time.Second
)

func (a *app) logsCommand() *cobra.Command {
	var r redisFlag
	follow := false
	cmd := &cobra.Command{
		Use: "logs ADDR [DIR | FILES]", Short: "Show what a job has written",
		Long: `Writes the log of a job to stdout: what its attempts wrote to their stdout and
stderr, the oldest first. A line on stderr tells where an attempt after the first
one begins, and how much was not kept when an attempt wrote more than 1 MiB.

With -f it goes on until the job has ended.`,
		Example: `waybill logs job.report
waybill logs -f 'job.clean["eu"]' examples/sales`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			addrs, paths, err := addresses(args)
			if err != nil {
				return err
			}
			if len(addrs) != 1 {
				return fail("Wrong number of arguments", "logs takes the address of one job, such as job.load or 'job.load[\"eu\"]', and got %d.", len(addrs))
			}
			w, err := a.load(paths, variables{}, settingsOnly, nil)
			if err != nil {
				return err
			}
			how := reading
			if follow {
				how = serving
			}
			s, err := a.open(cmd.Context(), r, w, how)
			if err != nil {
				return err
			}
			defer s.close() //nolint:errcheck // nothing was written
			state, err := applier.ReadState(cmd.Context(), s.client, s.workflow)
			if err != nil {
				return err
			}
			record := state.Records[addrs[0].String()]
			if record == nil {
				return unknownJob(addrs[0], state)
			}
			l := logReader{client: s.client, uuid: record.UUID.String(), out: a.p.Stdout, notes: a.p.Stderr, clean: terminal(a.p.Stdout)}
			return l.run(cmd.Context(), follow)
		},
	}
	r.flags(cmd)
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "Go on until the job has ended.")
	return cmd
}

// unknownJob says which addresses there are near one that is not recorded.
func unknownJob(addr config.Addr, state *planner.State) error {
	if len(state.Records) == 0 {
		return fail("No such job", "Workflow %q has no jobs: nothing was applied yet, or it was destroyed.", state.Workflow)
	}
	var all, instances []string
	for name := range state.Records {
		all = append(all, name)
		if a, err := config.ParseAddr(name); err == nil && a.Block() == addr.Block() {
			instances = append(instances, name)
		}
	}
	slices.Sort(instances)
	hint := fmt.Sprintf("Run %q for all of them.", "waybill state list")
	switch near := nearest(addr.String(), all); {
	case len(instances) > 0:
		const shown = 5
		hint = "Instances of its block are: " + strings.Join(instances[:min(shown, len(instances))], ", ")
		if len(instances) > shown {
			hint += ", ..."
		}
		hint += "."
	case near != "":
		hint = fmt.Sprintf("Did you mean %s?", near)
	}
	return fail("No such job", "Workflow %q has no job %s. %s", state.Workflow, addr, hint)
}

// logReader writes one job's log.
type logReader struct {
	client     *conveyor.Client
	uuid       string
	out, notes io.Writer
	clean      bool // out is a terminal: what jobs write must not steer it

	at      conveyor.LogPosition
	dropped int64
	rest    []byte // of an unfinished line, when clean
}

func (l *logReader) run(ctx context.Context, follow bool) error {
	for {
		// The status is read before the log: what an ended job wrote is then complete.
		over := !follow
		if follow {
			statuses, err := l.client.Statuses(ctx, []string{l.uuid})
			if err != nil {
				return err
			}
			over = statuses[0].State.Ended() || statuses[0].State == conveyor.StateUnknown || statuses[0].State == conveyor.StateOnHold
		}
		block := logBlock
		if over {
			block = 0
		}
		entries, err := l.client.Logs(ctx, l.uuid, l.at, logPage, block)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := l.write(e); err != nil {
				return err
			}
		}
		if over && len(entries) < logPage {
			return l.flush()
		}
	}
}

func (l *logReader) write(e conveyor.LogEntry) error {
	if e.Fence != l.at.Fence && l.at.Fence != 0 {
		if err := l.flush(); err != nil {
			return err
		}
		fmt.Fprintf(l.notes, "--- start %d of the job, %s ---\n", e.Fence, e.At.UTC().Format(time.RFC3339))
		l.dropped = 0
	}
	l.at = conveyor.LogPosition{Fence: e.Fence, N: e.N}
	if e.Dropped > l.dropped {
		fmt.Fprintf(l.notes, "--- %d bytes were not kept ---\n", e.Dropped-l.dropped)
		l.dropped = e.Dropped
	}
	if !l.clean {
		_, err := l.out.Write(e.Text)
		return err
	}
	l.rest = append(l.rest, e.Text...)
	end := bytes.LastIndexByte(l.rest, '\n') + 1
	if end == 0 {
		return nil
	}
	_, err := io.WriteString(l.out, screen.CleanText(string(l.rest[:end])))
	l.rest = append(l.rest[:0], l.rest[end:]...)
	return err
}

// flush writes what is left of an unfinished line.
func (l *logReader) flush() error {
	if len(l.rest) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(l.out, screen.CleanText(string(l.rest)))
	l.rest = nil
	return err
}
