package approve

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/screen"
)

// why is the chain of causes of one change, shown in place of the list.
type why struct {
	open     bool
	awaited  bool // the chains are not made yet
	row      *planner.Row
	links    []planner.Link
	branches []string // per link
	whole    bool
	cursor   int
	top      int
}

// maxLinks bounds a chain that is shown; whoever reads on would have to read for an hour.
const maxLinks = 2000

// explain opens the chain of a row.
func (w *why) explain(chains *planner.Chains, r *planner.Row) {
	*w = why{open: w.open, row: r}
	w.links, w.whole = chains.Of(r, maxLinks)
	w.branches = branches(w.links)
}

// move moves the cursor and keeps it on a screen of height lines.
func (w *why) move(n, height int) {
	w.cursor = max(0, min(w.cursor+n, len(w.links)-1))
	w.top = max(0, min(w.top, w.cursor, len(w.links)-height))
	if w.cursor >= w.top+height {
		w.top = w.cursor - height + 1
	}
	w.top = max(0, min(w.top, w.cursor))
}

// title says what is explained.
func (w *why) title() string { return "Why " + screen.Clean(w.row.Addr.String()) + " " + w.row.Fate() }

// now says how the row's job stands, "" for a job that is not there.
func (w *why) now() string {
	r := w.row
	if r.Prior == nil {
		return "It has never been submitted."
	}
	if r.Live.Status == planner.Lost {
		return fmt.Sprintf("Generation %d was submitted, and the store does not hold it any more.", r.Prior.Generation)
	}
	return fmt.Sprintf("Generation %d is %s.", r.Prior.Generation, r.Live.Status)
}

// maxDepth bounds how far links are indented; those below stand as far.
const maxDepth = 16

// branches are what stands left of links, so that the tree shows.
func branches(links []planner.Link) []string {
	all := make([]string, len(links))
	var last []bool // of the link and those it hangs below, from depth 1 on
	for i, l := range links {
		if l.Depth == 0 {
			continue
		}
		last = append(last[:l.Depth-1], l.Last)
		var b strings.Builder
		for depth := 1; depth < min(l.Depth, maxDepth); depth++ {
			if last[depth-1] {
				b.WriteString("  ")
			} else {
				b.WriteString("│ ")
			}
		}
		if l.Last {
			b.WriteString("└ ")
		} else {
			b.WriteString("├ ")
		}
		all[i] = b.String()
	}
	return all
}
