package conveyor

import (
	"fmt"
	"strings"
)

// Violation is one invariant that does not hold.
type Violation struct {
	Invariant string // "I1" .. "I14", numbered as in the package documentation
	UUID      string // "" when no job is concerned
	Key       string // where it was seen
	Detail    string
	Repair    string // what Repair does about it, in one sentence

	fix fix
}

func (v Violation) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s: %s %s: %s", v.Invariant, v.UUID, v.Key, v.Detail))
}

// fix is a call of one function of repair.lua or damaged.lua. It is comparable, as a Violation is.
type fix struct {
	kind string
	seen string // the status entry that it rests on, "" for none: what moved since is left alone
	args [4]string
	n    int // how many args there are
	// order sorts fixes of one kind: tickets are put back by place.
	order int64
}

func newFix(kind string, args ...string) fix {
	f := fix{kind: kind, n: len(args)}
	copy(f.args[:], args)
	return f
}

// phase orders the kinds within one Repair: what others rest on comes first. Counters come last, since their
// comparison does not survive another repair.
func (f fix) phase() int {
	switch f.kind {
	case "rename":
		return 0
	case "number":
		return 1
	case "entry", "aside", "template":
		return 2
	case "member":
		return 3
	case "recount", "cycle":
		return 5
	case "counter":
		return 6
	}
	return 4
}
