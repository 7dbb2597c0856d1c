package planner

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// placeholderStart begins what stands in a payload for the uuid of a job, which is not known before apply:
// "@{uuid:", the address in base64url, "}".
const placeholderStart = "@{uuid:"

// eachPlaceholder copies raw to b and lets replace write each placeholder: the address it names, and itself.
func eachPlaceholder(b, raw []byte, replace func(b []byte, addr string, literal []byte) []byte) []byte {
	for {
		at := bytes.Index(raw, []byte(placeholderStart))
		if at < 0 {
			return append(b, raw...)
		}
		b = append(b, raw[:at]...)
		addr, n := readPlaceholder(raw[at:])
		if addr == "" {
			b = append(b, raw[at:at+n]...)
		} else {
			b = replace(b, addr, raw[at:at+n])
		}
		raw = raw[at+n:]
	}
}

// readPlaceholder reads the placeholder that raw starts with, and how long it is. What only looks like one names "" and is
// as long as its start.
func readPlaceholder(raw []byte) (addr string, n int) {
	end := bytes.IndexByte(raw, '}')
	if end < 0 {
		return "", len(placeholderStart)
	}
	name, err := base64.RawURLEncoding.DecodeString(string(bytes.TrimRight(raw[len(placeholderStart):end], "=")))
	if err != nil || len(name) == 0 {
		return "", len(placeholderStart)
	}
	return string(name), end + 1
}

// appendReadable copies JSON and writes placeholders, which stand inside its strings, as the references they come from.
func appendReadable(b, raw []byte) []byte {
	return eachPlaceholder(b, raw, func(b []byte, addr string, _ []byte) []byte {
		quoted := appendJSONString(nil, "${"+addr+".uuid}")
		return append(b, quoted[1:len(quoted)-1]...)
	})
}

// hasPlaceholder tells whether text waits for a uuid that is known after apply.
func hasPlaceholder(text string) bool { return strings.Contains(text, placeholderStart) }
