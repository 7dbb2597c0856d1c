package task

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/schedule"
)

// Expire revokes the ownership of all tasks whose time has expired, whoever owned them: it takes one worker that calls it now and
// then to keep tasks available to all.
func (e *Engine) Expire(ctx context.Context) error { return e.tick(ctx, "expire") }

// Ticker emits the tasks of all templates that are due. Like Expire it takes one worker; more do no harm.
func (e *Engine) Ticker(ctx context.Context) error { return e.tick(ctx, "ticker") }

// tick does all upkeep of the store that is due: the engine has one call for it.
func (e *Engine) tick(ctx context.Context, what string) error {
	for {
		reply, err := e.c.Tick(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if !reply.More {
			return nil
		}
	}
}

// asked are the labels that a task asks for.
func asked(t *Task) (map[string]string, error) {
	if t == nil {
		return nil, ErrNil
	}
	out := map[string]string{}
	for key, value := range t.Meta {
		out[key] = value
	}
	for key, value := range t.Core {
		out[key] = value
	}
	switch method := t.Node[Method]; method {
	case "":
	case DeliverUni:
		out[Method] = "worker"
	default:
		out[Method] = method
	}
	return out, nil
}

// Exists tells whether a task that is not over has all the labels of Meta and Core and the method of Node; Any stands for any key or value. A worker
// asks with Core.All(Object, Worker) whether it still owns a task.
func (e *Engine) Exists(ctx context.Context, t *Task) (bool, error) {
	labels, err := asked(t)
	if err == nil {
		var found bool
		if found, err = e.c.Exists(ctx, labels); err == nil {
			return found, nil
		}
	}
	return false, fmt.Errorf("exists: %w", err)
}

// Lister returns the tasks that are not over and have all the labels of Meta and Core and the method of Node; none given is all. They are not owned by
// the caller. Templates come with their Cron, Gate and Sync; Root is known of tasks that Search returns.
func (e *Engine) Lister(ctx context.Context, t *Task) ([]*Task, error) {
	labels, err := asked(t)
	if err != nil {
		return nil, fmt.Errorf("lister: %w", err)
	}
	var out []*Task
	after := ""
	for {
		found, err := e.c.List(ctx, conveyor.ListOptions{Labels: labels, States: conveyor.LiveStates(), After: after})
		if err != nil {
			return nil, fmt.Errorf("lister: %w", err)
		}
		if len(found) == 0 {
			return out, nil
		}
		after = found[len(found)-1].UUID
		part, err := e.listed(ctx, found)
		if err != nil {
			return nil, fmt.Errorf("lister: %w", err)
		}
		out = append(out, part...)
	}
}

func (e *Engine) listed(ctx context.Context, found []conveyor.Listed) ([]*Task, error) {
	out := make([]*Task, len(found))
	var templates []string
	at := map[string]*Task{}
	for i, f := range found {
		t := &Task{Core: Labels{}, Meta: Labels{}, Template: f.Template, Tick: f.Tick}
		for key, value := range f.Labels {
			switch {
			case key == Method && value == "worker":
				t.Node = Labels{Method: DeliverUni, Worker: f.Inbox()}
			case key == Method:
				t.Node = Labels{Method: value}
			case conveyor.ReservedLabel(key):
				t.Core[key] = value
			default:
				t.Meta[key] = value
			}
		}
		if f.State == conveyor.StateTemplate {
			templates = append(templates, f.UUID)
			at[f.UUID] = t
		}
		out[i] = t
	}
	known, err := e.c.Templates(ctx, templates)
	if err != nil {
		return nil, err
	}
	for _, k := range known {
		if err := at[k.UUID].describe(k); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// describe fills in what a template is.
func (t *Task) describe(k conveyor.Template) error {
	t.Sync = k.Sync
	if k.MaxCycles > 0 {
		t.Core[Cycles], t.Core[Cancel] = strconv.Itoa(k.Cycles), strconv.Itoa(k.MaxCycles)
	}
	for _, g := range k.Gate {
		if t.Gate == nil {
			t.Gate = Labels{}
		}
		t.Gate[g.Label] = Waiting
		if g.Flipped {
			t.Gate[g.Label] = Deleted
		}
	}
	if k.When == "" {
		return nil
	}
	s, err := schedule.ParseText(k.When)
	if err != nil {
		return err
	}
	t.Cron = scheduled(k.When)
	if !k.Next.IsZero() { // else it emits none
		t.Cron = ticks(t.Cron, s.Prev(k.Next.Add(-1)), k.Next)
	}
	return nil
}

// scheduled are the labels of a schedule, from its canonical text: "every 6 hours", or "cron", five fields and a zone.
func scheduled(when string) Labels {
	kind, rest, _ := strings.Cut(when, " ")
	if kind == "every" {
		return Labels{Every: rest}
	}
	at := strings.LastIndexByte(rest, ' ')
	return Labels{Line: rest[:max(at, 0)], Zone: rest[at+1:]}
}

// Cycles resets the count of all tasks that are on hold since they were executed as often as Cancel says, and have the labels of Meta
// and Core and the method of Node: they run again. It tells how many these were.
func (e *Engine) Cycles(ctx context.Context, t *Task) (int, error) {
	labels, err := asked(t)
	if err != nil {
		return 0, fmt.Errorf("cycles: %w", err)
	}
	n, after := 0, ""
	for {
		found, err := e.c.List(ctx, conveyor.ListOptions{Labels: labels, After: after,
			States: []conveyor.State{conveyor.StateOnHold, conveyor.StateTemplate}})
		if err != nil {
			return n, fmt.Errorf("cycles: %w", err)
		}
		if len(found) == 0 {
			return n, nil
		}
		after = found[len(found)-1].UUID
		for _, f := range found {
			reset, err := e.reset(ctx, f)
			if err != nil {
				return n, fmt.Errorf("cycles: %w", err)
			}
			if reset {
				n++
			}
		}
	}
}

func (e *Engine) reset(ctx context.Context, f conveyor.Listed) (bool, error) {
	if f.State == conveyor.StateOnHold {
		return f.MaxCycles > 0, e.c.Release(ctx, f.UUID)
	}
	known, err := e.c.Templates(ctx, []string{f.UUID})
	if err != nil || !slices.ContainsFunc(known, func(k conveyor.Template) bool { return k.OnHold }) {
		return false, err
	}
	return true, e.c.ResetCycles(ctx, f.UUID)
}
