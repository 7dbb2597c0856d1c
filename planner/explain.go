package planner

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/config"
)

// Explanation is all that a plan says about one address: what happens to it, or why nothing does.
type Explanation struct {
	Row     *Row
	Chain   []Link // the row itself, then what its reason follows from, as Chains.Of gives it
	Whole   bool   // the chain is all of it
	Changes []Difference
	Drift   string // what happened to the job outside of Waybill, "" for nothing
	// Awaits are what a job that this plan submits starts after: declared edges to jobs that are not done, and its own time.
	Awaits []string
}

// Difference is one thing that differs between what is recorded and what is declared.
type Difference struct {
	Path string // as exec.command
	Sign string // +, - or ~
}

// maxLinks bounds the chain of one explanation.
const maxLinks = 200

// Explain explains the rows that addresses mean, in plan order. missing are addresses that mean none.
func (p *Plan) Explain(addrs []config.Addr) (found []Explanation, missing []config.Addr) {
	chains := NewChains(p)
	met := make([]bool, len(addrs))
	for _, r := range p.Rows {
		wanted := false
		for i, a := range addrs {
			if a.Covers(r.Addr) {
				met[i], wanted = true, true
			}
		}
		if !wanted {
			continue
		}
		x := Explanation{Row: r, Changes: r.differences(), Awaits: chains.awaits(r)}
		x.Chain, x.Whole = chains.Of(r, maxLinks)
		if kind := r.drift(); kind != "" && !p.Assumed {
			x.Drift = Drift{r, kind}.Text()
		}
		found = append(found, x)
	}
	for i, a := range addrs {
		if !met[i] {
			missing = append(missing, a)
		}
	}
	return found, missing
}

// Sentence says what happens to the row and why: "job.b will be replaced, because job.a runs again".
func (r *Row) Sentence() string {
	switch {
	case r.justMoves():
		return r.MovedFrom.String() + " has moved to " + r.Addr.String() + ", and nothing else changes"
	case r.Reason == ReasonNew && r.Action == Create:
		return r.Addr.String() + " will be created, because it is new: it is declared, and nothing is recorded of it"
	default:
		return r.Addr.String() + " " + r.Fate() + ", because " + r.Because()
	}
}

// differences are the attributes and blocks that differ between record and declaration, down to the members of blocks.
func (r *Row) differences() []Difference {
	before, after := r.documents()
	if before == nil || after == nil {
		return nil
	}
	return differences("", before, after)
}

// Differing are the paths of what differs.
func (r *Row) Differing() (paths []string) {
	for _, d := range r.differences() {
		paths = append(paths, d.Path)
	}
	return paths
}

func differences(path string, before, after map[string]any) (all []Difference) {
	keys := slices.Collect(maps.Keys(before))
	keys = slices.AppendSeq(keys, maps.Keys(after))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		b, had := before[key]
		a, has := after[key]
		name := path + quotedKey(key)
		inner, isObject := b.(map[string]any)
		next, staysOne := a.(map[string]any)
		switch {
		case had && has && reflect.DeepEqual(b, a):
		case !had:
			all = append(all, Difference{name, "+"})
		case !has:
			all = append(all, Difference{name, "-"})
		case isObject && staysOne && strings.Count(path, ".") < 2:
			all = append(all, differences(name+".", inner, next)...)
		default:
			all = append(all, Difference{name, "~"})
		}
	}
	return all
}

// awaits says what the job of a row starts after that this plan submits.
func (c *Chains) awaits(r *Row) (all []string) {
	if r.Job == nil || r.Action != Create && r.Action != Replace {
		return nil
	}
	if r.Successor {
		all = append(all, fmt.Sprintf("generation %d of it, which is running", r.Prior.Generation))
	}
	for _, t := range r.Edges {
		if text := c.edge(r, t); text != "" {
			all = append(all, text)
		}
	}
	j := r.Job
	switch {
	case !j.RunAt.Time.IsZero():
		all = append(all, "its time, "+strings.TrimPrefix(fireText(j.RunAt.Time, time.UTC), "on "))
	case j.RunAt.After > 0:
		all = append(all, "a delay of "+durationText(j.RunAt.After)+" after all that it waits for")
	case j.Schedule != nil && j.Schedule.Disabled:
		all = append(all, "its schedule, which is disabled")
	case j.Schedule != nil && r.paused():
		all = append(all, "its schedule, which is paused by hand: waybill job resume "+r.Addr.String())
	case j.Schedule != nil && len(r.Fires) > 0:
		all = append(all, "its schedule: it fires "+fireText(r.Fires[0], zoneOf(j.Schedule)))
	case j.Gate != nil:
		all = append(all, "its gate: "+gateText(j.Gate.Waiting))
	case r.Recurs():
		all = append(all, "the cycles of "+r.Root.String()+": it runs once in each")
	}
	return all
}

// edge says what one edge waits for; "" when that is done.
func (c *Chains) edge(r *Row, t Target) string {
	name, state := "job "+t.UUID+", outside of this workflow", ""
	if t.Addr != (config.Addr{}) {
		up := c.rows[t.Addr]
		name = t.Addr.String()
		switch {
		case up == nil:
			return ""
		case up.Recurs():
			return "" // its cycles are told
		case up.ahead():
			state = ", which runs before it"
		case up.Action == Reopen:
			state = ", which is complete after its children"
		case up.Action == NoOp && up.Prior != nil && up.Live.Status.Ended():
			return ""
		case up.Prior != nil:
			state = ", which is " + up.Live.Status.String()
		}
	}
	switch t.Kind {
	case EdgeParent, EdgeParentLenient:
		return "the own work of its parent " + name + state
	case EdgeFailure:
		return "the failure of " + name + state
	case EdgeAlways:
		return "the end of " + name + state
	default:
		if r.Job != nil && slices.Contains(Reads(r.Job), t.Addr) {
			return "the success of " + name + ", whose result it reads" + strings.Replace(state, ", which", " and which", 1)
		}
		return "the success of " + name + state
	}
}
