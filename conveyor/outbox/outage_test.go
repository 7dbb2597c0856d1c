package outbox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/internal/redistest"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// onlooker hands a relay's rounds to a test. Those that come while nobody reads go by.
type onlooker struct{ told chan outbox.Round }

func (r onlooker) Relayed(round outbox.Round) {
	select {
	case r.told <- round:
	default:
	}
}

// failures waits for rounds that failed, and returns the last one's error.
func (r onlooker) failures(n int) (err error) {
	for n > 0 {
		if round := <-r.told; round.Err != nil {
			err = round.Err
			n--
		}
	}
	return err
}

// runRelayOf runs a relay of the table, in a hurry, until the test ends.
func runRelayOf(tb testing.TB, db *sqltest.Database, table outbox.Table, c *conveyor.Client) (told onlooker, stop func()) {
	tb.Helper()
	told = onlooker{make(chan outbox.Round)}
	relay, err := outbox.NewRelay(db.DB, table, c, outbox.RelayOptions{Leeway: -1, Interval: 10 * time.Millisecond, Batch: 50,
		PushTimeout: 200 * time.Millisecond, MinBackoff: time.Millisecond, MaxBackoff: 10 * time.Millisecond, Observer: told})
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	ended := make(chan error, 1)
	go func() { ended <- relay.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	}
	tb.Cleanup(stop)
	return told, stop
}

// empty waits until no row is pending.
func (r onlooker) empty(tb testing.TB, db *sqltest.Database, table outbox.Table) {
	tb.Helper()
	for count(tb, db, table, "dead_at IS NULL") > 0 {
		<-r.told
	}
}

// TestStoreOutages has the store fail in every way that it can come back from. However long that lasts, rows stay as they are,
// nothing locks them, none becomes a dead letter, and each job is on the queue once when it is over.
func TestStoreOutages(t *testing.T) {
	t.Parallel()
	outages := []struct {
		name     string
		down, up func(t *testing.T, s *store)
	}{
		{"killed", func(_ *testing.T, s *store) { s.server.Kill() }, func(t *testing.T, s *store) { s.server.Restart(t) }},
		{"silent", func(_ *testing.T, s *store) { s.server.Pause() }, func(_ *testing.T, s *store) { s.server.Resume() }},
		{"out of memory", config("maxmemory", "1"), config("maxmemory", "0")},
		{"read-only", replicaOf("127.0.0.1", "1"), replicaOf("no", "one")},
	}
	for _, outage := range outages {
		t.Run(outage.name, func(t *testing.T) {
			t.Parallel()
			eachTable(t, func(t *testing.T, db *sqltest.Database, table outbox.Table) {
				s := storeOn(t, redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always"))
				uuids := fill(t, db, table, 120)
				told, stop := runRelayOf(t, db, table, s.Client)
				told.empty(t, db, table)
				outage.down(t, s)
				uuids = append(uuids, fill(t, db, table, 120)...)
				if err := told.failures(5); !errors.Is(err, outbox.ErrQueue) {
					t.Errorf("round: %v", err)
				}
				if n := count(t, db, table, "dead_at IS NULL"); n != 120 {
					t.Errorf("%d rows are pending, want 120", n)
				}
				execute(t, db, "UPDATE "+table.String()+" SET reason = NULL WHERE id > 0") // waits for whoever has locked one
				outage.up(t, s)
				told.empty(t, db, table)
				stop()
				s.wantQueued(uuids)
			})
		})
	}
}

func config(name, value string) func(*testing.T, *store) {
	return func(t *testing.T, s *store) {
		t.Helper()
		if err := s.rdb.ConfigSet(t.Context(), name, value).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func replicaOf(host, port string) func(*testing.T, *store) {
	return func(t *testing.T, s *store) {
		t.Helper()
		if err := s.rdb.ReplicaOf(t.Context(), host, port).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDatabaseRestarts kills the database under a relay that has work to do, and starts it again, three times.
func TestDatabaseRestarts(t *testing.T) {
	t.Parallel()
	for _, system := range []sqltest.System{sqltest.PostgreSQL, sqltest.MariaDB} {
		t.Run(string(system), func(t *testing.T) {
			t.Parallel()
			server := sqltest.Start(t, system)
			db := server.Database(t)
			table, s := migrated(t, db), newStore(t)
			uuids := fill(t, db, table, 2000)
			told, stop := runRelayOf(t, db, table, s.Client)
			for range 3 {
				<-told.told
				server.Kill()
				if err := told.failures(3); !errors.Is(err, outbox.ErrDatabase) {
					t.Errorf("round: %v", err)
				}
				server.Restart(t)
				uuids = append(uuids, fill(t, db, table, 100)...)
			}
			told.empty(t, db, table)
			stop()
			s.wantQueued(uuids)
		})
	}
}

// TestLostAnswers loses a request, or its answer, at each of the first requests of a relay.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	for _, fault := range []redistest.Fault{redistest.LoseRequest, redistest.LoseReply} {
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			eachTable(t, func(t *testing.T, db *sqltest.Database, table outbox.Table) {
				for n := 1; n <= 5; n++ {
					loseAt(t, db, table, fault, n)
				}
			})
		})
	}
}

func loseAt(t *testing.T, db *sqltest.Database, table outbox.Table, fault redistest.Fault, at int) {
	t.Helper()
	s := newStore(t)
	proxy := s.server.Proxy(t)
	proxy.Plan(func(n int) redistest.Fault {
		if n == at {
			return fault
		}
		return redistest.Pass
	})
	uuids := fill(t, db, table, 240)
	told, stop := runRelayOf(t, db, table, s.through(proxy))
	told.empty(t, db, table)
	stop()
	if proxy.Hits() != 1 {
		t.Errorf("request %d was not lost: there were %d", at, proxy.Requests())
	}
	s.wantQueued(uuids)
}
