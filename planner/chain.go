package planner

import "github.com/waybill-dev/waybill/config"

// Link is one link of a chain of reasons: a row, and how many links lie between it and the row that is explained.
type Link struct {
	Row   *Row
	Depth int
	Last  bool // of the causes of the link above
	// Again says that the row stands further up with its own causes, which are not told twice.
	Again bool
}

// Chains finds the causes of a plan's rows.
type Chains struct{ rows map[config.Addr]*Row }

// NewChains returns the chains of a plan.
func NewChains(p *Plan) *Chains {
	c := &Chains{rows: make(map[config.Addr]*Row, len(p.Rows))}
	for _, r := range p.Rows {
		c.rows[r.Addr] = r
	}
	return c
}

// Of is the whole chain of a row, as a tree in depth-first order: the row itself, then each of its causes with theirs. It
// has at most the given number of links; whole tells whether that is all.
func (c *Chains) Of(r *Row, most int) (links []Link, whole bool) {
	type step struct {
		row   *Row
		depth int
		last  bool
	}
	told := map[*Row]bool{}
	stack := []step{{row: r, last: true}}
	for len(stack) > 0 {
		if len(links) == most {
			return links, false
		}
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		again := told[s.row] && len(s.row.Causes) > 0
		links = append(links, Link{Row: s.row, Depth: s.depth, Last: s.last, Again: again})
		if again {
			continue
		}
		told[s.row] = true
		last := true
		for i := min(len(s.row.Causes), most) - 1; i >= 0; i-- {
			if row := c.rows[s.row.Causes[i].Addr]; row != nil {
				stack = append(stack, step{row, s.depth + 1, last})
				last = false
			}
		}
	}
	return links, true
}
