package planner

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/config"
)

// ErrMove says that one address cannot become the other. The message says why.
var ErrMove = errors.New("cannot be moved there")

// MovesOf finds the records that from means, with the addresses that they get when it becomes to. It is empty where there are none.
func MovesOf(s *State, from, to config.Addr) (map[config.Addr]config.Addr, error) {
	if from == to {
		return nil, fmt.Errorf("%s %w: it is there", from, ErrMove)
	}
	if from.IsModule() != to.IsModule() {
		return nil, fmt.Errorf("%s %w: a job becomes a job and a module a module, and %s is neither", from, ErrMove, to)
	}
	if from.IsModule() && (config.Addr{Module: from.Module}).Covers(config.Addr{Module: to.Module, Name: "x"}) {
		return nil, fmt.Errorf("%s %w: %s is inside of it", from, ErrMove, to)
	}
	moves := map[config.Addr]config.Addr{}
	for name := range s.Records {
		addr, err := config.ParseAddr(name)
		if err != nil || !from.Covers(addr) {
			continue
		}
		next := to
		switch {
		case from.IsModule():
			next = addr
			next.Module = to.Module + strings.TrimPrefix(addr.Module, from.Module)
		case addr != from && to.Key.Kind != config.NoKey:
			return nil, fmt.Errorf("%s %w: it has several instances, and %s is one", from, ErrMove, to)
		case addr != from:
			next.Key = addr.Key
		}
		moves[addr] = next
	}
	return moves, nil
}

// Readdressed makes the settled rows that write records under other addresses, and those that name them in what they wait for.
// Nothing has a record where a record goes.
func Readdressed(s *State, moves map[config.Addr]config.Addr) []*Row {
	var rows []*Row
	for _, name := range slices.Sorted(maps.Keys(s.Records)) {
		addr, err := config.ParseAddr(name)
		if err != nil {
			continue
		}
		prior := s.Records[name]
		next := prior.renamed(moves)
		to, moved := moves[addr]
		if !moved && next == prior {
			continue
		}
		r := &Row{Addr: addr, Action: Rerecord, Reason: ReasonMoved, Prior: prior, Live: s.Live[name]}
		if moved {
			r.Addr, r.MovedFrom = to, addr
		}
		rec := *next
		rec.Version = prior.Version + 1
		r.Next = &rec
		rows = append(rows, r)
	}
	return rows
}
