package tui

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/screen"
)

// Reconciled is something that a controller tells.
type Reconciled struct {
	Level string // info, warn or error
	Text  string // a sentence
	Event string // its kind, one of those that the schema lists
	// Workflow and Revision are what it is about; Job and Plan too, where it is about one.
	Workflow string
	Revision planner.Source
	Job      string
	Plan     string
	// Changes are those that were submitted, or would be; nil for none.
	Changes *ReconciledChanges
	// Diags are written after the line, with the sources for their snippets.
	Diags hcl.Diagnostics
	Files map[string]*hcl.File
}

// ReconciledChanges count rows of a plan.
type ReconciledChanges struct {
	Add    int `json:"add"`
	Change int `json:"change"`
	Remove int `json:"remove"`
}

type reconciledJSON struct {
	Event    string             `json:"event"`
	Workflow string             `json:"workflow,omitempty"`
	Revision *planner.Source    `json:"revision,omitempty"`
	Job      string             `json:"job,omitempty"`
	Plan     string             `json:"plan,omitempty"`
	Changes  *ReconciledChanges `json:"changes,omitempty"`
}

// Reconciled writes one line of type reconcile, and one for each of the diagnostics.
func (j *JSON) Reconciled(r Reconciled) {
	about := &reconciledJSON{Event: r.Event, Workflow: r.Workflow, Job: r.Job, Plan: r.Plan, Changes: r.Changes}
	if r.Revision.Revision != "" {
		about.Revision = &r.Revision
	}
	j.line(r.Level, "reconcile", screen.Clean(r.Text), func(e *envelope) { e.Reconcile = about })
	for _, d := range r.Diags {
		j.diagnostic(d, r.Files)
	}
	j.flush()
}
