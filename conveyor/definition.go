package conveyor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/conveyor/schedule"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Definitions that contradict themselves, for errors.Is. What is wrong with the text of a schedule says a sentinel of package
// schedule.
var (
	ErrScheduleGate      = errors.New("a job has a schedule or a gate: let a scheduled job trigger a label of the gate")
	ErrScheduleTime      = errors.New("a scheduled job has no time of its own: remove run_at and after")
	ErrTemplateObsolete  = errors.New("a job with a schedule or gate is never run itself and so never obsolete: give obsolete_if to one downstream of it")
	ErrGateTriggers      = errors.New("a gate waits for labels and triggers none: let an heir of it trigger them")
	ErrLabelTwice        = errors.New("label is named twice")
	ErrDeliveryNoWorker  = errors.New("delivery to one worker does not name it")
	ErrDeliveryWorker    = errors.New("delivery to any or all workers names one: deliver to worker, or remove the name")
	ErrBroadcastWaits    = errors.New("a job for all workers goes to those that are alive when it is added: it has no edges, times, schedule or gate")
	ErrBroadcastTriggers = errors.New("a job for all workers is done before any of them has run it: it triggers no gate")
	ErrPolicy            = errors.New("no such policy")
	ErrEmitted           = errors.New("only the engine says of which template and tick a job is: remove template_uuid, tick and delivery.of")
)

// isRoot tells whether a job begins cycles of its own.
func isRoot(job *wire.Job) bool { return job.Schedule != nil || len(job.Gate) > 0 }

// isTemplate tells whether a job is never run itself.
func isTemplate(job *wire.Job) bool { return isRoot(job) || job.Template }

func isBroadcast(job *wire.Job) bool { return job.Delivery.GetTo() == wire.Delivery_ALL }

// checkDefinition joins all that contradicts itself in what makes a job start, and in who gets it.
func checkDefinition(job *wire.Job) error {
	var problems []error
	if s := job.Schedule; s != nil {
		problems = append(problems, checkSchedule(s))
		if len(job.Gate) > 0 {
			problems = append(problems, ErrScheduleGate)
		}
		if job.RunAt != nil || job.After.AsDuration() > 0 {
			problems = append(problems, ErrScheduleTime)
		}
	}
	if isTemplate(job) && !isRoot(job) && len(upstreamsOf(job)) == 0 {
		problems = append(problems, ErrNoRoot)
	}
	if len(job.Gate) > 0 && len(job.TriggersGate) > 0 {
		problems = append(problems, ErrGateTriggers)
	}
	if len(job.ObsoleteIf) > 0 {
		if isRoot(job) {
			problems = append(problems, ErrTemplateObsolete)
		}
		problems = append(problems, within("obsolete_if", checkLabels(job.ObsoleteIf)))
	}
	problems = append(problems, within("gate", checkGateLabels(job.Gate)), within("triggers_gate", checkGateLabels(job.TriggersGate)))
	if job.Delivery != nil {
		problems = append(problems, within("delivery", checkDelivery(job)))
	}
	if len(job.Sync) > 0 {
		problems = append(problems, within("sync", checkSync(job.Sync)))
	}
	return errors.Join(problems...)
}

func within(part string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", part, err)
}

func checkSchedule(s *wire.Schedule) error {
	_, err := schedule.Parse(s.Every, s.Cron, s.Timezone)
	problems := []error{within("schedule", err)}
	if _, known := wire.Schedule_Catchup_name[int32(s.Catchup)]; !known {
		problems = append(problems, fmt.Errorf("schedule: catchup %d: %w", s.Catchup, ErrPolicy))
	}
	if _, known := wire.Schedule_Overlap_name[int32(s.Overlap)]; !known {
		problems = append(problems, fmt.Errorf("schedule: overlap %d: %w", s.Overlap, ErrPolicy))
	}
	return errors.Join(problems...)
}

// checkGateLabels joins all that is wrong with labels that a job waits for or flips. They are compared exactly.
func checkGateLabels(names []string) error {
	var problems []error
	if n := len(names); n > MaxLabels {
		problems = append(problems, fmt.Errorf("%w: %d labels, the limit is %d: %w", ErrLabel, n, MaxLabels, ErrTooLarge))
	}
	sorted := slices.Sorted(slices.Values(names))
	for i, name := range sorted {
		switch {
		case i > 0 && name == sorted[i-1]:
			problems = append(problems, fmt.Errorf("%w: %.40q: %w", ErrLabel, name, ErrLabelTwice))
		case name == "":
			problems = append(problems, fmt.Errorf("%w: it is empty", ErrLabel))
		case ReservedLabel(name):
			problems = append(problems, fmt.Errorf("%w: %s: %w", ErrLabel, name, ErrReservedLabel))
		case name == Any:
			problems = append(problems, fmt.Errorf("%w: * means any name in filters, and labels of gates are compared exactly", ErrLabel))
		case len(name) > MaxLabelName:
			problems = append(problems, fmt.Errorf("%w: %.40q: %d bytes, the limit is %d: %w", ErrLabel, name, len(name), MaxLabelName, ErrTooLarge))
		}
	}
	return errors.Join(problems...)
}

func checkDelivery(job *wire.Job) error {
	var problems []error
	switch d := job.Delivery; {
	case d.To != wire.Delivery_ANY && d.To != wire.Delivery_ALL && d.To != wire.Delivery_WORKER:
		problems = append(problems, fmt.Errorf("to %d: %w", d.To, ErrPolicy))
	case d.To == wire.Delivery_WORKER && d.Worker == "":
		problems = append(problems, ErrDeliveryNoWorker)
	case d.To == wire.Delivery_WORKER && !validName(d.Worker):
		problems = append(problems, fmt.Errorf("worker %q: %w", d.Worker, ErrUUID))
	case d.To != wire.Delivery_WORKER && d.Worker != "":
		problems = append(problems, fmt.Errorf("%w: %q", ErrDeliveryWorker, d.Worker))
	}
	if !isBroadcast(job) {
		return errors.Join(problems...)
	}
	var waits []string
	for _, w := range []struct {
		what string
		has  bool
	}{
		{"edges", len(upstreamsOf(job)) > 0}, {"run_at", job.RunAt != nil}, {"after", job.After.AsDuration() > 0},
		{"a schedule", job.Schedule != nil}, {"a gate", len(job.Gate) > 0}, {"template", job.Template},
	} {
		if w.has {
			waits = append(waits, w.what)
		}
	}
	if len(waits) > 0 {
		problems = append(problems, fmt.Errorf("%w: this one has %s", ErrBroadcastWaits, strings.Join(waits, ", ")))
	}
	if len(job.TriggersGate) > 0 {
		problems = append(problems, ErrBroadcastTriggers)
	}
	return errors.Join(problems...)
}

// upstreamsOf are the uuids that a job has edges to.
func upstreamsOf(job *wire.Job) []string {
	var out []string
	for _, e := range job.Edges {
		out = append(out, e.GetUuid())
	}
	if len(job.Edges) == 0 {
		for _, u := range []string{job.ParentUuid, job.PredecessorUuid} {
			if u != "" {
				out = append(out, u)
			}
		}
	}
	return out
}
