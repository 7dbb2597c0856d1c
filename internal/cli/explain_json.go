package cli

import (
	"encoding/json"
	"io"
	"time"

	"github.com/waybill-dev/waybill/planner"
)

// explainedLine is one line of explain -json; tui/explain.schema.json describes it.
type explainedLine struct {
	Address    string           `json:"address"`
	Action     string           `json:"action"`
	Reason     planner.Reason   `json:"reason"`
	Text       string           `json:"text"`
	Notes      []string         `json:"notes,omitempty"`
	Causes     []explainedLink  `json:"causes,omitempty"`
	Whole      *bool            `json:"causes_complete,omitempty"`
	Changes    []explainedDelta `json:"changes,omitempty"`
	Drift      string           `json:"drift,omitempty"`
	Status     string           `json:"status,omitempty"`
	Generation int64            `json:"generation,omitempty"`
	UUID       string           `json:"uuid,omitempty"`
	Waits      []string         `json:"waits_for,omitempty"`
	Awaits     []string         `json:"waits_for_once_applied,omitempty"`
	Failure    string           `json:"failure,omitempty"`
	Next       []string         `json:"next,omitempty"`
	Unserved   []string         `json:"unserved,omitempty"`
	Controller *explainedTended `json:"controller,omitempty"`
}

type explainedTended struct {
	Leader  string `json:"leader"`
	Action  string `json:"action"`
	RetryAt string `json:"retry_at,omitempty"`
	Before  int    `json:"retries,omitempty"`
}

type explainedLink struct {
	Address string         `json:"address"`
	Action  string         `json:"action"`
	Reason  planner.Reason `json:"reason"`
	Text    string         `json:"text"`
	Depth   int            `json:"depth"`
	Again   bool           `json:"again,omitempty"`
}

type explainedDelta struct {
	Path   string `json:"path"`
	Action string `json:"action"`
}

func explainedJSON(w io.Writer, all []explained) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for i := range all {
		if err := e.Encode(all[i].line()); err != nil {
			return err
		}
	}
	return nil
}

func (x *explained) line() explainedLine {
	r := x.Row
	l := explainedLine{Address: r.Addr.String(), Action: r.Action.Word(), Reason: r.Reason, Text: r.Sentence(), Notes: r.Besides(), Drift: x.Drift,
		Waits: x.waits(), Awaits: x.Awaits}
	for _, c := range x.Chain[1:] {
		l.Causes = append(l.Causes, explainedLink{c.Row.Addr.String(), c.Row.Action.Word(), c.Row.Reason, c.Row.Because(), c.Depth, c.Again})
	}
	if l.Causes != nil {
		l.Whole = &x.Whole
	}
	for _, d := range x.Changes {
		l.Changes = append(l.Changes, explainedDelta{d.Path, map[string]string{"+": "create", "-": "delete", "~": "update"}[d.Sign]})
	}
	if r.Prior != nil {
		l.Status, l.Generation, l.UUID = r.Live.Status.String(), r.Prior.Generation, r.Prior.UUID.String()
	}
	if x.now != nil {
		l.Failure = x.now.failure
		if t := x.now.template; t != nil {
			l.Next = t.shown().Next
		}
	}
	if t := x.tended; t != nil {
		l.Controller = &explainedTended{Leader: t.leader.Who, Action: "leave"}
		if !t.retryAt.IsZero() {
			l.Controller.Action, l.Controller.RetryAt, l.Controller.Before = "retry", t.retryAt.Format(time.RFC3339), t.before
		}
	}
	for _, w := range x.warnings {
		l.Unserved = append(l.Unserved, w.Summary)
	}
	return l
}
