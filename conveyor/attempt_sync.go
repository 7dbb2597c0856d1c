package conveyor

import (
	"fmt"
	"maps"
)

// Sync is the state that the execution before this one left: of an occurrence, what the cycle before stored, of any job, what it
// stored when it put itself back. It is the declared one at first, and what SetSync set from then on. The map is the caller's.
func (a *Attempt) Sync() map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := map[string]string{}
	maps.Copy(out, a.sync)
	return out
}

// SetSync says what the next execution gets, all of it: what was there before is replaced. It is committed together with the
// attempt's success. An occurrence that completes hands it to its template, and so to the cycles to come; a job that comes back
// ([Attempt.Defer]) finds it itself, so Defer(0) after SetSync turns a page. A failed attempt leaves nothing. The last call wins.
func (a *Attempt) SetSync(state map[string]string) error {
	if err := checkSync(state); err != nil {
		return fmt.Errorf("set sync: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sync, a.synced = map[string]string{}, true
	for key, value := range state {
		a.sync[key] = a.mask.text(value)
	}
	return nil
}

// carried is what the acknowledgement of a success says of sync; nil when the attempt has not set any. The caller holds mu.
func (a *Attempt) carried() map[string]string {
	if !a.synced {
		return nil
	}
	return a.sync
}
