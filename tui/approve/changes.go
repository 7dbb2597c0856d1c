package approve

import (
	"slices"
	"strconv"

	"github.com/charmbracelet/x/ansi"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/screen"
)

// Warning is what a user should know before approving.
type Warning struct{ Summary, Detail string }

// tab is one choice of what is listed.
type tab uint8

const (
	tabAll tab = iota
	tabCreate
	tabUpdate
	tabReplace
	tabDelete
	tabForget
	tabs
)

// tabOf is the tab that lists an action besides tabAll.
func tabOf(a planner.Action) tab {
	switch a {
	case planner.Create:
		return tabCreate
	case planner.Update, planner.Rerecord, planner.Reopen:
		return tabUpdate
	case planner.Replace:
		return tabReplace
	case planner.Delete:
		return tabDelete
	case planner.Forget:
		return tabForget
	default:
		return tabAll
	}
}

var (
	tabSymbols = [tabs]string{"all", "+", "~", "-/+", "-", "."}
	tabWords   = [tabs]string{"", "create", "update", "replace", "destroy", "forget"}
)

// change is one line of the list: a row, a queue, a warning, or all outputs. Exactly one of these is set.
type change struct {
	row     *planner.Row
	queue   *planner.QueueChange
	warning *Warning
	outputs []planner.OutputChange

	name   string // as shown
	action planner.Action
	group  int32 // in changes.groups, noGroup for a change that stands alone
}

const noGroup int32 = -1

// tab is where the change is listed besides tabAll; tabAll for what has no action.
func (c *change) tab() tab { return tabOf(c.action) }

// group is the instances of one job block that change. They stand together, where the first of them does.
type group struct {
	name     string
	from, to int32 // in changes.list
	counts   [tabs]int
	reason   planner.Reason // that all of them share; "" if they do not
}

// changes is all there is to show of a plan. It never changes once it is made, so that commands may read it while the view
// goes on.
type changes struct {
	plan      *planner.Plan
	list      []change
	groups    []group
	counts    [tabs]int // warnings are not counted
	nameWidth int       // of the widest name, in cells
	sum       string    // the sentence that scripts match
	forgotten int       // records
}

func newChanges(p *planner.Plan, warnings []Warning) *changes {
	c := &changes{plan: p, forgotten: p.Forgotten(), sum: p.Sentence()}
	for i := range warnings {
		c.add(change{warning: &warnings[i], name: screen.Clean(warnings[i].Summary), group: noGroup})
	}
	c.addRows(p)
	for i := range p.Queues {
		q := &p.Queues[i]
		c.add(change{queue: q, name: "queue " + strconv.Quote(q.Name), action: q.Action(), group: noGroup})
	}
	switch n := len(p.Outputs); n {
	case 0:
	case 1:
		c.add(change{outputs: p.Outputs, name: "output " + strconv.Quote(p.Outputs[0].Name), group: noGroup})
	default:
		c.add(change{outputs: p.Outputs, name: count(n, "output", "outputs"), group: noGroup})
	}
	return c
}

// addRows adds the rows that change, instances of one block together.
func (c *changes) addRows(p *planner.Plan) {
	blocks := make(map[config.Addr][]*planner.Row) // those with keys
	n := 0
	for _, r := range p.Rows {
		if r.Action == planner.NoOp {
			continue
		}
		n++
		if r.Addr.Key.Kind != config.NoKey {
			blocks[r.Addr.Block()] = append(blocks[r.Addr.Block()], r)
		}
	}
	c.list = slices.Grow(c.list, n)
	for _, r := range p.Rows {
		switch {
		case r.Action == planner.NoOp:
		case r.Addr.Key.Kind == config.NoKey:
			c.addRow(r, noGroup)
		default:
			rows := blocks[r.Addr.Block()]
			switch {
			case rows[0] != r: // stands with the first one
			case len(rows) == 1:
				c.addRow(r, noGroup)
			default:
				number, from := int32(len(c.groups)), int32(len(c.list))
				c.groups = append(c.groups, group{name: screen.Clean(r.Addr.Block().String()), from: from, to: from + int32(len(rows)), reason: r.Reason})
				for _, r := range rows {
					c.addRow(r, number)
				}
			}
		}
	}
}

func (c *changes) addRow(r *planner.Row, group int32) {
	c.add(change{row: r, name: screen.Clean(r.Addr.String()), action: r.Action, group: group})
}

func (c *changes) add(ch change) {
	if ch.warning == nil {
		c.counts[tabAll]++
		if len(ch.name) > c.nameWidth { // a name has no more cells than bytes
			c.nameWidth = max(c.nameWidth, ansi.StringWidth(ch.name))
		}
		if t := ch.tab(); t != tabAll {
			c.counts[t]++
		}
	}
	if ch.group != noGroup {
		g := &c.groups[ch.group]
		g.counts[tabAll]++
		g.counts[ch.tab()]++
		if g.reason != ch.row.Reason {
			g.reason = ""
		}
	}
	c.list = append(c.list, ch)
}

// of is the number of a row's change; ok is false for a row that does not change.
func (c *changes) of(r *planner.Row) (number int32, ok bool) {
	for i := range c.list {
		if c.list[i].row == r {
			return int32(i), true
		}
	}
	return 0, false
}

// in tells whether a tab lists the change.
func (c *change) in(t tab) bool { return t == tabAll || c.tab() == t }
