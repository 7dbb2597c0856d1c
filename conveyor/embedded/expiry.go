package embedded

import (
	"container/heap"
	"fmt"
	"math"
	"strconv"
	"time"
)

// A deadline is the moment at which a key is deleted.
type deadline struct {
	at  time.Time
	db  int
	key string
}

// deadlines is a heap, soonest first. An entry whose key has got another deadline meanwhile, or none, is stale;
// it is dropped when met.
type deadlines []deadline

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].at.Before(d[j].at) }
func (d deadlines) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *deadlines) Push(x any)        { *d = append(*d, x.(deadline)) }
func (d *deadlines) Pop() any {
	last := len(*d) - 1
	x := (*d)[last]
	*d = (*d)[:last]
	return x
}

// deadlineOf is when a key is to be deleted; miniredis holds it as the time since the epoch, where its clock stands.
func (ds *dataset) deadlineOf(db int, key string) (time.Time, bool) {
	ttl := ds.m.DB(db).TTL(key)
	return time.Unix(0, 0).Add(ttl), ttl != 0
}

// noteDeadline keeps the deadline that a command may have given to a key.
func (ds *dataset) noteDeadline(db int, key string) {
	at, ok := ds.deadlineOf(db, key)
	if !ok {
		return
	}
	heap.Push(&ds.deadlines, deadline{at: at, db: db, key: key})
	if ds.effects != nil && !at.After(ds.now()) {
		ds.expire(ds.now())
	}
}

// expire deletes the keys whose time has come.
func (ds *dataset) expire(now time.Time) {
	for len(ds.deadlines) > 0 && !ds.deadlines[0].at.After(now) && ds.broken == nil {
		d := heap.Pop(&ds.deadlines).(deadline)
		if at, ok := ds.deadlineOf(d.db, d.key); ok && !at.After(now) && ds.m.DB(d.db).Del(d.key) {
			ds.record(d.db, "DEL", d.key)
		}
	}
}

// latest is the latest deadline that the standing clock can express.
var latest = time.Unix(0, math.MaxInt64).UnixMilli()

// absolute turns a time as the options of SET, GETEX and EXPIRE give it into milliseconds since the epoch. ok is
// false for what miniredis is to refuse itself.
func (ds *dataset) absolute(option, value string) (ms int64, ok bool) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0, false
	}
	if option == "EX" || option == "EXAT" {
		if n > latest/1000 || n < -latest/1000 {
			return 0, false
		}
		n *= 1000
	}
	if option == "EX" || option == "PX" {
		n += ds.now().UnixMilli()
	}
	return n, n <= latest && n >= -latest
}

var expireOption = map[string]string{"EXPIRE": "EX", "PEXPIRE": "PX", "EXPIREAT": "EXAT", "PEXPIREAT": "PXAT"}

func expireKey(ds *dataset, c *client, out []byte, args []string) []byte {
	name := upper(args[0])
	ms, ok := ds.absolute(expireOption[name], args[2])
	if !ok {
		return appendError(out, "ERR value is not an integer or out of range")
	}
	changed := append([]string{"PEXPIREAT", args[1], strconv.FormatInt(ms, 10)}, args[3:]...)
	return ds.write(c, out, verbs[name], changed, changed)
}

func set(ds *dataset, c *client, out []byte, args []string) []byte {
	v := verbs["SET"]
	v.nothing = true // SET NX and SET XX that did not apply
	changed, ok := ds.absoluteOptions(args, 3)
	if !ok {
		return appendError(out, "ERR invalid expire time in 'set' command")
	}
	for _, option := range changed[3:] {
		if upper(option) == "GET" {
			v.nothing = false // null is the old value
		}
	}
	return ds.write(c, out, v, changed, changed)
}

func setEx(ds *dataset, c *client, out []byte, args []string) []byte {
	option := map[string]string{"SETEX": "EX", "PSETEX": "PX"}[upper(args[0])]
	if n, err := strconv.ParseInt(args[2], 10, 64); err != nil || n <= 0 {
		return appendError(out, fmt.Sprintf("ERR invalid expire time in '%s' command", args[0]))
	}
	return set(ds, c, out, []string{"SET", args[1], args[3], option, args[2]})
}

func getEx(ds *dataset, c *client, out []byte, args []string) []byte {
	if t := ds.m.DB(c.db).Type(args[1]); t != "" && t != "string" {
		return appendError(out, "WRONGTYPE Operation against a key holding the wrong kind of value")
	}
	if len(args) == 2 {
		return append(out, ds.call(c, args)...)
	}
	changed, ok := ds.absoluteOptions(args, 2)
	if !ok {
		return appendError(out, "ERR invalid expire time in 'getex' command")
	}
	v := verbs["GETEX"]
	v.nothing = true
	return ds.write(c, out, v, changed, changed)
}

// absoluteOptions copies args with the first EX, PX or EXAT from index i on as PXAT.
func (ds *dataset) absoluteOptions(args []string, i int) ([]string, bool) {
	changed := append([]string(nil), args...)
	for ; i+1 < len(args); i++ {
		option := upper(args[i])
		switch option {
		case "EX", "PX", "EXAT", "PXAT":
			if n, err := strconv.ParseInt(args[i+1], 10, 64); err == nil && n <= 0 {
				return nil, false
			}
			ms, ok := ds.absolute(option, args[i+1])
			if !ok {
				return nil, false
			}
			changed[i], changed[i+1] = "PXAT", strconv.FormatInt(ms, 10)
			i++
		}
	}
	return changed, true
}

func ttl(ds *dataset, c *client, out []byte, args []string) []byte {
	if len(args) != 2 {
		return appendError(out, fmt.Sprintf("ERR wrong number of arguments for '%s' command", args[0]))
	}
	at, ok := ds.deadlineOf(c.db, args[1])
	switch {
	case ds.m.DB(c.db).Type(args[1]) == "":
		return appendInt(out, -2)
	case !ok:
		return appendInt(out, -1)
	}
	left := max(at.Sub(ds.now()), 0)
	if upper(args[0]) == "TTL" {
		return appendInt(out, int64((left+time.Second/2)/time.Second))
	}
	return appendInt(out, left.Milliseconds())
}

func serverTime(ds *dataset, _ *client, out []byte, _ []string) []byte {
	now := ds.now()
	out = appendArray(out, 2)
	out = appendBulk(out, strconv.FormatInt(now.Unix(), 10))
	return appendBulk(out, strconv.FormatInt(int64(now.Nanosecond()/1000), 10))
}
