package approve

import (
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/screen"
)

// why is the reason of a change in a few words, and what becomes of what runs or waits.
func (c *change) why() string {
	switch {
	case c.row != nil:
		return screen.Clean(whyOf(c.row))
	case c.queue != nil:
		return [...]string{planner.Create: "new", planner.Update: "its settings changed", planner.Delete: "is not in the configuration"}[c.queue.Action()]
	case c.warning != nil:
		return ""
	default:
		return outputsWhy(c.outputs)
	}
}

// outputsWhy says how many outputs do what.
func outputsWhy(outputs []planner.OutputChange) string {
	var created, removed, changed int
	for i := range outputs {
		switch o := &outputs[i]; {
		case o.Prior == "":
			created++
		case o.Next == "":
			removed++
		default:
			changed++
		}
	}
	var parts []string
	for _, part := range []struct {
		n    int
		word string
	}{{created, "new"}, {changed, "changed"}, {removed, "removed"}} {
		switch {
		case part.n == len(outputs):
			return part.word
		case part.n > 0:
			parts = append(parts, grouped(part.n)+" "+part.word)
		}
	}
	return strings.Join(parts, ", ")
}

func whyOf(r *planner.Row) string {
	why := strings.TrimPrefix(strings.TrimPrefix(r.Because(), "it "), r.Addr.String()+" ")
	if r.Reason == planner.ReasonDestroy { // which says nothing about this row
		why = r.Live.Status.String()
	}
	switch r.Action {
	case planner.Create:
		return strings.TrimPrefix(why, "is ")
	case planner.Rerecord:
		return why + "; its record only"
	case planner.Reopen:
		return "reopens, " + why
	}
	return strings.Join(append([]string{why}, r.Besides()...), "; ")
}

// reasons in a few words, for what several changes have in common.
var reasons = map[planner.Reason]string{
	planner.ReasonNew: "new", planner.ReasonLost: "lost by the store", planner.ReasonWork: "their work changed", planner.ReasonHandling: "their handling changed",
	planner.ReasonUpstream: "an upstream runs again", planner.ReasonUpstreamRan: "an upstream ran again", planner.ReasonFailed: "failed",
	planner.ReasonTriggered: "what replaces them runs again",
	planner.ReasonCancelled: "were cancelled", planner.ReasonExpired: "expired", planner.ReasonOnHold: "on hold", planner.ReasonUnskipped: "no longer excluded",
	planner.ReasonRecurs: "run in cycles from now on", planner.ReasonRecursNoMore: "run once from now on", planner.ReasonRegated: "their gate changed",
	planner.ReasonDeposed: "declared again", planner.ReasonRequested: "asked for", planner.ReasonChildAgain: "a child runs again",
	planner.ReasonUndeclared: "not in the configuration", planner.ReasonStopped: "have stopped",
}

// words are the symbol of a group, if all that the tab lists of it have the same, and what there is to say of it.
func (g *group) words(listed tab) (symbol, why string) {
	words := count(g.counts[listed], "instance", "instances")
	var parts []string
	for t := tabCreate; t < tabs; t++ {
		n := g.counts[t]
		if n == 0 || listed != tabAll && t != listed {
			continue
		}
		symbol = tabSymbols[t]
		parts = append(parts, tabSymbols[t]+" "+grouped(n))
	}
	if len(parts) > 1 {
		return "", words + ": " + strings.Join(parts, "  ")
	}
	if reason := reasons[g.reason]; reason != "" {
		words += ", " + reason
	}
	return symbol, words
}

func count(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return grouped(n) + " " + plural
}

// grouped writes a number with commas: 100,000.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
