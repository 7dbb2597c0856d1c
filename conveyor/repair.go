package conveyor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// repairSlice is how many violations one script call repairs: each may change a few jobs, and none more than 200 may.
const repairSlice = 50

// Repaired tells what became of one violation.
type Repaired struct {
	Violation
	Done bool // false: it moved meanwhile, was repaired before, or has to wait for another repair of the same job
}

// Repair mends what Verify has found, as the Repair of each violation says. Each is repaired only if the status of its job is
// as it was seen and the damage is still there: what moved meanwhile is left alone, and repeating a Repair changes nothing.
// The event log tells what was done. One repair can make another visible (a key that is moved out of the way leaves
// tickets to put back), so verify again afterwards, and repair again, until Verify is silent.
//
// Nothing is thrown away that somebody might miss: keys of a wrong type are kept as damaged:<name>, entries that
// nobody can read and bytes without a job are set aside. See Diagnose for both.
func (c *Client) Repair(ctx context.Context, violations []Violation) ([]Repaired, error) {
	out := make([]Repaired, 0, len(violations))
	for _, v := range violations {
		out = append(out, Repaired{Violation: v})
	}
	slices.SortStableFunc(out, func(a, b Repaired) int {
		return cmp.Or(cmp.Compare(a.fix.phase(), b.fix.phase()), strings.Compare(a.fix.kind, b.fix.kind), cmp.Compare(a.fix.order, b.fix.order))
	})
	for from := 0; from < len(out); {
		to := from + 1
		for to < len(out) && to-from < out[from].fix.slice() && out[to].fix.phase() == out[from].fix.phase() {
			to++
		}
		if err := c.repair(ctx, out[from:to]); err != nil {
			return out, fmt.Errorf("repair: %w", err)
		}
		from = to
	}
	return out, nil
}

// slice is how many fixes of this kind one call makes. What declares edges anew may refuse its call, so it goes alone.
func (f fix) slice() int {
	if f.kind == "recount" {
		return 1
	}
	return repairSlice
}

// repair makes fixes of one phase in one call.
func (c *Client) repair(ctx context.Context, list []Repaired) error {
	s, args := repairScript, []any{}
	for i := range list {
		v := &list[i].Violation
		line := strings.ReplaceAll(v.Repair, "\n", " ")
		switch v.fix.kind {
		case "":
			return fmt.Errorf("%s was not made by Verify", v)
		case "rename":
			s = damagedScript
			args = append(args, v.fix.args[0], v.fix.args[1], v.fix.args[2], line)
		default:
			args = append(args, v.fix.kind, v.fixUUID(), v.fix.seen, line, v.fix.n)
			for _, arg := range v.fix.args[:v.fix.n] {
				args = append(args, arg)
			}
		}
	}
	reply, err := c.run(ctx, s, args...)
	if err != nil {
		return err
	}
	done, _ := reply.([]any)
	if len(done) != len(list) {
		return fmt.Errorf("%s: unreadable reply", s.name)
	}
	for i := range list {
		n, _ := done[i].(int64)
		list[i].Done = n == 1
	}
	return nil
}

// fixUUID is the job whose status entry a fix rests on, "" for those that rest on none.
func (v *Violation) fixUUID() string {
	switch v.fix.kind {
	case "aside", "worker", "caller", "counter", "number", "sweep", "settings", "cycle":
		return ""
	}
	return v.UUID
}
