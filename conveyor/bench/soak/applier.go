package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/graph"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/history"
	"github.com/waybill-dev/waybill/conveyor/bench/soak/rig"
	"github.com/waybill-dev/waybill/planner"
)

// lookEvery is how often an applier looks at its workflows.
const lookEvery = 200 * time.Millisecond

// submitter is an applier: it keeps some workflows in flight, plans each of them again and again as `waybill apply` would, and applies
// whatever the plan says. So what the store has lost comes back, and what an apply that was killed has left is finished.
type submitter struct {
	role
	client *conveyor.Client
	log    *history.Writer
	open   []*submission
	drawn  int // workflows
}

// submission is one workflow that is not known to be settled.
type submission struct {
	graph *graph.Graph
	acked map[string]string // uuids by job, once the store has acknowledged all
	off   bool              // its schedule was told to stop
	gone  bool              // some of acked is lost, and not known to be back
}

// submit is an applier's life: until ctx ends it begins workflows, and then it sees those through that it began.
func (r role) submit(ctx context.Context, client *conveyor.Client, log *history.Writer) error {
	s := &submitter{role: r, client: client, log: log}
	if err := s.remember(); err != nil {
		return err
	}
	calls, tick := context.WithoutCancel(ctx), time.NewTicker(lookEvery)
	defer tick.Stop()
	var begun time.Time
	for {
		finish := s.Finish || ctx.Err() != nil
		if !finish && len(s.open) < s.InFlight && time.Since(begun) >= graph.Pace {
			begun = time.Now()
			if err := s.begin(); err != nil {
				return err
			}
		}
		for _, sub := range slices.Clone(s.open) {
			settled, err := s.advance(calls, sub, finish)
			if err != nil && !errors.Is(err, conveyor.ErrUnavailable) {
				if err := log.Add(history.Record{Kind: history.Trouble, Graph: sub.graph.Name, Text: err.Error()}); err != nil {
					return err
				}
			}
			if settled {
				s.open = slices.DeleteFunc(s.open, func(o *submission) bool { return o == sub })
			}
		}
		if finish && len(s.open) == 0 {
			return nil
		}
		<-tick.C
	}
}

// remember takes up what earlier runs of this applier left.
func (s *submitter) remember() error {
	past, err := history.Read(s.Histories, fmt.Sprintf("applier%d.", s.Number))
	if err != nil {
		return err
	}
	found := map[string]*submission{}
	for _, r := range past {
		switch r.Kind {
		case history.Planned:
			for _, g := range []*graph.Graph{graph.Clock(s.Number), graph.Draw(s.Seed, s.Number, s.drawn)} {
				if g.Name == r.Graph {
					found[r.Graph] = &submission{graph: g}
					s.open = append(s.open, found[r.Graph])
					if !g.Recurs {
						s.drawn++
					}
				}
			}
		case history.Applied:
			if sub := found[r.Graph]; sub != nil {
				sub.acked, sub.gone = r.Jobs, false
			}
		case history.Lost:
			if sub := found[r.Graph]; sub != nil {
				sub.gone = true
			}
		case history.Settled:
			if sub := found[r.Graph]; sub != nil {
				s.open = slices.DeleteFunc(s.open, func(o *submission) bool { return o == sub })
			}
		}
	}
	if s.Number == 0 && len(found) == 0 && !s.Finish {
		return s.plan(graph.Clock(s.Number))
	}
	return nil
}

// begin draws the next workflow.
func (s *submitter) begin() error {
	s.drawn++
	return s.plan(graph.Draw(s.Seed, s.Number, s.drawn-1))
}

func (s *submitter) plan(g *graph.Graph) error {
	s.open = append(s.open, &submission{graph: g})
	return s.log.Add(history.Record{Kind: history.Planned, Graph: g.Name})
}

// advance plans a workflow and applies what the plan says, or sees whether it is settled.
func (s *submitter) advance(ctx context.Context, sub *submission, finish bool) (settled bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	sub.off = sub.graph.Recurs && finish
	w, err := sub.graph.Workflow(s.Began, sub.off)
	if err != nil {
		return false, err
	}
	plan, state, err := s.make(ctx, w)
	if err != nil {
		return false, err
	}
	if changes := changesOf(plan); len(changes) > 0 {
		if err := s.notice(sub, changes); err != nil {
			return false, err
		}
		run := applier.Run{Plan: plan, Workflow: w, Options: planner.Options{KeepEnded: true}, Detach: true, LockTimeout: 2 * time.Second, Who: s.Who}
		if _, err := applier.Apply(ctx, s.client, run); err != nil {
			return false, err
		}
		if state, err = s.acknowledged(ctx, w); err != nil || state == nil {
			return false, err
		}
		return false, s.note(sub, state)
	}
	if sub.acked == nil || sub.gone { // an earlier call or run wrote it, and could not say so
		if state, err = s.acknowledged(ctx, w); err != nil || state == nil {
			return false, err
		}
		return false, s.note(sub, state)
	}
	return s.settled(ctx, sub, state)
}

func (s *submitter) make(ctx context.Context, w *config.Workflow) (*planner.Plan, *planner.State, error) {
	state, err := applier.ReadStateFor(ctx, s.client, w)
	if err != nil {
		return nil, nil, err
	}
	plan, diags := planner.Make(w, state, planner.Options{KeepEnded: true})
	if diags.HasErrors() {
		return nil, nil, fmt.Errorf("plan: %w", diags)
	}
	return plan, state, nil
}

func changesOf(p *planner.Plan) []*planner.Row {
	var rows []*planner.Row
	for _, row := range p.Rows {
		if row.Action != planner.NoOp {
			rows = append(rows, row)
		}
	}
	return rows
}

// notice tells what the store has lost of what it had acknowledged, before that comes back.
func (s *submitter) notice(sub *submission, changes []*planner.Row) error {
	if sub.acked == nil || sub.off {
		return nil
	}
	r := history.Record{Kind: history.Lost, Graph: sub.graph.Name, Jobs: map[string]string{}}
	for _, row := range changes {
		if row.Action == planner.Create {
			r.Jobs[row.Addr.Name] = sub.acked[row.Addr.Name]
		} else {
			r.Text += fmt.Sprintf("%s %s, %s; ", row.Action, row.Addr, row.Because())
		}
	}
	sub.gone = true
	return s.log.Add(r)
}

// acknowledged reads the state of a workflow once the store promises to keep it; nil if that lacks a job.
func (s *submitter) acknowledged(ctx context.Context, w *config.Workflow) (*planner.State, error) {
	if s.Durability == rig.Replica {
		if err := rig.WaitReplica(ctx, s.client.Redis()); err != nil {
			return nil, err
		}
	}
	plan, state, err := s.make(ctx, w)
	if err != nil || len(changesOf(plan)) > 0 {
		return nil, err
	}
	return state, nil
}

// note tells that all of a workflow is in the store.
func (s *submitter) note(sub *submission, state *planner.State) error {
	jobs := map[string]string{}
	for _, j := range sub.graph.Jobs {
		record := state.Records[graph.Addr(j.Name).String()]
		if record == nil {
			return nil // lost in this moment: the next plan says so
		}
		jobs[j.Name] = record.UUID.String()
	}
	sub.acked, sub.gone = jobs, false
	return s.log.Add(history.Record{Kind: history.Applied, Graph: sub.graph.Name, Jobs: jobs})
}

// settled tells, and notes, that all of a workflow is over.
func (s *submitter) settled(ctx context.Context, sub *submission, state *planner.State) (bool, error) {
	outcomes := map[string]graph.Outcome{}
	if !sub.graph.Recurs {
		outcomes = sub.graph.Outcomes()
	} else if !sub.off {
		return false, nil
	}
	var uuids []string
	for _, j := range sub.graph.Jobs {
		uuids = append(uuids, state.Records[graph.Addr(j.Name).String()].UUID.String())
	}
	statuses, err := s.client.Statuses(ctx, uuids)
	if err != nil {
		return false, err
	}
	r := history.Record{Kind: history.Settled, Graph: sub.graph.Name, States: map[string]history.State{}}
	for i, j := range sub.graph.Jobs {
		status := statuses[i]
		st := history.State{
			UUID: uuids[i], State: status.State, ChildFailed: status.ChildFailed, Success: status.Success, Fence: status.Fence,
			Attempts: status.Attempts, Lost: status.Lost,
		}
		if !sub.graph.Template(j) {
			if !status.State.Ended() {
				return false, nil
			}
			r.States[j.Name] = st
			continue
		}
		var over bool
		if st.Cycles, over, err = s.cycles(ctx, uuids[i]); err != nil || !over || st.Cycles == 0 && outcomes[j.Name] == graph.Fires {
			return false, err
		}
		r.States[j.Name] = st
	}
	return true, s.log.Add(r)
}

// cycles counts the cycles of a template that are over, and tells whether none is live.
func (s *submitter) cycles(ctx context.Context, uuid string) (int, bool, error) {
	templates, err := s.client.Templates(ctx, []string{uuid})
	if err != nil {
		return 0, false, err
	}
	past, err := s.client.History(ctx, uuid, 0)
	if err != nil {
		return 0, false, err
	}
	return len(past), len(templates) == 1 && len(templates[0].Live) == 0, nil
}
