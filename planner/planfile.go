package planner

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/config"
)

// A plan file is planMagic, its format as a decimal number, a line break, one JSON document in a line and, if there is a key, a line with
// planSigned, the key's id and a signature over all before it. The same plan is the same bytes. It holds all rows with their jobs, so that apply needs no configuration beside it, and pins the version of
// each record. Sensitive payloads are sealed before they come here.
const (
	planMagic  = "waybill plan "
	planFormat = 1
	planSigned = "signed "
)

// ErrPlanFile says that a file is no plan that this version can read.
var ErrPlanFile = errors.New("unreadable plan file")

// Sealer seals payloads with sensitive values, and opens them, for one job type and address each. A *conveyor.Keyring is one.
type Sealer interface {
	Seal(jobType, address string, payload []byte) ([]byte, error)
	Open(jobType, address string, sealed []byte) ([]byte, error)
}

// Signer signs plan files, and verifies them. A Sealer that is one signs each plan that it is given to, and reads no other plans: who may
// write to where plans are kept on their way to apply must not thereby run commands.
type Signer interface {
	SignBytes(purpose string, data []byte) (keyID string, signature []byte)
	VerifyBytes(purpose, keyID string, signature, data []byte) error
}

type planDocument struct {
	Workflow string         `json:"workflow"`
	Former   string         `json:"former,omitempty"`
	Lineage  uuid.UUID      `json:"lineage"`
	Destroy  bool           `json:"destroy,omitempty"`
	Refresh  bool           `json:"refresh_only,omitempty"`
	Assumed  bool           `json:"assumed,omitempty"`
	Asked    Request        `json:"asked"`
	Forecast *Forecast      `json:"forecast,omitempty"`
	Rows     []planRow      `json:"rows"`
	Queues   []QueueChange  `json:"queues,omitempty"`
	Outputs  []OutputChange `json:"outputs,omitempty"`

	Protected []config.Protected `json:"protected,omitempty"`
	Source    Source             `json:"source,omitzero"`
	Archive   []byte             `json:"archive,omitempty"` // sealed: the files may hold what is sensitive
}

// What is sealed for something else than a job of a type: archives, and what the worker of a job masks.
const (
	archiveType = "archive of a plan"
	masksType   = "masks of a job"
)

type planRow struct {
	Addr        string          `json:"addr"`
	Action      Action          `json:"action"`
	Reason      Reason          `json:"reason"`
	Causes      []Cause         `json:"causes,omitempty"`
	Prior       []byte          `json:"prior,omitempty"` // stored form of the record
	MovedFrom   string          `json:"moved_from,omitempty"`
	Importing   bool            `json:"importing,omitempty"` // Prior is stored nowhere
	Live        Live            `json:"live"`
	Job         *config.Job     `json:"job,omitempty"`   // its Payload is sealed when it is sensitive
	Masks       []byte          `json:"masks,omitempty"` // of the job, sealed
	Work        Digest          `json:"work"`
	Handling    Digest          `json:"handling"`
	KeyID       string          `json:"key_id,omitempty"`
	Definition  []byte          `json:"definition,omitempty"`
	Edges       []Target        `json:"edges,omitempty"`
	Successor   bool            `json:"successor,omitempty"`
	CancelFirst bool            `json:"cancel_first,omitempty"`
	Leave       bool            `json:"leave,omitempty"`
	Ignored     []string        `json:"ignored,omitempty"`
	KeepsWork   bool            `json:"keeps_work,omitempty"`
	Unseen      bool            `json:"unseen,omitempty"`
	Unclear     bool            `json:"unclear,omitempty"`
	Hidden      []Digest        `json:"hidden,omitempty"`
	Earlier     string          `json:"earlier,omitempty"`
	Component   int             `json:"component"`
	Root        string          `json:"root,omitempty"`
	Fires       []time.Time     `json:"fires,omitempty"`
	Openers     [][]config.Addr `json:"openers,omitempty"`
}

// WritePlan writes a plan file. seal may be nil for a plan without sensitive payloads; without it the file has no Archive.
func WritePlan(w io.Writer, p *Plan, seal Sealer) error {
	doc := planDocument{Workflow: p.Workflow, Former: p.Former, Lineage: p.Lineage, Destroy: p.Destroy, Refresh: p.RefreshOnly, Assumed: p.Assumed, Asked: p.Asked, Forecast: p.Forecast, Queues: p.Queues, Outputs: p.Outputs,
		Protected: p.Protected, Source: p.Source.Clean()}
	if p.Archive != nil && seal != nil {
		var err error
		if doc.Archive, err = seal.Seal(archiveType, p.Workflow, p.Archive); err != nil {
			return fmt.Errorf("write plan: seal the configuration: %w", err)
		}
	}
	doc.Rows = make([]planRow, len(p.Rows))
	for i, r := range p.Rows {
		row := planRow{Addr: r.Addr.String(), Action: r.Action, Reason: r.Reason, Causes: r.Causes, Live: r.Live, Job: r.Job,
			Work: r.Work, Handling: r.Handling, KeyID: r.KeyID, Definition: r.Definition, Edges: r.Edges,
			Successor: r.Successor, CancelFirst: r.CancelFirst, Leave: r.Leave, Earlier: r.Earlier, Component: r.Component, Fires: r.Fires,
			Openers: r.Openers, Ignored: r.Ignored, KeepsWork: r.KeepsWork, Unseen: r.Unseen, Unclear: r.Unclear, Hidden: r.Hidden}
		if r.Recurs() {
			row.Root = r.Root.String()
		}
		if r.Prior != nil {
			prior := *r.Prior
			row.Importing, prior.Version = r.Importing(), max(1, prior.Version)
			row.Prior = prior.AppendTo(nil)
		}
		if r.MovedFrom != (config.Addr{}) {
			row.MovedFrom = r.MovedFrom.String()
		}
		if r.Job != nil && r.Job.Sensitive {
			if seal == nil {
				return fmt.Errorf("write plan: %s has sensitive values, and there is no key to seal them with", r.Addr)
			}
			job := *r.Job
			var err error
			if job.Payload, err = seal.Seal(job.Type, row.Addr, job.Payload); err == nil && len(job.Masks) > 0 {
				row.Masks, err = sealMasks(seal, row.Addr, job.Masks)
			}
			if err != nil {
				return fmt.Errorf("write plan: seal %s: %w", r.Addr, err)
			}
			row.Job = &job
		}
		doc.Rows[i] = row
	}
	body, err := encodeJSON(doc)
	if err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	text := fmt.Appendf(nil, "%s%d\n%s\n", planMagic, planFormat, body)
	if s, ok := seal.(Signer); ok {
		keyID, signature := s.SignBytes(planMagic, text)
		text = fmt.Appendf(text, "%s%s %x\n", planSigned, keyID, signature)
	}
	if _, err = w.Write(text); err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	return nil
}

func sealMasks(seal Sealer, addr string, masks []string) ([]byte, error) {
	texts := make([][]byte, len(masks)) // as bytes, since they need not be UTF-8
	for i, text := range masks {
		texts[i] = []byte(text)
	}
	data, err := json.Marshal(texts)
	if err != nil {
		return nil, err
	}
	return seal.Seal(masksType, addr, data)
}

func openMasks(open Sealer, addr string, sealed []byte) ([]string, error) {
	data, err := open.Open(masksType, addr, sealed)
	if err != nil {
		return nil, err
	}
	var texts [][]byte
	if err := json.Unmarshal(data, &texts); err != nil {
		return nil, err
	}
	masks := make([]string, len(texts))
	for i, text := range texts {
		masks[i] = string(text)
	}
	return masks, nil
}

// IsPlanFile tells by its first bytes (16 are enough) whether a file is a plan.
func IsPlanFile(head []byte) bool { return bytes.HasPrefix(head, []byte(planMagic)) }

// ReadPlan reads a plan file. open may be nil for a plan without sensitive payloads; a signature is not looked at then. It fails with
// ErrPlanFile for anything but a whole plan of a known format, and for one that open, if it is a Signer, has not signed.
func ReadPlan(r io.Reader, open Sealer) (*Plan, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	head, body, whole := bytes.Cut(text, []byte("\n"))
	if !whole || !IsPlanFile(head) {
		return nil, fmt.Errorf("%w: it does not start as one; `waybill plan -out=FILE` writes plan files", ErrPlanFile)
	}
	format, err := strconv.Atoi(strings.TrimSpace(string(head[len(planMagic):])))
	if err != nil || format != planFormat {
		return nil, fmt.Errorf("%w: it has format %q, and this version of waybill reads format %d; make the plan anew",
			ErrPlanFile, strings.TrimSpace(string(head[len(planMagic):])), planFormat)
	}
	body, trailer, _ := bytes.Cut(body, []byte("\n"))
	if s, ok := open.(Signer); ok {
		if err := verifyPlan(s, text[:len(text)-len(trailer)], string(trailer)); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPlanFile, err)
		}
	}
	var doc planDocument
	if err := json.Unmarshal(body, &doc); err != nil {
		return nil, fmt.Errorf("%w, cut off or changed since it was saved: %w", ErrPlanFile, err)
	}
	p := &Plan{Workflow: doc.Workflow, Former: doc.Former, Lineage: doc.Lineage, Destroy: doc.Destroy, RefreshOnly: doc.Refresh, Assumed: doc.Assumed, Asked: doc.Asked, Forecast: doc.Forecast, Queues: doc.Queues, Outputs: doc.Outputs,
		Protected: doc.Protected, Source: doc.Source.Clean()}
	if doc.Archive != nil && open != nil {
		if p.Archive, err = open.Open(archiveType, p.Workflow, doc.Archive); err != nil {
			p.Archive = nil // of another key: the plan does not depend on it
		}
	}
	rows := make([]Row, len(doc.Rows))
	p.Rows = make([]*Row, len(rows))
	for i := range rows {
		if rows[i], err = doc.Rows[i].row(open); err != nil {
			return nil, err
		}
		p.Rows[i] = &rows[i]
	}
	if !p.Destroy {
		p.findRenames()
	}
	return p, nil
}

// verifyPlan checks the signature of a plan's text.
func verifyPlan(s Signer, text []byte, trailer string) error {
	rest, ok := strings.CutPrefix(trailer, planSigned)
	keyID, digits, ok2 := strings.Cut(strings.TrimSuffix(rest, "\n"), " ")
	signature, err := hex.DecodeString(digits)
	if !ok || !ok2 || err != nil {
		return errors.New("it is not signed, or was cut short, and there is a key here: make the plan anew with the same key")
	}
	if err := s.VerifyBytes(planMagic, keyID, signature, text); err != nil {
		return fmt.Errorf("%w; make the plan anew", err)
	}
	return nil
}

func (f *planRow) row(open Sealer) (Row, error) {
	addr, err := config.ParseAddr(f.Addr)
	if err != nil {
		return Row{}, fmt.Errorf("%w, cut off or changed since it was saved: %w", ErrPlanFile, err)
	}
	r := Row{Addr: addr, Action: f.Action, Reason: f.Reason, Causes: f.Causes, Live: f.Live, Job: f.Job, Work: f.Work,
		Handling: f.Handling, KeyID: f.KeyID, Definition: f.Definition, Edges: f.Edges, Successor: f.Successor,
		CancelFirst: f.CancelFirst, Leave: f.Leave, Earlier: f.Earlier, Component: f.Component, Fires: f.Fires,
		Openers: f.Openers, Ignored: f.Ignored, KeepsWork: f.KeepsWork, Unseen: f.Unseen, Unclear: f.Unclear, Hidden: f.Hidden}
	if f.Root != "" {
		if r.Root, err = config.ParseAddr(f.Root); err != nil {
			return Row{}, fmt.Errorf("%w, cut off or changed since it was saved: %w", ErrPlanFile, err)
		}
	}
	if f.Prior != nil {
		if r.Prior, err = DecodeRecord(f.Addr, string(f.Prior)); err != nil {
			return Row{}, fmt.Errorf("%w, cut off or changed since it was saved: %w", ErrPlanFile, err)
		}
		if f.Importing {
			r.Prior.Version = 0
		}
	}
	if f.MovedFrom != "" {
		if r.MovedFrom, err = config.ParseAddr(f.MovedFrom); err != nil {
			return Row{}, fmt.Errorf("%w, cut off or changed since it was saved: %w", ErrPlanFile, err)
		}
	}
	if err := r.check(); err != nil {
		return Row{}, fmt.Errorf("%w: %s: %w", ErrPlanFile, f.Addr, err)
	}
	if r.Job != nil && r.Job.Sensitive {
		if open == nil {
			return Row{}, fmt.Errorf("read plan: %s has sensitive values, and there is no key to open them with", f.Addr)
		}
		if r.Job.Payload, err = open.Open(r.Job.Type, f.Addr, r.Job.Payload); err == nil && len(f.Masks) > 0 {
			r.Job.Masks, err = openMasks(open, f.Addr, f.Masks)
		}
		if err != nil {
			return Row{}, fmt.Errorf("read plan: open the sensitive values of %s: %w", f.Addr, err)
		}
	}
	return r, nil
}

// check refuses rows that no plan has, since what uses a plan relies on what Row promises.
func (r *Row) check() error {
	declared := r.Action != Delete && r.Action != Forget
	switch {
	case r.Action > Forget || r.Live.Status > Expired:
		return errors.New("unknown action or status")
	case r.Action != NoOp && declared != (r.Job != nil):
		return fmt.Errorf("a row to %s does not go with what is declared", r.Action)
	case r.Prior == nil && r.Action != Create && r.Action != NoOp || r.Prior == nil && r.Job == nil:
		return fmt.Errorf("a row to %s without a record", r.Action)
	case r.Job != nil && r.Job.Addr != r.Addr:
		return fmt.Errorf("it holds the job %s", r.Job.Addr)
	case r.Recurs() && (r.Job == nil || r.Successor || r.Earlier != "" || r.Leave):
		return errors.New("a template waits for a generation before it, or is not declared")
	case r.Job != nil && isTemplateRoot(r.Job) != (r.Root == r.Addr):
		return errors.New("its schedule or gate does not go with the root it names")
	case len(r.Openers) > 0 && (r.Job == nil || r.Job.Gate == nil || len(r.Openers) != len(r.Job.Gate.Waiting)):
		return errors.New("its openers do not go with its gate")
	case r.Leave && (r.Action != Update || r.Prior == nil || r.Job == nil):
		return fmt.Errorf("a row to %s leaves parents", r.Action)
	case r.KeepsWork && (r.Action != Rerecord && r.Action != Reopen || r.Prior == nil):
		return fmt.Errorf("a row to %s keeps the work of its record", r.Action)
	case r.MovedFrom != (config.Addr{}) && (r.Prior == nil || r.Job == nil || r.MovedFrom == r.Addr):
		return errors.New("it has moved without a record, or nowhere")
	case r.Prior == nil && (r.Successor || r.Earlier != ""):
		return errors.New("it follows a generation that is not recorded")
	}
	return nil
}

// MarshalText writes a digest in hexadecimal.
func (d Digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText reads what MarshalText writes.
func (d *Digest) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(d) {
		return fmt.Errorf("a digest has %d hexadecimal digits, not %d", 2*len(d), len(text))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// encodeJSON writes JSON without escaping what only HTML minds.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
