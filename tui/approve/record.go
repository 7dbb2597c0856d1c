package approve

import (
	"bytes"
	"fmt"
	"io"

	"github.com/waybill-dev/waybill/planner"
)

// maxRecord is how many changes a record tells whole, or, when there are more, in a line each.
const maxRecord = 100

// WriteRecord writes what stays of a plan that was approved in a view: its text, as the plan command shows it. Of a plan
// with very many changes it is the first of them, a line each, and the sentence with the counts.
func WriteRecord(w io.Writer, p *planner.Plan, o planner.RenderOptions) error {
	c := newChanges(p, nil)
	if len(c.list) <= maxRecord {
		return p.Render(w, o)
	}
	var b bytes.Buffer
	for i := range c.list[:maxRecord] {
		ch := &c.list[i]
		fmt.Fprintf(&b, "%3s %s  %s\n", ch.action.Symbol(), ch.name, ch.why())
	}
	fmt.Fprintf(&b, "... and %s.\n", count(len(c.list)-maxRecord, "more change", "more changes"))
	fmt.Fprintf(&b, "\n%s\n", c.sum)
	_, err := w.Write(b.Bytes())
	return err
}
