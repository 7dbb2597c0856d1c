package outbox_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/internal/redistest"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// narrow is a way to the queue that more than a few jobs do not get through in time.
type narrow struct {
	widest int // arguments of a command
}

func (n narrow) DialHook(next redis.DialHook) redis.DialHook { return next }

func (n narrow) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (n narrow) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if len(cmd.Args()) <= n.widest {
			return next(ctx, cmd)
		}
		<-ctx.Done()
		cmd.SetErr(ctx.Err())
		return ctx.Err()
	}
}

// TestRelaySlowQueue: when not one chunk of a batch gets through in time, smaller ones are tried until one does.
func TestRelaySlowQueue(t *testing.T) {
	t.Parallel()
	eachRig(t, func(r *rig) {
		rdb := redistest.Shared(r).Client(r)
		uuids := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"}
		r.write(uuids...)
		rdb.AddHook(narrow{widest: 40})
		r.run(r.relay(r.clientOn(rdb, r.client.Namespace()), outbox.RelayOptions{PushTimeout: 100 * time.Millisecond,
			Interval: 10 * time.Millisecond, MinBackoff: time.Millisecond, MaxBackoff: time.Millisecond}))
		for pushed := 0; pushed < len(uuids); {
			round := <-r.seen.list
			if pushed += round.Pushed; round.Err != nil && !errors.Is(round.Err, outbox.ErrQueue) {
				r.Error(round.Err)
			}
		}
		r.wants(uuids)
	})
}

// TestRelaySlowDatabase: when a database does not settle a batch, smaller ones are tried until it does.
func TestRelaySlowDatabase(t *testing.T) {
	t.Parallel()
	r := newRig(t, sqltest.Open(t, sqltest.SQLite), "")
	r.execute("CREATE TRIGGER narrow BEFORE DELETE ON {} WHEN (SELECT count(*) FROM {} WHERE claimed_until = OLD.claimed_until) > 3 " +
		"BEGIN SELECT RAISE(ABORT, 'too slow'); END") // rows of one claim
	uuids := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	r.write(uuids...)
	relay, failures := r.relay(r.client, outbox.RelayOptions{}), 0
	for len(r.left()) > 0 && failures < 20 {
		if _, err := relay.Once(t.Context()); err != nil {
			failures++
			if !errors.Is(err, outbox.ErrDatabase) {
				t.Error(err)
			}
		}
	}
	if failures == 0 {
		t.Error("the database settled all at once")
	}
	r.wants(uuids)
}

// listed is a database that knows one row, and notes what it is asked without a time by which to answer.
type listed struct {
	mu      sync.Mutex
	asked   int
	forever []string
}

func (l *listed) note(ctx context.Context, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	if _, ok := ctx.Deadline(); !ok {
		l.forever = append(l.forever, what)
	}
}

func (l *listed) Connect(context.Context) (driver.Conn, error) { return l, nil }
func (l *listed) Driver() driver.Driver                        { return nil }
func (l *listed) Prepare(string) (driver.Stmt, error)          { return nil, errors.ErrUnsupported }
func (l *listed) Begin() (driver.Tx, error)                    { return nil, errors.ErrUnsupported }
func (l *listed) Close() error                                 { return nil }
func (l *listed) Commit() error                                { return nil }
func (l *listed) Rollback() error                              { return nil }

func (l *listed) BeginTx(ctx context.Context, _ driver.TxOptions) (driver.Tx, error) {
	l.note(ctx, "BEGIN")
	return l, nil
}

func (l *listed) ExecContext(ctx context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	l.note(ctx, query)
	return driver.RowsAffected(1), nil
}

func (l *listed) QueryContext(ctx context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	l.note(ctx, query)
	return &listedRows{}, nil
}

type listedRows struct{ read bool }

func (r *listedRows) Columns() []string { return []string{"id", "uuid", "job"} }
func (r *listedRows) Close() error      { return nil }

func (r *listedRows) Next(values []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read = true
	values[0], values[1], values[2] = int64(1), "a", []byte("\x12\x01t\x1a\x01q")
	return nil
}

// TestRelaySilentDatabase: a relay waits for no answer of its database without end.
func TestRelaySilentDatabase(t *testing.T) {
	t.Parallel()
	for _, dialect := range []outbox.Dialect{outbox.PostgreSQL, outbox.MySQL, outbox.SQLite} {
		t.Run(dialect.String(), func(t *testing.T) {
			t.Parallel()
			client, err := conveyor.NewClient(redistest.Shared(t).Client(t), conveyor.Options{Namespace: redistest.Namespace()})
			if err != nil {
				t.Fatal(err)
			}
			database := &listed{}
			db := sql.OpenDB(database)
			defer func() { _ = db.Close() }()
			relay, err := outbox.NewRelay(db, outbox.Table{Dialect: dialect}, client, outbox.RelayOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if done, err := relay.Once(t.Context()); err != nil || done.Pushed != 1 || database.asked < 2 {
				t.Errorf("%+v, %v, asked %d times", done, err, database.asked)
			}
			if diff := cmp.Diff([]string(nil), database.forever); diff != "" {
				t.Errorf("asked without a time (-want +got):\n%s", diff)
			}
		})
	}
}
