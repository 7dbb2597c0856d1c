package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/config/protofile"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui"
)

// shownPayload is what a job with a type is about. The record of the workflow has it as people see it, whatever its bytes are; of a job
// without one, JSON is shown as it is, a message of the workflow's .proto files by its fields, and of other bytes their number.
type shownPayload struct {
	Encoding string          `json:"encoding"`          // protobuf, json or bytes
	Bytes    int             `json:"bytes,omitempty"`   // 0 where they are not at hand
	Fields   json.RawMessage `json:"fields,omitempty"`  // without sensitive values
	Sealed   bool            `json:"sealed,omitempty"`  // it has sensitive values
	Message  string          `json:"message,omitempty"` // of protobuf: its name
}

// payload is nil for jobs whose work is built in, or not known.
func (x *jobView) payload() *shownPayload {
	record := x.roll.record(x.Status.UUID)
	if record == nil && x.Status.Template != "" {
		record = x.roll.record(x.Status.Template)
	}
	return payloadOf(x.kind, record, x.job, x.messages)
}

// payloadOf shows the payload of a job of a type; record, job and messages may be nil.
func payloadOf(kind string, record *planner.Record, job *wire.Job, messages *protofile.Set) *shownPayload {
	if kind == "" || slices.Contains([]string{"exec", "http", "sleep", "noop"}, kind) {
		return nil
	}
	p := &shownPayload{Encoding: "bytes", Bytes: len(job.GetPayload()), Sealed: job.GetSealKey() != ""}
	if record != nil && record.Type == kind && p.recorded(record) {
		return p
	}
	if job == nil {
		return nil
	}
	switch raw := job.GetPayload(); {
	case p.Sealed:
	case json.Valid(raw):
		p.Encoding, p.Fields = "json", raw
	default:
		if shown, _, err := config.ShowMessage(messages, kind, raw); err == nil {
			p.Encoding, p.Message, p.Fields = "protobuf", kind, shown
		}
	}
	return p
}

// recorded takes over what a record says; false where it says nothing.
func (p *shownPayload) recorded(r *planner.Record) bool {
	var definition struct {
		Payload  json.RawMessage   `json:"payload"`
		Protobuf map[string]string `json:"protobuf"`
	}
	if json.Unmarshal(r.Document(), &definition) != nil || definition.Payload == nil {
		return false
	}
	p.Encoding, p.Fields = "json", definition.Payload
	if definition.Protobuf != nil {
		p.Encoding, p.Message = "protobuf", r.Type
	}
	return true
}

// unread tells whether there are bytes whose fields may be those of a message.
func (p *shownPayload) unread() bool { return p != nil && p.Encoding == "bytes" && !p.Sealed }

// lines are what job show and watch write.
func (p *shownPayload) lines() []string {
	if p == nil {
		return nil
	}
	head := ""
	switch {
	case p.Message != "":
		head = "protobuf, " + p.Message
	case p.Encoding == "bytes" && p.Sealed:
		head = "sealed, since it has sensitive values"
	case p.Encoding == "bytes":
		head = "no JSON, and no record that tells its fields"
	}
	if p.Bytes > 0 && head != "" {
		head += ", " + countOf(int64(p.Bytes), "byte", "bytes")
	}
	var lines []string
	if head != "" {
		lines = append(lines, fmt.Sprintf("(%s)", head))
	}
	if p.Fields != nil {
		lines = append(lines, strings.Split(shortened(tui.FormatDocument(string(p.Fields)), 4000), "\n")...)
	}
	return lines
}
