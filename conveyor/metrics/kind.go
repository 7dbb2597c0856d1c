package metrics

import (
	"context"
	"errors"

	"github.com/waybill-dev/waybill/conveyor"
)

// kinds are errors by what a person has to do about them, the most telling first.
var kinds = []struct {
	err  error
	name string
}{
	{conveyor.ErrFull, "full"},
	{conveyor.ErrUnavailable, "unavailable"},
	{context.Canceled, "cancelled"},
	{context.DeadlineExceeded, "deadline"},
	{conveyor.ErrOutdated, "outdated"},
	{conveyor.ErrNotFound, "not_found"},
	{conveyor.ErrUnique, "unique"},
	{conveyor.ErrGuard, "guard"},
	{conveyor.ErrUnknownUpstream, "unknown_upstream"},
	{conveyor.ErrState, "state"},
	{conveyor.ErrCorrupt, "corrupt"},
}

// Kind is the kind of an error as a label: one of a short list, "other" for what is none of them, "" for nil.
func Kind(err error) string {
	if err == nil {
		return ""
	}
	var conflict *conveyor.ConflictError
	if errors.As(err, &conflict) {
		if len(conflict.Conflicts) == 1 && !conflict.Conflicts[0].Stale && conflict.Conflicts[0].State == conveyor.StateUnknown {
			return "not_found" // of a single change
		}
		return "conflict"
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return k.name
		}
	}
	return "other"
}
