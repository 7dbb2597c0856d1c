package conveyor

import (
	"strconv"
	"strings"
)

// storedEdge is an edge as the engine keeps it, see lua/lib/edge.lua: "<mark><kind>[!]:<upstream>:<opening>:<group>:<fence>"
// with what is empty at the end left out.
type storedEdge struct {
	mark     byte // ? not decided, + success, - failure, = success of a skipped parent, ~ cut
	kind     byte // p, i, d, l parents; s, f, a predecessors
	upstream string
	opening  int64
	madeBy   int64
}

func (e storedEdge) parent() bool { return strings.IndexByte("pidl", e.kind) >= 0 }

// class names the list of the upstream in which the job waits.
func (e storedEdge) class() string {
	if e.parent() {
		return "children"
	}
	return "onComplete"
}

func parseStoredEdge(text, upstream string) (storedEdge, bool) {
	f := strings.Split(text, ":")
	if len(f) < 2 || len(f[0]) < 2 {
		return storedEdge{}, false
	}
	e := storedEdge{mark: f[0][0], kind: f[0][1], upstream: f[1], opening: 1}
	if e.upstream == "" {
		e.upstream = upstream
	}
	if len(f) > 2 && f[2] != "" {
		e.opening = integer(f[2])
	}
	if len(f) > 4 {
		e.madeBy = integer(f[4])
	}
	return e, strings.IndexByte("?+-=~", e.mark) >= 0 && strings.IndexByte("pidlsfa", e.kind) >= 0
}

// storedEdges are all edges of a job: those in its entry and those of its hash.
func storedEdges(entry string, hash map[string]string) []storedEdge {
	var out []storedEdge
	for text := range strings.SplitSeq(tagOf(entry, 'i'), ",") {
		if e, ok := parseStoredEdge(text, ""); ok {
			out = append(out, e)
		}
	}
	for upstream, texts := range hash {
		if upstream == "#" {
			continue
		}
		for text := range strings.SplitSeq(texts, ";") {
			if e, ok := parseStoredEdge(text, upstream); ok {
				out = append(out, e)
			}
		}
	}
	return out
}

// tagOf is the value of a tagged field of a status entry.
func tagOf(entry string, tag byte) string {
	for i, field := range strings.Split(entry, "|") {
		if i > 2 && field != "" && field[0] == tag {
			return field[1:]
		}
	}
	return ""
}

// flagsOf are the flags of a status entry.
func flagsOf(entry string) string {
	head, _, _ := strings.Cut(entry, "|")
	if len(head) < 2 {
		return ""
	}
	return head[2:]
}

// ticket is what stands in a list or in `scheduled`: the head of a marshalled wire.Job.
type ticket struct {
	text  string
	uuid  string
	full  bool  // carries the job's bytes
	place int64 // of one without bytes, in a queue
}

// parseTicket reads as much of an entry as the scripts do; false: it is no ticket.
func parseTicket(b string) (ticket, bool) {
	if len(b) < 2 || b[0] != 10 {
		return ticket{}, false
	}
	n, from := int(b[1]), 2
	if n == 128 && len(b) > 2 && b[2] == 1 {
		from = 3
	} else if n >= 128 {
		return ticket{}, false
	}
	if len(b) < from+n || !validName(b[from:from+n]) {
		return ticket{}, false
	}
	t, rest := ticket{text: b, uuid: b[from : from+n]}, b[from+n:]
	t.full = strings.HasPrefix(rest, "\x12")
	if strings.HasPrefix(rest, "\x92\x07") && len(rest) > 3 {
		t.place, _ = strconv.ParseInt(rest[3:], 10, 64)
	}
	return t, true
}
