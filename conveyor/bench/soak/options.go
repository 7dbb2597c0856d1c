package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/waybill-dev/waybill/conveyor/bench/soak/rig"
)

// options of a soak.
type options struct {
	Duration   time.Duration
	Every      time.Duration // between two faults, on average
	Settle     time.Duration // how long what is left may take once the faults are over
	Seed       uint64
	Store      string // "redis" or "embedded"
	Durability rig.Durability
	Workers    int
	Capacity   int // of one worker
	Appliers   int
	InFlight   int // workflows of one applier that are not settled

	json string // where the result goes as JSON, "" for nowhere
	keep string // where the histories go; "" for a temporary directory that is removed when all is well
}

func parseOptions(args []string, errOut io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(errOut)
	flags.DurationVar(&o.Duration, "duration", time.Minute, "how long faults happen; what is left then has -settle to end")
	flags.DurationVar(&o.Every, "every", 3*time.Second, "time between two faults, on average")
	flags.DurationVar(&o.Settle, "settle", 3*time.Minute, "how long everything may take to end once the faults are over")
	flags.Uint64Var(&o.Seed, "seed", 1, "from which the workflows and the schedule of the faults follow")
	flags.StringVar(&o.Store, "store", "redis", "redis, or embedded")
	durability := flags.String("durability", "always", "of redis: always or everysec (append-only file), none (memory only), or replica (memory, a replica that takes over, and WAIT 1 after each apply)")
	flags.IntVar(&o.Workers, "workers", 3, "worker processes")
	flags.IntVar(&o.Capacity, "capacity", 8, "jobs that one worker runs at a time")
	flags.IntVar(&o.Appliers, "appliers", 2, "processes that apply workflows")
	flags.IntVar(&o.InFlight, "in-flight", 25, "workflows of one applier that have not ended, at most")
	flags.StringVar(&o.json, "json", "", "file to write the result to, as JSON; - is stdout")
	flags.StringVar(&o.keep, "keep", "", "directory for the histories, which is kept (default: a temporary one, kept only after a violation)")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.Durability = rig.Durability(*durability)
	if o.Store == "embedded" {
		o.Durability = rig.Journal
	}
	return o, o.validate(flags.Args())
}

func (o options) validate(rest []string) error {
	var problems []error
	if len(rest) > 0 {
		problems = append(problems, fmt.Errorf("unexpected argument %q: all settings are flags", rest[0]))
	}
	switch o.Store {
	case "redis", "embedded":
	default:
		problems = append(problems, fmt.Errorf("-store %q: choose redis or embedded", o.Store))
	}
	switch o.Durability {
	case rig.Always, rig.EverySec, rig.None, rig.Replica:
	case rig.Journal:
		if o.Store != "embedded" {
			problems = append(problems, errors.New("-durability journal is the embedded store's: give -store embedded"))
		}
	default:
		problems = append(problems, fmt.Errorf("-durability %q: choose always, everysec, none or replica", o.Durability))
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"-workers", o.Workers}, {"-capacity", o.Capacity}, {"-appliers", o.Appliers}, {"-in-flight", o.InFlight}} {
		if n.value < 1 || n.value > 1000 {
			problems = append(problems, fmt.Errorf("%s %d is not in 1..1000", n.name, n.value))
		}
	}
	if o.Duration < time.Second || o.Every < 100*time.Millisecond || o.Settle < time.Second {
		problems = append(problems, errors.New("-duration and -settle are at least 1s, -every at least 100ms"))
	}
	return errors.Join(problems...)
}

// again is the command that repeats a soak.
func (o options) again() string {
	text := fmt.Sprintf("go run ./soak -store %s", o.Store)
	if o.Store == "redis" {
		text += fmt.Sprintf(" -durability %s", o.Durability)
	}
	return text + fmt.Sprintf(" -duration %s -every %s -seed %d -workers %d -capacity %d -appliers %d -in-flight %d",
		o.Duration, o.Every, o.Seed, o.Workers, o.Capacity, o.Appliers, o.InFlight)
}
