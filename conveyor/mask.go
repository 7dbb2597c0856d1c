package conveyor

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
)

const (
	masked    = "***" // what stands where a secret was
	minMasked = 4     // bytes: what is shorter is everywhere by chance
	maxMasked = 1024  // bytes of one search text; longer lines are looked for in parts
)

// errMasked refuses data that would be no JSON any more.
var errMasked = errors.New("it holds a secret or a sensitive value outside of a string: leave it out")

// mask replaces secrets and sensitive values in what an attempt tells the store. A secret is looked for line by line, since logs are read by lines, and as it
// was put into payloads: as it is, inside of a JSON string and of a URL. A nil mask replaces nothing.
type mask struct {
	forms [256][]string // what is looked for, by its first byte, the longest first
}

// newMask is nil when there is nothing to mask.
func newMask(secrets []string) *mask {
	forms := map[string]bool{}
	for _, value := range secrets {
		for line := range strings.Lines(value) {
			line = strings.TrimRight(line, "\r\n")
			for len(line) >= minMasked {
				part := line[:min(len(line), maxMasked)]
				line = line[len(part):]
				for _, form := range []string{part, string(insideString([]byte(part), "s")), url.PathEscape(part), url.QueryEscape(part)} {
					forms[form] = true
				}
			}
		}
	}
	if len(forms) == 0 {
		return nil
	}
	m := &mask{}
	for _, form := range slices.SortedFunc(maps.Keys(forms), func(a, b string) int { return len(b) - len(a) }) {
		m.forms[form[0]] = append(m.forms[form[0]], form)
	}
	return m
}

// told is what of p can be told, and what has to wait for what follows: the beginning of a secret, perhaps. Nothing follows the last.
func (m *mask) told(p []byte, last bool) (told, held []byte) {
	if m == nil {
		return p, nil
	}
	start := 0
	for i := 0; i < len(p); {
		n := m.at(p[i:], last)
		switch {
		case n < 0:
			return append(told, p[start:i]...), p[i:]
		case n == 0:
			i++
		default:
			told = append(append(told, p[start:i]...), masked...)
			i += n
			start = i
		}
	}
	return append(told, p[start:]...), nil
}

// at is the length of the secret that p begins with, 0 for none, and less when more of p would tell.
func (m *mask) at(p []byte, last bool) int {
	for _, form := range m.forms[p[0]] {
		switch {
		case len(form) > len(p):
			if !last && form[:len(p)] == string(p) {
				return -1
			}
		case form == string(p[:len(form)]):
			return len(form)
		}
	}
	return 0
}

// text is a text without secrets.
func (m *mask) text(s string) string {
	if m == nil {
		return s
	}
	told, _ := m.told([]byte(s), true)
	return string(told)
}

// data is data without secrets. What was JSON still is.
func (m *mask) data(b []byte) ([]byte, error) {
	if m == nil || b == nil {
		return b, nil
	}
	out, _ := m.told(b, true)
	if !bytes.Equal(out, b) && json.Valid(b) && !json.Valid(out) {
		return nil, errMasked
	}
	return out, nil
}

// hide has these, too, masked in what the attempt tells from now on. The worker alone calls it.
func (a *Attempt) hide(secrets ...string) {
	if len(secrets) == 0 {
		return
	}
	a.hidden = append(a.hidden, secrets...)
	m := newMask(a.hidden)
	a.mu.Lock()
	a.mask = m
	a.mu.Unlock()
	a.output.hide(m)
}

// Mask is a text with *** in the place of each secret and each sensitive value that the job was given, for what a handler or middleware tells others than the
// store. What the attempt itself tells the store is masked already.
func (a *Attempt) Mask(text string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mask.text(text)
}
