package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui"
)

// shownPayload is what a job with a type is about. The record of the workflow has it as people see it, whatever its bytes are; of a job
// without one, JSON is shown as it is, and of other bytes their number.
type shownPayload struct {
	Encoding string          `json:"encoding"`          // protobuf, json or bytes
	Bytes    int             `json:"bytes,omitempty"`   // 0 where they are not at hand
	Fields   json.RawMessage `json:"fields,omitempty"`  // without sensitive values
	Sealed   bool            `json:"sealed,omitempty"`  // it has sensitive values
	Message  string          `json:"message,omitempty"` // of protobuf: its name
}

// payload is nil for jobs whose work is built in, or not known.
func (x *jobView) payload() *shownPayload {
	if x.kind == "" || slices.Contains([]string{"exec", "http", "sleep", "noop"}, x.kind) {
		return nil
	}
	record := x.roll.record(x.Status.UUID)
	if record == nil && x.Status.Template != "" {
		record = x.roll.record(x.Status.Template)
	}
	p := &shownPayload{Encoding: "bytes", Bytes: len(x.job.GetPayload()), Sealed: x.job.GetSealKey() != ""}
	if record != nil && record.Type == x.kind && p.recorded(record) {
		return p
	}
	if x.job == nil {
		return nil
	}
	if raw := x.job.GetPayload(); !p.Sealed && json.Valid(raw) {
		p.Encoding, p.Fields = "json", raw
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

// payloadLines are what job show writes.
func (x *jobView) payloadLines() []string {
	p := x.payload()
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
