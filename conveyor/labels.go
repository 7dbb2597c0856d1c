package conveyor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of a job's labels.
const (
	MaxLabels     = 64
	MaxLabelName  = 128     // bytes
	MaxLabelValue = 1 << 10 // bytes
)

// Any stands in a filter for any name or any value; it is none itself.
const Any = "*"

// Facts of the engine that List shows as labels, and that filters may name; see systemLabels. The other reserved names are
// kept for schedules.
const (
	labelObject = "object" // the uuid
	labelWorker = "worker" // who runs it
	labelExpiry = "expiry" // when its waiting limit ends, in RFC 3339, UTC
	labelCycles = "cycles" // executions of a job with max_cycles
	labelCancel = "cancel" // its max_cycles
	labelMethod = "method" // how it is delivered: any, worker, all
)

var reservedLabels = []string{labelObject, labelWorker, labelCycles, labelExpiry, labelCancel, "tick-1", "tick+1", labelMethod}

// ReservedLabel tells whether a name stands for a fact of the engine: no job can have a label of this name.
func ReservedLabel(name string) bool { return slices.Contains(reservedLabels, name) }

// checkLabels joins all that is wrong with a job's labels.
func checkLabels(labels map[string]string) error {
	var problems []error
	if n := len(labels); n > MaxLabels {
		problems = append(problems, fmt.Errorf("%w: %d labels, the limit is %d: %w", ErrLabel, n, MaxLabels, ErrTooLarge))
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		switch value := labels[name]; {
		case name == "":
			problems = append(problems, fmt.Errorf("%w: the name of value %q is empty", ErrLabel, value))
		case ReservedLabel(name):
			problems = append(problems, fmt.Errorf("%w: %s: %w", ErrLabel, name, ErrReservedLabel))
		case name == Any || value == Any:
			problems = append(problems, fmt.Errorf("%w: %s=%s: * means any name or value in filters", ErrLabel, name, value))
		case len(name) > MaxLabelName || len(value) > MaxLabelValue:
			problems = append(problems, fmt.Errorf("%w: %.40q: name of %d bytes, value of %d, the limits are %d and %d: %w",
				ErrLabel, name, len(name), len(value), MaxLabelName, MaxLabelValue, ErrTooLarge))
		}
	}
	return errors.Join(problems...)
}

// packLabels is a job's labels as scripts take and keep them: "<name>=<value>,...", sorted.
func packLabels(labels map[string]string) string {
	if len(labels) == 0 {
		return ""
	}
	parts := make([]string, 0, len(labels))
	for name, value := range labels {
		parts = append(parts, escaped(name, "=")+"="+labelValue(value))
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// packNames are labels without values as scripts take and keep them: "<name>,...", in the order of the names, in which a trigger flips
// its gates: escapes would sort elsewhere.
func packNames(names []string) string {
	parts := slices.Sorted(slices.Values(names))
	for i, name := range parts {
		parts[i] = escaped(name, "=")
	}
	return strings.Join(parts, ",")
}

// labelValue is never empty, since the key of a set without a value names all jobs that have the label.
func labelValue(value string) string {
	if value == "" {
		return "%"
	}
	return escaped(value, "=")
}

func unpackLabels(packed string) map[string]string {
	out := map[string]string{}
	if packed == "" {
		return out
	}
	for part := range strings.SplitSeq(packed, ",") {
		name, value, _ := strings.Cut(part, "=")
		if value == "%" {
			value = ""
		}
		out[unescaped(name)] = unescaped(value)
	}
	return out
}

// systemLabels are the facts that show as labels of a job.
func systemLabels(s Status) map[string]string {
	out := map[string]string{labelObject: s.UUID, labelMethod: s.method()}
	if worker := cmp.Or(s.Owner, s.Holder); worker != "" {
		out[labelWorker] = worker
	}
	if s.MaxCycles > 0 {
		out[labelCycles], out[labelCancel] = strconv.Itoa(s.Cycles), strconv.Itoa(s.MaxCycles)
	}
	if !s.ExpiresAt.IsZero() {
		out[labelExpiry] = s.ExpiresAt.UTC().Format(time.RFC3339Nano)
	}
	return out
}

// labelFilter is what jobs are chosen by: labels of their own, which the sets answer, and facts, which their status does.
type labelFilter struct{ own, facts map[string]string }

func newLabelFilter(labels map[string]string) (labelFilter, error) {
	f := labelFilter{own: map[string]string{}, facts: map[string]string{}}
	for name, value := range labels {
		switch {
		case name == "":
			return f, fmt.Errorf("%w: an empty name in a filter; * is any", ErrLabel)
		case ReservedLabel(name):
			f.facts[name] = value
		default:
			f.own[name] = value
		}
	}
	return f, nil
}

// sets are the keys whose intersection has the jobs with the labels; class is "label" for live jobs, "past" for ended ones,
// "kind" for templates.
func (f labelFilter) sets(k keyspace, class string) []string {
	keys := make([]string, 0, len(f.own))
	for name, value := range f.own {
		key := class + ":"
		if name != Any {
			key += escaped(name, "=")
		}
		key += "="
		if value != Any {
			key += labelValue(value)
		}
		keys = append(keys, k.key(key))
	}
	slices.Sort(keys)
	return keys
}

func (f labelFilter) matches(own, facts map[string]string) bool {
	return matchLabels(f.own, own) && matchLabels(f.facts, facts)
}

func matchLabels(filter, labels map[string]string) bool {
	for name, want := range filter {
		if name != Any {
			if value, ok := labels[name]; !ok || want != Any && want != value {
				return false
			}
			continue
		}
		if len(labels) == 0 || want != Any && !slices.Contains(slices.Collect(maps.Values(labels)), want) {
			return false
		}
	}
	return true
}

// Exists tells whether a live job, or a template, carries all of these labels; "*" is any name or any value. Reserved names stand for facts,
// as in List. Its cost does not depend on the number of jobs without these labels.
func (c *Client) Exists(ctx context.Context, labels map[string]string) (bool, error) {
	if len(labels) == 0 {
		return false, fmt.Errorf("exists: %w: none is given", ErrLabel)
	}
	f, err := newLabelFilter(labels)
	if err != nil {
		return false, fmt.Errorf("exists: %w", err)
	}
	if len(f.facts) > 0 {
		found, err := c.List(ctx, ListOptions{Labels: labels, States: LiveStates(), Limit: 1})
		return len(found) > 0, err
	}
	pipe := c.rdb.Pipeline()
	jobs, templates := pipe.SInterCard(ctx, 1, f.sets(c.keys, "label")...), pipe.SInterCard(ctx, 1, f.sets(c.keys, "kind")...)
	_, err = pipe.Exec(ctx)
	return jobs.Val()+templates.Val() > 0, read(ctx, "exists", err)
}
