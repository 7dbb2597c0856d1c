package conveyor

import (
	"strings"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// A job with Unique is the only live one with that key and type: adding another is *UniqueError, which names the holder. The
// key is taken by the script that adds the job, kept through retries, lost leases and holds, and freed by the script that
// ends it. A successor (Change.Replaces) takes it over at once. A job that belongs to a graph, since it has edges, is
// waited for already or comes with a companion write, is not refused but stored as failed, so that what waits for it is
// decided; Retry gives it another chance. Retry and ChangeReopen take the key again.

// uniqueTag is the unique key of a job as it stands in its status entry and in the hash of holders.
func uniqueTag(job *wire.Job) string { return escaped(job.Type, ":") + ":" + escaped(job.Unique, "") }

// escaped is s in a form that can stand in a status entry, an event and an error reply of a script: '%', '|', ',', space and
// control characters, and whatever is in also, become %XX.
func escaped(s, also string) string {
	const hex = "0123456789ABCDEF"
	special := func(c byte) bool {
		return c <= ' ' || c == 127 || c == '%' || c == '|' || c == ',' || strings.IndexByte(also, c) >= 0
	}
	n := 0
	for i := 0; i < len(s); i++ {
		if special(s[i]) {
			n++
		}
	}
	if n == 0 {
		return s
	}
	b := make([]byte, 0, len(s)+2*n)
	for i := 0; i < len(s); i++ {
		if c := s[i]; special(c) {
			b = append(b, '%', hex[c>>4], hex[c&15])
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

// unescaped undoes escaped. What is no escape stays as it is.
func unescaped(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	digit := func(c byte) int { return strings.IndexByte("0123456789ABCDEF", c) }
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && digit(s[i+1]) >= 0 && digit(s[i+2]) >= 0 {
			b = append(b, byte(digit(s[i+1])<<4|digit(s[i+2])))
			i += 2
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}
