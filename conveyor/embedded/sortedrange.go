package embedded

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/fpconv"
)

// between gives the members within two bounds of the score.
func (s *sortedSet) between(low, high scoreBound) []scored {
	start, _ := slices.BinarySearchFunc(s.order, low, func(e scored, b scoreBound) int {
		if e.score < b.score || b.exclusive && e.score == b.score {
			return -1
		}
		return 1
	})
	end, _ := slices.BinarySearchFunc(s.order, high, func(e scored, b scoreBound) int {
		if e.score < b.score || !b.exclusive && e.score == b.score {
			return -1
		}
		return 1
	})
	return s.order[start:max(start, end)]
}

type scoreBound struct {
	score     float64
	exclusive bool
}

func parseScoreBound(s string) (scoreBound, bool) {
	s, exclusive := strings.CutPrefix(s, "(")
	f, err := strconv.ParseFloat(s, 64)
	return scoreBound{f, exclusive}, err == nil && !math.IsNaN(f)
}

// window is what ZRANGE and its older names ask for.
type window struct {
	byScore, reverse, withScores, limited bool
	offset, count                         int // of LIMIT; a negative count has no limit
}

func parseWindow(name string, options []string) (w window, ok bool) {
	w = window{byScore: strings.HasSuffix(name, "BYSCORE"), reverse: strings.HasPrefix(name, "ZREV"), count: -1}
	for i := 0; i < len(options); i++ {
		switch option := upper(options[i]); {
		case option == "WITHSCORES":
			w.withScores = true
		case option == "LIMIT" && i+2 < len(options):
			var err1, err2 error
			w.offset, err1 = strconv.Atoi(options[i+1])
			w.count, err2 = strconv.Atoi(options[i+2])
			if err1 != nil || err2 != nil {
				return w, false
			}
			w.limited = true
			i += 2
		case option == "BYSCORE" && name == "ZRANGE":
			w.byScore = true
		case option == "REV" && name == "ZRANGE":
			w.reverse = true
		default:
			return w, false
		}
	}
	return w, w.byScore || !w.limited
}

// zRange answers ZRANGE, ZREVRANGE, ZRANGEBYSCORE and ZREVRANGEBYSCORE from the order, and leaves to miniredis
// what has none or is written in a way that it will refuse.
func zRange(ds *dataset, c *client, out []byte, args []string) []byte {
	s := ds.sortedSet(c.db, args[1])
	w, ok := parseWindow(upper(args[0]), args[4:])
	if s == nil || !ok {
		return append(out, ds.call(c, args)...)
	}
	low, high := args[2], args[3]
	var found []scored
	if w.byScore {
		if w.reverse {
			low, high = high, low
		}
		from, okFrom := parseScoreBound(low)
		to, okTo := parseScoreBound(high)
		if !okFrom || !okTo {
			return append(out, ds.call(c, args)...)
		}
		found = s.between(from, to)
	} else {
		start, err1 := strconv.Atoi(low)
		stop, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil {
			return append(out, ds.call(c, args)...)
		}
		found = s.ranks(start, stop, w.reverse)
	}
	return appendScored(out, w.cut(found), w)
}

// ranks gives the members from rank start to rank stop, both included and negative from the end, counted from the
// highest when reverse.
func (s *sortedSet) ranks(start, stop int, reverse bool) []scored {
	n := len(s.order)
	if start < 0 {
		start = max(start+n, 0)
	}
	if stop < 0 {
		stop += n
	}
	stop = min(stop, n-1)
	if start > stop {
		return nil
	}
	if reverse {
		start, stop = n-1-stop, n-1-start
	}
	return s.order[start : stop+1]
}

// cut applies LIMIT, counted from the end when reverse.
func (w window) cut(found []scored) []scored {
	if !w.limited {
		return found
	}
	if w.offset < 0 || w.offset >= len(found) {
		return nil
	}
	n := len(found) - w.offset
	if w.count >= 0 {
		n = min(n, w.count)
	}
	if w.reverse {
		end := len(found) - w.offset
		return found[end-n : end]
	}
	return found[w.offset : w.offset+n]
}

func appendScored(out []byte, found []scored, w window) []byte {
	if w.reverse {
		found = slices.Clone(found)
		slices.Reverse(found)
	}
	n := len(found)
	if w.withScores {
		n *= 2
	}
	out = appendArray(out, n)
	for _, e := range found {
		out = appendBulk(out, e.member)
		if w.withScores {
			out = appendBulk(out, fpconv.Dtoa(e.score))
		}
	}
	return out
}

// zCount answers ZCOUNT from the order.
func zCount(ds *dataset, c *client, out []byte, args []string) []byte {
	s := ds.sortedSet(c.db, args[1])
	low, ok1 := parseScoreBound(args[2])
	high, ok2 := parseScoreBound(args[3])
	if s == nil || !ok1 || !ok2 || len(args) != 4 {
		return append(out, ds.call(c, args)...)
	}
	return appendInt(out, int64(len(s.between(low, high))))
}

// zPop takes the first or last members off the order. Without one miniredis does, except that it pops one when
// asked for none.
func zPop(ds *dataset, c *client, out []byte, args []string) []byte {
	n := 1
	if len(args) == 3 {
		var err error
		if n, err = strconv.Atoi(args[2]); err != nil || n < 0 {
			return appendError(out, "ERR value is out of range, must be positive")
		}
	}
	s := ds.sortedSet(c.db, args[1])
	kind := ds.m.DB(c.db).Type(args[1])
	switch {
	case len(args) > 3:
		return appendError(out, "ERR syntax error")
	case kind != "" && kind != "zset":
		return appendError(out, wrongType)
	case n == 0:
		return appendArray(out, 0)
	case s == nil:
		return ds.write(c, out, verb{writes: true, nothing: true}, args, args)
	}
	n = min(n, len(s.order))
	w := window{withScores: true, reverse: upper(args[0]) == "ZPOPMAX"}
	taken := s.order[:n]
	if w.reverse {
		taken = s.order[len(s.order)-n:]
	}
	out = appendScored(out, taken, w)
	remove := []string{"ZREM", args[1]}
	for _, e := range taken {
		remove = append(remove, e.member)
	}
	ds.write(c, nil, verb{writes: true}, remove, remove)
	return out
}
