package outbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// at is a moment by the database's clock, as a column holds it.
func at(system sqltest.System, d time.Duration) string {
	s := int(d.Seconds())
	return map[sqltest.System]string{
		sqltest.PostgreSQL: fmt.Sprintf("now() + interval '%d seconds'", s),
		sqltest.MariaDB:    fmt.Sprintf("UTC_TIMESTAMP(6) + INTERVAL %d SECOND", s),
		sqltest.SQLite:     fmt.Sprintf("strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now', '%+d seconds')", s),
	}[system]
}

// TestClocks has rows and claims of times that the database's clock has not reached: it was set back since, and waiting for it to
// catch up could take hours.
func TestClocks(t *testing.T) {
	t.Parallel()
	eachTable(t, func(t *testing.T, db *sqltest.Database, table outbox.Table) {
		set := func(uuid, column string, d time.Duration) {
			execute(t, db, fmt.Sprintf("UPDATE %s SET %s = %s WHERE uuid = '%s'", table, column, at(db.System, d), uuid))
		}
		s := newStore(t)
		want := []string{"old", "written-ahead"}
		writeJobs(t, db, table, "old", "young", "written-ahead")
		set("old", "created_at", -2*time.Hour)
		set("written-ahead", "created_at", 2*time.Hour)
		if db.System == sqltest.SQLite {
			writeJobs(t, db, table, "claimed", "claimed-until-just-now", "claimed-until-tomorrow")
			execute(t, db, "UPDATE waybill_outbox SET claimed_by = 'another', created_at = '2020-01-01 00:00:00.000' WHERE uuid LIKE 'claimed%'")
			set("claimed", "claimed_until", 8*time.Second)
			set("claimed-until-just-now", "claimed_until", -time.Second)
			set("claimed-until-tomorrow", "claimed_until", 24*time.Hour)
			want = append(want, "claimed-until-just-now", "claimed-until-tomorrow")
		}
		relay, err := outbox.NewRelay(db.DB, table, s.Client, outbox.RelayOptions{Leeway: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		done, err := relay.Once(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(outbox.Relayed{Pushed: len(want)}, done); diff != "" {
			t.Errorf("relayed (-want +got):\n%s", diff)
		}
		s.wantQueued(want)
	})
}

// writeJobs writes rows of jobs of these uuids.
func writeJobs(tb testing.TB, db *sqltest.Database, table outbox.Table, uuids ...string) {
	tb.Helper()
	scheduler := outbox.NewScheduler(table)
	for _, uuid := range uuids {
		if err := scheduler.AddJob(plain(uuid)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := scheduler.CreatePendingJobs(tb.Context(), db); err != nil {
		tb.Fatal(err)
	}
}
