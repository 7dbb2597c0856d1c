package planner

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/config"
)

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

// ChainText draws a chain as a tree, a line for each link, and one more if it is not the whole chain. The texts in it are as users
// wrote them.
func ChainText(links []Link, whole bool) []string {
	lines := make([]string, len(links), len(links)+1)
	var last []bool
	for i, l := range links {
		var b strings.Builder
		if l.Depth > 0 {
			last = append(last[:l.Depth-1], l.Last)
			for _, over := range last[:l.Depth-1] {
				b.WriteString(map[bool]string{true: "   ", false: "│  "}[over])
			}
			b.WriteString(map[bool]string{true: "└─ ", false: "├─ "}[l.Last])
		}
		if symbol := l.Row.Action.Symbol(); symbol != "" {
			b.WriteString(symbol + " ")
		}
		b.WriteString(l.Row.Addr.String() + ": " + l.Row.Because())
		if paths := l.Row.Differing(); len(paths) > 0 && (l.Row.Reason == ReasonWork || l.Row.Reason == ReasonHandling) {
			b.WriteString(" (" + strings.Join(paths[:min(len(paths), maxPaths)], ", "))
			if len(paths) > maxPaths {
				b.WriteString(", ...")
			}
			b.WriteString(")")
		}
		if l.Again {
			b.WriteString(" (as above)")
		}
		lines[i] = b.String()
	}
	if !whole {
		lines = append(lines, fmt.Sprintf("... the chain goes on; these are its first %d links", len(links)))
	}
	return lines
}

// maxPaths is how many differences a link of a chain names.
const maxPaths = 3
