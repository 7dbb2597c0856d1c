package outbox_test

import (
	"testing"

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// drain relays all that is there, whatever its age.
func drain(tb testing.TB, db *sqltest.Database, table outbox.Table, s *store) {
	tb.Helper()
	relay, err := outbox.NewRelay(db.DB, table, s.Client, outbox.RelayOptions{Leeway: -1})
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := relay.Once(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}

// fill writes rows as programs do that leave pushing to a relay, and returns their uuids.
func fill(tb testing.TB, db *sqltest.Database, table outbox.Table, rows int) []string {
	tb.Helper()
	uuids := make([]string, 0, rows)
	for len(uuids) < rows {
		scheduler := outbox.NewScheduler(table)
		templates := make([]*wire.Job, min(1000, rows-len(uuids)))
		for i := range templates {
			templates[i] = &wire.Job{Type: "t", Queue: "q"}
		}
		if err := scheduler.AddJobs(templates, map[string]any{"order": len(uuids), "customer": "0123456789"}); err != nil {
			tb.Fatal(err)
		}
		if err := scheduler.CreatePendingJobs(tb.Context(), db); err != nil {
			tb.Fatal(err)
		}
		for _, job := range scheduler.Jobs() {
			uuids = append(uuids, job.Uuid)
		}
	}
	return uuids
}

// count counts rows.
func count(tb testing.TB, db *sqltest.Database, table outbox.Table, where string) int {
	tb.Helper()
	var n int
	if err := db.QueryRowContext(tb.Context(), "SELECT count(*) FROM "+table.String()+" WHERE "+where).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}
