package embedded

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// popOf names what a blocking pop does when there is something.
var popOf = map[string]string{
	"BLPOP": "LPOP", "BRPOP": "RPOP", "BZPOPMIN": "ZPOPMIN", "BZPOPMAX": "ZPOPMAX",
	"BRPOPLPUSH": "RPOPLPUSH", "BLMOVE": "LMOVE", "BLMPOP": "LMPOP", "BZMPOP": "ZMPOP",
}

// popAny is BLPOP key ... timeout and its like, as far as they need no waiting: the first key that has something
// gives it, and the reply names the key.
func popAny(ds *dataset, c *client, out []byte, args []string) []byte {
	pop := popOf[upper(args[0])]
	for _, key := range args[1 : len(args)-1] {
		reply := ds.exec(c, nil, []string{pop, key})
		switch {
		case isError(reply):
			return append(out, reply...)
		case isNothing(reply):
			continue
		}
		values, err := replyStrings(reply)
		if err != nil {
			return appendError(out, "ERR "+err.Error())
		}
		out = appendArray(out, 1+len(values))
		out = appendBulk(out, key)
		for _, v := range values {
			out = appendBulk(out, v)
		}
		return out
	}
	return appendNoArray(out)
}

// popWithTimeoutLast is BLMOVE and BRPOPLPUSH without the waiting.
func popWithTimeoutLast(ds *dataset, c *client, out []byte, args []string) []byte {
	return ds.exec(c, out, append([]string{popOf[upper(args[0])]}, args[1:len(args)-1]...))
}

// popWithTimeoutFirst is BLMPOP and BZMPOP without the waiting.
func popWithTimeoutFirst(ds *dataset, c *client, out []byte, args []string) []byte {
	return ds.exec(c, out, append([]string{popOf[upper(args[0])]}, args[2:]...))
}

// wait is a blocking command that found nothing yet.
type wait struct {
	keys    []string // a change of any of them is worth another try
	timeout time.Duration
	try     func(ds *dataset, c *client) []byte
}

// waitFor reads what a blocking command waits for. blocks is false for an XREAD that does not wait; problem is the
// error to answer.
func waitFor(ds *dataset, db int, args []string) (w wait, blocks bool, problem string) {
	again := func(ds *dataset, c *client) []byte { return ds.exec(c, nil, args) }
	switch upper(args[0]) {
	case "XREAD":
		r, problem := parseStreamRead(ds, db, args)
		if problem != "" || r.block == "" {
			return w, false, problem
		}
		w = wait{keys: r.keys, try: func(ds *dataset, c *client) []byte { return r.run(ds, c, nil) }}
		w.timeout, problem = blockTimeout(r.block, time.Millisecond)
		return w, true, problem
	case "BLPOP", "BRPOP", "BZPOPMIN", "BZPOPMAX":
		w = wait{keys: args[1 : len(args)-1], try: again}
		w.timeout, problem = blockTimeout(args[len(args)-1], time.Second)
	case "BRPOPLPUSH", "BLMOVE":
		w = wait{keys: args[1:2], try: again}
		w.timeout, problem = blockTimeout(args[len(args)-1], time.Second)
	default: // BLMPOP and BZMPOP: timeout, number of keys, keys
		n, err := strconv.Atoi(args[2])
		if err != nil || n < 1 || n > len(args)-3 {
			return w, false, "ERR numkeys should be greater than 0"
		}
		w = wait{keys: args[3 : 3+n], try: again}
		w.timeout, problem = blockTimeout(args[1], time.Second)
	}
	return w, true, problem
}

// blockTimeout reads a timeout; 0 waits without end.
func blockTimeout(s string, unit time.Duration) (time.Duration, string) {
	n, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || math.IsNaN(n) || n > float64(math.MaxInt64)/float64(unit)/2:
		return 0, "ERR timeout is not a float or out of range"
	case n < 0:
		return 0, "ERR timeout is negative"
	case n > 0:
		return max(time.Duration(n*float64(unit)), 1), ""
	}
	return 0, ""
}

// waiter is a session that waits. Its fields belong to the host's mutex; served is closed when the reply is out.
type waiter struct {
	wait
	session *session
	served  chan struct{}
}

type waitKey struct {
	db  int
	key string
}

// waitlist holds the waiters of each key in the order they came, which is the order they are served in.
type waitlist struct {
	byKey map[waitKey][]*waiter
	ready []waitKey // keys that changed since the waiters were last served
}

func (l *waitlist) add(w *waiter, db int) {
	if l.byKey == nil {
		l.byKey = map[waitKey][]*waiter{}
	}
	for _, key := range w.keys {
		k := waitKey{db, key}
		l.byKey[k] = append(l.byKey[k], w)
	}
}

func (l *waitlist) remove(w *waiter, db int) {
	for _, key := range w.keys {
		k := waitKey{db, key}
		left := slices.DeleteFunc(l.byKey[k], func(other *waiter) bool { return other == w })
		if len(left) == 0 {
			delete(l.byKey, k)
		} else {
			l.byKey[k] = left
		}
	}
}

// touch notes the keys of a change that somebody waits for. Every argument may be a key: a try for nothing is
// cheaper than to know where each command has its keys.
func (l *waitlist) touch(db int, args []string) {
	if len(l.byKey) == 0 {
		return
	}
	for _, a := range args[1:] {
		k := waitKey{db, a}
		if _, ok := l.byKey[k]; ok && !slices.Contains(l.ready, k) {
			l.ready = append(l.ready, k)
		}
	}
}

// all gives every waiter once.
func (l *waitlist) all() []*waiter {
	seen := map[*waiter]bool{}
	var all []*waiter
	for _, ws := range l.byKey {
		for _, w := range ws {
			if !seen[w] {
				seen[w] = true
				all = append(all, w)
			}
		}
	}
	return all
}
