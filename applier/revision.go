package applier

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// The bounds of a workflow's history. What is older goes with the next apply.
const (
	maxRevisions = 100
	maxArchives  = 64 << 20 // bytes of all archives together, the newest ones first
)

// MaxArchive bounds the archive of one configuration, in bytes as it is stored.
const MaxArchive = 4 << 20

// Revision is one apply in the history of a workflow: one that changed something. It is stored with the first thing that the apply
// writes, and once more with its end.
type Revision struct {
	Number    int64     `json:"-"` // from 1, rising; numbers of a deleted state begin anew
	At        time.Time `json:"at"`
	Who       string    `json:"who"`       // user@host of the process
	Operation string    `json:"operation"` // as the lock's: "apply", "destroy", "reconcile", "rollback"

	Source planner.Source `json:"source,omitzero"`

	// How many rows the plan had to do when the apply began; once Complete, how many it did.
	Added     int  `json:"added"`
	Changed   int  `json:"changed"`
	Destroyed int  `json:"destroyed"`
	Complete  bool `json:"complete,omitempty"` // everything was submitted

	// Config names the configuration: equal ones, read with the same key, have equal names. "" without an archive.
	Config string `json:"config,omitempty"`
	Size   int    `json:"size,omitempty"` // of the archive in bytes, as stored
	// Without is why there is no archive, so that nothing can be rolled back to it; "" when there was one. An archive may be gone since:
	// see History.
	Without string `json:"without,omitempty"`
	// Of is, of a rollback, the number of the revision whose configuration was applied again: never that of a rollback.
	Of int64 `json:"of,omitempty"`
}

// History is the revisions of a workflow, newest first.
type History struct {
	Revisions []Revision
	Archives  map[string]bool // by Revision.Config: what can be rolled back to
}

// ErrNoRevision says that a workflow's history has no revision of that name, or more than one. The message names it.
var ErrNoRevision = errors.New("is no revision")

// RolledBackError means that the latest revision is a rollback, and that it passed over the configuration that was to be applied. It is
// not applied again by a run that keeps rollbacks. Nothing was changed.
type RolledBackError struct {
	Workflow string
	Rollback Revision
	Over     Revision // the latest one with that configuration
}

func (e *RolledBackError) Error() string {
	return fmt.Sprintf("revision %d of workflow %q was rolled back to revision %d by %s", e.Over.Number, e.Workflow, e.Rollback.Of, e.Rollback.Who)
}

// ReadHistory reads the history of a workflow. It sends plain reads alone.
func ReadHistory(ctx context.Context, c *conveyor.Client, workflow string) (History, error) {
	pipe := c.Redis().Pipeline()
	entries := pipe.HGetAll(ctx, c.Prefix()+revisionsKey(workflow))
	archives := pipe.HKeys(ctx, c.Prefix()+archivesKey(workflow))
	_, _ = pipe.Exec(ctx) // each command is asked for its own error
	fields, err := entries.Result()
	if err != nil {
		return History{}, fmt.Errorf("read the history of workflow %q: %w", workflow, storeError(err, revisionsKey(workflow)))
	}
	names, err := archives.Result()
	if err != nil {
		return History{}, fmt.Errorf("read the history of workflow %q: %w", workflow, storeError(err, archivesKey(workflow)))
	}
	h := History{Revisions: make([]Revision, 0, len(fields)), Archives: make(map[string]bool, len(names))}
	for _, name := range names {
		h.Archives[name] = true
	}
	for field, value := range fields {
		r, err := decodeRevision(field, value)
		if err != nil {
			return History{}, fmt.Errorf("read the history of workflow %q: %w", workflow, foreign(revisionsKey(workflow), field, err))
		}
		h.Revisions = append(h.Revisions, r)
	}
	slices.SortFunc(h.Revisions, func(a, b Revision) int { return cmp.Compare(b.Number, a.Number) })
	return h, nil
}

func decodeRevision(field, value string) (r Revision, err error) {
	if err = json.Unmarshal([]byte(unversioned(value)), &r); err != nil {
		return r, err
	}
	if r.Number, err = strconv.ParseInt(field, 10, 64); err != nil || r.Number < 1 {
		return r, errors.New("it is no number of a revision")
	}
	r.Source = r.Source.Clean() // whoever can write to the store could have put anything there
	return r, nil
}

// write is the companion that stores r.
func (r *Revision) write(workflow string) conveyor.Attach {
	data, _ := json.Marshal(r) // texts, numbers and a time of this era always marshal
	return conveyor.Attach{Key: revisionsKey(workflow), Field: strconv.FormatInt(r.Number, 10), Version: -1, Value: append([]byte("1 "), data...)}
}

// Find is the revision of a number, or the latest one of a source revision, which may be shortened as Source.Is takes it.
func (h History) Find(name string) (Revision, error) {
	if n, err := strconv.ParseInt(name, 10, 64); err == nil {
		if i := slices.IndexFunc(h.Revisions, func(r Revision) bool { return r.Number == n }); i >= 0 {
			return h.Revisions[i], nil
		}
	}
	found := -1
	for i, r := range h.Revisions {
		if !r.Source.Is(name) {
			continue
		}
		if found >= 0 && h.Revisions[found].Source.Revision != r.Source.Revision {
			return Revision{}, fmt.Errorf("%q %w: it is the beginning of several, such as %s and %s", name, ErrNoRevision, h.Revisions[found].Source.Revision, r.Source.Revision)
		}
		if found < 0 {
			found = i
		}
	}
	if found < 0 {
		return Revision{}, fmt.Errorf("%q %w", name, ErrNoRevision)
	}
	return h.Revisions[found], nil
}

// PassedOver is the rollback that stands, if it passed over a configuration with this source or this name: whoever follows a source
// does not apply that again until the source shows another one. Nil where nothing speaks against it.
func (h History) PassedOver(source planner.Source, config string) *RolledBackError {
	if len(h.Revisions) == 0 || h.Revisions[0].Of == 0 {
		return nil
	}
	standing := h.Revisions[0]
	for _, r := range h.Revisions[1:] {
		if r.Number <= standing.Of {
			break
		}
		if r.Of > 0 {
			continue // its source is that of the revision it applied again
		}
		if config != "" && r.Config == config || source.Revision != "" && r.Source.Revision == source.Revision {
			return &RolledBackError{Rollback: standing, Over: r}
		}
	}
	return nil
}
