package outbox_test

import (
	"errors"
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/outbox"
)

// relays has a relay do what a dead process left.
func (d *desk) relays(want outbox.Relayed) {
	d.Helper()
	relay, err := outbox.NewRelay(d.db.DB, d.table, d.client, outbox.RelayOptions{Leeway: -1})
	d.ok(err)
	got, err := relay.Once(d.Context())
	d.ok(err)
	if got != want {
		d.Errorf("relayed %+v, want %+v", got, want)
	}
}

// TestLeft stops after a step, as a process does that dies there, and has a relay go on. TestKilledAfterEachStep kills processes.
func TestLeft(t *testing.T) {
	eachDatabase(t, func(b behaviours) {
		b.Run("B5a what was committed and not pushed is pushed and deleted", func(d *desk) {
			d.collected("a", "b")
			d.runs()
			d.relays(outbox.Relayed{Pushed: 2})
			d.rows()
			d.runs("a", "b")
		})
		b.Run("B5b of what was pushed in part the rest is pushed", func(d *desk) {
			s := d.collected("a", "b", "c")
			d.ok(d.client.Add(d.Context(), s.Jobs()[0]))
			d.relays(outbox.Relayed{Pushed: 3})
			d.rows()
			d.runs("a", "b", "c")
		})
		b.Run("B5c what was pushed and not deleted is pushed again, and runs once", func(d *desk) {
			d.ok(d.collected("a", "b").PushJobsWithClient(d.Context(), d.client))
			d.runs("a", "b") // before the relay comes
			d.relays(outbox.Relayed{Pushed: 2})
			d.rows()
			d.runs()
			found, err := d.client.Statuses(d.Context(), []string{"a", "b"})
			d.ok(err)
			for _, s := range found {
				if s.State != conveyor.StateCompleted || s.Fence != 1 {
					d.Errorf("%+v, want it completed by its only start", s)
				}
			}
		})
		b.Run("B5d what a relay does first, nobody does again", func(d *desk) {
			s := d.collected("a", "b")
			d.relays(outbox.Relayed{Pushed: 2})
			d.runs("a", "b")
			d.ok(s.PushJobsWithClientAndDeletePendingJobs(d.Context(), d.client, d.db))
			d.runs()
			d.relays(outbox.Relayed{})
		})
		b.Run("B5e what cannot be deleted is left to a relay", func(d *desk) {
			s, away := d.collected("a"), errors.New("away")
			d.refused(s.PushJobsWithClientAndDeletePendingJobs(d.Context(), d.client, broken{away}), away)
			d.rows(plain("a"))
			d.relays(outbox.Relayed{Pushed: 1})
			d.rows()
			d.runs("a")
		})
	})
}
