package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

func (a *app) stateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "state", Short: "Look at what is recorded of a workflow, and change it",
		Long: `The state holds one record for each address that was applied: the submission of
its job, and what it was made of. These commands look at it, and change it under
the workflow's lock, without touching any job.`,
	}
	group(cmd)
	cmd.AddCommand(a.stateListCommand(), a.stateShowCommand(), a.stateMoveCommand(), a.stateRemoveCommand(), a.statePullCommand())
	return cmd
}

func (a *app) stateListCommand() *cobra.Command {
	var r redisFlag
	uuid := ""
	cmd := &cobra.Command{
		Use: "list [ADDR...] [DIR | FILES]", Short: "List the addresses in the state",
		Long: `Lists the addresses that are recorded, in order. An address without a key, such as
job.clean, selects all instances of its block.`,
		Example: `waybill state list
waybill state list job.clean examples/sales`,
		RunE: func(cmd *cobra.Command, args []string) error {
			addrs, paths, err := addresses(args)
			if err != nil {
				return err
			}
			state, err := a.readState(cmd.Context(), paths, r)
			if err != nil {
				return err
			}
			for _, addr := range sortedAddrs(state) {
				if selected(addr, addrs) && (uuid == "" || state.Records[addr.String()].UUID.String() == uuid) {
					fmt.Fprintln(a.p.Stdout, addr)
				}
			}
			return nil
		},
	}
	r.flags(cmd)
	cmd.Flags().StringVar(&uuid, "id", "", "List only the address of the job with this `UUID`.")
	return cmd
}

// readState reads the state of the workflow of a command's arguments, and writes nothing anywhere.
func (a *app) readState(ctx context.Context, paths []string, r redisFlag) (*planner.State, error) {
	w, err := a.load(paths, &variables{}, settingsOnly, nil)
	if err != nil {
		return nil, err
	}
	s, err := a.open(ctx, r, w, reading)
	if err != nil {
		return nil, err
	}
	defer s.close() //nolint:errcheck // nothing was written
	return applier.ReadState(ctx, s.client, s.workflow)
}

// sortedAddrs are the addresses of a state, numbers in keys by value.
func sortedAddrs(state *planner.State) []config.Addr {
	addrs := make([]config.Addr, 0, len(state.Records))
	for name := range state.Records {
		if addr, err := config.ParseAddr(name); err == nil {
			addrs = append(addrs, addr)
		}
	}
	slices.SortFunc(addrs, func(a, b config.Addr) int {
		switch {
		case a.Less(b):
			return -1
		case b.Less(a):
			return 1
		}
		return 0
	})
	return addrs
}

// selected tells whether an address is one of the wanted, an instance of a wanted block, or in a wanted module. None wanted is all.
func selected(addr config.Addr, wanted []config.Addr) bool {
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(w config.Addr) bool { return w.Covers(addr) })
}
