package conveyor_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

func TestInspect(t *testing.T) {
	onBoth(t, func(e *engine) {
		everyPlace(e)
		e.add(job("mixed", under("closing"), after(wire.Edge_ALWAYS, "done"), after(wire.Edge_FAILURE, "queued", "never")))
		for _, row := range []struct{ uuid, want string }{
			{"heir", "PREDECESSOR queued queued SUCCESS undecided;"},
			{"orphan", "PARENT later unknown SUCCESS undecided;"},
			{"both", "PARENT queued queued SUCCESS undecided; PREDECESSOR later unknown SUCCESS undecided; PREDECESSOR queued2 queued SUCCESS undecided;"},
			{"child", "PARENT closing closing SUCCESS success;"},
			{"closing", "child child scheduled; child mixed held;"},
			{"keyed", "holder keyed;"},
			{"mixed", "PARENT closing closing SUCCESS success; PREDECESSOR done completed ALWAYS success; " +
				"PREDECESSOR never unknown FAILURE undecided; PREDECESSOR queued queued FAILURE undecided;"},
		} {
			in, err := e.Inspect(e.Context(), row.uuid)
			e.ok(err)
			got := ""
			for _, edge := range in.Edges {
				got += fmt.Sprintf("%s %s %s %s %s; ", edge.Kind, edge.Upstream.UUID, edge.Upstream.State, edge.RunIf, edge.Decision)
			}
			for _, c := range in.Children {
				got += fmt.Sprintf("child %s %s; ", c.UUID, c.State)
			}
			if in.Holder != "" {
				got += "holder " + in.Holder + "; "
			}
			if diff := cmp.Diff(row.want+" ", got); diff != "" || in.Status.UUID != row.uuid {
				e.Errorf("%s: %s", row.uuid, diff)
			}
		}
		_, err := e.Inspect(e.Context(), "never")
		e.refused(err, conveyor.ErrNotFound)
		_, err = e.Inspect(e.Context(), "a:b")
		e.refused(err, conveyor.ErrUUID)
	})
}
