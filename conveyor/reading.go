package conveyor

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A Reading stands in the payload of a job, as text, for a value out of another job's result or for a secret of the worker. The
// worker puts the value in its place before the handler starts, in jobs that name the other one in Results or the secret in Secrets,
// and in no others: payloads of jobs that do not ask for it are never looked into. What comes out of a result or a secret is not
// looked into again, so one that holds such a text keeps it.
type Reading struct {
	UUID string // the job whose result it is: one of the reading job's Results
	// Secret is the name of a secret, one of the reading job's Secrets, see SecretSource. With it UUID, Name and Path are empty.
	Secret string
	Name   string // of that job, for people who read why an attempt failed; may be empty
	// Path leads to the value: a string is the key of an object, an int the index of a list. None: the whole result.
	Path []any
	// Form is how the value is written where the reading stands, a letter each in this order:
	//
	//	v  as JSON; as the only letter the reading is a whole JSON string of the payload, and the quotes go with it
	//	t  as text: strings as they are, objects and lists as JSON; null has none
	//	p  of text: with percent signs, as a segment of a URL's path; a dot or two alone are refused
	//	q  of text: with percent signs, as a value in a URL's query
	//	s  escaped as the inside of a JSON string, once for each string that it is in
	Form string
}

const (
	readingHead = "@{result:"
	readingTail = '}'
)

// ResultValue is what to write into a JSON payload, in quotes, for a value out of a job's result that keeps its type:
//
//	`{"rows": "` + conveyor.ResultValue(upstream, "rows") + `"}`
//
// Add the upstream's uuid to the job's Results, and an edge that waits for it. The parts of the path are strings and ints.
func ResultValue(uuid string, path ...any) string {
	return Reading{UUID: uuid, Path: path, Form: "v"}.String()
}

// ResultText is what to write into a string of a JSON payload for a value out of a job's result as text.
func ResultText(uuid string, path ...any) string {
	return Reading{UUID: uuid, Path: path, Form: "ts"}.String()
}

// SecretText is what to write into a string of a JSON payload for a secret of the worker, such as env:DB_PASSWORD:
//
//	`{"dsn": "postgres://app:` + conveyor.SecretText("env:DB_PASSWORD") + `@db/shop"}`
//
// Add the name to the job's Secrets, and sign the job: see SecretSource.
func SecretText(name string) string {
	return Reading{Secret: name, Form: "ts"}.String()
}

// secretMark begins what stands in place of a uuid, which never begins so, in the reading of a secret.
const secretMark = "!"

// String is the reading as it stands in a payload. Its characters mean nothing in JSON.
func (r Reading) String() string {
	path := r.Path
	if path == nil {
		path = []any{}
	}
	steps, _ := json.Marshal(path) // of strings and numbers
	encode := base64.RawURLEncoding.EncodeToString
	source := r.UUID
	if r.Secret != "" {
		source = secretMark + encode([]byte(r.Secret))
	}
	return readingHead + source + ":" + encode(steps) + ":" + r.Form + ":" + encode([]byte(r.Name)) + string(readingTail)
}

// parseReading reads what stands between head and tail; false for what is no reading.
func parseReading(text string) (r Reading, ok bool) {
	parts := strings.Split(text, ":")
	if len(parts) != 4 || !validForm(parts[2]) {
		return r, false
	}
	if encoded, secret := strings.CutPrefix(parts[0], secretMark); secret {
		name, err := base64.RawURLEncoding.DecodeString(encoded)
		return Reading{Secret: string(name), Form: parts[2]}, err == nil && len(name) > 0
	}
	if !validName(parts[0]) {
		return r, false
	}
	steps, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return r, false
	}
	name, err := base64.RawURLEncoding.DecodeString(parts[3])
	if err != nil {
		return r, false
	}
	r = Reading{UUID: parts[0], Name: string(name), Form: parts[2]}
	d := json.NewDecoder(bytes.NewReader(steps))
	d.UseNumber()
	if d.Decode(&r.Path) != nil {
		return r, false
	}
	for i, step := range r.Path {
		switch step := step.(type) {
		case string:
		case json.Number:
			n, err := step.Int64()
			if err != nil || n < 0 || n > MaxResult {
				return r, false
			}
			r.Path[i] = int(n)
		default:
			return r, false
		}
	}
	return r, true
}

func validForm(form string) bool {
	if form == "" || form[0] != 'v' && form[0] != 't' {
		return false
	}
	rest := form[1:]
	if form[0] == 't' {
		rest = strings.TrimLeft(rest, "pq")
		if len(form)-1-len(rest) > 1 {
			return false
		}
	}
	return strings.Trim(rest, "s") == "" && len(rest) <= maxEscapes
}

// maxEscapes bounds how many JSON strings inside each other a value may stand in: each doubles the backslashes of the one before.
const maxEscapes = 8

// found is a reading and where it stands in a payload, the quotes included that go with it.
type found struct {
	Reading
	start, end int
}

// readings finds what a payload reads of the given jobs, and which of the given secrets. What only looks like a reading, and what
// reads of others, is text.
func readings(payload []byte, of, secrets []string) (list []found, err error) {
	allowed := make(map[string]bool, len(of))
	for _, uuid := range of {
		allowed[uuid] = true
	}
	for at := 0; ; {
		head := bytes.Index(payload[at:], []byte(readingHead))
		if head < 0 {
			return list, nil
		}
		start := at + head
		at = start + len(readingHead)
		length := bytes.IndexByte(payload[at:], readingTail)
		if length < 0 {
			return list, nil
		}
		r, ok := parseReading(string(payload[at : at+length]))
		if !ok || r.Secret == "" && !allowed[r.UUID] || r.Secret != "" && !slices.Contains(secrets, r.Secret) {
			continue
		}
		end := at + length + 1
		if r.Form == "v" {
			if start == 0 || payload[start-1] != '"' || end == len(payload) || payload[end] != '"' {
				return nil, fmt.Errorf("what reads %s is not a whole JSON string of the payload", r.where())
			}
			start, end = start-1, end+1
		}
		list = append(list, found{r, start, end})
		at = end
	}
}

// where names what is read, for messages: result.rows[0] of job.extract (UUID).
func (r Reading) where() string {
	if r.Secret != "" {
		return "secret " + r.Secret
	}
	return r.expression(len(r.Path)) + " of " + r.of()
}

func (r Reading) of() string {
	if r.Name == "" {
		return "job " + r.UUID
	}
	return r.Name + " (" + r.UUID + ")"
}

// expression is the first steps of the path as people write them.
func (r Reading) expression(steps int) string {
	var b strings.Builder
	b.WriteString("result")
	for _, step := range r.Path[:steps] {
		switch step := step.(type) {
		case string:
			if plainKey(step) {
				b.WriteString("." + step)
			} else {
				fmt.Fprintf(&b, "[%q]", shortKey(step))
			}
		default:
			fmt.Fprintf(&b, "[%d]", step)
		}
	}
	return b.String()
}

func plainKey(key string) bool {
	for i, c := range key {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-') {
			return false
		}
	}
	return key != "" && len(key) <= 64
}

// shortKey keeps a key from filling a message.
func shortKey(key string) string {
	if len(key) <= 64 {
		return key
	}
	return strings.ToValidUTF8(key[:64], "") + "..."
}

// readFrom are the jobs that readings need, each once, in the order of their first reading.
func readFrom(list []found) (uuids []string) {
	seen := map[string]bool{}
	for i := range list {
		if uuid := list[i].UUID; uuid != "" && !seen[uuid] {
			seen[uuid] = true
			uuids = append(uuids, uuid)
		}
	}
	return slices.Clip(uuids)
}
