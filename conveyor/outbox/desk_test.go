package outbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// desk is where a test does what a program would: a database with an outbox and a table of the program's own, and a queue.
type desk struct {
	*testing.T
	db     *sqltest.Database
	table  outbox.Table
	client *conveyor.Client
	rdb    *redis.Client
	number int64 // of reservations
}

// behaviours runs numbered subtests, each at a desk of its own in one database.
type behaviours struct {
	t  *testing.T
	db *sqltest.Database
}

func (b behaviours) Run(name string, test func(d *desk)) {
	b.t.Helper()
	b.t.Run(name, func(t *testing.T) {
		id, _, _ := strings.Cut(name, " ")
		table := outbox.Table{Dialect: dialectOf(t, b.db), Name: "outbox_" + strings.ToLower(id)}
		d := &desk{T: t, db: b.db, table: table}
		d.ok(table.Migrate(t.Context(), b.db))
		d.useRedis(redistest.Shared(t).Client(t))
		test(d)
		violations, err := d.client.Verify(context.WithoutCancel(t.Context()))
		d.ok(err)
		for _, v := range violations {
			t.Errorf("violation: %+v", v)
		}
	})
}

// eachDatabase has a test run its numbered subtests on all databases.
func eachDatabase(t *testing.T, test func(b behaviours)) {
	t.Helper()
	t.Parallel()
	sqltest.Each(t, func(t *testing.T, db *sqltest.Database) {
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE things (name VARCHAR(64) PRIMARY KEY)"); err != nil {
			t.Fatal(err)
		}
		test(behaviours{t, db})
	})
}

func (d *desk) useRedis(rdb *redis.Client) {
	d.Helper()
	client, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: redistest.Namespace()})
	d.ok(err)
	d.client, d.rdb = client, rdb
}

func (d *desk) ok(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// refused wants an error.
func (d *desk) refused(err, want error) {
	d.Helper()
	if !errors.Is(err, want) {
		d.Errorf("got %v, want %v", err, want)
	}
}

func (d *desk) scheduler(options ...outbox.Option) *outbox.Scheduler {
	return outbox.NewScheduler(d.table, options...)
}

// transact commits what do does, or rolls it back after an error, which it returns.
func (d *desk) transact(do func(tx *sql.Tx) error) error {
	d.Helper()
	tx, err := d.db.BeginTx(d.Context(), nil)
	d.ok(err)
	if err := do(tx); err != nil {
		d.ok(tx.Rollback())
		return err
	}
	return tx.Commit()
}

// create commits a thing of this name together with the jobs of the scheduler.
func (d *desk) create(s *outbox.Scheduler, thing string) {
	d.Helper()
	d.ok(d.transact(func(tx *sql.Tx) error {
		return errors.Join(addThing(d.Context(), tx, thing), s.CreatePendingJobs(d.Context(), tx))
	}))
}

// collected is a scheduler with a job of each uuid, created with a thing.
func (d *desk) collected(uuids ...string) *outbox.Scheduler {
	d.Helper()
	s := d.scheduler()
	for _, uuid := range uuids {
		d.ok(s.AddJob(plain(uuid)))
	}
	d.create(s, "thing of "+d.table.Name)
	return s
}

func addThing(ctx context.Context, db outbox.DB, name string) error {
	_, err := db.ExecContext(ctx, "INSERT INTO things (name) VALUES ('"+name+"')")
	return err
}

// plain is a job of queue "q".
func plain(uuid string) *wire.Job { return &wire.Job{Uuid: uuid, Type: "t", Queue: "q"} }

// has tells whether there is a thing of this name.
func (d *desk) has(thing string) bool {
	d.Helper()
	return d.count("things WHERE name = '"+thing+"'") == 1
}

func (d *desk) count(from string) (n int) {
	d.Helper()
	d.ok(d.db.QueryRowContext(d.Context(), "SELECT count(*) FROM "+from).Scan(&n))
	return n
}

// rows wants the outbox to hold these jobs and no others.
func (d *desk) rows(want ...*wire.Job) {
	d.Helper()
	rows, err := d.db.QueryContext(d.Context(), "SELECT uuid, job FROM "+d.table.Name+" ORDER BY id")
	d.ok(err)
	defer func() { _ = rows.Close() }()
	var got []*wire.Job
	for rows.Next() {
		var uuid string
		var bytes []byte
		d.ok(rows.Scan(&uuid, &bytes))
		job := &wire.Job{}
		d.ok(proto.Unmarshal(bytes, job))
		if job.Uuid != uuid {
			d.Errorf("row %s holds job %s", uuid, job.Uuid)
		}
		got = append(got, job)
	}
	d.ok(rows.Err())
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		d.Errorf("rows (-want +got):\n%s", diff)
	}
}

// take starts every job of queue "q", in order, and ends it.
func (d *desk) take() []*wire.Job {
	d.Helper()
	jobs := []*wire.Job{}
	for {
		d.number++
		reply, err := d.client.Exchange(d.Context(), conveyor.ExchangeRequest{Worker: "w", Number: d.number, Queues: []string{"q"}, Want: conveyor.MaxBatch})
		d.ok(err)
		if len(reply.Reserved) == 0 {
			return jobs
		}
		var done []conveyor.Ack
		for _, r := range reply.Reserved {
			jobs = append(jobs, r.Job)
			done = append(done, conveyor.Ack{UUID: r.Job.Uuid, Fence: r.Fence})
		}
		d.number++
		_, err = d.client.Exchange(d.Context(), conveyor.ExchangeRequest{Worker: "w", Number: d.number, Queues: []string{"q"}, Done: done})
		d.ok(err)
	}
}

// runs wants exactly these jobs to start, in this order.
func (d *desk) runs(want ...string) {
	d.Helper()
	if diff := cmp.Diff(want, uuids(d.take())); diff != "" {
		d.Errorf("started (-want +got):\n%s", diff)
	}
}

func uuids(jobs []*wire.Job) []string {
	var list []string
	for _, job := range jobs {
		list = append(list, job.Uuid)
	}
	return list
}

// untouched runs what must not reach the queue.
func (d *desk) untouched(do func()) {
	d.Helper()
	before := d.keys()
	do()
	if diff := cmp.Diff(before, d.keys()); diff != "" {
		d.Errorf("the queue was changed (-before +after):\n%s", diff)
	}
}

// keys are those of the namespace, with what they hold.
func (d *desk) keys() map[string]string {
	d.Helper()
	found := map[string]string{}
	iter := d.rdb.Scan(d.Context(), 0, d.client.Prefix()+"*", 1000).Iterator()
	for iter.Next(d.Context()) {
		dump, err := d.rdb.Dump(d.Context(), iter.Val()).Result()
		d.ok(err)
		found[iter.Val()] = dump
	}
	d.ok(iter.Err())
	return found
}

// recorder notes what is sent through a DB.
type recorder struct {
	outbox.DB
	statements []string
}

func (r *recorder) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	r.note(query)
	return r.DB.ExecContext(ctx, query, args...)
}

func (r *recorder) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	r.note(query)
	return r.DB.QueryContext(ctx, query, args...)
}

func (r *recorder) note(query string) {
	verb, _, _ := strings.Cut(query, " ")
	r.statements = append(r.statements, verb)
}

// sent wants these statements to have been sent, by their first words.
func (r *recorder) sent(d *desk, want ...string) {
	d.Helper()
	if !slices.Equal(want, r.statements) {
		d.Errorf("sent %v, want %v", r.statements, want)
	}
}

// silent is a DB that fails the test when it is asked for anything.
type silent struct{ t *testing.T }

func (s silent) ExecContext(_ context.Context, query string, _ ...any) (sql.Result, error) {
	s.t.Errorf("the database is asked to %s", query)
	return nil, errors.New("silent")
}

func (s silent) QueryContext(_ context.Context, query string, _ ...any) (*sql.Rows, error) {
	s.t.Errorf("the database is asked to %s", query)
	return nil, errors.New("silent")
}

// broken is a DB that fails.
type broken struct{ err error }

func (b broken) ExecContext(context.Context, string, ...any) (sql.Result, error) { return nil, b.err }

func (b broken) QueryContext(context.Context, string, ...any) (*sql.Rows, error) { return nil, b.err }

// numbered are n uuids in order.
func numbered(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("j%06d", i)
	}
	return list
}

// redisThatStops gives the desk a server of its own, to be killed and restarted.
func redisThatStops(d *desk) *redistest.Server {
	d.Helper()
	server := redistest.Start(d, "--appendonly", "yes", "--appendfsync", "no")
	options := server.Options()
	options.MaxRetries = -1
	rdb := redis.NewClient(options)
	d.Cleanup(func() { _ = rdb.Close() })
	d.useRedis(rdb)
	return server
}
