package embedded

import (
	"math"
	"strconv"

	"github.com/alicebob/miniredis/v2"
)

// streamRead is XREAD [COUNT n] [BLOCK ms] STREAMS key ... id ... with its ids made definite.
type streamRead struct {
	count int
	block string // "" when it does not block
	keys  []string
	ids   []streamID
}

func parseStreamRead(ds *dataset, db int, args []string) (streamRead, string) {
	r := streamRead{count: math.MaxInt}
	i := 1
	for ; i+1 < len(args) && upper(args[i]) != "STREAMS"; i += 2 {
		switch upper(args[i]) {
		case "COUNT":
			n, err := strconv.Atoi(args[i+1])
			if err != nil {
				return r, "ERR value is not an integer or out of range"
			}
			if n > 0 {
				r.count = n
			}
		case "BLOCK":
			r.block = args[i+1]
		default:
			return r, "ERR syntax error"
		}
	}
	if i >= len(args) || upper(args[i]) != "STREAMS" {
		return r, "ERR syntax error"
	}
	rest := args[i+1:]
	if len(rest) == 0 || len(rest)%2 != 0 {
		return r, "ERR Unbalanced 'xread' list of streams: for each stream key an ID or '$' must be specified."
	}
	r.keys = rest[:len(rest)/2]
	for n, s := range rest[len(rest)/2:] {
		id, ok := parseStreamID(s, 0)
		if s == "$" {
			id, ok = ds.lastID(db, r.keys[n]), true
		}
		if !ok {
			return r, badStreamID
		}
		r.ids = append(r.ids, id)
	}
	return r, ""
}

func (ds *dataset) lastID(db int, key string) streamID {
	entries, err := ds.m.DB(db).Stream(key)
	if err != nil || len(entries) == 0 {
		return streamID{}
	}
	id, _ := parseStreamID(entries[len(entries)-1].ID, 0)
	return id
}

// xRead answers what there is now, or nothing; waiting is the session's business (block.go).
func xRead(ds *dataset, c *client, out []byte, args []string) []byte {
	r, problem := parseStreamRead(ds, c.db, args)
	if problem != "" {
		return appendError(out, problem)
	}
	return r.run(ds, c, out)
}

func (r streamRead) run(ds *dataset, c *client, out []byte) []byte {
	found := make([][]miniredis.StreamEntry, len(r.keys))
	streams := 0
	for i, key := range r.keys {
		entries, err := ds.m.DB(c.db).Stream(key)
		if err != nil {
			return appendError(out, wrongType)
		}
		if after, ok := r.ids[i].next(); ok {
			entries = from(entries, after)
			found[i] = entries[:min(r.count, len(entries))]
		}
		if len(found[i]) > 0 {
			streams++
		}
	}
	if streams == 0 {
		return appendNoArray(out)
	}
	out = appendArray(out, streams)
	for i, key := range r.keys {
		if len(found[i]) == 0 {
			continue
		}
		out = appendArray(out, 2)
		out = appendBulk(out, key)
		out = appendEntries(out, found[i])
	}
	return out
}
