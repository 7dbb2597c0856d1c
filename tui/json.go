package tui

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
)

// JSONOptions configures a JSON.
type JSONOptions struct {
	Out io.Writer // gets the lines of one event of the engine in one Write
	// Now is the clock of timestamps; default time.Now.
	Now func() time.Time
	// Destroy and Watch choose the words of the summary.
	Destroy, Watch bool
}

// JSON writes Terraform's UI envelope: one JSON object a line with @level, @message, @module, @timestamp and type. Schema says
// what else each type has. Besides being an observer it writes what comes before and after a run.
//
// A line that tells a change of a job has seq, the number of the engine's event, and part, which of the event's jobs it is, from 1.
// Together they name the change for ever, in whichever process it is told, so whoever reads on in another process (wait -after)
// knows what it has seen. Other lines have neither: what is told of a job without them is how it stood when following began, or
// how far it is.
type JSON struct {
	o     JSONOptions
	board *board.Board
	lock  string // token of the holder told last
	buf   bytes.Buffer
	open  int64 // the event of which more lines come; 0: none
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
	Type      string `json:"type"`

	Seq  int64  `json:"seq,omitempty"`  // apply_* that tell a change
	Part int    `json:"part,omitempty"` // the same
	At   string `json:"at,omitempty"`   // the same: when it happened, by the store's clock

	Waybill    string                `json:"waybill,omitempty"`  // version
	UI         string                `json:"ui,omitempty"`       // version
	Store      string                `json:"store,omitempty"`    // version
	Workflow   string                `json:"workflow,omitempty"` // version
	Changes    *changesJSON          `json:"changes,omitempty"`  // change_summary
	Hook       *hookJSON             `json:"hook,omitempty"`     // apply_*
	Position   *positionJSON         `json:"position,omitempty"` // position
	Diagnostic *diagnosticJSON       `json:"diagnostic,omitempty"`
	Outputs    map[string]outputJSON `json:"outputs,omitempty"`
	Schedules  []scheduleJSON        `json:"schedules,omitempty"` // change_summary
	Reconcile  *reconciledJSON       `json:"reconcile,omitempty"`

	rest json.RawMessage // an object whose members stand beside the others
}

// positionJSON is a place in the event stream, for wait -after and watch -after: what comes after it has not been told.
type positionJSON struct {
	After string `json:"after"`
	Jobs  *int   `json:"jobs,omitempty"` // that are followed from there
}

type changesJSON struct {
	Import    int    `json:"import,omitempty"`
	Add       int    `json:"add"`
	Change    int    `json:"change"`
	Remove    int    `json:"remove"`
	Operation string `json:"operation"` // plan, apply, destroy, watch
	// Jobs counts the followed jobs by state; absent in a plan.
	Jobs map[string]int `json:"jobs,omitempty"`
}

type outputJSON struct {
	Sensitive bool            `json:"sensitive"`
	Value     json.RawMessage `json:"value,omitempty"`
	Action    string          `json:"action,omitempty"`
}

// line adds a line to those that are written next.
func (j *JSON) line(level, kind, message string, fill func(*envelope)) {
	e := envelope{Level: level, Message: message, Module: "waybill.ui", Type: kind, Timestamp: stamp(j.o.Now())}
	if fill != nil {
		fill(&e)
	}
	b, err := json.Marshal(e)
	if err != nil {
		b, _ = json.Marshal(envelope{Level: "error", Module: e.Module, Type: "log", Timestamp: e.Timestamp,
			Message: e.Message + " (the line cannot be written, which is a bug in Waybill: " + err.Error() + ")"})
	}
	if len(e.rest) > 2 {
		b = append(append(b[:len(b)-1], ','), e.rest[1:]...)
	}
	j.buf.Write(append(b, '\n'))
}

// flush writes what there is in one Write, so that a reader finds all of an event or nothing of it, as far as the system allows.
func (j *JSON) flush() {
	j.open = 0
	if j.buf.Len() > 0 {
		j.o.Out.Write(j.buf.Bytes()) //nolint:errcheck // an observer has nobody to tell
		j.buf.Reset()
	}
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z07:00") }

// Version writes the first line.
func (j *JSON) Version(version, store, workflow string) {
	j.line("info", "version", "Waybill "+version, func(e *envelope) {
		e.Waybill, e.UI, e.Store, e.Workflow = version, uiVersion, store, workflow
	})
	j.flush()
}

// uiVersion is the version of the envelope: the major number rises when a reader of the former one would break.
const uiVersion = "1.0"

// Observe writes the lines of one event.
func (j *JSON) Observe(e applier.Event) {
	change, ok := e.(applier.JobChanged)
	if j.open != 0 && (!ok || change.Seq != j.open) {
		j.flush()
	}
	j.tell(e)
	if ok && change.Part > 0 && !change.Last {
		j.open = change.Seq
		return
	}
	j.flush()
}

func (j *JSON) tell(e applier.Event) {
	warned := len(j.board.Warnings)
	steps := j.board.Observe(e)
	switch e := e.(type) {
	case applier.LockWaiting:
		if e.Holder.Token != j.lock {
			j.lock = e.Holder.Token
			j.warning("Waiting for the state lock", board.LockLine(e))
		}
	case applier.StoreAway:
		j.warning("The store does not answer", board.AwayLine(e)+" "+strings.TrimSuffix(e.Reason, ".")+". "+e.Then)
	case applier.StoreBack:
		j.line("info", "log", board.BackLine(e), nil)
	case applier.RowApplied:
		j.rowApplied(e)
	case applier.Replanned:
		j.warning("Plan made again", board.Replanned(e))
		j.plan(e.Plan)
	case applier.RowDiverted:
		j.warning("Job moved on during apply", e.Row.Addr.String()+": "+board.RowVerb(e.Row.Action)+" instead of "+board.RowVerb(e.Prev)+".")
	case applier.Following:
		j.following(e, steps)
	case applier.JobChanged:
		j.changed(e, steps)
	case applier.JobProgress:
		j.progress(e)
	case applier.StillRunning:
		j.stillRunning(e)
	case applier.Warning:
		if len(j.board.Warnings) > warned { // as long as it lasts, once
			j.warning(e.Summary, e.Detail)
		}
	case applier.Done:
		j.done(e)
	}
}

// done writes the summary, the outputs, and of a detached run from where on to follow it; an error is the caller's diagnostic.
func (j *JSON) done(e applier.Done) {
	line, good := j.board.Closing(board.Operation{Destroy: j.o.Destroy, Watch: j.o.Watch})
	if line == "" {
		return
	}
	level, operation := "info", "apply"
	if !good {
		level = "error"
	}
	switch {
	case j.o.Destroy:
		operation = "destroy"
	case j.o.Watch:
		operation = "watch"
	}
	r := e.Result
	jobs := map[string]int{}
	for state, n := range j.board.Counts {
		if n > 0 {
			jobs[conveyor.State(state).String()] = n
		}
	}
	j.line(level, "change_summary", line, func(l *envelope) {
		l.Changes = &changesJSON{Import: r.Imported, Add: r.Added, Change: r.Changed, Remove: r.Destroyed, Operation: operation, Jobs: jobs}
		for _, s := range r.Schedules {
			l.Schedules = append(l.Schedules, scheduleOf(s, j.o.Now()))
		}
	})
	if len(r.Outputs) > 0 && !j.o.Watch {
		j.outputs(r.Outputs)
	}
	if r.Detached && r.From != nil {
		j.line("info", "position", "The jobs go on. What becomes of them comes after event "+r.From.String(), func(l *envelope) {
			l.Position = &positionJSON{After: r.From.String()}
		})
	}
}

func (j *JSON) outputs(stored map[string]string) {
	outputs := make(map[string]outputJSON, len(stored))
	for name, value := range stored {
		out := outputJSON{Sensitive: SensitiveOutput(value)}
		switch {
		case out.Sensitive:
		case json.Valid([]byte(value)):
			out.Value = json.RawMessage(value)
		default: // the state holds canonical JSON alone
			out.Value, _ = json.Marshal(value) // a string always can
		}
		outputs[name] = out
	}
	j.line("info", "outputs", "Outputs: "+board.Count(len(outputs), "value", "values"), func(l *envelope) { l.Outputs = outputs })
}
