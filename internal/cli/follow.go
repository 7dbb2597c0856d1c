package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
)

// chase tells what becomes of some jobs, until they are over. Unlike applier.Follow, which goes by the records of a workflow, it may
// be about jobs that have none.
type chase struct {
	store  *store
	roll   roll
	to     applier.Observer
	wanted func(conveyor.Status) bool
	// look reads how the jobs stand, as far as that is known, and tells whether nothing of them will move any more by itself.
	look func(ctx context.Context) (jobs []conveyor.Status, over bool, err error)

	fresh bool // the jobs are made after the event that the chase begins with

	jobs   map[string]conveyor.Status
	addrs  map[string]config.Addr
	warned map[string]bool // queues that nobody serves; "" once nothing can start before others
}

// followWait is how long an event is waited for before it is looked at whether anybody serves the jobs.
const followWait = 2 * time.Second

// ofCycle is a chase of all that one cycle makes.
func ofCycle(s *store, r roll, c *cyclic, tick time.Time) *chase {
	return &chase{store: s, roll: r, fresh: true,
		wanted: func(j conveyor.Status) bool { return j.Root == c.Root && j.Tick.Equal(tick) },
		look: func(ctx context.Context) ([]conveyor.Status, bool, error) {
			members, err := s.client.Members(ctx, c.Root, tick)
			return members, resting(members), err
		}}
}

// ofJobs is a chase of jobs by their uuids.
func ofJobs(s *store, r roll, uuids []string) *chase {
	return &chase{store: s, roll: r,
		wanted: func(j conveyor.Status) bool { return slices.Contains(uuids, j.UUID) },
		look: func(ctx context.Context) ([]conveyor.Status, bool, error) {
			jobs, err := s.client.Statuses(ctx, uuids)
			live := slices.DeleteFunc(slices.Clone(jobs), func(j conveyor.Status) bool { return j.State == conveyor.StateUnknown || j.State.Ended() })
			return jobs, resting(live), err
		}}
}

// resting tells whether nothing of these live jobs moves by itself: there are none, or they are on hold or wait for others, and some
// are on hold.
func resting(live []conveyor.Status) bool {
	held := len(live) == 0
	for _, s := range live {
		switch s.State {
		case conveyor.StateOnHold:
			held = true
		case conveyor.StateHeld, conveyor.StateClosing:
		default:
			return false
		}
	}
	return held
}

// chases writes what becomes of jobs, from an event on, and maps it to an exit code.
func (a *app) chases(ctx context.Context, x *chase, from int64, asJSON bool, shown **display) error {
	d := a.newDisplay(x.store, displayOptions{watch: true, plain: true, json: asJSON})
	*shown = d
	if asJSON {
		d.json.Version(Version, x.store.name, x.store.workflow)
	} else {
		fmt.Fprintln(a.p.Stdout, x.store.line())
	}
	x.to, x.jobs, x.addrs, x.warned = d, map[string]conveyor.Status{}, map[string]config.Addr{}, map[string]bool{}
	err := x.run(ctx, from)
	result := applier.Result{Interrupted: err != nil && ctx.Err() != nil}
	for uuid, j := range x.jobs {
		if bad(j) {
			result.Bad = append(result.Bad, applier.Followed{Addr: x.addrs[uuid], Status: j})
		}
	}
	if err != nil && !result.Interrupted {
		d.Observe(applier.Done{Err: err})
		return err
	}
	d.Observe(applier.Done{Result: result})
	switch {
	case result.Interrupted:
		return exit(exitInterrupted)
	case len(result.Bad) > 0:
		return exit(exitError)
	}
	return nil
}

// bad tells whether somebody has to look at a job.
func bad(s conveyor.Status) bool {
	switch s.State {
	case conveyor.StateFailed, conveyor.StateCancelled, conveyor.StateExpired, conveyor.StateOnHold:
		return true
	}
	return false
}

func (x *chase) run(ctx context.Context, from int64) error {
	jobs, over, err := x.look(ctx)
	if err != nil {
		return err
	}
	x.begin(ctx, from, jobs)
	for {
		wait := followWait
		if over {
			wait = 0
		}
		batch, err := x.store.client.Events(ctx, from, wait)
		if err != nil {
			return err
		}
		from = batch.Seq
		for _, e := range batch.Events {
			for i, s := range e.Jobs {
				if x.wanted(s) {
					x.see(ctx, s, applier.Position{Seq: e.Seq, Part: i + 1}, e.At)
				}
			}
		}
		silent := len(batch.Events) == 0 && !batch.Gap
		if silent && over {
			return nil
		}
		// How the jobs stand is read before the log is read on: what made them so is then in there.
		if jobs, over, err = x.look(ctx); err != nil {
			return err
		}
		if batch.Gap {
			for _, s := range jobs {
				x.see(ctx, s, applier.Position{}, x.store.now())
			}
		}
		if silent {
			x.outside()
			if err := x.unserved(ctx); err != nil {
				return err
			}
		}
	}
}

// begin tells how the jobs stand at first, unless all that becomes of them is in the log.
func (x *chase) begin(ctx context.Context, from int64, jobs []conveyor.Status) {
	list := applier.Following{At: applier.Position{Seq: from}}
	if x.fresh {
		x.to.Observe(list)
		return
	}
	for _, s := range jobs {
		x.jobs[s.UUID] = s
		list.Jobs = append(list.Jobs, applier.Followed{Addr: x.name(s), Queue: s.Queue, Status: s})
	}
	x.to.Observe(list)
	for _, s := range jobs {
		if s.State == conveyor.StateFailed {
			x.tell(ctx, conveyor.Status{}, s, applier.Position{}, s.Ended)
		}
	}
}

// name is the address of a job in what is told.
func (x *chase) name(s conveyor.Status) config.Addr {
	x.roll.meet(s)
	addr := config.Addr{Name: s.UUID}
	if template, err := config.ParseAddr(x.roll.addresses[s.Template]); err == nil {
		addr = config.Addr{Module: template.Module, Name: template.Name + template.Key.String() + "@" + tickText(s.Tick)}
	} else if own, err := config.ParseAddr(x.roll.addresses[s.UUID]); err == nil {
		addr = own
	}
	x.addrs[s.UUID] = addr
	return addr
}

// see notes a status, and tells what is new.
func (x *chase) see(ctx context.Context, s conveyor.Status, p applier.Position, at time.Time) {
	prior := x.jobs[s.UUID]
	if s == prior || s.State == conveyor.StateUnknown && prior.State.Ended() {
		return
	}
	x.jobs[s.UUID] = s
	x.tell(ctx, prior, s, p, at)
}

func (x *chase) tell(ctx context.Context, prior, s conveyor.Status, p applier.Position, at time.Time) {
	e := applier.JobChanged{Addr: x.name(s), Status: s, Seq: p.Seq, Part: p.Part, Last: true, At: at}
	if s.Attempts+s.Lost > prior.Attempts+prior.Lost || s.State == conveyor.StateFailed && prior.State != s.State {
		// What cannot be read is left out: the change itself is what counts.
		e.Failure, _ = x.store.client.Failure(ctx, s.UUID)
		e.LogTail, _ = logTail(ctx, x.store.client, s.UUID, shownLines)
	}
	if s.State == conveyor.StateSkipped && s.Cause != "" {
		e.Upstream = x.roll.address(s.Cause)
	}
	x.to.Observe(e)
}

// outside warns once when nothing can start before jobs that are not among those followed.
func (x *chase) outside() {
	var held []string
	for uuid, s := range x.jobs {
		switch {
		case s.State == conveyor.StateHeld:
			held = append(held, x.addrs[uuid].String())
		case !s.State.Ended():
			return
		}
	}
	if len(held) == 0 || x.warned[""] {
		return
	}
	x.warned[""] = true
	x.to.Observe(applier.Warning{Summary: slices.Min(held) + " waits for a job outside its cycle",
		Detail: "It starts when that has ended; waybill job show tells what it waits for."})
}

// unserved warns of queues whose jobs nobody takes.
func (x *chase) unserved(ctx context.Context) error {
	var workers []conveyor.WorkerInfo
	for _, s := range x.jobs {
		if s.State != conveyor.StateQueued || x.warned[s.Queue] {
			continue
		}
		if workers == nil {
			var err error
			if workers, err = x.store.client.Workers(ctx); err != nil {
				return err
			}
		}
		if !slices.ContainsFunc(workers, func(w conveyor.WorkerInfo) bool { return w.Alive && slices.Contains(w.Queues, s.Queue) }) {
			x.warned[s.Queue] = true
			x.to.Observe(applier.Warning{Summary: fmt.Sprintf("No worker serves queue %q", s.Queue),
				Detail: "The jobs of the cycle wait for one. Start it with: waybill worker" + x.store.elsewhere()})
		}
	}
	return nil
}
