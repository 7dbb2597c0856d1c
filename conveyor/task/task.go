package task

import (
	"maps"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
)

// Any stands for any key or value in what is asked for; no task has it.
const Any = conveyor.Any

// The reserved labels. They tell what the engine knows of a task and can be asked for; Cancel and Bypass are the only ones of Core
// that are given, Method and Worker those of Node, and the schedule those of Cron.
const (
	Object = "object" // Core: the task's id
	Worker = "worker" // Core: who owns it; Node: who is to get it
	Cycles = "cycles" // Core: how often it was executed, of a task with Cancel
	Expiry = "expiry" // Core: when its owner loses it, in RFC 3339 and UTC
	Cancel = "cancel" // Core: how often it is executed before it is kept on hold
	Bypass = "bypass" // Core, given to Delete: "true" deletes a template, which nobody owns

	Method = "method" // Node: any, uni or all

	Every    = "@every" // Cron: "6 hours", "day"
	Line     = "@cron"  // Cron: five fields
	Zone     = "@zone"  // Cron: an IANA time zone for Line; UTC without
	Time     = "@time"  // Cron: once, at this time in RFC 3339
	LastTick = "tick-1" // Cron, told: the tick before
	NextTick = "tick+1" // Cron, told: the tick to come
)

// The values of Gate and of Method.
const (
	Waiting = "waiting" // of a template: it waits for this label
	Trigger = "trigger" // of a task: its success flips this label
	Deleted = "deleted" // told of a template: the label is flipped

	DeliverAny = "any" // to one worker; the default
	DeliverUni = "uni" // to the worker that is named
	DeliverAll = "all" // to every worker, once each, with nothing to acknowledge
)

// Labels are keys with values. A nil map is none.
type Labels map[string]string

// Has tells whether all of these labels are there; Any stands for any key or value.
func (l Labels) Has(want map[string]string) bool {
	for key, value := range want {
		if key != Any {
			if got, ok := l[key]; !ok || value != Any && value != got {
				return false
			}
			continue
		}
		if len(l) == 0 || value != Any && !slices.Contains(slices.Collect(maps.Values(l)), value) {
			return false
		}
	}
	return true
}

// All are the labels of these keys, as far as they are there: what Exists and Lister can be asked for.
func (l Labels) All(keys ...string) Labels {
	out := Labels{}
	for _, key := range keys {
		if value, ok := l[key]; ok {
			out[key] = value
		}
	}
	return out
}

// Task is a piece of work that has to be done, described by labels. What a producer gives is Meta, at least one label, and of the
// others what applies; Search returns all of them.
type Task struct {
	Core Labels // what the engine knows, and Cancel
	Cron Labels // a schedule makes the task a template, which emits a task per tick
	Gate Labels // waiting makes it a template too; trigger flips the label of such templates
	Meta Labels // what the task is about
	Node Labels // who gets it
	Root Labels // while a task has these Meta labels, this one is obsolete
	// Sync is state carried from one execution to the next; Delete and Defer store what is here then. An owner's task has one, even
	// if it is empty.
	Sync Labels

	Template string    // id of the template that it was emitted from
	Tick     time.Time // that it was emitted for

	fence int64  // of the ownership; 0: none
	sync  Labels // as it was found
	done  bool   // nothing to acknowledge
}

// clone keeps a map from being shared.
func (l Labels) clone() Labels { return maps.Clone(l) }
