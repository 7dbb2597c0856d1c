package approve

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/screen"
)

// why is the chain of causes of one change, shown in place of the list.
type why struct {
	open    bool
	awaited bool // the chains are not made yet
	row     *planner.Row
	links   []planner.Link
	whole   bool
	cursor  int
	top     int
}

// maxLinks bounds a chain that is shown; whoever reads on would have to read for an hour.
const maxLinks = 2000

// explain opens the chain of a row.
func (w *why) explain(chains *planner.Chains, r *planner.Row) {
	*w = why{open: w.open, row: r}
	w.links, w.whole = chains.Of(r, maxLinks)
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

// branch is what stands left of a link: how far it is down the chain.
func branch(l planner.Link, width int) string {
	if l.Depth == 0 {
		return ""
	}
	depth := min(l.Depth, max(1, width/6))
	sign := "├ "
	if l.Last {
		sign = "└ "
	}
	return strings.Repeat("  ", depth-1) + sign
}
