package embedded

import (
	"cmp"
	"slices"
	"strings"
)

// miniredis keeps a sorted set as a map and sorts all of it for every look at its order: 3 ms at 10,000 members.
// sortedSet is the order of one of them, kept beside it as long as nothing else than ZADD, ZINCRBY, ZREM and pops
// changes it. The map in miniredis remains the truth; dropping an order is always safe.
type sortedSet struct {
	order  []scored // by score, then member
	scores map[string]float64
}

type scored struct {
	score  float64
	member string
}

func (s scored) compare(other scored) int {
	return cmp.Or(cmp.Compare(s.score, other.score), strings.Compare(s.member, other.member))
}

// leastSorted is from how many members on an order pays: below it, sorting is cheaper than keeping.
const leastSorted = 32

// sortedSet gives the order of a set, made when it is first asked for. It is nil for what is small, missing or of
// another type; miniredis answers those.
func (ds *dataset) sortedSet(db int, key string) *sortedSet {
	k := waitKey{db, key}
	if s, ok := ds.sorted[k]; ok {
		return s
	}
	live, err := ds.m.DB(db).SortedSet(key)
	if err != nil || len(live) < leastSorted {
		return nil
	}
	s := &sortedSet{order: make([]scored, 0, len(live)), scores: make(map[string]float64, len(live))}
	for member, score := range live {
		s.order = append(s.order, scored{score, member})
		s.scores[member] = score
	}
	slices.SortFunc(s.order, scored.compare)
	if ds.sorted == nil {
		ds.sorted = map[waitKey]*sortedSet{}
	}
	ds.sorted[k] = s
	return s
}

// follow keeps the orders in step with a change that was just made.
func (ds *dataset) follow(db int, args []string) {
	if len(ds.sorted) == 0 {
		return
	}
	switch upper(args[0]) {
	case "FLUSHALL", "FLUSHDB":
		clear(ds.sorted)
	case "ZADD", "ZINCRBY", "ZREM":
		k := waitKey{db, args[1]}
		s, ok := ds.sorted[k]
		if !ok {
			return
		}
		live, err := ds.m.DB(db).SortedSet(args[1])
		if err != nil { // gone with its last member
			delete(ds.sorted, k)
			return
		}
		for _, a := range args[2:] { // scores and options are no members, or happen to be: both is well
			s.update(live, a)
		}
	default:
		for _, a := range args[1:] {
			delete(ds.sorted, waitKey{db, a})
		}
	}
}

// update brings one member in line with the set.
func (s *sortedSet) update(live map[string]float64, member string) {
	before, had := s.scores[member]
	after, has := live[member]
	if had == has && before == after {
		return
	}
	if had {
		at, _ := slices.BinarySearchFunc(s.order, scored{before, member}, scored.compare)
		if at == 0 {
			s.order = s.order[1:] // the usual case, what comes first is done first
		} else {
			s.order = slices.Delete(s.order, at, at+1)
		}
		delete(s.scores, member)
	}
	if has {
		at, _ := slices.BinarySearchFunc(s.order, scored{after, member}, scored.compare)
		s.order = slices.Insert(s.order, at, scored{after, member})
		s.scores[member] = after
	}
}
