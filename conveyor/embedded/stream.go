package embedded

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2"
)

const wrongType = "WRONGTYPE Operation against a key holding the wrong kind of value"

const badStreamID = "ERR Invalid stream ID specified as stream command argument"

// from gives the entries at and behind a position. miniredis searches its streams from their start and parses
// every id on the way, which a log of thousands of events makes the dearest command of all.
func from(entries []miniredis.StreamEntry, start streamID) []miniredis.StreamEntry {
	i, _ := slices.BinarySearchFunc(entries, start, func(e miniredis.StreamEntry, id streamID) int {
		at, _ := parseStreamID(e.ID, 0)
		return at.compare(id)
	})
	return entries[i:]
}

func appendEntries(out []byte, entries []miniredis.StreamEntry) []byte {
	out = appendArray(out, len(entries))
	for _, e := range entries {
		out = appendArray(out, 2)
		out = appendBulk(out, e.ID)
		out = appendArray(out, len(e.Values))
		for _, v := range e.Values {
			out = appendBulk(out, v)
		}
	}
	return out
}

// xAdd gives the entry the time of the dataset's clock, since the one inside miniredis stands still, and records
// the id that the entry got.
func xAdd(ds *dataset, c *client, out []byte, args []string) []byte {
	i, ok := xAddID(args)
	if !ok {
		return appendError(out, "ERR syntax error")
	}
	changed := append([]string(nil), args...)
	if first, ok := strings.CutSuffix(args[i], "*"); ok {
		if first == "" {
			first = strconv.FormatInt(ds.now().UnixMilli(), 10) + "-"
		}
		if ms, ok := strings.CutSuffix(first, "-"); !ok || !isNumber(ms) {
			return appendError(out, badStreamID)
		}
		changed[i] = first + "*"
	} else if id, ok := parseStreamID(args[i], 0); !ok {
		return appendError(out, badStreamID)
	} else if id == (streamID{}) {
		return appendError(out, "ERR The ID specified in XADD must be greater than 0-0")
	} else if ds.m.DB(c.db).Type(args[1]) == "stream" && ds.lastGenerated(c, args[1]).compare(id) >= 0 {
		return appendError(out, "ERR The ID specified in XADD is equal or smaller than the target stream top item")
	}
	reply := ds.call(c, changed)
	out = append(out, reply...)
	if isError(reply) || isNothing(reply) {
		return out
	}
	if id, err := replyStrings(reply); err == nil && len(id) == 1 {
		changed[i] = id[0]
	}
	ds.record(c.db, changed...)
	return out
}

// lastGenerated is the highest id that a stream ever had. miniredis itself looks only at the entries that are left
// when it judges a new one.
func (ds *dataset) lastGenerated(c *client, key string) streamID {
	facts := ds.call(c, []string{"XINFO", "STREAM", key})
	_, behind, ok := bytes.Cut(facts, []byte("last-generated-id\r\n"))
	if !ok {
		return streamID{}
	}
	_, line, rest, err := token(behind)
	if err != nil {
		return streamID{}
	}
	id, _, err := bulk(line, rest)
	if err != nil {
		return streamID{}
	}
	last, _ := parseStreamID(string(id), 0)
	return last
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

// xAddID finds the id in XADD key [NOMKSTREAM] [MAXLEN|MINID [=|~] n [LIMIT n]] id field value ...
func xAddID(args []string) (int, bool) {
	i := 2
	if upper(args[i]) == "NOMKSTREAM" {
		i++
	}
	if i+2 < len(args) && (upper(args[i]) == "MAXLEN" || upper(args[i]) == "MINID") {
		i++
		if args[i] == "~" || args[i] == "=" {
			i++
		}
		i++
	}
	return i, i+2 < len(args) && (len(args)-i)%2 == 1
}

// xRange answers XRANGE key start end [COUNT n] and XREVRANGE key end start [COUNT n].
func xRange(ds *dataset, c *client, out []byte, args []string) []byte {
	reverse := upper(args[0]) == "XREVRANGE"
	low, high := args[2], args[3]
	if reverse {
		low, high = high, low
	}
	start, okStart := rangeBound(low, 0)
	end, okEnd := rangeBound(high, math.MaxUint64)
	if !okStart || !okEnd {
		return appendError(out, badStreamID)
	}
	count := math.MaxInt
	if len(args) > 4 {
		if len(args) != 6 || upper(args[4]) != "COUNT" {
			return appendError(out, "ERR syntax error")
		}
		n, err := strconv.Atoi(args[5])
		if err != nil {
			return appendError(out, "ERR value is not an integer or out of range")
		}
		count = max(n, 0)
	}
	entries, err := ds.m.DB(c.db).Stream(args[1])
	if err != nil {
		return appendError(out, wrongType)
	}
	entries = between(entries, start, end)
	count = min(count, len(entries))
	if !reverse {
		return appendEntries(out, entries[:count])
	}
	last := slices.Clone(entries[len(entries)-count:])
	slices.Reverse(last)
	return appendEntries(out, last)
}

// between gives the entries within two bounds.
func between(entries []miniredis.StreamEntry, start, end bound) []miniredis.StreamEntry {
	first, behind := start.id, end.id
	ok := true
	if start.exclusive {
		if first, ok = start.id.next(); !ok {
			return nil
		}
	}
	if !end.exclusive {
		behind, ok = end.id.next()
	}
	entries = from(entries, first)
	if ok {
		entries = entries[:len(entries)-len(from(entries, behind))]
	}
	return entries
}

// bound is one end of a range.
type bound struct {
	id        streamID
	exclusive bool
}

func rangeBound(s string, seq uint64) (bound, bool) {
	switch s {
	case "-":
		return bound{}, true
	case "+":
		return bound{id: streamID{math.MaxUint64, math.MaxUint64}}, true
	}
	s, exclusive := strings.CutPrefix(s, "(")
	id, ok := parseStreamID(s, seq)
	return bound{id, exclusive}, ok
}
