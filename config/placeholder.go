package config

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// A placeholder stands in payloads and outputs for the uuid of a job, which is settled when it is submitted. Its
// characters mean nothing in JSON, so it survives jsonencode.
const (
	placeholderHead = "@{uuid:"
	placeholderTail = '}'
)

// Placeholder is what the uuid of the job at an address reads as until apply.
func Placeholder(address string) string {
	return placeholderHead + base64.RawURLEncoding.EncodeToString([]byte(address)) + string(placeholderTail)
}

// FillPlaceholders replaces each placeholder in data by uuid(address). Text that only looks like a placeholder, and
// one whose address uuid does not know (""), stays as it is. The result is data itself when nothing is replaced.
func FillPlaceholders(data []byte, uuid func(address string) string) []byte {
	var filled []byte
	changed := false
	rest := data
	for {
		head := bytes.Index(rest, []byte(placeholderHead))
		if head < 0 {
			break
		}
		begin := head + len(placeholderHead)
		tail := bytes.IndexByte(rest[begin:], placeholderTail)
		if tail < 0 {
			break
		}
		value := ""
		if address, err := base64.RawURLEncoding.DecodeString(string(rest[begin : begin+tail])); err == nil && len(address) > 0 {
			value = uuid(string(address))
		}
		if value == "" {
			filled = append(filled, rest[:begin]...)
			rest = rest[begin:]
			continue
		}
		changed = true
		filled = append(append(filled, rest[:head]...), value...)
		rest = rest[begin+tail+1:]
	}
	if !changed {
		return data
	}
	return append(filled, rest...)
}

// KnownAfterApply is how people see a uuid that is not settled yet.
const KnownAfterApply = "(known after apply)"

// ShowPlaceholders is a text for people: what nobody knows yet reads so.
func ShowPlaceholders(text string) string {
	if !hasPlaceholder(text) {
		return text
	}
	return string(FillPlaceholders([]byte(text), func(string) string { return KnownAfterApply }))
}

// hasPlaceholder tells whether a text depends on the uuid of a job.
func hasPlaceholder(s string) bool { return strings.Contains(s, placeholderHead) }
