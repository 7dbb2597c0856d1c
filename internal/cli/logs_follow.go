package cli

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
)

// logEvery is how often the logs of running jobs are looked at when several are followed. Nothing is asked while none runs.
const logEvery = 250 * time.Millisecond

// followAll writes what jobs write, until they are settled. Which jobs there are and how they stand comes from the event stream,
// so jobs of a later apply join in, and what templates make from the event number from on.
func (q *logsRequest) followAll(ctx context.Context, s *store, r roll, targets logTargets, from int64, w *logLines) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t := &logTeam{q: q, store: s, roll: r, lines: w, cancel: cancel, jobs: map[config.Addr]*followedLog{}, changed: make(chan struct{}, 1)}
	made, records := t.admit(targets)
	recurs := len(t.templates) > 0
	parts := make(chan error, 2)
	follow := func(wanted bool, run func() error) {
		if !wanted {
			parts <- nil
			return
		}
		go func() {
			err := run()
			if errors.Is(context.Cause(ctx), errLogsOver) {
				err = nil
			}
			parts <- err
		}()
	}
	follow(records, func() error {
		result, err := applier.Follow(ctx, s.client, s.workflow, applier.FollowOptions{}, t)
		if err == nil && result.Interrupted {
			err = context.Cause(ctx)
		}
		return err
	})
	follow(len(made) > 0 || recurs, func() error {
		if recurs {
			return t.followCycles(ctx, from)
		}
		return t.followMade(ctx, made)
	})
	settled := make(chan error, 1)
	go func() {
		first := <-parts
		if first != nil {
			cancel(first)
		}
		settled <- errors.Join(first, ignoreCancel(<-parts))
	}()
	tick := time.NewTicker(logEvery)
	defer tick.Stop()
	for {
		running := tick.C
		if !t.anyRuns() {
			running = nil
		}
		select {
		case err := <-settled:
			if err != nil {
				return err
			}
			// What ended jobs wrote is complete.
			return t.read(context.WithoutCancel(ctx), true)
		case <-t.changed:
		case <-running:
		}
		if err := t.read(ctx, false); err != nil {
			cancel(err)
			return errors.Join(err, ignoreCancel(<-settled))
		}
	}
}

// errLogsOver ends following when the chosen jobs are over.
var errLogsOver = errors.New("the jobs are over")

func ignoreCancel(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// logTeam is the jobs whose logs are followed. As an observer it learns which these are.
type logTeam struct {
	q       *logsRequest
	store   *store
	roll    roll
	lines   *logLines
	cancel  context.CancelCauseFunc
	changed chan struct{} // something is to be read

	mu        sync.Mutex
	jobs      map[config.Addr]*followedLog
	order     []*followedLog
	made      map[string]string // names of the occurrences that are followed, by uuid
	templates map[string]string // names of those that may make more, by uuid
}

type followedLog struct {
	logRun
	status conveyor.Status
	unread bool // it ran since it was read last
}

// Observe is called from one goroutine.
func (t *logTeam) Observe(e applier.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := e.(type) {
	case applier.Following:
		for _, f := range e.Jobs {
			t.see(f.Addr, f.Status)
		}
	case applier.JobChanged:
		t.see(e.Addr, e.Status)
	default:
		return
	}
	t.moved()
}

// moved lets what is new be read.
func (t *logTeam) moved() {
	if len(t.q.addrs) > 0 && t.over() {
		t.cancel(errLogsOver)
	}
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// admit notes what is followed: the occurrences by uuid, and whether there are other jobs besides.
func (t *logTeam) admit(targets logTargets) (made []string, records bool) {
	t.made, t.templates = map[string]string{}, targets.templates
	records = len(t.q.addrs)+len(t.q.ticks) == 0
	for _, x := range targets.jobs {
		if !x.made {
			records = true
			continue
		}
		t.made[x.uuid] = x.name
		made = append(made, x.uuid)
	}
	return made, records
}

// followMade follows occurrences until they are over.
func (t *logTeam) followMade(ctx context.Context, uuids []string) error {
	live := len(uuids)
	states := map[string]conveyor.Status{}
	for o, err := range t.store.client.Subscribe(ctx, conveyor.SubscribeOptions{UUIDs: uuids}) {
		if err != nil {
			return err
		}
		t.mu.Lock()
		for _, s := range o.Jobs {
			if s.State == conveyor.StateUnknown {
				delete(t.made, s.UUID)
			} else {
				t.run(config.Addr{Name: s.UUID}, t.made[s.UUID], s)
			}
			states[s.UUID] = s
		}
		live = 0
		for _, s := range states {
			if s.State != conveyor.StateUnknown && s.State != conveyor.StateOnHold && !s.State.Ended() {
				live++
			}
		}
		t.moved()
		t.mu.Unlock()
		if live == 0 {
			break
		}
	}
	return nil
}

func (t *logTeam) see(addr config.Addr, s conveyor.Status) {
	switch {
	case !t.q.wants(addr):
	case s.State != conveyor.StateTemplate:
		t.run(addr, addr.String(), s)
	case len(t.templates) > 0: // else nobody follows cycles
		t.templates[s.UUID] = addr.String()
	}
}

// run goes on with the log of a job.
func (t *logTeam) run(addr config.Addr, address string, s conveyor.Status) {
	j := t.jobs[addr]
	if j == nil || j.source.uuid != s.UUID {
		source := newLogSource(t.store.client, s.UUID, t.q.begin, t.q.attempt)
		source.name = address
		j = &followedLog{logRun: logRun{source: source, maker: lineMaker{job: address}}}
		t.jobs[addr] = j
		t.order = append(t.order, j)
	}
	j.status = s
	j.unread = j.unread || s.Fence > 0
}

// over tells whether all that were asked for by name have ended.
func (t *logTeam) over() bool {
	if len(t.templates) > 0 {
		return false
	}
	for uuid := range t.made {
		if t.jobs[config.Addr{Name: uuid}] == nil {
			return false
		}
	}
	for _, j := range t.order {
		if !j.source.over(j.status) {
			return false
		}
	}
	return len(t.order) > 0
}

func (t *logTeam) anyRuns() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, j := range t.order {
		if j.status.State == conveyor.StateRunning {
			return true
		}
	}
	return false
}

// read writes what is new of the jobs that run, or ran since they were read last. An unfinished line is written when its job has
// ended, or at the end.
func (t *logTeam) read(ctx context.Context, end bool) error {
	t.mu.Lock()
	var due []*followedLog
	ended := map[*followedLog]bool{}
	for _, j := range t.order {
		if j.unread || j.status.State == conveyor.StateRunning {
			j.unread = false
			due = append(due, j)
			ended[j] = j.status.State != conveyor.StateRunning
		}
	}
	t.mu.Unlock()
	for _, j := range due {
		for more := true; more; {
			entries, again, err := j.source.next(ctx, 0)
			if err != nil {
				return err
			}
			for _, e := range entries {
				if err := t.lines.write(j.maker.take(e)); err != nil {
					return err
				}
			}
			more = again
		}
		if ended[j] || end {
			if err := t.lines.write(j.maker.flush()); err != nil {
				return err
			}
		}
	}
	return nil
}
