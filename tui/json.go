package tui

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/board"
)

// JSONOptions configures a JSON.
type JSONOptions struct {
	Out io.Writer
	// Now is the clock of timestamps; default time.Now.
	Now func() time.Time
	// Destroy chooses the words of the summary.
	Destroy bool
}

// JSON writes Terraform's UI envelope: one JSON object a line with @level, @message, @module, @timestamp and type, and
// seq, which counts the lines from 1. Besides being an observer it writes what comes before and after a run.
type JSON struct {
	o     JSONOptions
	board *board.Board
	seq   int64
	lock  string // token of the holder told last
}

// NewJSON returns a JSON.
func NewJSON(o JSONOptions) *JSON {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &JSON{o: o, board: board.New()}
}

// envelope is one line. Exactly the fields of its Type are set.
type envelope struct {
	Level     string `json:"@level"`
	Message   string `json:"@message"`
	Module    string `json:"@module"`
	Timestamp string `json:"@timestamp"`
	Seq       int64  `json:"seq"`
	Type      string `json:"type"`

	Waybill    string                `json:"waybill,omitempty"`  // version
	UI         string                `json:"ui,omitempty"`       // version
	Store      string                `json:"store,omitempty"`    // version
	Workflow   string                `json:"workflow,omitempty"` // version
	Changes    *changesJSON          `json:"changes,omitempty"`  // change_summary
	Hook       *hookJSON             `json:"hook,omitempty"`     // apply_*
	Diagnostic *diagnosticJSON       `json:"diagnostic,omitempty"`
	Outputs    map[string]outputJSON `json:"outputs,omitempty"`

	rest json.RawMessage // an object whose members stand beside the others
}

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
	Resource resourceJSON `json:"resource"`
	Action   string       `json:"action"`
	IDKey    string       `json:"id_key,omitempty"`
	IDValue  string       `json:"id_value,omitempty"`
	Elapsed  *float64     `json:"elapsed_seconds,omitempty"`
	Status   string       `json:"status,omitempty"` // state of the job
	Attempt  int64        `json:"attempt,omitempty"`
	Worker   string       `json:"worker,omitempty"`
	Cause    *causeJSON   `json:"cause,omitempty"` // apply_errored
}

// causeJSON says why a job did not succeed.
type causeJSON struct {
	Status         string   `json:"status"`
	Attempts       int      `json:"attempts"`
	Lost           int      `json:"lost,omitempty"`
	FailedChildren int      `json:"failed_children,omitempty"`
	Failure        string   `json:"failure,omitempty"`
	Log            []string `json:"log,omitempty"` // last lines
}

type changesJSON struct {
	Add       int    `json:"add"`
	Change    int    `json:"change"`
	Remove    int    `json:"remove"`
	Operation string `json:"operation"` // plan, apply, destroy
}

type outputJSON struct {
	Sensitive bool            `json:"sensitive"`
	Value     json.RawMessage `json:"value,omitempty"`
	Action    string          `json:"action,omitempty"`
}

func (j *JSON) write(level, kind, message string, fill func(*envelope)) {
	j.seq++
	e := envelope{Level: level, Message: message, Module: "waybill.ui", Seq: j.seq, Type: kind,
		Timestamp: j.o.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")}
	if fill != nil {
		fill(&e)
	}
	b, err := json.Marshal(e)
	if err != nil { // only a value that claims to be canonical JSON and is not
		e.Outputs = nil
		e.Message += " (a value could not be shown: " + err.Error() + ")"
		b, _ = json.Marshal(e)
	}
	if len(e.rest) > 2 {
		b = append(append(b[:len(b)-1], ','), e.rest[1:]...)
	}
	j.o.Out.Write(append(b, '\n')) //nolint:errcheck // an observer has nobody to tell
}

// Version writes the first line.
func (j *JSON) Version(version, store, workflow string) {
	j.write("info", "version", "Waybill "+version, func(e *envelope) {
		e.Waybill, e.UI, e.Store, e.Workflow = version, uiVersion, store, workflow
	})
}

// uiVersion is the version of the envelope: the major number rises when a reader of the former one would break.
const uiVersion = "1.0"

// Observe writes the lines of one event.
func (j *JSON) Observe(e applier.Event) {
	warned := len(j.board.Warnings)
	steps := j.board.Observe(e)
	switch e := e.(type) {
	case applier.LockWaiting:
		if e.Holder.Token != j.lock {
			j.lock = e.Holder.Token
			j.diagnostic(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Waiting for the state lock", Detail: board.LockLine(e)}, nil)
		}
	case applier.StoreAway:
		j.diagnostic(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "The store does not answer",
			Detail: board.AwayLine(e) + " " + strings.TrimSuffix(e.Reason, ".") + ". " + e.Then}, nil)
	case applier.StoreBack:
		j.write("info", "log", board.BackLine(e), nil)
	case applier.RowApplied:
		j.rowApplied(e)
	case applier.Replanned:
		j.diagnostic(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Plan made again", Detail: board.Replanned(e)}, nil)
		j.Plan(e.Plan)
	case applier.RowDiverted:
		j.diagnostic(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Job moved on during apply",
			Detail: e.Row.Addr.String() + ": " + board.RowVerb(e.Row.Action) + " instead of " + board.RowVerb(e.Prev) + "."}, nil)
	case applier.Following:
		for _, s := range steps {
			mine := j.board.Applied(s.Job.Addr)
			if mine || board.SectionOf(s.Job.Status.State) != board.Done {
				j.step(s, j.o.Now())
			}
		}
	case applier.JobChanged:
		at := e.At
		if at.IsZero() {
			at = j.o.Now()
		}
		for _, s := range steps {
			j.step(s, at)
		}
	case applier.StillRunning:
		j.progress(e)
	case applier.Warning:
		if len(j.board.Warnings) == warned {
			return // each once
		}
		j.diagnostic(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: e.Summary, Detail: e.Detail}, nil)
	case applier.Done:
		j.done(e)
	}
}

func (j *JSON) rowApplied(e applier.RowApplied) {
	text := board.Starting(e.Row.Action)
	if text == "" {
		return
	}
	name := e.Row.Addr.String()
	hook := hookJSON{Resource: resourceOf(e.Row.Addr), Action: actionJSON(e.Row.Action)}
	j.write("info", "apply_start", name+": "+text, func(l *envelope) { l.Hook = &hook })
	if text := board.Finished(e.Row.Action); text != "" {
		j.write("info", "apply_complete", name+": "+text, func(l *envelope) { l.Hook = &hook })
	}
}

// step writes progress while a job lives, and its end once.
func (j *JSON) step(s board.Step, at time.Time) {
	text := board.Story(s, at)
	st := s.Job.Status
	if text == "" {
		return
	}
	hook := j.hook(s.Job, board.Lasted(st, at))
	kind, level := "apply_progress", "info"
	switch board.SectionOf(st.State) {
	case board.Done:
		kind, hook.IDKey, hook.IDValue = "apply_complete", "uuid", st.UUID
	case board.Failed:
		kind, level = "apply_errored", "error"
		hook.Cause = &causeJSON{Status: st.State.String(), Attempts: st.Attempts, Lost: st.Lost, FailedChildren: st.FailedChildren,
			Failure: s.Job.Failure, Log: s.Job.Tail}
	}
	j.write(level, kind, s.Job.Addr.String()+": "+text, func(e *envelope) { e.Hook = hook })
}

func (j *JSON) progress(e applier.StillRunning) {
	hook := &hookJSON{Resource: resourceOf(e.Addr), Action: actionJSON(planner.NoOp), Status: conveyor.StateRunning.String()}
	if known := j.board.Job(e.Addr); known != nil {
		hook = j.hook(known, e.Elapsed)
	}
	seconds := e.Elapsed.Truncate(time.Second).Seconds()
	hook.Elapsed = &seconds
	j.write("info", "apply_progress", e.Addr.String()+": Still running... ["+board.Elapsed(e.Elapsed)+" elapsed]",
		func(l *envelope) { l.Hook = hook })
}

func (j *JSON) hook(known *board.Job, ran time.Duration) *hookJSON {
	seconds := ran.Round(time.Millisecond).Seconds()
	return &hookJSON{Resource: resourceOf(known.Addr), Action: actionJSON(known.Action), Elapsed: &seconds,
		Status: known.Status.State.String(), Attempt: known.Status.Fence, Worker: known.Status.Owner}
}

// done writes the summary and the outputs; an error is the caller's diagnostic.
func (j *JSON) done(e applier.Done) {
	line, good := j.board.Closing(board.Operation{Destroy: j.o.Destroy})
	if line == "" {
		return
	}
	level, operation := "info", "apply"
	if !good {
		level = "error"
	}
	if j.o.Destroy {
		operation = "destroy"
	}
	r := e.Result
	j.write(level, "change_summary", line, func(l *envelope) {
		l.Changes = &changesJSON{Add: r.Added, Change: r.Changed, Remove: r.Destroyed, Operation: operation}
	})
	if len(r.Outputs) == 0 {
		return
	}
	outputs := make(map[string]outputJSON, len(r.Outputs))
	for name, value := range r.Outputs {
		out := outputJSON{Sensitive: SensitiveOutput(value)}
		if !out.Sensitive {
			out.Value = json.RawMessage(value)
		}
		outputs[name] = out
	}
	j.write("info", "outputs", "Outputs: "+board.Count(len(outputs), "value", "values"), func(l *envelope) { l.Outputs = outputs })
}
