package outbox_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// rig is where a relay is tested: an outbox, a queue, and what stands between them.
type rig struct {
	*testing.T
	db     *sqltest.Database
	table  outbox.Table
	rdb    *redis.Client
	client *conveyor.Client
	seen   rounds
}

// rounds are what a relay told its observer.
type rounds struct{ list chan outbox.Round }

func (r rounds) Relayed(round outbox.Round) {
	select {
	case r.list <- round:
	default: // more than any test looks at
	}
}

// eachRig runs the test on all databases.
func eachRig(t *testing.T, test func(r *rig)) {
	t.Helper()
	sqltest.Each(t, func(t *testing.T, db *sqltest.Database) { test(newRig(t, db, "")) })
}

// Behaviour is a numbered subtest with an outbox and a queue of its own.
func (r *rig) Behaviour(name string, test func(r *rig)) {
	r.Helper()
	r.Run(name, func(t *testing.T) {
		number, _, _ := strings.Cut(name, " ")
		test(newRig(t, r.db, "outbox_"+strings.ToLower(number)))
	})
}

func newRig(t *testing.T, db *sqltest.Database, name string) *rig {
	t.Helper()
	r := &rig{T: t, db: db, table: outbox.Table{Dialect: dialectOf(t, db), Name: name}, seen: rounds{make(chan outbox.Round, 1000)}}
	if err := r.table.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	r.rdb = redistest.Shared(t).Client(t)
	r.client = r.clientOn(r.rdb, redistest.Namespace())
	client := r.client // of a server that outlives the test
	t.Cleanup(func() {
		violations, err := client.Verify(context.WithoutCancel(t.Context()))
		if err != nil || len(violations) > 0 {
			t.Errorf("violations %v, %v", violations, err)
		}
	})
	return r
}

func (r *rig) clientOn(rdb *redis.Client, namespace string) *conveyor.Client {
	r.Helper()
	c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: namespace})
	r.ok(err)
	return c
}

func (r *rig) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// relay makes one. Rows need no age unless the options give one.
func (r *rig) relay(c *conveyor.Client, o outbox.RelayOptions) *outbox.Relay {
	r.Helper()
	if o.Leeway == 0 {
		o.Leeway = -1
	}
	if o.Observer == nil {
		o.Observer = r.seen
	}
	relay, err := outbox.NewRelay(r.db.DB, r.table, c, o)
	r.ok(err)
	return relay
}

// run runs a relay until the returned function is called, or the test ends.
func (r *rig) run(relay *outbox.Relay) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	ended := make(chan error, 1)
	go func() { ended <- relay.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			r.Error(err)
		}
	})
	r.Cleanup(stop)
	return stop
}

// once has a relay do its work and wants this of it.
func (r *rig) once(relay *outbox.Relay, want outbox.Relayed) {
	r.Helper()
	got, err := relay.Once(r.Context())
	r.ok(err)
	if diff := cmp.Diff(want, got); diff != "" {
		r.Errorf("relayed (-want +got):\n%s", diff)
	}
}

// write puts rows of plain jobs into the outbox, as any program may.
func (r *rig) write(uuids ...string) {
	r.Helper()
	for _, uuid := range uuids {
		r.writeJob(&wire.Job{Uuid: uuid, Type: "t", Queue: "q"})
	}
}

func (r *rig) writeJob(job *wire.Job) {
	r.Helper()
	bytes, err := proto.Marshal(job)
	r.ok(err)
	r.writeRow(job.Uuid, bytes)
}

func (r *rig) writeRow(uuid string, job []byte) {
	r.Helper()
	text := fmt.Sprintf("X'%x'", job)
	if r.table.Dialect == outbox.PostgreSQL {
		text = fmt.Sprintf(`'\x%x'`, job)
	}
	r.execute("INSERT INTO {} (uuid, job) VALUES ('" + uuid + "', " + text + ")")
}

// execute runs statements on the table, which is {} in them.
func (r *rig) execute(statements ...string) {
	r.Helper()
	for _, s := range statements {
		execute(r.T, r.db, strings.ReplaceAll(s, "{}", r.table.String()))
	}
}

// wants compares what is on the queue, in its order, and what is left in the table: uuids, those of dead letters with their
// reasons.
func (r *rig) wants(queued []string, left ...string) {
	r.Helper()
	if diff := cmp.Diff(queued, r.queued()); diff != "" {
		r.Errorf("queued (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(left, r.left()); diff != "" {
		r.Errorf("rows left (-want +got):\n%s", diff)
	}
}

func (r *rig) queued() (uuids []string) {
	r.Helper()
	tickets, err := r.rdb.LRange(r.Context(), r.client.Prefix()+"queue:q", 0, -1).Result()
	r.ok(err)
	for _, ticket := range tickets {
		var job wire.Job
		r.ok(proto.Unmarshal([]byte(ticket), &job))
		uuids = append([]string{job.Uuid}, uuids...)
	}
	return uuids
}

func (r *rig) left() (lines []string) {
	r.Helper()
	rows, err := r.db.QueryContext(r.Context(), "SELECT uuid, coalesce(reason, '') FROM "+r.table.String()+" ORDER BY id")
	r.ok(err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var uuid, reason string
		r.ok(rows.Scan(&uuid, &reason))
		if reason != "" {
			uuid += ": " + reason
		}
		lines = append(lines, uuid)
	}
	r.ok(rows.Err())
	return lines
}

// through is a client of the same namespace whose requests go through a proxy.
func (r *rig) through(p *redistest.Proxy) *conveyor.Client {
	r.Helper()
	rdb := redis.NewClient(p.Options())
	r.Cleanup(func() { _ = rdb.Close() })
	return r.clientOn(rdb, r.client.Namespace())
}

// protoError is what the protobuf library says of bytes that are no message. It varies in its blanks on purpose.
var protoError = proto.Unmarshal([]byte("\xff\xff"), &wire.Job{}).Error()
