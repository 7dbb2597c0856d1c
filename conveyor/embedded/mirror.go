package embedded

import (
	"errors"
	"strconv"

	"github.com/alicebob/miniredis/v2"
)

// Lists lie the other way round inside miniredis: their head is its tail. A push at the head copies a whole list
// there, 1.6 MB at 100,000 elements, and one at the tail does not; and the engine's queues are pushed at the head
// and popped at the tail, as the conveyor specification has it. The journal holds what miniredis was told.

var mirrored = map[string]string{
	"LPUSH": "RPUSH", "RPUSH": "LPUSH", "LPUSHX": "RPUSHX", "RPUSHX": "LPUSHX", "LPOP": "RPOP", "RPOP": "LPOP",
	"LEFT": "RIGHT", "RIGHT": "LEFT",
}

// mirror answers pushes and pops.
func mirror(ds *dataset, c *client, out []byte, args []string) []byte {
	name := upper(args[0])
	changed := append([]string{mirrored[name]}, args[1:]...)
	if len(args) == 3 && args[2] == "0" && (name == "LPOP" || name == "RPOP") {
		return popNothing(ds, c, out, args[1])
	}
	return ds.write(c, out, verb{writes: true, zero: true, nothing: true}, changed, changed)
}

// popNothing answers a pop of no elements.
func popNothing(ds *dataset, c *client, out []byte, key string) []byte {
	switch ds.m.DB(c.db).Type(key) {
	case "":
		return appendNoArray(out)
	case "list":
		return appendArray(out, 0)
	}
	return appendError(out, wrongType)
}

// mirrorSides answers LMOVE, LMPOP and RPOPLPUSH.
func mirrorSides(ds *dataset, c *client, out []byte, args []string) []byte {
	if upper(args[0]) == "RPOPLPUSH" {
		if len(args) != 3 {
			return appendError(out, "ERR wrong number of arguments for 'rpoplpush' command")
		}
		args = []string{"LMOVE", args[1], args[2], "RIGHT", "LEFT"}
	}
	changed := append([]string(nil), args...)
	// Keys may be named like sides, so only the places where sides stand are looked at.
	sides := changed[min(3, len(changed)):]
	if upper(args[0]) == "LMPOP" {
		n, err := strconv.Atoi(args[1])
		if err != nil || n < 1 || n > len(args)-3 {
			return appendError(out, "ERR numkeys should be greater than 0")
		}
		sides = changed[2+n : 3+n]
	}
	for i, s := range sides {
		if other, ok := mirrored[upper(s)]; ok {
			sides[i] = other
		}
	}
	return ds.write(c, out, verb{writes: true, nothing: true}, changed, changed)
}

// mirrorPlaces answers LSET, LTRIM and LREM, whose numbers count from one end.
func mirrorPlaces(ds *dataset, c *client, out []byte, args []string) []byte {
	name := upper(args[0])
	changed := append([]string(nil), args...)
	switch name {
	case "LSET":
		changed[2] = fromOtherEnd(args[2])
	case "LTRIM":
		changed[2], changed[3] = fromOtherEnd(args[3]), fromOtherEnd(args[2])
	case "LREM":
		if n, err := strconv.Atoi(args[2]); err == nil {
			changed[2] = strconv.Itoa(-n)
		}
	}
	return ds.write(c, out, verb{writes: true, zero: true}, changed, changed)
}

// fromOtherEnd turns an index around: 0 is -1, -1 is 0. What is no number stays, to be refused.
func fromOtherEnd(index string) string {
	n, err := strconv.Atoi(index)
	if err != nil {
		return index
	}
	return strconv.Itoa(-1 - n)
}

// list gives a list as miniredis has it, and an error reply for another type. It is not to be changed.
func (ds *dataset) list(db int, key string) (l []string, problem string) {
	l, err := ds.m.DB(db).List(key)
	if err != nil && !errors.Is(err, miniredis.ErrKeyNotFound) {
		return nil, wrongType
	}
	return l, ""
}

// lRange answers LRANGE.
func lRange(ds *dataset, c *client, out []byte, args []string) []byte {
	start, err1 := strconv.Atoi(args[2])
	stop, err2 := strconv.Atoi(args[3])
	if err1 != nil || err2 != nil {
		return appendError(out, "ERR value is not an integer or out of range")
	}
	l, problem := ds.list(c.db, args[1])
	if problem != "" {
		return appendError(out, problem)
	}
	n := len(l)
	if start < 0 {
		start = max(start+n, 0)
	}
	if stop < 0 {
		stop += n
	}
	if stop = min(stop, n-1); start > stop {
		return appendArray(out, 0)
	}
	out = appendArray(out, stop-start+1)
	for i := start; i <= stop; i++ {
		out = appendBulk(out, l[n-1-i])
	}
	return out
}

// lIndex answers LINDEX.
func lIndex(ds *dataset, c *client, out []byte, args []string) []byte {
	i, err := strconv.Atoi(args[2])
	if err != nil {
		return appendError(out, "ERR value is not an integer or out of range")
	}
	l, problem := ds.list(c.db, args[1])
	if problem != "" {
		return appendError(out, problem)
	}
	if i < 0 {
		i += len(l)
	}
	if i < 0 || i >= len(l) {
		return appendNull(out)
	}
	return appendBulk(out, l[len(l)-1-i])
}
