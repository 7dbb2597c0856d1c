package applier

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// HeldKeyError means that the job of a row stays as it was, since the unique key that it was to have is held. What the
// plan changes otherwise is done.
//
// A new submission is never refused so: the engine stores it as failed, so that its edges are decided, and that is told as
// the failure it is.
type HeldKeyError struct {
	Addr   string // of the row
	Key    string // as it is declared
	Holder string // who holds the key, for people
	Cause  error  // *conveyor.UniqueError
}

func (e *HeldKeyError) Error() string {
	return fmt.Sprintf("%s was not changed: its unique key %q is held by %s. Apply again once that job has ended, or give one of them another key",
		e.Addr, e.Key, e.Holder)
}

func (e *HeldKeyError) Unwrap() error { return e.Cause }

// refusedFor finds the row of a chunk that was refused for its unique key.
func refusedFor(k *chunk, held *conveyor.UniqueError) *planner.Row {
	for i, c := range k.changes {
		if c.UUID == held.UUID || c.Job != nil && c.Job.Uuid == held.UUID {
			return k.of[i]
		}
	}
	return nil
}

// without is the chunk's rows but for one.
func (k *chunk) without(r *planner.Row) []*planner.Row {
	return slices.DeleteFunc(slices.Clone(k.rows), func(other *planner.Row) bool { return other == r })
}

// heldKey is the error of a row whose key stays held after everything else was written.
func (s *submission) heldKey(r *planner.Row, held *conveyor.UniqueError) error {
	return &HeldKeyError{Addr: r.Addr.String(), Key: r.Job.Unique, Holder: keyHolder(held.Holder, s.addressOf), Cause: held}
}

// addressOf is the address whose record names a uuid, "" without one.
func (s *submission) addressOf(uuid string) string {
	for address, r := range s.state.Records {
		if r.UUID.String() == uuid {
			return address
		}
	}
	return ""
}

// keyHolder names the holder of a unique key.
func keyHolder(uuid string, address func(uuid string) string) string {
	if name := address(uuid); name != "" {
		return fmt.Sprintf("%s (%s)", name, uuid)
	}
	return fmt.Sprintf("job %s, which is not of this workflow", uuid)
}

// namedHolder writes the address of the holder into the failure of a job that was refused for its unique key, which names
// it by its uuid. Other failures stay as they are.
func namedHolder(failure string, address func(uuid string) string) string {
	const verb = " is held by "
	at := strings.LastIndex(failure, verb)
	if !strings.HasPrefix(failure, "unique key ") || at < 0 {
		return failure
	}
	head, uuid := failure[:at+len(verb)], failure[at+len(verb):]
	if strings.ContainsAny(uuid, " \n") {
		return failure
	}
	return head + keyHolder(uuid, address)
}

// takenKeys are the unique keys that a plan's rows want for jobs, each with its type.
func takenKeys(p *planner.Plan) map[[2]string]bool {
	var taken map[[2]string]bool
	for _, r := range p.Rows {
		switch r.Action {
		case planner.Create, planner.Replace, planner.Update:
			if r.Job != nil && r.Job.Unique != "" && !r.Leave {
				if taken == nil {
					taken = map[[2]string]bool{}
				}
				taken[[2]string{r.Job.Type, r.Job.Unique}] = true
			}
		}
	}
	return taken
}

// gives tells whether the row deletes a job that may hold one of these keys.
func gives(r *planner.Row, taken map[[2]string]bool) bool {
	return len(taken) > 0 && r.Action == planner.Delete && r.Prior != nil && taken[[2]string{r.Prior.Type, r.Prior.Unique()}]
}

// errHeld joins the errors of rows whose keys stayed held.
func (s *submission) errHeld() error { return errors.Join(s.held...) }
