package conveyor

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Sentinel errors, to be told apart with errors.Is.
var (
	ErrNilJob          = errors.New("job is nil")
	ErrQueueName       = errors.New("queue is empty or not of [A-Za-z0-9._-]{1,128}")
	ErrTypeName        = errors.New("type is empty")
	ErrUUID            = errors.New("uuid is not of [A-Za-z0-9._-]{1,128}")
	ErrPriority        = errors.New("priority is not 0, 1 or 2")
	ErrEdge            = errors.New("invalid edge")
	ErrCycles          = errors.New("max_cycles is negative: 0 is no limit")
	ErrTime            = errors.New("time is out of range")
	ErrTooLarge        = errors.New("too large")
	ErrKey             = errors.New("key is empty or belongs to the engine")
	ErrFieldTwice      = errors.New("field is written twice by one batch")
	ErrMarshal         = errors.New("marshalling failed")
	ErrUnknownUpstream = errors.New("upstream job is unknown")
	ErrGuard           = errors.New("guard does not hold: the lock was lost")
	ErrOutdated        = errors.New("outdated: the attempt or call number was superseded")
	ErrNotFound        = errors.New("not found")
	ErrLabel           = errors.New("invalid label")
	ErrReservedLabel   = errors.New("the name is reserved for facts of the engine")
	ErrUnique          = errors.New("unique key is held by another job")
	ErrState           = errors.New("not possible in the job's state")
	// ErrTemplate refuses to make a template of a job, or a job of a template: that is a new job, under another uuid.
	ErrTemplate = errors.New("a template stays a template, and a job a job")
	// ErrCorrupt means a key of the wrong type or an undecodable entry; the message names the key. Nothing was changed.
	ErrCorrupt = errors.New("corrupt data")
	// ErrUnavailable wraps failures of Redis or of the way to it. The call may be repeated; all others are fatal.
	ErrUnavailable = errors.New("redis unavailable")
)

func (e *ConflictError) Error() string {
	var b strings.Builder
	b.WriteString("refused, nothing changed:")
	for i, c := range e.Conflicts {
		if i > 0 {
			b.WriteByte(';')
		}
		if c.Stale {
			fmt.Fprintf(&b, " change %d met version %d", c.Index, c.Version)
		} else {
			fmt.Fprintf(&b, " change %d met state %s", c.Index, c.State)
		}
	}
	return b.String()
}

// parseConflicts reads "<index>:<state or version>:<s|v>,...".
func parseConflicts(text string) error {
	e := &ConflictError{}
	for part := range strings.SplitSeq(text, ",") {
		fields := strings.Split(part, ":")
		if len(fields) != 3 {
			return fmt.Errorf("unreadable conflict %q", text)
		}
		index, err := strconv.Atoi(fields[0])
		if err != nil {
			return fmt.Errorf("unreadable conflict %q: %w", text, err)
		}
		c := Conflict{Index: index}
		if fields[2] == "v" {
			c.Stale = true
			if c.Version, err = strconv.ParseInt(fields[1], 10, 64); err != nil {
				return fmt.Errorf("unreadable conflict %q: %w", text, err)
			}
		} else if fields[1] != "" {
			c.State = stateOf[fields[1][0]]
		}
		e.Conflicts = append(e.Conflicts, c)
	}
	return e
}

// UniqueError tells who holds the unique key of a job that was refused. Nothing of that call was stored.
type UniqueError struct {
	Key    string // "<type>:<key>"
	UUID   string // the job that was refused
	Holder string // the live job that has the key
}

func (e *UniqueError) Error() string {
	return fmt.Sprintf("job %s: unique key %s is held by job %s: wait for its end, or cancel it", e.UUID, e.Key, e.Holder)
}

// Unwrap makes a UniqueError ErrUnique.
func (e *UniqueError) Unwrap() error { return ErrUnique }

// parseUnique reads "<key> <holder> <uuid>".
func parseUnique(text string) error {
	f := strings.Fields(text)
	if len(f) != 3 {
		return fmt.Errorf("%w: %s", ErrUnique, text)
	}
	return &UniqueError{Key: unescaped(f[0]), Holder: f[1], UUID: f[2]}
}

// StepError tells which step of Add met a key it could not use. Nothing was changed.
type StepError struct {
	Step error  // ErrParentList, ErrPredecessorList, ErrSchedule, ErrDeadParent or ErrPush
	Text string // names the key
}

func (e *StepError) Error() string { return e.Step.Error() + ": " + e.Text }

// Unwrap makes a StepError both its step and ErrCorrupt.
func (e *StepError) Unwrap() []error { return []error{e.Step, ErrCorrupt} }

// The steps of Add, for errors.Is.
var (
	ErrParentList      = errors.New("adding job to parent")
	ErrPredecessorList = errors.New("adding job to predecessor")
	ErrSchedule        = errors.New("scheduling job")
	ErrDeadParent      = errors.New("dead parent handling")
	ErrPush            = errors.New("pushing job")
)

// corruptError reads "[<step>] <key> ...".
func corruptError(text string) error {
	steps := map[string]error{"parent": ErrParentList, "predecessor": ErrPredecessorList, "schedule": ErrSchedule,
		"deadparent": ErrDeadParent, "push": ErrPush}
	if word, rest, ok := strings.Cut(text, " "); ok && steps[word] != nil {
		return &StepError{Step: steps[word], Text: rest}
	}
	return fmt.Errorf("%w: %s", ErrCorrupt, text)
}
