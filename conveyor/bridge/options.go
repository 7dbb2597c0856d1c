package bridge

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
)

// Defaults and bounds of Options.
const (
	DefaultCapacity = 100
	MaxCapacity     = 10_000
	DefaultLease    = 30 * time.Second
	DefaultAbsence  = 10 * time.Second
	DefaultLook     = 2 * time.Second
)

// Options configures a Bridge. Queues and Fleet have to be set.
type Options struct {
	// Queues are the queues whose jobs the fleet runs: in the fleet, a queue and its type of jobs have one name.
	Queues []string
	// Fleet is the store of the fleet. It may be that of the engine. It cannot be a Cluster: the fleet's keys carry no hash tags.
	Fleet redis.UniversalClient
	// FromClients makes jobs of ours of what clients of the fleet enqueue for the queues. All bridges of a namespace should agree in it, and
	// in the queues. Default: that is left to the fleet.
	FromClients bool
	// TakeOnly hands nothing over: jobs run on workers of ours alone, and what the fleet has already is seen to its end. Needs FromClients.
	TakeOnly bool
	// ID is whom reservations are for, as observers see it. Default: "bridge-" and a random part.
	ID string
	// Capacity is how many jobs that this bridge reserved are with the fleet at a time, in its queues or running. 1..10000. Default: 100.
	Capacity int
	// Lease is how long what the fleet has stays reserved while no bridge runs. It is extended every Look by any bridge of the
	// namespace. At least three times Look. Default: 30 s.
	Lease time.Duration
	// Look is how often the fleet's structures are read, for events that were missed. Default: 2 s.
	Look time.Duration
	// Absence is how long a job may be in none of the fleet's structures before it is pushed again: longer than any worker of
	// theirs takes from popping a job to registering it. Default: 10 s.
	Absence time.Duration
	// Keyring opens sealed payloads. nil: such jobs are left to other workers.
	Keyring *conveyor.Keyring
	// Observe is told what happens, by the goroutine of Run. Default: nobody.
	Observe func(Event)
	// Logger gets what nobody can return. Default: discards.
	Logger *slog.Logger
}

// isName tells whether a text may name a queue, or a holder in the fleet's store.
func isName(s string) bool {
	return s != "" && len(s) <= 128 && !strings.ContainsFunc(s, func(c rune) bool {
		return !(c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-')
	})
}

func (o Options) withDefaults() Options {
	if o.ID == "" {
		o.ID = holderPrefix + randomText(8)
	}
	if o.Capacity == 0 {
		o.Capacity = DefaultCapacity
	}
	if o.Lease == 0 {
		o.Lease = DefaultLease
	}
	if o.Look == 0 {
		o.Look = DefaultLook
	}
	if o.Absence == 0 {
		o.Absence = DefaultAbsence
	}
	if o.Observe == nil {
		o.Observe = func(Event) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o Options) validate() error {
	var problems []error
	if len(o.Queues) == 0 {
		problems = append(problems, errors.New("field Queues: name at least one queue"))
	}
	seen := map[string]bool{}
	for i, q := range o.Queues {
		if !isName(q) {
			problems = append(problems, fmt.Errorf("field Queues[%d]: name %q does not match [A-Za-z0-9._-]{1,128}", i, q))
		}
		if seen[q] {
			problems = append(problems, fmt.Errorf("field Queues[%d]: queue %q is named twice", i, q))
		}
		seen[q] = true
	}
	switch o.Fleet.(type) {
	case nil:
		problems = append(problems, errors.New("field Fleet: no Redis client"))
	case *redis.ClusterClient:
		problems = append(problems, errors.New("field Fleet: the fleet's keys have no hash tag, so its store cannot be a Cluster"))
	}
	if !isName(o.ID) || len(o.ID) <= len(holderPrefix) || o.ID[:len(holderPrefix)] != holderPrefix {
		problems = append(problems, fmt.Errorf("field ID: %q is not \"bridge-\" and up to 121 characters of [A-Za-z0-9._-]", o.ID))
	}
	if o.Capacity < 1 || o.Capacity > MaxCapacity {
		problems = append(problems, fmt.Errorf("field Capacity: %d is not in 1..%d", o.Capacity, MaxCapacity))
	}
	if o.TakeOnly && !o.FromClients {
		problems = append(problems, errors.New("field TakeOnly: without FromClients there is nothing to do"))
	}
	if o.Look < time.Millisecond {
		problems = append(problems, fmt.Errorf("field Look: %s is less than a millisecond", o.Look))
	}
	if o.Lease < 3*o.Look {
		problems = append(problems, fmt.Errorf("field Lease: %s is less than three times Look, which is %s", o.Lease, o.Look))
	}
	if o.Absence < time.Millisecond {
		problems = append(problems, fmt.Errorf("field Absence: %s is less than a millisecond", o.Absence))
	}
	return errors.Join(problems...)
}
