package task

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// What is wrong with a task that is to be created, beside what package conveyor refuses of its job.
var (
	ErrNil      = errors.New("task is nil")
	ErrNoMeta   = errors.New("task has no Meta: nobody could tell what is to be done")
	ErrReserved = errors.New("the label is reserved: only the engine sets it")
	ErrUnknown  = errors.New("no such label here")
	ErrCancel   = errors.New("cancel is no number of executions from 1 on")
	ErrGate     = errors.New("a label of Gate is given as waiting or trigger")
	ErrMethod   = errors.New("method is none of any, uni and all")
)

// jobOf is the job of a task.
func (e *Engine) jobOf(t *Task) (*wire.Job, error) {
	if t == nil {
		return nil, ErrNil
	}
	job := &wire.Job{
		Type: e.o.Type, Queue: e.o.Queue, Labels: t.Meta.clone(), ObsoleteIf: t.Root.clone(), Sync: t.Sync.clone(),
		RetryPolicy: &wire.RetryPolicy{MaxAttempts: proto.Int32(0), MaxLost: proto.Int32(0)}, // it stays until it is done
	}
	var problems []error
	if len(t.Meta) == 0 {
		problems = append(problems, ErrNoMeta)
	}
	for key, value := range t.Core {
		if key != Cancel {
			problems = append(problems, fmt.Errorf("core: %q: %w", key, ErrReserved))
			continue
		}
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 1 {
			problems = append(problems, fmt.Errorf("core: %w: %q", ErrCancel, value))
		}
		job.MaxCycles = int32(n)
	}
	problems = append(problems, cron(job, t.Cron), gate(job, t.Gate), node(job, t.Node))
	return job, errors.Join(problems...)
}

func cron(job *wire.Job, labels Labels) error {
	var problems []error
	s := &wire.Schedule{Every: labels[Every], Cron: labels[Line], Timezone: labels[Zone]}
	for key, value := range labels {
		switch key {
		case Every, Line, Zone:
			job.Schedule = s
		case Time:
			at, err := time.Parse(time.RFC3339Nano, value)
			if err != nil {
				problems = append(problems, fmt.Errorf("cron: %s: %w", key, err))
			}
			job.RunAt = timestamppb.New(at)
		case LastTick, NextTick:
			problems = append(problems, fmt.Errorf("cron: %q: %w", key, ErrReserved))
		default:
			problems = append(problems, fmt.Errorf("cron: %q: %w", key, ErrUnknown))
		}
	}
	return errors.Join(problems...)
}

func gate(job *wire.Job, labels Labels) error {
	var problems []error
	for key, value := range labels {
		switch value {
		case Waiting:
			job.Gate = append(job.Gate, key)
		case Trigger:
			job.TriggersGate = append(job.TriggersGate, key)
		default:
			problems = append(problems, fmt.Errorf("gate: %s=%s: %w", key, value, ErrGate))
		}
	}
	slices.Sort(job.Gate)
	slices.Sort(job.TriggersGate)
	return errors.Join(problems...)
}

func node(job *wire.Job, labels Labels) error {
	if len(labels) == 0 {
		return nil
	}
	job.Delivery = &wire.Delivery{Worker: labels[Worker]}
	var problems []error
	for key := range labels {
		if key != Method && key != Worker {
			problems = append(problems, fmt.Errorf("node: %q: %w", key, ErrUnknown))
		}
	}
	switch method := labels[Method]; method {
	case "", DeliverAny:
	case DeliverUni:
		job.Delivery.To = wire.Delivery_WORKER
	case DeliverAll:
		job.Delivery.To = wire.Delivery_ALL
	default:
		problems = append(problems, fmt.Errorf("node: %w: %q", ErrMethod, method))
	}
	return errors.Join(problems...)
}

// owned is the task of a reservation that ends at this time.
func (e *Engine) owned(r conveyor.Reservation, until time.Time) *Task {
	job := r.Job
	t := &Task{
		Core: Labels{Object: job.GetUuid(), Worker: e.o.Worker, Expiry: until.UTC().Format(time.RFC3339Nano)},
		Meta: job.GetLabels(), Root: job.GetObsoleteIf(), Sync: r.Sync, Template: job.GetTemplateUuid(), fence: r.Fence, sync: Labels(r.Sync).clone(),
	}
	if t.Sync == nil {
		t.Sync = Labels{} // Ensure assigns to it
	}
	t.Tick, _ = conveyor.TickOf(job)
	if r.MaxCycles > 0 {
		t.Core[Cycles], t.Core[Cancel] = strconv.Itoa(r.Cycles), strconv.Itoa(r.MaxCycles)
	}
	for _, label := range job.GetTriggersGate() {
		if t.Gate == nil {
			t.Gate = Labels{}
		}
		t.Gate[label] = Trigger
	}
	switch d := job.GetDelivery(); {
	case d.GetOf() != "": // of one that goes to all
		t.Node = Labels{Method: DeliverAll}
	case d.GetTo() == wire.Delivery_WORKER:
		t.Node = Labels{Method: DeliverUni, Worker: d.GetWorker()}
	}
	return t
}
