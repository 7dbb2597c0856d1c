//go:build unix

package outbox_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// runRelay relays until its standard input is closed.
func runRelay(ctx context.Context, r role, _ io.Writer) error {
	table, c, db, closeAll, err := r.open()
	if err != nil {
		return err
	}
	defer closeAll()
	relay, err := outbox.NewRelay(db, table, c, outbox.RelayOptions{Leeway: -1, Interval: 10 * time.Millisecond, Batch: r.Batch, PushTimeout: r.PushTimeout})
	if err != nil {
		return err
	}
	return relay.Run(ctx)
}

// TestKilledRelays has three processes drain an outbox while they are killed in turn, and started again. In CI a kill comes with
// each tenth of the rows; with -long there are 100,000 rows and it comes with each second. Each job is on the queue once.
func TestKilledRelays(t *testing.T) {
	t.Parallel()
	eachTable(t, func(t *testing.T, db *sqltest.Database, table outbox.Table) {
		rows, batch := 4000, 100
		if *long {
			rows, batch = 100_000, 500
		}
		s := newStore(t)
		want := fill(t, db, table, rows)
		r := roleOn(db, s, "relay")
		r.Batch, r.PushTimeout = batch, time.Second
		var relays [3]*process
		for i := range relays {
			relays[i] = begin(t, r)
		}
		look, second := time.NewTicker(5*time.Millisecond), time.NewTicker(time.Second)
		defer look.Stop()
		defer second.Stop()
		kills := 0
		kill := func() {
			i := kills % len(relays)
			relays[i].kill()
			relays[i] = begin(t, r)
			kills++
		}
		began := time.Now()
		for mark := rows / 20; ; {
			select {
			case <-second.C:
				if *long {
					kill()
				}
			case <-look.C:
			}
			n := int(s.rdb.LLen(t.Context(), s.Prefix()+"queue:q").Val())
			if !*long && n >= mark {
				kill()
				mark = n + rows/10
			}
			if n >= rows && count(t, db, table, "dead_at IS NULL") == 0 {
				break
			}
		}
		t.Logf("%d rows in %s with %d kills", rows, time.Since(began).Round(time.Millisecond), kills)
		for _, p := range relays {
			p.stop(t)
		}
		s.wantQueued(want)
		if n := count(t, db, table, "1 = 1"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}
