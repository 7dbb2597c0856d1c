package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// neededKey is a key, other than the one that signs here, without which something of a workflow cannot be used.
type neededKey struct {
	ID      string   `json:"id"`
	Here    bool     `json:"here"`    // whether it is in the ring of this user
	Workers int      `json:"workers"` // live ones that have it
	Jobs    []string `json:"jobs"`    // that have not ended, by address: no worker without the key runs them
	Values  []string `json:"values"`  // jobs whose recorded sensitive values nobody without the key can compare
}

// neededKeys finds them in a state, nil for none. Occurrences have no records: those under way have the key that their template had.
func neededKeys(ctx context.Context, s *store, state *planner.State, ring *conveyor.Keyring) ([]neededKey, error) {
	if state == nil {
		return nil, nil
	}
	found := map[string]*neededKey{}
	need := func(id string) *neededKey {
		if found[id] == nil {
			found[id] = &neededKey{ID: id, Here: ring.Holds(id), Jobs: []string{}, Values: []string{}}
		}
		return found[id]
	}
	for _, addr := range sortedAddrs(state) {
		name := addr.String()
		r, live := state.Records[name], state.Live[name]
		if id := r.NeedsKey(); id != "" && id != ring.ID() && live.Status != planner.Lost && !live.Status.Ended() {
			k := need(id)
			k.Jobs = append(k.Jobs, name)
		}
		if r.KeyID != "" && r.KeyID != ring.ID() {
			k := need(r.KeyID)
			k.Values = append(k.Values, name)
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	workers, err := s.client.Workers(ctx)
	if err != nil {
		return nil, err
	}
	var list []neededKey
	for _, id := range slices.Sorted(maps.Keys(found)) {
		k := found[id]
		for _, w := range workers {
			if w.Alive && slices.Contains(w.KeyIDs, id) {
				k.Workers++
			}
		}
		list = append(list, *k)
	}
	return list, nil
}

func (k neededKey) String() string {
	var parts []string
	if len(k.Jobs) > 0 {
		parts = append(parts, "to run "+someOf(k.Jobs))
	}
	if len(k.Values) > 0 {
		parts = append(parts, "to compare values of "+someOf(k.Values))
	}
	here := "not here"
	if k.Here {
		here = "here"
	}
	return fmt.Sprintf("%s, which is %s and with %s: %s", k.ID, here, countOf(int64(k.Workers), "worker", "workers"), strings.Join(parts, "; "))
}

// someOf lists the first few of many names.
func someOf(names []string) string {
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
