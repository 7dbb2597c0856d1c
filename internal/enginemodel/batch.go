package enginemodel

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/waybill-dev/waybill/conveyor"
)

// one makes a single change; a job that is not there is ErrNotFound.
func (e *Engine) one(c conveyor.Change) error {
	err := e.Apply(conveyor.Batch{Changes: []conveyor.Change{c}})
	var conflict *conveyor.ConflictError
	if errors.As(err, &conflict) && len(conflict.Conflicts) == 1 && conflict.Conflicts[0].State == conveyor.StateUnknown {
		return fmt.Errorf("%s: %w", c.UUID, conveyor.ErrNotFound)
	}
	return err
}

// SetHash writes a field that guards and companion writes meet.
func (e *Engine) SetHash(key, field string, value []byte) {
	if e.hashes[key] == nil {
		e.hashes[key] = map[string][]byte{}
	}
	e.hashes[key][field] = value
}

// Version is the version of such a field, 0 without it.
func (e *Engine) Version(key, field string) int64 { return leadingNumber(e.hashes[key][field]) }

// Apply makes the changes in order, all or none.
func (e *Engine) Apply(b conveyor.Batch) error {
	if g := b.Guard; g != nil && string(e.hashes[g.Key][g.Field]) != g.Want {
		return conveyor.ErrGuard
	}
	return e.atomically(func() error {
		a := &application{Engine: e}
		for i := range b.Changes {
			if err := a.make(i, &b.Changes[i]); err != nil {
				return err
			}
		}
		for i := range b.Companions {
			if !a.written(&b.Companions[i]) {
				a.write(-1-i, &b.Companions[i])
			}
		}
		if len(a.conflicts) > 0 {
			return &conveyor.ConflictError{Conflicts: a.conflicts}
		}
		e.settleAll()
		return nil
	})
}

// application is one batch being made.
type application struct {
	*Engine
	conflicts []conveyor.Conflict
}

func (a *application) conflict(index int, j *job) {
	c := conveyor.Conflict{Index: index}
	if j != nil {
		c.State = j.state
	}
	a.conflicts = append(a.conflicts, c)
}

// written tells whether a companion write is there already: then its change was made before.
func (a *application) written(w *conveyor.Attach) bool {
	v, found := a.hashes[w.Key][w.Field]
	switch {
	case w.Version == -1:
		return false
	case w.Value == nil:
		return !found && w.Version != 0
	}
	return found && bytes.Equal(v, w.Value)
}

func (a *application) write(index int, w *conveyor.Attach) {
	v, found := a.hashes[w.Key][w.Field]
	version := leadingNumber(v)
	if w.Version != -1 && (version != w.Version || w.Version == 0 && found) {
		a.conflicts = append(a.conflicts, conveyor.Conflict{Index: index, Version: version, Stale: true})
		return
	}
	if w.Value == nil {
		delete(a.hashes[w.Key], w.Field)
		return
	}
	a.SetHash(w.Key, w.Field, w.Value)
}

func leadingNumber(v []byte) int64 {
	head, _, _ := bytes.Cut(v, []byte(" "))
	n, _ := strconv.ParseInt(string(head), 10, 64)
	return n
}

func (a *application) make(index int, c *conveyor.Change) error {
	uuid := c.UUID
	if c.Job != nil {
		uuid = c.Job.Uuid
	}
	j := a.jobs[uuid]
	if j != nil && j.gone { // by this very batch: a uuid is not used again
		a.conflict(index, nil)
		return nil
	}
	if c.Attach != nil && a.written(c.Attach) {
		return nil
	}
	subject := j
	if c.Kind == conveyor.ChangeAdd && c.Replaces != "" {
		subject = a.jobs[c.Replaces]
	}
	if found := stateOf(subject); c.Expect != nil && !slices.Contains(c.Expect, found) {
		a.conflict(index, subject)
		return nil
	}
	if c.Attach != nil {
		a.write(index, c.Attach)
	}
	switch c.Kind {
	case conveyor.ChangeAdd:
		if err := a.add(c.Job, Added{}, nil, c); err != nil {
			return err
		}
		a.record(a.jobs[uuid], c)
		a.replace(c)
		return nil
	case conveyor.ChangeAttach:
		return nil
	case conveyor.ChangeForget:
		if j != nil {
			a.unrecord(j, false)
		}
		return nil
	case conveyor.ChangeRelease:
		if j != nil {
			if j.template != nil {
				a.cancel(j)
			}
			a.unrecord(j, true)
		}
		return nil
	}
	if j == nil {
		a.conflict(index, nil)
		return nil
	}
	a.record(j, c)
	switch c.Kind {
	case conveyor.ChangeUpdate:
		if isTemplate(c.Job) != (j.of == "" && isTemplate(j.wire)) {
			return fmt.Errorf("%s: %w", j.uuid, conveyor.ErrTemplate)
		}
		if isBroadcast(c.Job) && j.live() {
			return fmt.Errorf("%s: %w", j.uuid, conveyor.ErrState)
		}
		return a.change(j, c.Job, edgesOf(c.Job))
	case conveyor.ChangeCancel:
		if c.Withdraw {
			a.withdraw(j)
		}
		a.cancel(j)
		if c.Attach != nil && c.Attach.Value == nil {
			a.unrecord(j, false)
		}
	case conveyor.ChangeReopen:
		possible, err := a.reopen(j, c.Opening, c.Job)
		if err != nil {
			return err
		}
		if !possible {
			a.conflict(index, j)
		}
	}
	return nil
}

func stateOf(j *job) conveyor.State {
	if j == nil {
		return conveyor.StateUnknown
	}
	return j.state
}

// record: a companion write keeps the job's entry from retention.
func (a *application) record(j *job, c *conveyor.Change) {
	if c.Attach != nil && c.Attach.Value != nil {
		j.recorded = true
	}
}

// unrecord: no companion write belongs to the job any more. With whole, nothing is left of one that is over; otherwise
// retention takes it.
func (a *application) unrecord(j *job, whole bool) {
	switch {
	case !j.live() && whole:
		j.gone = true
	case j.recorded:
		j.recorded = false
		if !j.live() {
			a.retain(j)
		}
	}
}

// replace withdraws the earlier job: it ends for nobody but its successor.
func (a *application) replace(c *conveyor.Change) {
	old := a.jobs[c.Replaces]
	if old == nil || old.gone {
		return
	}
	a.withdraw(old)
	if c.CancelReplaced || old.template != nil {
		a.cancel(old)
	}
	a.unrecord(old, true)
}
