package config

import (
	"slices"
	"strings"
	"sync"
)

// kind describes one kind of block: what may stand in it. The table below is the whole grammar of the language above
// HCL's syntax; decoding, "Did you mean" and the refusal of what later versions bring all read it.
type kind struct {
	name   string
	label  string // what its one label means; "" for a block without
	args   []arg
	blocks []*kind

	many  bool // may repeat where it stands
	later bool // known, and refused as not supported by this version
}

// arg is one argument of a kind of block.
type arg struct {
	name     string
	required bool
	later    bool
}

// args, required and later build the argument lists of the table.
func args(names ...string) []arg {
	list := make([]arg, len(names))
	for i, n := range names {
		list[i] = arg{name: n}
	}
	return list
}

func required(names ...string) []arg { return mark(args(names...), func(a *arg) { a.required = true }) }
func later(names ...string) []arg    { return mark(args(names...), func(a *arg) { a.later = true }) }

func mark(list []arg, set func(*arg)) []arg {
	for i := range list {
		set(&list[i])
	}
	return list
}

func join(lists ...[]arg) []arg { return slices.Concat(lists...) }

// schema is the grammar, made on first use: a process that only prints its version does not pay for it.
var schema = sync.OnceValue(func() *kind {
	return &kind{name: "", blocks: []*kind{
		workflowKind(),
		{name: "variable", label: "name", many: true, args: args("type", "default", "description", "sensitive", "nullable"), blocks: []*kind{
			{name: "validation", many: true, args: required("condition", "error_message")},
		}},
		{name: "locals", many: true}, // any argument; see declare
		jobKind(),
		{name: "queue", label: "name", many: true, args: args("concurrency", "weight", "paused", "fair", "retention", "retention_count")},
		{name: "output", label: "name", many: true, args: join(required("value"), args("description", "sensitive")), blocks: []*kind{
			{name: "precondition", later: true},
		}},
		{name: "module", later: true},
		{name: "moved", many: true, args: required("from", "to")},
		{name: "removed", later: true},
		{name: "import", later: true},
		{name: "check", later: true},
	}}
})

func workflowKind() *kind {
	return &kind{name: "workflow", label: "name", many: true, args: join(args("required_version", "namespace"), later("moved_from")), blocks: []*kind{
		{name: "redis", args: required("url")},
		{name: "proto", later: true},
	}}
}

func jobKind() *kind {
	return &kind{
		name: "job", label: "name", many: true,
		args: args("count", "for_each", "type", "payload", "payload_base64", "queue", "priority", "timeout", "reserve_for", "triggers",
			"unique", "meta", "remove_after", "retention", "sync", "max_cycles", "triggers_gate"),
		blocks: []*kind{
			{name: "exec", args: join(required("command"), args("shell", "env", "stdin", "dir", "inputs"))},
			{name: "http", args: join(required("url"), args("method", "headers", "body", "expect"))},
			{name: "sleep", args: required("duration")},
			{name: "parent", many: true, args: args("job", "uuid", "on_child_failure")},
			{name: "predecessor", many: true, args: args("job", "jobs", "uuid", "run_if")},
			{name: "run_at", args: args("time", "after", "every", "cron", "timezone", "catchup", "overlap", "enabled")},
			{name: "retry", args: args("max_attempts", "max_lost", "backoff", "min", "max", "jitter", "on_exhausted")},
			{name: "lifecycle", args: join(args("on_change"), later("prevent_destroy", "ignore_changes", "replace_triggered_by"))},
			{name: "gate", args: required("waiting")},
			{name: "delivery", args: args("to", "worker", "retention")},
			{name: "obsolete_if", args: required("labels")},
			{name: "precondition", later: true},
			{name: "dynamic", label: "block type", later: true},
		},
	}
}

func (k *kind) arg(name string) *arg {
	for i := range k.args {
		if k.args[i].name == name {
			return &k.args[i]
		}
	}
	return nil
}

func (k *kind) block(name string) *kind {
	for _, b := range k.blocks {
		if b.name == name {
			return b
		}
	}
	return nil
}

// names lists what may stand in a block of this kind, for suggestions.
func (k *kind) names() []string {
	var names []string
	for i := range k.args {
		names = append(names, k.args[i].name)
	}
	for _, b := range k.blocks {
		names = append(names, b.name)
	}
	return names
}

// where names the kind in sentences: "a job block", "the top level".
func (k *kind) where() string {
	if k.name == "" {
		return "the top level of a workflow"
	}
	return article(k.name) + " " + k.name + " block"
}

func article(word string) string {
	if strings.ContainsAny(word[:1], "aeiou") {
		return "an"
	}
	return "a"
}
