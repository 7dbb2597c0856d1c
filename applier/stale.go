package applier

import (
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// StaleError means that a saved plan no longer holds: the records of these addresses have moved since it was made.
// Nothing was enqueued.
type StaleError struct {
	Addrs []config.Addr
}

func (e *StaleError) Error() string {
	var b strings.Builder
	b.WriteString("Saved plan is stale: the state of ")
	const shown = 10
	for i, a := range e.Addrs[:min(len(e.Addrs), shown)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(a.String())
	}
	if len(e.Addrs) > shown {
		b.WriteString(", ...")
	}
	b.WriteString(" changed after the plan was made. Nothing was enqueued; make a new plan")
	return b.String()
}

// moved lists the addresses whose record is not the one that the plan was made with. A saved plan pins only what it
// touches, so that work elsewhere does not matter; one that can be made anew is held against all of state, also against
// records of addresses that it does not know.
func moved(p *planner.Plan, s *planner.State, saved bool) []config.Addr {
	var addrs []config.Addr
	known := make(map[string]bool, len(p.Rows))
	for _, r := range p.Rows {
		address := r.Addr.String()
		known[address] = true
		if saved && r.Action == planner.NoOp {
			continue
		}
		if !r.Still(s.Records[address]) {
			addrs = append(addrs, r.Addr)
		}
	}
	if saved {
		return addrs
	}
	for address := range s.Records {
		if !known[address] {
			if a, err := config.ParseAddr(address); err == nil {
				addrs = append(addrs, a)
			}
		}
	}
	slices.SortFunc(addrs, compareAddr)
	return addrs
}

// versionOf is the version that a companion write expects: 0 where there is no record.
func versionOf(r *planner.Record) int64 {
	if r == nil {
		return 0
	}
	return r.Version
}

// sameChange tells whether two plans ask for the same: what was approved of the one may be done by the other.
func sameChange(a, b *planner.Plan) bool {
	return a.Former == b.Former && slices.Equal(a.Outputs, b.Outputs) && slices.EqualFunc(a.Queues, b.Queues, sameQueue) &&
		slices.EqualFunc(changes(a), changes(b), func(a, b *planner.Row) bool {
			return a.Addr == b.Addr && a.Action == b.Action && a.Work == b.Work && a.Handling == b.Handling && a.MovedFrom == b.MovedFrom
		})
}

func sameQueue(a, b planner.QueueChange) bool {
	if a.Next == nil || b.Next == nil {
		return a.Name == b.Name && a.Next == b.Next
	}
	return a.Name == b.Name && *a.Next == *b.Next
}

// changes are the rows that do something.
func changes(p *planner.Plan) []*planner.Row {
	var rows []*planner.Row
	for _, r := range p.Rows {
		if r.Action != planner.NoOp {
			rows = append(rows, r)
		}
	}
	return rows
}
