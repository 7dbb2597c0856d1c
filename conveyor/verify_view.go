package conveyor

import (
	"strconv"
	"strings"
)

// view is all that the store says about one job.
type view struct {
	keys  keyspace
	all   *census // what was read with it
	uuid  string
	entry string            // "" when there is none
	hash  map[string]string // jobs:<uuid>:edges

	bytes, todo, ended, leased bool
	slims, fulls               int                 // tickets in the queue that are its place, without and with its bytes
	full                       string              // a ticket with its bytes, wherever it was seen
	declared                   string              // its edges by its bytes, when the hash of its edges is gone
	waiting                    map[string]bool     // lists of upstreams with a ticket of it
	due                        []int64             // ms, its tickets in `scheduled`
	members                    map[string]bool     // parents whose active set names it
	owners                     []string            // workers whose list names it
	holds                      map[string]bool     // unique keys that it holds by the hash of them
	holder                     string              // who holds its own unique key
	expires                    int64               // ms, of `expiry`; 0: it is not there
	removal                    bool                // `removals` names it
	packed                     string              // its labels, as stored
	sets                       map[string]bool     // label:..., past:..., kind:... and cycle:... that name it
	listed                     map[string]int64    // ticks, emits:..., gate:... and template:...:live that name it, with its score
	t                          *templateSeen       // nil when it is no template and nothing of one is there
	fields                     map[string]bool     // hashes with a field of it
	left                       map[string]string   // other keys of it: what each is
	waiters                    map[string][]string // of its lists: whose tickets stand there
	upstream                   map[string]string   // entries of its upstreams and its waiters
	active                     map[string]string   // entries of the members of its own active set
}

func newView(all *census, uuid, entry string) *view {
	return &view{keys: all.keys, all: all, uuid: uuid, entry: entry, waiting: map[string]bool{}, members: map[string]bool{},
		fields: map[string]bool{}, holds: map[string]bool{}, sets: map[string]bool{}, listed: map[string]int64{}, left: map[string]string{}, waiters: map[string][]string{}, upstream: map[string]string{}, active: map[string]string{}}
}

// standsAt notes a ticket found in a queue list, unless it is a stale one.
func (v *view) standsAt(key string, t ticket) {
	s, err := decodeStatus(v.uuid, v.entry)
	if err != nil || s.State != StateQueued || v.keys.queue(s.Queue, s.Priority) != key {
		return
	}
	switch {
	case t.full && !strings.Contains(flagsOf(v.entry), "d"):
		v.fulls++
	case !t.full && t.place == s.Place:
		v.slims++
	}
}

// slimTicket is a ticket without the job's bytes in a queue, as lua/lib/ticket.lua makes it.
func slimTicket(uuid string, place int64) string {
	var b strings.Builder
	b.WriteByte(10)
	if len(uuid) == 128 {
		b.WriteString("\x80\x01")
	} else {
		b.WriteByte(byte(len(uuid)))
	}
	b.WriteString(uuid)
	text := strconv.FormatInt(place, 10)
	b.WriteString("\x92\x07")
	b.WriteByte(byte(len(text)))
	b.WriteString(text)
	return b.String()
}

// saw notes an entry of a list or of `scheduled` that is a ticket of the job.
func (v *view) saw(t ticket) {
	if t.full && v.full == "" {
		v.full = t.text
	}
}

// hasBytes tells whether the job can still be run: from jobs:<uuid>, or from a ticket seen somewhere.
func (v *view) hasBytes() bool {
	if strings.Contains(flagsOf(v.entry), "b") {
		return v.bytes
	}
	return v.full != ""
}
