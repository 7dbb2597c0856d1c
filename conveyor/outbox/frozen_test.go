//go:build unix

package outbox_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/internal/redistest"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// TestFrozenRelay stops a relay's process while it has rows in hand, as a machine does that is suspended or cut off: its
// connections stay open and nothing comes over them. The database frees the rows after a while, and another relay pushes them. When
// the process goes on it finds its rows gone, changes nothing, and serves again.
func TestFrozenRelay(t *testing.T) {
	t.Parallel()
	eachTable(t, func(t *testing.T, db *sqltest.Database, table outbox.Table) {
		s := storeOn(t, redistest.Start(t))
		uuids := fill(t, db, table, 50)
		s.server.Pause() // which keeps the relay in the middle of its first round
		r := roleOn(db, s, "relay")
		r.Batch, r.PushTimeout = 30, 3*time.Second
		frozen := begin(t, r)
		free := fmt.Sprintf("SELECT id FROM %s ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED", table)
		if db.System == sqltest.SQLite {
			free = fmt.Sprintf("SELECT id FROM %s WHERE claimed_by IS NULL ORDER BY id LIMIT 1", table)
		}
		look := time.NewTicker(5 * time.Millisecond)
		defer look.Stop()
		for {
			<-look.C
			var id int
			if err := db.QueryRowContext(t.Context(), free).Scan(&id); err != nil {
				t.Fatal(err)
			}
			if id > 30 {
				break
			}
		}
		if err := frozen.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		s.server.Resume()
		told, stop := runRelayOf(t, db, table, s.Client)
		told.empty(t, db, table)
		stop()
		s.wantQueued(uuids)
		if err := frozen.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		more := fill(t, db, table, 50)
		for count(t, db, table, "1 = 1") > 0 {
			<-look.C
		}
		frozen.stop(t)
		s.wantQueued(append(uuids, more...))
	})
}
