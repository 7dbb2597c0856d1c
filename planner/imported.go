package planner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
)

// Import is a job that an import block names, as the store holds it.
type Import struct {
	UUID    uuid.UUID
	Live    Live
	Queue   string
	Work    *ImportedWork // nil where the store has it no more, or nobody can read it
	Problem string        // why it cannot be imported, as a clause; "" if it can
}

// ImportedWork is what a job in the store was made of, as far as it makes the job run again.
type ImportedWork struct {
	Type    string
	Payload []byte
	Time    time.Time
	After   time.Duration
}

// Importing tells whether the row gives a job of the store its first record. Its Prior is made up: no stored record has version 0.
func (r *Row) Importing() bool { return r.Prior != nil && r.Prior.Version == 0 }

// Imported is a state in which each declared address that is to be imported has a record of version 0 of the job that State.Imports
// found. An address with a record keeps it, so doing it twice changes nothing. It fails, with one diagnostic for each, on jobs that
// cannot be imported.
func Imported(s *State, w *config.Workflow) (*State, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	next := s
	for i := range w.Imports {
		v := &w.Imports[i]
		name := v.To.String()
		if s.Records[name] != nil {
			continue
		}
		problem := "nobody looked for it, which is a bug in Waybill"
		found := s.Imports[name]
		if found != nil {
			problem = found.Problem
		}
		if problem != "" {
			diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Cannot import", Subject: v.Range.Ptr(),
				Detail: fmt.Sprintf("Job %s cannot be imported as %s: %s.", v.ID, name, problem)})
			continue
		}
		if next == s {
			clone := *s
			clone.Records, clone.Live = maps.Clone(s.Records), maps.Clone(s.Live)
			if clone.Records == nil {
				clone.Records = map[string]*Record{}
			}
			if clone.Live == nil {
				clone.Live = map[string]Live{}
			}
			next = &clone
		}
		// Whatever generation it was made as, what follows it is above the floor.
		next.Records[name] = &Record{UUID: found.UUID, Generation: max(1, s.Floor), Opening: max(1, found.Live.Opening), Queue: found.Queue}
		next.Live[name] = found.Live
	}
	return next, diags
}

// adopt completes the record of a job that is imported. Whatever the store has of its work is compared. Where it has nothing, work
// that waits is taken to differ, which costs no more than writing it, and work that has begun or is over to be what is declared:
// nobody can tell, and whoever imports it says so. Its handling is written to the store again while that still matters.
func (m *maker) adopt(d *digester, job int32) {
	r := &m.rows[job]
	rec := *r.Prior
	found := m.s.Imports[m.g.names[job]]
	rec.Type, rec.Definition = r.Job.Type, appendDefinition(nil, r.Job)
	switch {
	case found != nil && found.Work != nil && !m.sameWork(r.Job, found.Work):
		was := *r.Job
		was.Type, was.Payload, was.Shown, was.Sensitive, was.Results, was.Secrets = found.Work.Type, found.Work.Payload, found.Work.Payload, false, nil, nil
		was.Message = nil
		if shown, fields, err := config.ShowMessage(m.messages, was.Type, was.Payload); err == nil {
			was.Shown, was.Message = shown, fields
		}
		if r.Job.Sensitive {
			was.Shown, was.Message = nil, nil
		}
		was.RunAt = config.RunAt{Time: found.Work.Time, After: found.Work.After}
		rec.Type, rec.Definition = was.Type, appendDefinition(nil, &was)
		rec.Work, rec.KeyID = d.work(&was)
	case found != nil && found.Work == nil && r.Live.Status.Waits():
	default:
		rec.Work, rec.KeyID = r.Work, r.KeyID
		r.Unseen = found != nil && found.Work == nil
	}
	if r.Live.Status.Ended() {
		rec.Handling = r.Handling
	}
	r.Prior = &rec
}

// sameWork compares declared work with stored work. What is declared beside type, payload and run_at never reaches the store.
func (m *maker) sameWork(j *config.Job, stored *ImportedWork) bool {
	payload := config.FillPlaceholders(j.Payload, func(address string) string {
		if r := m.s.Records[address]; r != nil {
			return r.UUID.String()
		}
		return ""
	})
	return j.Type == stored.Type && j.RunAt.Time.Equal(stored.Time) && j.RunAt.After == stored.After &&
		(samePayload(payload, stored.Payload) || m.messages.Same(j.Type, payload, stored.Payload))
}

// samePayload compares payloads, JSON by its values.
func samePayload(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, xErr := decodeNumbers(a)
	y, yErr := decodeNumbers(b)
	return xErr == nil && yErr == nil && reflect.DeepEqual(x, y)
}

func decodeNumbers(raw []byte) (v any, err error) {
	if !json.Valid(raw) {
		return nil, fmt.Errorf("%d bytes are no JSON", len(raw))
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// take makes an import of what is decided about a job in the store: it gets its record in any case.
func (m *maker) take(job int32) {
	r := &m.rows[job]
	switch {
	case r.Action == NoOp:
		m.ignoredWork[job] = r.Reason == ReasonIgnoredRunning
		r.Action, r.Reason = Rerecord, ReasonImported
	case r.Action == Rerecord, r.Action == Update && !r.Leave && (r.Reason == ReasonWork || r.Reason == ReasonHandling):
		r.Reason = ReasonImported
	}
}

// Imports counts the jobs that get their first record.
func (p *Plan) Imports() (n int) {
	for _, r := range p.Rows {
		if r.Importing() && r.Action != NoOp {
			n++
		}
	}
	return n
}

// Sentence is the summary that scripts match, as Terraform words it.
func (p *Plan) Sentence() string {
	add, change, destroy := p.Summary()
	imports := ""
	if n := p.Imports(); n > 0 {
		imports = fmt.Sprintf("%d to import, ", n)
	}
	return fmt.Sprintf("Plan: %s%d to add, %d to change, %d to destroy.", imports, add, change, destroy)
}

// Adopted is the record that an import by hand writes, of a row that a plan from s made: what the plan compared the declaration with,
// and what is declared that the job waits for, as far as that was ever submitted. What differs is for the next plan.
func (r *Row) Adopted(s *State) *Record {
	rec := *r.Prior
	rec.Version = 1
	standing := func(addr config.Addr) (up *Record, opening int64) {
		if up = s.Records[addr.String()]; up != nil {
			opening = max(1, up.Opening, s.Live[addr.String()].Opening)
		}
		return up, opening
	}
	for _, t := range r.Edges {
		e := Edge{Kind: t.Kind, Group: t.Group, Addr: t.Addr, UUID: t.UUID, Opening: 1}
		if t.UUID == "" {
			up, opening := standing(t.Addr)
			if up == nil {
				continue
			}
			e.UUID, e.Opening = up.UUID.String(), opening
		}
		rec.Edges = append(rec.Edges, e)
	}
	if c := r.Job.Lifecycle; c != nil {
		for _, addr := range slices.SortedFunc(slices.Values(c.ReplacedBy), compareAddr) {
			if up, _ := standing(addr); up != nil {
				rec.Triggers = append(rec.Triggers, Trigger{Addr: addr, UUID: up.UUID.String()})
			}
		}
	}
	return &rec
}

// unseen is what is said about work that is taken to be as declared.
func (r *Row) unseen() string {
	if r.Live.Status.Ended() {
		return "the store does not keep what a job did that is over: its work is taken to be what is declared"
	}
	return "what it does cannot be read from the store: its work is taken to be what is declared"
}

// imported is why a row imports, as a clause.
func (r *Row) imported() string {
	switch {
	case r.KeepsWork:
		return "the store holds it already; it is running, and on_change = \"ignore\" leaves alone what differs"
	case r.Action == Update:
		return "the store holds it already, and handles it as declared from now on"
	default:
		return fmt.Sprintf("the store holds it already, as %s", r.Prior.UUID)
	}
}
