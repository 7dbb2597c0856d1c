package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/conveyor"
)

func (a *app) queuePauseCommand() *cobra.Command {
	return a.queueChange("pause", "Give out no more jobs of a queue", `Has a queue give out no more jobs until "waybill queue resume", whatever is
declared of it. Jobs that run go on, and jobs may be added.`,
		func(ctx context.Context, s *store, queue string) error {
			return s.client.PauseQueue(ctx, queue)
		}, "paused")
}

func (a *app) queueResumeCommand() *cobra.Command {
	return a.queueChange("resume", "Let a queue go on that was paused", `Ends a pause by hand. A queue that its workflow declares paused stays so: change
the workflow's files and apply them.`,
		func(ctx context.Context, s *store, queue string) error {
			err := s.client.ResumeQueue(ctx, queue)
			if errors.Is(err, conveyor.ErrQueueDeclaredPaused) {
				return fail("Queue is declared paused", "Queue %s is paused by the workflow that declares it. Change its queue block and apply it.", queue)
			}
			return err
		}, "open")
}

// queueChange makes a command that changes one queue.
func (a *app) queueChange(verb, short, long string, change func(context.Context, *store, string) error, becomes string) *cobra.Command {
	var p place
	asJSON := false
	cmd := &cobra.Command{
		Use: verb + " QUEUE [DIR | FILES]", Short: short, Long: long,
		Example: fmt.Sprintf("waybill queue %s etl\nwaybill queue %s etl examples/sales", verb, verb),
		RunE: func(cmd *cobra.Command, args []string) error {
			queue, paths, err := queueName(verb, args)
			if err != nil {
				return err
			}
			s, err := p.open(cmd.Context(), a, paths, serving)
			if err != nil {
				return err
			}
			defer s.close() //nolint:errcheck // the store's own errors came with the command
			if err := knownQueue(cmd.Context(), s, queue); err != nil {
				return err
			}
			if err := change(cmd.Context(), s, queue); err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(a.p.Stdout).Encode(map[string]string{"queue": queue, "state": becomes})
			}
			_, err = fmt.Fprintf(a.p.Stdout, "Queue %s is %s.\n", queue, becomes)
			return err
		},
	}
	p.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "Write one JSON object.")
	return cmd
}

// queueName takes the queue out of a command's arguments.
func queueName(verb string, args []string) (queue string, paths []string, err error) {
	if len(args) == 0 {
		return "", nil, fail("Wrong number of arguments", "queue %s takes the name of a queue. Run %q for the list.", verb, "waybill queue list")
	}
	return args[0], args[1:], nil
}

// knownQueue refuses a queue that nobody knows, and names a near one.
func knownQueue(ctx context.Context, s *store, queue string) error {
	queues, err := s.client.Queues(ctx)
	if err != nil {
		return err
	}
	workers, err := s.client.Workers(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, q := range listQueues(queues, workers) {
		names = append(names, q.Name)
	}
	if r := callRoll(ctx, s); r.state != nil {
		for _, record := range r.state.Records {
			names = append(names, record.Queue)
		}
	}
	for _, name := range names {
		if name == queue {
			return nil
		}
	}
	hint := fmt.Sprintf("Run %q for the list.", "waybill queue list")
	if near := nearest(queue, names); near != "" {
		hint = fmt.Sprintf("Did you mean %q?", near)
	}
	return fail("No such queue", "Namespace %q has no queue %q: it has no jobs and no settings, and no worker serves it. %s", s.client.Namespace(), queue, hint)
}
