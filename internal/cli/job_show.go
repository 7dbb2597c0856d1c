package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/config/protofile"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// shownLines is how much of the end of a log job show writes.
const shownLines = 20

func (a *app) jobShowCommand() *cobra.Command {
	var p place
	asJSON := false
	cmd := &cobra.Command{
		Use: "show ADDR | UUID [DIR | FILES]", Short: "Show all that is known of a job",
		Long: `Shows how a job stands and what it waits for, its edges and how their other ends
stand, its attempts and the last failure, its progress, labels and unique key, its
result, and the end of its log. Of a job with a schedule or a gate, it shows when it
runs next, what it carries on (sync), and its latest cycles.`,
		Example: `waybill job show job.load
waybill job show job.nightly@latest examples/nightly
waybill job show 3f1c0a9e examples/sales
waybill job show -json 'job.clean["eu"]'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			job, paths, err := target("job show", args)
			if err != nil {
				return err
			}
			s, err := p.open(cmd.Context(), a, paths, reading)
			if err != nil {
				return err
			}
			defer s.close() //nolint:errcheck // nothing was written
			r := callRoll(cmd.Context(), s)
			uuid, err := r.find(cmd.Context(), s, job)
			if err != nil {
				return err
			}
			x, err := lookAt(cmd.Context(), s, r, uuid)
			if err != nil {
				return err
			}
			if p.namespace == "" && x.payload().unread() {
				x.messages, _ = a.readMessages(paths, variables{}) // what is wrong with them is for validate to say
			}
			if asJSON {
				return json.NewEncoder(a.p.Stdout).Encode(x.document())
			}
			x.write(a)
			return nil
		},
	}
	p.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "Write one JSON object.")
	return cmd
}

// jobView is all that job show knows of a job.
type jobView struct {
	*conveyor.Inspection
	roll     roll
	now      time.Time
	job      *wire.Job // nil: it has ended, or its record tells what it is about
	kind     string    // its type, "" when not known
	messages *protofile.Set
	labels   map[string]string
	failure  string
	result   string
	progress conveyor.Progress
	log      []string
	waits    []string // what it waits for, in sentences
	template *cyclic  // nil for a job that is run
	cycle    *cyclic  // of an occurrence: its template, as far as that is there still
	cycles   []conveyor.Cycle
	roots    []string // live jobs that make it obsolete now
}

func lookAt(ctx context.Context, s *store, r roll, uuid string) (*jobView, error) {
	in, err := s.client.Inspect(ctx, uuid)
	if err != nil {
		return nil, err
	}
	x := &jobView{Inspection: in, roll: r, now: s.now()}
	if err := x.lookAtCycles(ctx, s); err != nil {
		return nil, err
	}
	if x.job, _, err = s.client.Get(ctx, uuid); err != nil && !errors.Is(err, conveyor.ErrCorrupt) {
		return nil, err
	}
	if x.job == nil && r.record(uuid) == nil && in.Status.Template == "" {
		found := []conveyor.Stored{{Status: in.Status}}
		if err := s.client.Search(ctx, found); err != nil {
			return nil, err
		}
		x.job = found[0].Job
	}
	x.kind = x.job.GetType()
	if record := r.record(uuid); record != nil && x.kind == "" {
		x.kind = record.Type
	}
	listed, err := s.client.List(ctx, conveyor.ListOptions{Labels: map[string]string{"object": uuid}, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(listed) > 0 {
		x.labels = listed[0].Labels
	}
	if x.failure, err = s.client.Failure(ctx, uuid); err != nil {
		return nil, err
	}
	result, err := s.client.Result(ctx, uuid)
	if err != nil && !errors.Is(err, conveyor.ErrNotFound) {
		return nil, err
	}
	x.result = string(result)
	if x.progress, err = s.client.ProgressOf(ctx, uuid); err != nil && !errors.Is(err, conveyor.ErrNotFound) {
		return nil, err
	}
	if x.log, err = logTail(ctx, s.client, uuid, shownLines); err != nil {
		return nil, err
	}
	if len(x.ObsoleteIf) > 0 && x.Status.State == conveyor.StateObsolete {
		const shown = 6
		live, err := s.client.List(ctx, conveyor.ListOptions{Labels: x.ObsoleteIf, Limit: shown})
		if err != nil {
			return nil, err
		}
		for _, l := range live {
			if !l.State.Ended() && l.State != conveyor.StateTemplate && l.UUID != uuid {
				r.meet(l.Status)
				x.roots = append(x.roots, r.name(l.UUID))
			}
		}
	}
	x.waits, err = x.reasons(ctx, s.client)
	return x, err
}

// lookAtCycles reads what makes a template, or the cycle of an occurrence.
func (x *jobView) lookAtCycles(ctx context.Context, s *store) (err error) {
	x.roll.meet(x.Status)
	for _, e := range x.Edges {
		x.roll.meet(e.Upstream)
	}
	x.roll.meet(x.Children...)
	switch {
	case x.Status.State == conveyor.StateTemplate:
		if x.template, err = x.roll.cyclic(ctx, s, x.Status.UUID); err == nil {
			x.cycles, err = x.template.cycles(ctx, s, shownCycles)
		}
	case x.Status.Template != "":
		c, missing := x.roll.cyclic(ctx, s, x.Status.Template)
		var none *failure
		if errors.As(missing, &none) { // it was deleted, and this one went on
			return nil
		}
		if err = missing; err == nil {
			x.cycle = c
			x.cycles, err = c.cycles(ctx, s, 0)
		}
	}
	return err
}

// logTail is the end of a job's log, in lines.
func logTail(ctx context.Context, c *conveyor.Client, uuid string, n int) ([]string, error) {
	var lines []string
	var at conveyor.LogPosition
	rest := ""
	for {
		page, err := c.Logs(ctx, uuid, at, logPage, 0)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			at = conveyor.LogPosition{Fence: e.Fence, N: e.N}
			parts := strings.Split(rest+string(e.Text), "\n")
			rest = parts[len(parts)-1]
			lines = append(lines, parts[:len(parts)-1]...)
			lines = lines[max(0, len(lines)-n):]
		}
	}
	if rest != "" {
		lines = append(lines, rest)
	}
	return lines[max(0, len(lines)-n):], nil
}

// reasons are what the job waits for, in sentences; none for one that is over.
func (x *jobView) reasons(ctx context.Context, c *conveyor.Client) ([]string, error) {
	s := x.Status
	switch s.State {
	case conveyor.StateHeld:
		var out []string
		for _, e := range x.Edges {
			switch {
			case e.Decision == conveyor.EdgeCut:
				out = append(out, x.roll.name(e.Upstream.UUID)+" was withdrawn: update or cancel this job")
			case e.Decision == conveyor.EdgeUndecided && e.Upstream.State == conveyor.StateUnknown:
				out = append(out, x.roll.name(e.Upstream.UUID)+" was never seen")
			case e.Decision == conveyor.EdgeUndecided:
				out = append(out, x.roll.name(e.Upstream.UUID)+" is "+stateText(e.Upstream))
			}
		}
		return out, nil
	case conveyor.StateScheduled:
		return []string{"it is due " + distance(x.now, s.DueAt) + ", at " + stamp(s.DueAt)}, nil
	case conveyor.StateClosing:
		var out []string
		for _, child := range x.Children {
			out = append(out, "its child "+x.roll.name(child.UUID)+" is "+stateText(child))
		}
		return out, nil
	case conveyor.StateOnHold:
		return []string{`somebody has to look: "waybill job release" lets it go on`}, nil
	case conveyor.StateQueued:
		return x.queueReasons(ctx, c)
	}
	return nil, nil
}

// queueReasons are why a ready job may not have started.
func (x *jobView) queueReasons(ctx context.Context, c *conveyor.Client) ([]string, error) {
	queues, err := c.Queues(ctx)
	if err != nil {
		return nil, err
	}
	workers, err := c.Workers(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, q := range listQueues(queues, workers) {
		if q.Name != x.Status.Queue {
			continue
		}
		ready := q.High + q.Normal + q.Low
		switch {
		case q.Paused != "":
			out = append(out, "queue "+q.Name+" is paused "+q.Paused)
		case q.Workers == 0:
			out = append(out, "no worker serves queue "+q.Name)
		case q.Concurrency > 0 && q.Running >= int64(q.Concurrency):
			out = append(out, fmt.Sprintf("queue %s runs as many jobs as it may (%d)", q.Name, q.Concurrency))
		}
		if ready > 1 {
			out = append(out, fmt.Sprintf("%s are ready in queue %s", countOf(ready, "job", "jobs"), q.Name))
		}
	}
	if len(out) == 0 {
		out = []string{"a worker takes it next"}
	}
	return out, nil
}
