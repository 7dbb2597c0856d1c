package applier

import (
	"fmt"
	"strconv"
	"strings"
)

// Position is a place in the event stream: behind the change that it names. With Part 0 it is behind all changes of event Seq. The
// zero value is before the first event.
type Position struct {
	Seq  int64 // of the engine's event log
	Part int   // which of the event's jobs, from 1
}

// String is the form that ParsePosition reads: "17.2", or "17" for all of an event.
func (p Position) String() string {
	if p.Part == 0 {
		return strconv.FormatInt(p.Seq, 10)
	}
	return fmt.Sprintf("%d.%d", p.Seq, p.Part)
}

// ParsePosition reads SEQ or SEQ.PART.
func ParsePosition(text string) (Position, error) {
	seq, part, divided := strings.Cut(text, ".")
	p := Position{Part: 0}
	var err error
	if p.Seq, err = strconv.ParseInt(seq, 10, 64); err != nil || p.Seq < 0 {
		return Position{}, fmt.Errorf("%q is no place in the event stream, such as 17 or 17.2", text)
	}
	if divided {
		if p.Part, err = strconv.Atoi(part); err != nil || p.Part < 1 || p.Seq < 1 {
			return Position{}, fmt.Errorf("%q is no place in the event stream, such as 17 or 17.2", text)
		}
	}
	return p, nil
}

// covers tells whether a part of an event lies before or at p.
func (p Position) covers(seq int64, part int) bool {
	return seq < p.Seq || seq == p.Seq && (p.Part == 0 || part <= p.Part)
}

// before is the number of the last event that p covers wholly.
func (p Position) before() int64 {
	if p.Part > 0 {
		return p.Seq - 1
	}
	return p.Seq
}
