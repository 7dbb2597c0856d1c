package outbox_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// The subtests of this package are numbered as the behaviours in the seeds of the specification: part B, item, letter.

func TestCollect(t *testing.T) {
	eachDatabase(t, func(b behaviours) {
		b.Run("B1a AddJob only collects in memory", func(d *desk) {
			s := d.scheduler()
			d.untouched(func() { d.ok(s.AddJob(plain("a"))) })
			d.rows()
			if got := uuids(s.Jobs()); !slices.Equal(got, []string{"a"}) {
				d.Errorf("collected %v", got)
			}
		})
		b.Run("B1b what the job says is kept: type, queue, reserve_for, retry", func(d *desk) {
			template := &wire.Job{Type: "resize", Queue: "q", ReserveFor: durationpb.New(time.Minute), MaxRetries: 7,
				RetryPolicy: &wire.RetryPolicy{MaxAttempts: proto.Int32(7)}, Labels: map[string]string{"a": "b"}}
			s := d.scheduler()
			d.ok(s.AddJob(template, 4, "big"))
			got := s.Jobs()[0]
			want := proto.CloneOf(template)
			want.Uuid, want.Payload = got.Uuid, []byte(`[4,"big"]`)
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" || len(got.Uuid) != 36 {
				d.Errorf("collected %s (-want +got):\n%s", got.Uuid, diff)
			}
			d.create(s, "b1b")
			d.rows(want)
		})
		b.Run("B1c AddJobs collects a job of each type with the same arguments", func(d *desk) {
			s := d.scheduler()
			d.ok(s.AddJobs([]*wire.Job{{Type: "one", Queue: "q"}, {Type: "two", Queue: "r"}}, 4))
			var got []string
			for _, job := range s.Jobs() {
				got = append(got, job.Type+" "+job.Queue+" "+string(job.Payload))
			}
			if diff := cmp.Diff([]string{"one q 4", "two r 4"}, got); diff != "" {
				d.Errorf("collected (-want +got):\n%s", diff)
			}
		})
		b.Run("B1d an error appends nothing, nor any of several", func(d *desk) {
			s := d.scheduler()
			d.ok(s.AddJob(plain("a")))
			d.refused(s.AddJob(&wire.Job{Queue: "q"}), conveyor.ErrTypeName)
			d.refused(s.AddJobs([]*wire.Job{plain("b"), {Queue: "q"}, plain("c")}), conveyor.ErrTypeName)
			d.refused(s.AddJobs([]*wire.Job{plain("b"), nil}), conveyor.ErrNilJob)
			d.refused(s.AddJobs([]*wire.Job{plain("b"), plain("b")}), outbox.ErrTwice)
			d.refused(s.AddJobs([]*wire.Job{plain("b"), plain("a")}), outbox.ErrTwice)
			d.refused(s.AddJobs([]*wire.Job{plain("b")}, func() {}), outbox.ErrPayload)
			d.create(s, "b1d")
			d.rows(plain("a"))
		})
		b.Run("B1e a template stays as it is, and is used again", func(d *desk) {
			template, s := plain(""), d.scheduler()
			d.ok(s.AddJob(template, 1))
			d.ok(s.AddJobs([]*wire.Job{template, template}, 2))
			if diff := cmp.Diff(plain(""), template, protocmp.Transform()); diff != "" {
				d.Errorf("template (-before +after):\n%s", diff)
			}
			d.create(s, "b1e")
			d.rows(s.Jobs()...)
			if got := uuids(s.Jobs()); len(slices.Compact(slices.Sorted(slices.Values(got)))) != 3 {
				d.Errorf("uuids %v", got)
			}
		})
	})
}

func TestCreatePendingJobs(t *testing.T) {
	eachDatabase(t, func(b behaviours) {
		b.Run("B2a all are created by one statement, without the queue", func(d *desk) {
			s := d.scheduler()
			for _, uuid := range []string{"c", "a", "b"} {
				d.ok(s.AddJob(plain(uuid)))
			}
			d.untouched(func() {
				d.ok(d.transact(func(tx *sql.Tx) error {
					r := &recorder{DB: tx}
					defer r.sent(d, "INSERT")
					return s.CreatePendingJobs(d.Context(), r)
				}))
			})
			d.rows(plain("c"), plain("a"), plain("b"))
		})
		b.Run("B2b without jobs nothing is done", func(d *desk) {
			s := d.scheduler()
			d.ok(s.CreatePendingJobs(d.Context(), silent{d.T}))
			d.ok(s.CreatePendingJobs(d.Context(), nil))
			d.ok(s.AddJob(plain("a")))
			d.create(s, "b2b")
			d.rows(plain("a"))
		})
		b.Run("B2c a rollback leaves neither entity, nor row, nor job", func(d *desk) {
			s, enough := d.scheduler(), errors.New("enough")
			d.ok(s.AddJob(plain("a")))
			d.refused(d.transact(func(tx *sql.Tx) error {
				d.ok(addThing(d.Context(), tx, "b2c"))
				d.ok(s.CreatePendingJobs(d.Context(), tx))
				return enough
			}), enough)
			if d.has("b2c") {
				d.Error("the entity is there")
			}
			d.rows()
			d.runs()
		})
		b.Run("B2d a commit leaves both entity and row", func(d *desk) {
			s := d.scheduler()
			d.ok(s.AddJob(plain("a")))
			d.create(s, "b2d")
			if !d.has("b2d") {
				d.Error("no entity")
			}
			d.rows(plain("a"))
			d.runs()
		})
		b.Run("B2e more jobs than a statement takes are refused before it is sent, as many as it takes are not", func(d *desk) {
			limit := 32_767 // half the parameters of a statement
			if d.table.Dialect == outbox.SQLite {
				limit = 16_383
			}
			s := d.scheduler()
			for range limit {
				d.ok(s.AddJob(plain("")))
			}
			d.create(s, "b2e")
			if n := d.count(d.table.Name); n != limit {
				d.Errorf("%d rows, want %d", n, limit)
			}
			s = d.scheduler()
			for range limit + 1 {
				d.ok(s.AddJob(plain("")))
			}
			d.refused(s.CreatePendingJobs(d.Context(), silent{d.T}), outbox.ErrTooMany)
		})
		b.Run("B2f a job that cannot be with another is refused before anything is sent", func(d *desk) {
			s := d.scheduler()
			d.ok(s.AddJob(&wire.Job{Uuid: "root", Type: "t", Queue: "q", Schedule: &wire.Schedule{Every: "day"}}))
			d.ok(s.AddJob(&wire.Job{Type: "t", Queue: "q", PredecessorUuid: "root"}))
			d.refused(s.CreatePendingJobs(d.Context(), silent{d.T}), conveyor.ErrBelowTemplate)
		})
		b.Run("B2g after a failure the same jobs go into another transaction", func(d *desk) {
			s, cancelled := d.scheduler(), errors.New("cancelled")
			d.ok(s.AddJob(plain("a")))
			ctx, cancel := context.WithCancelCause(d.Context())
			cancel(cancelled)
			if err := s.CreatePendingJobs(ctx, d.db); !errors.Is(err, context.Canceled) {
				d.Errorf("got %v", err)
			}
			d.create(s, "b2g")
			d.rows(plain("a"))
		})
	})
}

func TestPush(t *testing.T) {
	eachDatabase(t, func(b behaviours) {
		b.Run("B3a jobs are pushed in the order of insertion, and no database is asked", func(d *desk) {
			want := numbered(2*conveyor.MaxBatch + 7)
			slices.Reverse(want)
			s := d.collected(want...)
			d.ok(s.PushJobsWithClient(d.Context(), d.client)) // it has no database to ask
			d.runs(want...)
			if n := d.count(d.table.Name); n != len(want) {
				d.Errorf("%d rows, want %d", n, len(want))
			}
		})
		b.Run("B3b the first failure stops, and the rest is not attempted", func(d *desk) {
			holder := &wire.Job{Uuid: "holder", Type: "t", Queue: "other", Unique: "key"}
			d.ok(d.client.Add(d.Context(), holder))
			s := d.scheduler()
			d.ok(s.AddJobs([]*wire.Job{plain("a"), plain("b"), {Uuid: "c", Type: "t", Queue: "q", Unique: "key"}, plain("d")}))
			d.create(s, "b3b")
			err := s.PushJobsWithClient(d.Context(), d.client)
			d.refused(err, conveyor.ErrUnique)
			if want := "push: 2 of 4 jobs are on the queue: "; err != nil && !strings.HasPrefix(err.Error(), want) {
				d.Errorf("%q, want %q...", err, want)
			}
			d.refused(s.DeletePendingJobs(d.Context(), silent{d.T}), outbox.ErrNotPushed)
			d.runs("a", "b")
			d.ok(d.client.Cancel(d.Context(), "holder"))
			d.ok(s.PushJobsWithClient(d.Context(), d.client))
			d.runs("c", "d")
		})
		b.Run("B3c delete is one statement, and asks no queue", func(d *desk) {
			s := d.collected("a", "b", "c")
			d.ok(s.PushJobsWithClient(d.Context(), d.client))
			other := d.scheduler()
			d.ok(other.AddJob(plain("x")))
			d.create(other, "b3c")
			r := &recorder{DB: d.db}
			d.untouched(func() { d.ok(s.DeletePendingJobs(d.Context(), r)) })
			r.sent(d, "DELETE")
			d.rows(plain("x"))
			d.ok(s.DeletePendingJobs(d.Context(), silent{d.T}))
		})
		b.Run("B3d without jobs each does nothing", func(d *desk) {
			s := d.scheduler()
			d.untouched(func() {
				for _, err := range []error{
					s.PushJobs(d.Context()), s.PushJobsWithClient(d.Context(), d.client), s.PushJobsWithClient(d.Context(), nil),
					s.DeletePendingJobs(d.Context(), silent{d.T}), s.PushJobsAndDeletePendingJobs(d.Context(), silent{d.T}),
					s.PushJobsWithClientAndDeletePendingJobs(d.Context(), d.client, silent{d.T}),
				} {
					d.ok(err)
				}
			})
		})
		b.Run("B3e the combined call deletes after a full push only", func(d *desk) {
			d.ok(d.client.Add(d.Context(), &wire.Job{Uuid: "holder", Type: "t", Queue: "other", Unique: "key"}))
			s := d.scheduler()
			d.ok(s.AddJobs([]*wire.Job{plain("a"), {Uuid: "b", Type: "t", Queue: "q", Unique: "key"}}))
			d.create(s, "b3e")
			d.refused(s.PushJobsWithClientAndDeletePendingJobs(d.Context(), d.client, silent{d.T}), conveyor.ErrUnique)
			d.rows(s.Jobs()...)
			d.ok(d.client.Cancel(d.Context(), "holder"))
			r := &recorder{DB: d.db}
			d.ok(s.PushJobsWithClientAndDeletePendingJobs(d.Context(), d.client, r))
			r.sent(d, "DELETE")
			d.rows()
			d.runs("a", "b")
		})
		b.Run("B3f deleting before the push is an error", func(d *desk) {
			s := d.collected("a")
			d.refused(s.DeletePendingJobs(d.Context(), silent{d.T}), outbox.ErrNotPushed)
			d.rows(plain("a"))
		})
		b.Run("B3g a second create is an error, and so is a job that comes after the first", func(d *desk) {
			s := d.collected("a")
			d.refused(s.CreatePendingJobs(d.Context(), silent{d.T}), outbox.ErrCreated)
			d.refused(s.AddJob(plain("b")), outbox.ErrCreated)
			d.refused(s.AddJobs([]*wire.Job{plain("b")}), outbox.ErrCreated)
			d.ok(s.PushJobsWithClientAndDeletePendingJobs(d.Context(), d.client, d.db))
			d.runs("a")
		})
		b.Run("B3h a second push sends what is unsent only", func(d *desk) {
			s := d.collected("a", "b")
			d.ok(s.PushJobsWithClient(d.Context(), d.client))
			d.runs("a", "b")
			d.untouched(func() { d.ok(s.PushJobsWithClient(d.Context(), d.client)) })
		})
		b.Run("B3i a push before the create is an error", func(d *desk) {
			s := d.scheduler()
			d.ok(s.AddJob(plain("a")))
			d.untouched(func() { d.refused(s.PushJobsWithClient(d.Context(), d.client), outbox.ErrNotCreated) })
		})
		b.Run("B3j while Redis is away nothing is lost, and the next push sends all", func(d *desk) {
			away := redisThatStops(d)
			want := numbered(conveyor.MaxBatch + 1)
			s := d.collected(want...)
			away.Kill()
			ctx, cancel := context.WithCancel(d.Context())
			d.refused(s.PushJobsWithClientAndDeletePendingJobs(ctx, d.client, silent{d.T}), conveyor.ErrUnavailable)
			cancel()
			d.refused(s.PushJobsWithClient(ctx, d.client), context.Canceled)
			away.Restart(d)
			d.ok(s.PushJobsWithClientAndDeletePendingJobs(d.Context(), d.client, d.db))
			d.rows()
			d.runs(want...)
		})
	})
}

func TestPushFromJob(t *testing.T) {
	eachDatabase(t, func(b behaviours) {
		b.Run("B4a inside a running job its context is enough", func(d *desk) {
			d.ok(d.client.Add(d.Context(), &wire.Job{Uuid: "outer", Type: "outer", Queue: "jobs"}))
			s := d.collected("a", "b")
			ctx, stop := context.WithCancel(d.Context())
			defer stop()
			worker, err := conveyor.NewWorker(d.client, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: "jobs"}}})
			d.ok(err)
			var pushed error
			worker.HandleRaw("outer", func(ctx context.Context, _ *wire.Job) error {
				defer stop()
				ctx, cancel := context.WithTimeout(ctx, time.Minute) // made from the handler's
				defer cancel()
				pushed = s.PushJobsAndDeletePendingJobs(ctx, d.db)
				return conveyor.Permanent(errors.New("the job fails, what it pushed stays"))
			})
			d.ok(worker.Run(ctx))
			d.ok(pushed)
			d.rows()
			d.runs("a", "b")
		})
		b.Run("B4b outside one it is an error", func(d *desk) {
			s := d.collected("a")
			d.untouched(func() {
				d.refused(s.PushJobs(d.Context()), outbox.ErrNoAttempt)
				d.refused(s.PushJobsAndDeletePendingJobs(d.Context(), silent{d.T}), outbox.ErrNoAttempt)
			})
			d.ok(s.PushJobsWithClient(d.Context(), d.client))
			d.runs("a")
		})
	})
}
