package applier

import (
	"context"
	"slices"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// Listed is one line of a state listing.
type Listed struct {
	Addr   config.Addr
	Record *planner.Record
	Live   planner.Live
}

// ListState lists the records of a workflow by address, each with its job's live status. It only reads.
func ListState(ctx context.Context, c *conveyor.Client, workflow string) ([]Listed, error) {
	s, err := ReadState(ctx, c, workflow)
	if err != nil {
		return nil, err
	}
	list := make([]Listed, 0, len(s.Records))
	for address, r := range s.Records {
		addr, err := config.ParseAddr(address)
		if err != nil {
			return nil, err
		}
		list = append(list, Listed{Addr: addr, Record: r, Live: s.Live[address]})
	}
	slices.SortFunc(list, func(a, b Listed) int { return compareAddr(a.Addr, b.Addr) })
	return list, nil
}
