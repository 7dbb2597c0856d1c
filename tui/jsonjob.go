package tui

import (
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/board"
)

// resourceJSON names a job as Terraform names a resource.
type resourceJSON struct {
	Addr         string `json:"addr"`
	Module       string `json:"module"`
	Resource     string `json:"resource"`
	ResourceType string `json:"resource_type"`
	ResourceName string `json:"resource_name"`
	ResourceKey  any    `json:"resource_key"` // string, number or null
}

func resourceOf(a config.Addr) resourceJSON {
	root := a
	root.Module = ""
	r := resourceJSON{Addr: a.String(), Module: a.Module, Resource: root.String(), ResourceType: "job", ResourceName: a.Name}
	switch a.Key.Kind {
	case config.KeyString:
		r.ResourceKey = a.Key.Str
	case config.KeyInt:
		r.ResourceKey = a.Key.Int
	}
	return r
}

// hookJSON is the content of apply_start, apply_progress, apply_complete and apply_errored.
type hookJSON struct {
	Resource resourceJSON  `json:"resource"`
	Action   string        `json:"action"`
	IDKey    string        `json:"id_key,omitempty"`
	IDValue  string        `json:"id_value,omitempty"`
	Elapsed  *float64      `json:"elapsed_seconds,omitempty"`
	Status   string        `json:"status,omitempty"` // state of the job
	Attempt  int64         `json:"attempt,omitempty"`
	Worker   string        `json:"worker,omitempty"`
	Due      string        `json:"due,omitempty"` // until when it waits, RFC 3339
	Progress *progressJSON `json:"progress,omitempty"`
	Upstream string        `json:"upstream,omitempty"` // of a skipped job: the one that excluded it
	Cause    *causeJSON    `json:"cause,omitempty"`    // apply_errored, and apply_progress after a failed attempt
}

// progressJSON is how far an attempt is.
type progressJSON struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total,omitempty"` // absent when it is unknown
	Text  string `json:"text,omitempty"`
}

// causeJSON says why a job, or an attempt of it, did not succeed.
type causeJSON struct {
	Status         string   `json:"status"`
	Attempts       int      `json:"attempts"`
	Lost           int      `json:"lost,omitempty"`
	FailedChildren int      `json:"failed_children,omitempty"`
	Failure        string   `json:"failure,omitempty"`
	Log            []string `json:"log,omitempty"` // last lines
}

func (j *JSON) rowApplied(e applier.RowApplied) {
	text := board.Starting(e.Row)
	if text == "" {
		return
	}
	name := e.Row.Addr.String()
	hook := hookJSON{Resource: resourceOf(e.Row.Addr), Action: actionJSON(e.Row.Action)}
	j.line("info", "apply_start", name+": "+text, func(l *envelope) { l.Hook = &hook })
	if text := board.Finished(e.Row); text != "" {
		j.line("info", "apply_complete", name+": "+text, func(l *envelope) { l.Hook = &hook })
	}
}

// following tells where in the event stream it begins, and how the jobs stand there that are not told by what follows.
func (j *JSON) following(e applier.Following, steps []board.Step) {
	n := len(e.Jobs)
	j.line("info", "position", fmt.Sprintf("Following %s from event %s on", board.Count(n, "job", "jobs"), e.At), func(l *envelope) {
		l.Position = &positionJSON{After: e.At.String(), Jobs: &n}
	})
	now := j.o.Now()
	for _, s := range steps {
		st := s.Job.Status
		switch {
		case st.State == conveyor.StateUnknown: // what becomes of it is told next
		case board.SectionOf(st.State) == board.Done && !j.board.Submitted(s.Job.Addr): // of an earlier run
		default:
			if text := board.Story(s, now); text != "" {
				j.job(s, text, now, applier.JobChanged{})
			}
		}
	}
}

// changed tells a change, in each of its lines the same whether or not somebody who reads along wants to know it.
func (j *JSON) changed(e applier.JobChanged, steps []board.Step) {
	at := e.At
	if at.IsZero() {
		at = j.o.Now()
	}
	if e.Part > 0 && len(steps) == 0 { // only something has changed of which the board knows nothing
		if known := j.board.Job(e.Addr); known != nil {
			steps = []board.Step{{Job: known, Prev: e.Status}}
		}
	}
	for _, s := range steps {
		text := board.Story(s, at)
		if text == "" && e.Part > 0 {
			text = standing(e.Status)
		}
		if text != "" {
			j.job(s, text, at, e)
		}
	}
}

// standing is what a change comes to that has no story for people.
func standing(s conveyor.Status) string {
	switch s.State {
	case conveyor.StateHeld:
		return "Waiting for other jobs"
	case conveyor.StateTemplate:
		return "Waiting to be emitted"
	case conveyor.StateScheduled:
		return "Waiting until " + s.DueAt.UTC().Format(time.RFC3339)
	case conveyor.StateQueued:
		return "Queued"
	case conveyor.StateRunning:
		return "Running..."
	case conveyor.StateClosing:
		return "Waiting for its children"
	case conveyor.StateUnknown:
		return "Removed"
	default:
		return "Still " + s.State.String()
	}
}

// job writes a job's status: its end once, as apply_complete or apply_errored, all else as apply_progress.
func (j *JSON) job(s board.Step, text string, at time.Time, e applier.JobChanged) {
	st := s.Job.Status
	hook := j.hook(s.Job, board.Lasted(st, at))
	if st.State == conveyor.StateScheduled && !st.DueAt.IsZero() {
		hook.Due = st.DueAt.UTC().Format(time.RFC3339Nano)
	}
	kind, level := "apply_progress", "info"
	ends := s.Prev.State != st.State || s.Prev.Opening != st.Opening || s.Prev.UUID != st.UUID
	switch board.SectionOf(st.State) {
	case board.Done:
		if ends {
			kind, hook.IDKey, hook.IDValue = "apply_complete", "uuid", st.UUID
		}
	case board.Failed:
		if ends {
			kind, level, hook.Cause = "apply_errored", "error", causeOf(s.Job)
		}
	default:
		if st.Attempts > s.Prev.Attempts && s.Job.Failure != "" {
			hook.Cause = causeOf(s.Job)
		}
	}
	j.line(level, kind, s.Job.Addr.String()+": "+text, func(l *envelope) {
		l.Hook = hook
		if e.Part > 0 {
			l.Seq, l.Part, l.At = e.Seq, e.Part, stamp(at)
		}
	})
}

func causeOf(known *board.Job) *causeJSON {
	st := known.Status
	return &causeJSON{Status: st.State.String(), Attempts: st.Attempts, Lost: st.Lost, FailedChildren: st.FailedChildren,
		Failure: known.Failure, Log: known.Tail}
}

func (j *JSON) hook(known *board.Job, ran time.Duration) *hookJSON {
	seconds := ran.Round(time.Millisecond).Seconds()
	return &hookJSON{Resource: resourceOf(known.Addr), Action: actionJSON(known.Action), Elapsed: &seconds,
		Status: known.Status.State.String(), Attempt: known.Status.Fence, Worker: known.Status.Owner, Upstream: known.Upstream}
}

// hookAt is the hook of a job that runs, known or not.
func (j *JSON) hookAt(a config.Addr) *hookJSON {
	if known := j.board.Job(a); known != nil {
		return j.hook(known, board.Lasted(known.Status, j.o.Now()))
	}
	return &hookJSON{Resource: resourceOf(a), Action: actionJSON(planner.NoOp), Status: conveyor.StateRunning.String()}
}

func (j *JSON) stillRunning(e applier.StillRunning) {
	hook := j.hookAt(e.Addr)
	seconds := max(0, e.Elapsed).Truncate(time.Second).Seconds()
	hook.Elapsed = &seconds
	j.line("info", "apply_progress", e.Addr.String()+": Still running... ["+board.Elapsed(e.Elapsed)+" elapsed]",
		func(l *envelope) { l.Hook = hook })
}

func (j *JSON) progress(e applier.JobProgress) {
	hook := j.hookAt(e.Addr)
	hook.Progress = &progressJSON{Done: e.Progress.Done, Total: e.Progress.Total, Text: e.Progress.Text}
	j.line("info", "apply_progress", e.Addr.String()+": Still running... "+howFar(e.Progress), func(l *envelope) { l.Hook = hook })
}
