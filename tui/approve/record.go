package approve

import (
	"bytes"
	"fmt"
	"io"

	"github.com/waybill-dev/waybill/planner"
)

// maxRecord is how many changes a record tells whole, or, when there are more, in how many lines.
const maxRecord = 100

// WriteRecord writes what stays of a plan that was approved in a view: its text, as the plan command shows it. Of a plan
// with very many changes it is a line for each, or for each block of jobs, and the sentence with the counts.
func WriteRecord(w io.Writer, p *planner.Plan, o planner.RenderOptions) error {
	c := newChanges(p, nil)
	if len(c.list) <= maxRecord {
		return p.Render(w, o)
	}
	var b bytes.Buffer
	l := newList(c)
	l.openAll(false)
	told := min(maxRecord, len(l.entries))
	for _, e := range l.entries[:told] {
		symbol, name, why := "", "", ""
		if g, ok := e.head(); ok {
			name = c.groups[g].name
			symbol, why = c.groups[g].words(tabAll)
		} else {
			ch := &c.list[e]
			symbol, name, why = ch.action.Symbol(), ch.name, ch.why()
		}
		fmt.Fprintf(&b, "%3s %s  %s\n", symbol, name, why)
	}
	if told < len(l.entries) {
		fmt.Fprintf(&b, "... and %s.\n", count(len(c.list)-int(l.ranks[told]), "more change", "more changes"))
	}
	fmt.Fprintf(&b, "\n%s\n", c.sum)
	_, err := w.Write(b.Bytes())
	return err
}
