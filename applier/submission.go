package applier

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// batchTimeout is the time one batch gets, also after a cancellation: a batch in flight is seen through, so that what
// was done is known.
const batchTimeout = 30 * time.Second

// submission is the first half of an apply: everything that happens under the lock. It belongs to one goroutine.
type submission struct {
	client   *conveyor.Client
	run      Run
	mail     *mailbox
	workflow string

	lock *lock
	// formerLock is that of the name from which the state is carried over; nil for none.
	formerLock *lock

	state *planner.State // what state is by now, with what this run has written
	meta  meta
	fresh bool // the workflow has no lineage in the store yet
	begun bool // a batch of this run is written

	plan        *planner.Plan
	done        map[config.Addr]*planner.Row // rows written; the first time counts
	order       []*planner.Row               // the same, in the order they were written
	held        []error                      // of rows whose unique key is held, in the last pass
	inscription *inscription                 // of this run in the history; nil for none
	history     History                      // as it was under the lock
	besides     []conveyor.Attach            // companion writes of the first batch, of what another workflow gives up

	first int64 // the number of the first event that this run may cause; 0 before its first batch
}

// patient makes calls through outages.
func (s *submission) patient() endurance {
	return endurance{post: s.mail.post, then: thenUnsubmitted}
}

// submit takes the lock, makes sure that the plan still holds, writes it, and gives the lock up.
func (s *submission) submit(ctx context.Context) (err error) {
	s.plan, s.done = s.run.Plan, map[config.Addr]*planner.Row{}
	if s.plan.Empty() {
		return s.readState(ctx)
	}
	s.run.probe("lock")
	held, release, err := s.acquire(ctx)
	if err != nil {
		return s.interrupted(ctx, err)
	}
	defer func() {
		s.run.probe("release")
		release(err == nil)
	}()
	if err := s.underLock(held); err != nil {
		return s.interrupted(ctx, causeOf(held, err))
	}
	return nil
}

func (s *submission) underLock(ctx context.Context) error {
	if err := s.readState(ctx); err != nil {
		return err
	}
	if s.state.Former != "" && s.formerLock == nil {
		return fmt.Errorf("carry workflow %q over to %q: %w", s.state.Former, s.workflow, ErrFormerAppeared)
	}
	if err := s.check(ctx); err != nil {
		return err
	}
	if s.plan.Empty() {
		return nil
	}
	if err := s.writable(); err != nil {
		return err
	}
	if err := s.prepareInscription(ctx); err != nil {
		return err
	}
	if err := s.carryOver(ctx); err != nil {
		return err
	}
	if err := s.writeQueues(ctx); err != nil {
		return err
	}
	if err := s.writeRows(ctx); err != nil {
		return err
	}
	if err := s.writeOutputs(ctx); err != nil {
		return err
	}
	return s.conclude(ctx)
}

func (s *submission) readState(ctx context.Context) error {
	var snap *snapshot
	err := s.patient().call(ctx, func(ctx context.Context) (err error) {
		if snap, err = readSnapshotOf(ctx, s.client, s.run.Workflow); err != nil {
			return err
		}
		return readClock(ctx, s.client, s.run.Workflow, snap.state)
	})
	if err != nil {
		return err
	}
	if s.state, err = s.moved(ctx, snap.state); err != nil {
		return err
	}
	s.meta = snap.meta
	if s.fresh = s.state.Lineage == uuid.Nil; s.fresh {
		s.state.Lineage = uuid.New() // stored by the first batch
	}
	return nil
}

// moved is a state as the workflow's moved and import blocks want it, as the plan is made from it.
func (s *submission) moved(ctx context.Context, state *planner.State) (*planner.State, error) {
	if s.run.Plan.Destroy || s.run.Options.Destroy || s.run.Options.RefreshOnly {
		return state, nil
	}
	state, diags := planner.Moved(state, s.run.Workflow)
	if diags.HasErrors() {
		return nil, fmt.Errorf("read the state of workflow %q: %w", s.workflow, diags)
	}
	err := s.patient().call(ctx, func(ctx context.Context) error { return readImports(ctx, s.client, s.run.Workflow, state) })
	if err != nil {
		return nil, err
	}
	if state, diags = planner.Imported(state, s.run.Workflow); diags.HasErrors() {
		return nil, fmt.Errorf("read the state of workflow %q: %w", s.workflow, diags)
	}
	return state, nil
}

// check holds the plan against the state under the lock: a saved plan that no longer holds fails, one of this process
// is made anew. Where only jobs have moved on, their rows are decided again; that needs no new approval.
func (s *submission) check(ctx context.Context) error {
	other := s.plan.Lineage != uuid.Nil && s.plan.Lineage != s.state.Lineage
	if stale := moved(s.plan, s.state, s.run.Saved); other || len(stale) > 0 {
		if s.run.Saved {
			return &StaleError{Addrs: stale}
		}
		approved := s.plan
		plan, err := s.makePlan()
		if err != nil {
			return err
		}
		s.plan = plan
		s.mail.post(Replanned{Plan: plan, Moved: stale})
		if err := s.judge(); err != nil {
			return err
		}
		if plan.Empty() || s.run.Approve == nil || sameChange(approved, plan) {
			return nil
		}
		ok, err := s.run.Approve(ctx, plan)
		if err == nil && !ok {
			err = ErrDeclined
		}
		return err
	}
	return s.followProgress(ctx)
}

// followProgress decides the plan again if a job that it changes has left its row of the state table since. Jobs that the
// plan leaves alone keep the status that it saw: what became of them was not approved as a change.
func (s *submission) followProgress(ctx context.Context) error {
	left, needed := false, s.assumedUpstreams()
	for _, r := range s.plan.Rows {
		address := r.Addr.String()
		switch {
		case needed[r.Addr] && s.state.Live[address].Status == planner.Lost:
			left = true
		case r.Action == planner.NoOp:
			if r.Still(s.state.Records[address]) {
				setLive(s.state, address, r.Live)
			}
		case r.Prior != nil && !samePlace(s.state.Live[address].Status, r.Live.Status):
			left = true
		}
	}
	if !left {
		return nil
	}
	return s.decideAgain(ctx)
}

// assumedUpstreams are what the changes of a plan wait for that was made without looking at jobs: nothing ever starts a job that
// waits for a lost one, so these have to be there.
func (s *submission) assumedUpstreams() map[config.Addr]bool {
	if !s.plan.Assumed {
		return nil
	}
	needed := map[config.Addr]bool{}
	for _, r := range s.plan.Rows {
		for _, e := range r.Edges {
			needed[e.Addr] = true
		}
	}
	return needed
}

func setLive(s *planner.State, address string, l planner.Live) {
	if l.Status == planner.Lost {
		delete(s.Live, address)
		return
	}
	s.Live[address] = l
}

// makePlan plans from the state as it is by now. What this run has submitted already is not asked to run again.
func (s *submission) makePlan() (*planner.Plan, error) {
	o := s.run.Options
	if len(s.done) > 0 && (o.Rerun || len(o.Replace) > 0) {
		o.Rerun, o.Replace = false, s.requestsLeft()
	}
	plan, diags := planner.Make(s.run.Workflow, s.state, o)
	if diags.HasErrors() {
		return nil, fmt.Errorf("plan again: %w", diags)
	}
	return plan, nil
}

// requestsLeft are the declared addresses that -rerun or -replace name and that are not written yet.
func (s *submission) requestsLeft() []config.Addr {
	var left []config.Addr
	for _, j := range s.run.Workflow.Jobs {
		if s.done[j.Addr] == nil && (s.run.Options.Rerun || names(s.run.Options.Replace, j.Addr)) {
			left = append(left, j.Addr)
		}
	}
	return left
}

// names tells whether a list of addresses means a: itself, or all instances of its block.
func names(list []config.Addr, a config.Addr) bool {
	for _, n := range list {
		if n == a || n == a.Block() {
			return true
		}
	}
	return false
}

// decideAgain makes the plan anew after jobs have moved on, and tells which rows do something else now.
func (s *submission) decideAgain(ctx context.Context) error {
	prior := make(map[config.Addr]planner.Action, len(s.plan.Rows))
	for _, r := range s.plan.Rows {
		prior[r.Addr] = r.Action
	}
	for {
		plan, err := s.makePlan()
		if err != nil {
			return err
		}
		// Rows that had nothing to do before were decided by the status that the first plan saw.
		var drawnIn []*planner.Row
		for _, r := range plan.Rows {
			if r.Action != planner.NoOp && prior[r.Addr] == planner.NoOp && r.Prior != nil && s.done[r.Addr] == nil {
				drawnIn = append(drawnIn, r)
			}
		}
		left, err := s.readRows(ctx, drawnIn)
		if err != nil {
			return err
		}
		if !left {
			s.plan = plan
			break
		}
	}
	for _, r := range s.plan.Rows {
		if old, known := prior[r.Addr]; known && old != r.Action && s.done[r.Addr] == nil {
			s.mail.post(RowDiverted{Row: r, Prev: old})
		}
	}
	return s.judge()
}

// judge asks whether the plan, which was made anew, may be carried out.
func (s *submission) judge() error {
	if s.run.Judge == nil || s.plan.Empty() {
		return nil
	}
	if err := s.run.Judge(s.plan); err != nil {
		return &DeniedError{Done: len(s.done), Total: len(s.done) + len(changes(s.plan)), Cause: err}
	}
	return nil
}

// readRows reads the status of rows' jobs anew, and tells whether one has left its row of the state table.
func (s *submission) readRows(ctx context.Context, rows []*planner.Row) (left bool, err error) {
	uuids := make([]string, len(rows))
	for i, r := range rows {
		uuids[i] = r.Prior.UUID.String()
	}
	statuses, err := statusesOf(ctx, s.client, uuids)
	if err != nil {
		return false, err
	}
	for i, r := range rows {
		live := liveOf(statuses[i])
		left = left || !samePlace(live.Status, r.Live.Status)
		setLive(s.state, r.Addr.String(), live)
	}
	return left, nil
}

// interrupted turns an error that ctx caused into an InterruptedError.
func (s *submission) interrupted(ctx context.Context, err error) error {
	if err == nil || !endedBy(ctx, err) {
		return err
	}
	return &InterruptedError{Done: len(s.done), Total: len(changes(s.plan)), Cause: err}
}

// result counts what was written.
func (s *submission) result() Result {
	var r Result
	done := &planner.Plan{Rows: s.order}
	r.Added, r.Changed, r.Destroyed = done.Summary()
	r.Imported = done.Imports()
	if s.state != nil {
		r.Outputs = s.state.Outputs
	}
	if s.begun {
		r.From = &Position{Seq: s.first - 1}
	}
	return r
}
