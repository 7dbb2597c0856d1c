package planner

import (
	"fmt"

	"github.com/waybill-dev/waybill/config"
)

// findRenames notes at rows that go where it seems that their job was only given another name: exactly one new job does the same
// work, and no other one that goes does. With `moved` its record is carried over, and nothing runs again.
func (p *Plan) findRenames() {
	type work struct {
		digest Digest
		key    string
	}
	gone, come := map[work][]*Row{}, map[work][]*Row{}
	for _, r := range p.Rows {
		switch {
		case r.Action == Delete && r.Reason == ReasonUndeclared && r.Prior != nil && !r.Prior.Deposed && r.Prior.Type != "noop":
			of := work{r.Prior.Work, r.Prior.KeyID}
			gone[of] = append(gone[of], r)
		case r.Action == Create && r.Reason == ReasonNew:
			of := work{r.Work, r.KeyID}
			come[of] = append(come[of], r)
		}
	}
	for of, rows := range gone {
		if into := come[of]; len(rows) == 1 && len(into) == 1 {
			rows[0].Renamed = into[0].Addr
		}
	}
}

// rename is the note about it.
func (r *Row) rename() string {
	from, to := r.Addr, r.Renamed
	if from.Key == to.Key { // of all instances of a block, as a rule
		from, to = from.Block(), to.Block()
	}
	return fmt.Sprintf("%s does the same work: if that is only its new name, a moved block from %s to %s keeps what was done", r.Renamed, from, to)
}

// renamed tells whether there is such a note.
func (r *Row) renamed() bool { return r.Renamed != (config.Addr{}) }
