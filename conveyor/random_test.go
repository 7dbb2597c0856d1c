package conveyor_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"pgregory.net/rapid"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestRandomOperations draws sequences of operations, with crashes and repeated requests among them, and makes each of
// them on a real Redis and on the embedded store's server. Both must answer the same and hold the same bytes; Verify is
// silent after every step; jobs start in order, never before their time and never before what they wait for; and in the
// end everything ends and, after retention, nothing is left.
func TestRandomOperations(t *testing.T) {
	t.Parallel()
	server, mini := redistest.Shared(t).Client(t), redistest.Miniredis(t)
	for part := range 2 { // rapid makes 100 sequences each
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				s := &sequence{T: rt, running: map[string][]conveyor.Reservation{}}
				s.real = newEngine(rt, server)
				s.mini = &engine{rt, &world{rdb: mini, now: start}}
				c, err := conveyor.NewClient(mini, conveyor.Options{Namespace: s.real.Namespace()})
				if err != nil {
					rt.Fatal(err)
				}
				s.mini.Client = c
				s.mini.at(start)
				s.play()
			})
		})
	}
}

// sequence is one drawn history on two stores.
type sequence struct {
	*rapid.T
	real, mini *engine
	uuids      []string // known so far
	made       int
	running    map[string][]conveyor.Reservation // by worker, as far as it knows; "" is a caller with leases
	number     int64
	places     int64 // the highest seen
	due        map[string]int64
	edges      map[string][]*wire.Edge // as last given to a job that had not started
}

func (s *sequence) play() {
	s.due, s.edges = map[string]int64{}, map[string][]*wire.Edge{}
	ops := []func(){s.add, s.add, s.exchange, s.exchange, s.exchange, s.exchange, s.pass, s.tick, s.cancel, s.update, s.replace, s.reopen, s.making,
		s.crash, s.leave, s.retry, s.release, s.beat, s.pause, s.remove}
	for i := range s.int("length", 20, 60) {
		ops[s.int("op", 0, len(ops)-1)]()
		if i%3 == 2 {
			s.real.sound()
		}
		s.real.ledger()
		if s.Failed() {
			s.Fatalf("after step %d:\n%s", i, dump(s.real))
		}
		if i%10 == 9 {
			s.same()
		}
	}
	s.drain()
	s.same()
	if len(s.mini.keys()) > 0 {
		s.Errorf("left: %v", s.mini.keys())
	}
}

func (s *sequence) int(name string, least, most int) int {
	return rapid.IntRange(least, most).Draw(s.T, name)
}

// same wants equal stores.
func (s *sequence) same() {
	if diff := cmp.Diff(dump(s.real), dump(s.mini)); diff != "" {
		s.Fatalf("the stores differ (-redis +miniredis):\n%s", diff)
	}
}

// both makes a call on both stores and wants the same result and the same kind of error.
func (s *sequence) both(call func(e *engine) (any, error)) (any, error) {
	a, errA := call(s.real)
	b, errB := call(s.mini)
	if diff := cmp.Diff(a, b, protocmp.Transform()); diff != "" || fmt.Sprint(errA) != fmt.Sprint(errB) {
		s.Fatalf("the stores answer differently (-redis +miniredis):\n%s\n%v\n%v", diff, errA, errB)
	}
	return a, errA
}

// try makes a call that may be refused for the reasons given.
func (s *sequence) try(call func(e *engine) error, allowed ...error) error {
	_, err := s.both(func(e *engine) (any, error) { return nil, call(e) })
	var conflict *conveyor.ConflictError
	allowed = append(allowed, conveyor.ErrUnique)
	if err != nil && !errors.As(err, &conflict) && !slices.ContainsFunc(allowed, func(a error) bool { return errors.Is(err, a) }) {
		s.Fatal(err)
	}
	return err
}

// draw makes a job with edges to what is there or is still to come.
func (s *sequence) draw(uuid string) *wire.Job {
	j := job(uuid, lane(int32(s.int("lane", 0, 2))))
	used := map[string]bool{uuid: true}
	for group := range s.int("edges", 0, 3) {
		up := fmt.Sprintf("j%d", s.int("upstream", 0, s.made+1))
		if used[up] {
			continue
		}
		used[up] = true
		e := &wire.Edge{Uuid: up, Group: int32(group), Kind: wire.Edge_Kind(s.int("kind", 0, 1)), IgnoreFailure: s.int("lenient", 0, 3) == 0}
		if e.Kind == wire.Edge_PREDECESSOR {
			e.RunIf = wire.Edge_RunIf(s.int("run_if", 0, 2))
		}
		j.Edges = append(j.Edges, e)
	}
	if s.int("unique", 0, 3) == 0 {
		unique(fmt.Sprintf("k%d", s.int("key", 0, 2)))(j)
	}
	switch s.int("kept", 0, 7) {
	case 0:
		removedAfter(time.Duration(s.int("remove_after", 1, 5000)) * time.Millisecond)(j)
	case 1:
		waitsFor(time.Duration(s.int("retention", 1, 5000)) * time.Millisecond)(j)
	}
	delete(s.due, uuid)
	switch s.int("time", 0, 5) {
	case 0:
		at := s.real.now + int64(s.int("run_at", -1000, 3000))
		runAt(at)(j)
		s.due[uuid] = at
	case 1:
		delayed(time.Duration(s.int("after", 1, 2000)) * time.Millisecond)(j)
	}
	return j
}

func (s *sequence) next() string {
	s.made++
	uuid := fmt.Sprintf("j%d", s.made)
	s.uuids = append(s.uuids, uuid)
	return uuid
}

func (s *sequence) some() string {
	if len(s.uuids) == 0 {
		return "j0"
	}
	return rapid.SampledFrom(s.uuids).Draw(s.T, "job")
}

func (s *sequence) add() {
	var jobs []*wire.Job
	for range s.int("jobs", 1, 4) {
		j := s.draw(s.next())
		s.edges[j.Uuid] = j.Edges
		jobs = append(jobs, j)
	}
	if s.int("known", 0, 9) == 0 && len(s.uuids) > 4 { // a uuid that is there, never one that was: those are not used again
		if uuid := s.uuids[s.int("which", 0, len(s.uuids)-5)]; s.statuses()[uuid].State != conveyor.StateUnknown {
			jobs = append(jobs, job(uuid))
		}
	}
	s.try(func(e *engine) error { return e.AddMany(e.Context(), jobs) })
}

func (s *sequence) exchange() {
	worker := rapid.SampledFrom([]string{"", "w1", "w2", "w3"}).Draw(s.T, "worker")
	s.number++
	r := conveyor.ExchangeRequest{
		Caller: "c" + worker, Worker: worker, Lease: 5 * time.Second, Number: s.number, Queues: []string{"q"}, Want: s.int("want", 0, 4),
	}
	var kept []conveyor.Reservation
	for _, held := range s.running[worker] {
		if s.int("ends", 0, 2) == 0 {
			kept = append(kept, held)
			continue
		}
		a := conveyor.Ack{UUID: held.Job.Uuid, Fence: held.Fence, Verdict: conveyor.Verdict(s.int("verdict", 0, 6))}
		if s.int("well", 0, 1) == 0 {
			a.Verdict = conveyor.VerdictDone
		}
		a.Delay = time.Duration(s.int("delay", 0, 3)) * 500 * time.Millisecond
		if a.Verdict != conveyor.VerdictDone {
			a.Failure = "failure"
		}
		r.Done = append(r.Done, a)
	}
	before := s.statuses()
	call := func(e *engine) (any, error) { return e.Exchange(e.Context(), r) }
	reply, err := s.both(call)
	if err != nil {
		s.Fatal(err)
	}
	got := reply.(conveyor.ExchangeReply)
	if s.int("lost reply", 0, 4) == 0 {
		again, err := s.both(call)
		if diff := cmp.Diff(reply, again, protocmp.Transform()); diff != "" || err != nil {
			s.Fatalf("another reply to the same call: %v\n%s", err, diff)
		}
	}
	s.running[worker] = append(kept, got.Reserved...)
	s.check(before, got.Reserved)
}

func (s *sequence) statuses() map[string]conveyor.Status {
	out := map[string]conveyor.Status{}
	found, err := s.real.Statuses(s.Context(), s.uuids)
	s.real.ok(err)
	for _, st := range found {
		out[st.UUID] = st
	}
	return out
}

// check wants the jobs just started to have been next in line, due, and free of what they wait for.
func (s *sequence) check(before map[string]conveyor.Status, started []conveyor.Reservation) {
	now := s.statuses()
	var last conveyor.Status
	for i, r := range started {
		st := now[r.Job.Uuid]
		if st.State != conveyor.StateRunning {
			continue
		}
		if st.Fence != r.Fence || r.Fence <= before[st.UUID].Fence {
			s.Errorf("I3: %s has fence %d after %d, reserved under %d", st.UUID, st.Fence, before[st.UUID].Fence, r.Fence)
		}
		if i > 0 && (st.Priority > last.Priority || st.Priority == last.Priority && st.Place < last.Place) {
			s.Errorf("I5: %s (lane %d, place %d) started after %s (%d, %d)", st.UUID, st.Priority, st.Place, last.UUID, last.Priority, last.Place)
		}
		for _, e := range s.edges[st.UUID] {
			if up := now[e.Uuid]; up.Opening <= max(e.Opening, 1) && holdsUp(up.State, e.Kind) {
				s.Errorf("I8: %s started while %s was %s", st.UUID, e.Uuid, up.State)
			}
		}
		if due := s.due[st.UUID]; due > s.real.now {
			s.Errorf("I6: %s started %d ms early", st.UUID, due-s.real.now)
		}
		last = st
	}
	for _, st := range now {
		if len(started) > 0 && st.State == conveyor.StateQueued &&
			(st.Priority > last.Priority || st.Priority == last.Priority && st.Place < last.Place) {
			s.Errorf("I5: %s (lane %d, place %d) was passed over for %s (%d, %d)", st.UUID, st.Priority, st.Place, last.UUID, last.Priority, last.Place)
		}
		was := before[st.UUID]
		if st.Place != was.Place && st.Place <= s.places {
			s.Errorf("I5: %s moved forward to place %d", st.UUID, st.Place)
		}
	}
	for _, st := range now {
		s.places = max(s.places, st.Place)
	}
}

// holdsUp tells whether an upstream in this state leaves an edge of this kind undecided.
func holdsUp(s conveyor.State, kind wire.Edge_Kind) bool {
	switch s {
	case conveyor.StateHeld, conveyor.StateScheduled, conveyor.StateQueued, conveyor.StateRunning, conveyor.StateOnHold:
		return true
	case conveyor.StateClosing:
		return kind == wire.Edge_PREDECESSOR
	}
	return false
}

func (s *sequence) seePlaces() {
	for _, st := range s.statuses() {
		s.places = max(s.places, st.Place)
	}
}

func (s *sequence) pass() {
	d := time.Duration(s.int("pass", 1, 4000)) * time.Millisecond
	s.real.pass(d)
	s.mini.pass(d)
	if s.int("beats", 0, 3) > 0 {
		for _, w := range []string{"w1", "w2", "w3"} {
			s.beatOf(w)
		}
	}
}

func (s *sequence) tick() {
	_, err := s.both(func(e *engine) (any, error) { return e.Tick(e.Context()) })
	s.real.ok(err)
	s.seePlaces()
}

func (s *sequence) beat() {
	s.beatOf(rapid.SampledFrom([]string{"w1", "w2", "w3"}).Draw(s.T, "worker"))
}

// beatOf gives up what the store says is not the worker's any more.
func (s *sequence) beatOf(worker string) {
	info := conveyor.WorkerInfo{ID: worker, Queues: []string{"q"}}
	for _, r := range s.running[worker] {
		info.Running = append(info.Running, conveyor.Holding{UUID: r.Job.Uuid, Fence: r.Fence})
	}
	reply, err := s.both(func(e *engine) (any, error) { return e.Beat(e.Context(), info) })
	s.real.ok(err)
	got := reply.(conveyor.BeatReply)
	s.running[worker] = slices.DeleteFunc(s.running[worker], func(r conveyor.Reservation) bool { return slices.Contains(got.Outdated, r.Job.Uuid) })
}

// crash is a worker that forgets everything and stays silent.
func (s *sequence) crash() {
	delete(s.running, rapid.SampledFrom([]string{"", "w1", "w2", "w3"}).Draw(s.T, "worker"))
}

func (s *sequence) leave() {
	worker := rapid.SampledFrom([]string{"w1", "w2", "w3"}).Draw(s.T, "worker")
	delete(s.running, worker)
	s.try(func(e *engine) error { return e.Leave(e.Context(), worker) })
}

func (s *sequence) cancel() {
	c := conveyor.Change{Kind: conveyor.ChangeCancel, UUID: s.some(), Withdraw: s.int("withdraw", 0, 1) == 0}
	s.try(func(e *engine) error { return e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{c}}) })
	s.seePlaces()
}

func (s *sequence) update() {
	uuid := s.some()
	due, timed := s.due[uuid]
	j, st := s.draw(uuid), s.statuses()[uuid]
	if err := s.try(func(e *engine) error { return e.Update(e.Context(), j) }, conveyor.ErrNotFound); err != nil {
		if delete(s.due, uuid); timed {
			s.due[uuid] = due
		}
		return
	}
	if waits := slices.Contains([]conveyor.State{conveyor.StateHeld, conveyor.StateScheduled, conveyor.StateQueued}, st.State); waits {
		s.edges[uuid] = j.Edges
	}
	if st.Fence > 0 || st.State == conveyor.StateRunning {
		delete(s.due, uuid) // it has started: its time is over
	}
	s.seePlaces()
}

func (s *sequence) retry() {
	uuid := s.some()
	s.try(func(e *engine) error { return e.Retry(e.Context(), uuid) }, conveyor.ErrState, conveyor.ErrNotFound)
	s.seePlaces()
}

func (s *sequence) release() {
	uuid := s.some()
	s.try(func(e *engine) error { return e.Release(e.Context(), uuid) }, conveyor.ErrState, conveyor.ErrNotFound)
	s.seePlaces()
}

func (s *sequence) pause() {
	if s.int("keep", 0, 2) == 0 {
		keep := conveyor.QueueSettings{KeepFor: time.Duration(s.int("keep for", 0, 5)) * time.Second, KeepCount: s.int("keep count", 0, 8)}
		s.try(func(e *engine) error { return e.SetQueue(e.Context(), "q", keep) })
		return
	}
	set := conveyor.QueueSettings{Concurrency: s.int("concurrency", 0, 3), Paused: s.int("paused", 0, 3) == 0}
	s.try(func(e *engine) error { return e.SetQueue(e.Context(), "q", set) })
}

func (s *sequence) remove() {
	uuid := s.some()
	s.try(func(e *engine) error { return e.Remove(e.Context(), uuid) }, conveyor.ErrState)
}

// replace gives a job a successor, as a plan does.
func (s *sequence) replace() {
	old := s.some()
	state := s.statuses()[old].State
	j := s.draw(s.next())
	j.Edges = slices.DeleteFunc(j.Edges, func(e *wire.Edge) bool { return e.Uuid == old })
	if state == conveyor.StateRunning || state == conveyor.StateClosing {
		j.Edges = append(j.Edges, &wire.Edge{Kind: wire.Edge_PREDECESSOR, RunIf: wire.Edge_ALWAYS, Uuid: old, Group: 9})
	}
	c := conveyor.Change{Kind: conveyor.ChangeAdd, Job: j, Replaces: old, CancelReplaced: state != conveyor.StateRunning || s.int("stop", 0, 1) == 0}
	s.try(func(e *engine) error { return e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{c}}) })
	s.seePlaces()
}

// reopen gives a job that is over a new child.
func (s *sequence) reopen() {
	p := s.some()
	st := s.statuses()[p]
	if st.State != conveyor.StateCompleted && !st.ChildFailed {
		return
	}
	child := job(s.next(), edge(&wire.Edge{Uuid: p, Opening: st.Opening + 1}))
	changes := []conveyor.Change{{Kind: conveyor.ChangeAdd, Job: child}, {Kind: conveyor.ChangeReopen, UUID: p, Opening: st.Opening + 1}}
	s.try(func(e *engine) error { return e.Apply(e.Context(), conveyor.Batch{Changes: changes}) })
	s.seePlaces()
}

// making adds a child or an heir from inside an attempt.
func (s *sequence) making() {
	for _, w := range []string{"", "w1", "w2", "w3"} {
		if len(s.running[w]) == 0 {
			continue
		}
		r := s.running[w][0]
		uuid := "j0"
		if s.int("again", 0, 2) > 0 || len(s.uuids) == 0 {
			uuid = s.next()
		} else {
			uuid = s.some()
		}
		j := job(uuid, edge(&wire.Edge{Uuid: r.Job.Uuid, Opening: r.Opening, MadeBy: r.Fence, Kind: wire.Edge_Kind(s.int("kind", 0, 1))}))
		if uuid == r.Job.Uuid {
			return
		}
		if s.statuses()[uuid].State == conveyor.StateUnknown { // refused or removed before
			delete(s.due, uuid)
			delete(s.edges, uuid)
		}
		s.try(func(e *engine) error { return e.Add(e.Context(), j) }, conveyor.ErrOutdated)
		s.seePlaces()
		return
	}
}

// drain lets everything end: missing upstreams come, holds are released, every attempt succeeds. What then still waits,
// waits in a circle, for a job that was withdrawn, or for an opening that never comes, and is cancelled.
func (s *sequence) drain() {
	s.try(func(e *engine) error { return e.DeleteQueueSettings(e.Context(), "q") })
	for i := range s.made + 2 {
		uuid := fmt.Sprintf("j%d", i)
		if !slices.Contains(s.uuids, uuid) {
			s.uuids = append(s.uuids, uuid)
			s.try(func(e *engine) error { return e.Add(e.Context(), job(uuid)) })
		}
	}
	for w := range s.running {
		delete(s.running, w)
	}
	for range 40 {
		s.real.pass(10 * time.Second)
		s.mini.pass(10 * time.Second)
		s.tick()
		before := s.statuses()
		held := 0
		for _, uuid := range s.uuids {
			if before[uuid].State == conveyor.StateOnHold {
				s.try(func(e *engine) error { return e.Release(e.Context(), uuid) })
			}
			if before[uuid].State.Ended() || before[uuid].State == conveyor.StateUnknown {
				held++
			}
		}
		if held == len(s.uuids) {
			break
		}
		s.number++
		r := conveyor.ExchangeRequest{Caller: "drain", Lease: time.Second, Number: s.number, Queues: []string{"q"}, Want: 50}
		reply, err := s.both(func(e *engine) (any, error) { return e.Exchange(e.Context(), r) })
		s.real.ok(err)
		s.number++
		r.Number, r.Want = s.number, 0
		for _, res := range reply.(conveyor.ExchangeReply).Reserved {
			r.Done = append(r.Done, ack(res, conveyor.VerdictDone))
		}
		if len(r.Done) == 0 {
			for _, uuid := range s.uuids {
				if before[uuid].State == conveyor.StateHeld {
					s.try(func(e *engine) error { return e.Cancel(e.Context(), uuid) })
				}
			}
		}
		_, err = s.both(func(e *engine) (any, error) { return e.Exchange(e.Context(), r) })
		s.real.ok(err)
		if s.real.sound(); s.Failed() {
			s.Fatalf("while draining:\n%s", dump(s.real))
		}
	}
	for _, st := range s.statuses() {
		if !st.State.Ended() && st.State != conveyor.StateUnknown {
			s.Errorf("I11: %s is %s in the end: %+v", st.UUID, st.State, st)
		}
	}
	s.real.pass(8 * 24 * time.Hour)
	s.mini.pass(8 * 24 * time.Hour)
	for range 5 {
		s.tick()
	}
	for _, st := range s.statuses() {
		if st.State != conveyor.StateUnknown {
			s.Errorf("I13: %s is %s after retention", st.UUID, st.State)
		}
	}
	s.real.sound()
	s.mini.sound()
}
