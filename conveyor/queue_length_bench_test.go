package conveyor_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/embedded"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// BenchmarkQueueLength measures each operation while so many jobs are queued: no operation may cost more with more of them. The
// rows of one operation are to be compared with each other; server-us is processor time of the server, which other
// load on the machine distorts least. The embedded store is measured up to 100,000 jobs, since it holds them all in this process.
func BenchmarkQueueLength(b *testing.B) {
	for _, store := range []struct {
		name string
		most int
		open func(b *testing.B) redis.UniversalClient
	}{
		{"redis", 1_000_000, func(b *testing.B) redis.UniversalClient { _, rdb := benchClient(b); return rdb }},
		{"embedded", 100_000, func(b *testing.B) redis.UniversalClient {
			s, err := embedded.Open(b.Context(), b.TempDir(), embedded.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = s.Close() })
			return s.Client()
		}},
	} {
		for length := 1000; length <= store.most; length *= 10 {
			b.Run(fmt.Sprintf("%s/%d", store.name, length), func(b *testing.B) {
				q := newLongQueue(b, store.open(b), length)
				for _, op := range longQueueOps {
					b.Run(op.name, func(b *testing.B) { q.measure(b, op) })
				}
			})
		}
	}
}

// longQueue is a namespace with many queued jobs, which every measurement leaves as many.
type longQueue struct {
	*conveyor.Client
	rdb    redis.UniversalClient
	length int
	made   int
	number int64
	held   []conveyor.Ack // reserved by the worker
}

func newLongQueue(b *testing.B, rdb redis.UniversalClient, length int) *longQueue {
	b.Helper()
	c, err := conveyor.NewClient(rdb, conveyor.Options{})
	if err != nil {
		b.Fatal(err)
	}
	q := &longQueue{Client: c, rdb: rdb, length: length}
	for q.made < length {
		q.ok(b, c.AddMany(b.Context(), q.jobs(min(1000, length-q.made))))
	}
	return q
}

func (q *longQueue) ok(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// batchLabels are those of a job that belongs to a batch: all such jobs share one label, and ten of them the other.
func batchLabels(i int) map[string]string {
	return map[string]string{"kind": "bench", "batch": strconv.Itoa(i / 100)}
}

// jobs are new jobs, half of them with a unique key and one in ten with labels.
func (q *longQueue) jobs(n int) []*wire.Job {
	payload := make([]byte, 200)
	jobs := make([]*wire.Job, n)
	for i := range jobs {
		q.made++
		jobs[i] = &wire.Job{Uuid: q.uuid(q.made), Type: "bench.v1.Job", Queue: "default", Payload: payload}
		if q.made%2 == 0 {
			jobs[i].Unique = strconv.Itoa(q.made)
		}
		if q.made%10 == 0 {
			jobs[i].Labels = batchLabels(q.made)
		}
	}
	return jobs
}

// middle is the number of a job that stands in the middle of the queue, and of another one for each i up to a quarter of it.
func (q *longQueue) middle(i int) int { return q.made - q.length/2 - i%(q.length/4) }

func (q *longQueue) uuid(n int) string { return fmt.Sprintf("%08d-0000-4000-8000-000000000000", n) }

// longQueueOp is one operation: before it comes what is not measured.
type longQueueOp struct {
	name   string
	before func(q *longQueue, b *testing.B, i int) any
	call   func(q *longQueue, ctx context.Context, prepared any) error
}

var longQueueOps = []longQueueOp{
	{"add", func(q *longQueue, b *testing.B, _ int) any { return q.plain() },
		func(q *longQueue, ctx context.Context, job any) error { return q.Add(ctx, job.(*wire.Job)) }},
	{"add-unique", func(q *longQueue, b *testing.B, _ int) any {
		job := q.plain()
		job.Unique = "u" + job.Uuid
		return job
	}, func(q *longQueue, ctx context.Context, job any) error { return q.Add(ctx, job.(*wire.Job)) }},
	{"add-and-reserve-50", func(q *longQueue, b *testing.B, _ int) any {
		q.ok(b, q.AddMany(b.Context(), q.jobs(50)))
		return nil
	}, func(q *longQueue, ctx context.Context, _ any) error { return q.exchange(ctx, 50) }},
	{"update", func(q *longQueue, b *testing.B, i int) any {
		return &wire.Job{Uuid: q.uuid(q.middle(2*i) | 1), Type: "bench.v1.Job", Queue: "default", Payload: []byte("new")}
	}, func(q *longQueue, ctx context.Context, job any) error { return q.Update(ctx, job.(*wire.Job)) }},
	{"cancel", func(q *longQueue, b *testing.B, i int) any {
		job := q.plain()
		q.ok(b, q.Add(b.Context(), job))
		return job.Uuid
	}, func(q *longQueue, ctx context.Context, uuid any) error { return q.Cancel(ctx, uuid.(string)) }},
	{"cancel-in-the-middle", func(q *longQueue, b *testing.B, i int) any {
		q.ok(b, q.Add(b.Context(), q.plain()))
		return q.uuid(q.middle(2*i) | 1) // none with labels
	},
		func(q *longQueue, ctx context.Context, uuid any) error { return q.Cancel(ctx, uuid.(string)) }},
	{"tick", func(*longQueue, *testing.B, int) any { return nil },
		func(q *longQueue, ctx context.Context, _ any) error { _, err := q.Tick(ctx); return err }},
	{"hand-back-50", func(q *longQueue, b *testing.B, _ int) any {
		q.ok(b, q.exchange(b.Context(), 50))
		return nil
	}, func(q *longQueue, ctx context.Context, _ any) error {
		for i := range q.held {
			q.held[i].Verdict = conveyor.VerdictBack
		}
		return q.exchange(ctx, 0)
	}},
	{"exists", func(q *longQueue, _ *testing.B, i int) any { return batchLabels(q.middle(100 * i)) },
		func(q *longQueue, ctx context.Context, labels any) error {
			found, err := q.Exists(ctx, labels.(map[string]string))
			if err == nil && !found {
				err = errors.New("nothing is found")
			}
			return err
		}},
	{"list", func(q *longQueue, _ *testing.B, i int) any { return batchLabels(q.middle(100 * i)) },
		func(q *longQueue, ctx context.Context, labels any) error {
			found, err := q.List(ctx, conveyor.ListOptions{Labels: labels.(map[string]string)})
			if err == nil && (len(found) == 0 || len(found) > 10) {
				err = fmt.Errorf("%d are found", len(found))
			}
			return err
		}},
	{"queues", func(*longQueue, *testing.B, int) any { return nil },
		func(q *longQueue, ctx context.Context, _ any) error { _, err := q.Queues(ctx); return err }},
}

// plain is one new job without a unique key.
func (q *longQueue) plain() *wire.Job {
	job := q.jobs(1)[0]
	job.Unique = ""
	return job
}

// exchange acknowledges what is held and reserves as a worker does.
func (q *longQueue) exchange(ctx context.Context, want int) error {
	q.number++
	reply, err := q.Exchange(ctx, conveyor.ExchangeRequest{Worker: "w", Number: q.number, Queues: []string{"default"}, Want: want, Done: q.held})
	q.held = nil
	for _, r := range reply.Reserved {
		q.held = append(q.held, conveyor.Ack{UUID: r.Job.Uuid, Fence: r.Fence})
	}
	return err
}

func (q *longQueue) measure(b *testing.B, op longQueueOp) {
	ctx := context.Background()
	var total float64
	for i := range 3 { // the scripts are loaded, and what an earlier operation left behind is done
		prepared := op.before(q, b, i)
		q.ok(b, op.call(q, ctx, prepared))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		b.StopTimer()
		prepared := op.before(q, b, i)
		empty := serverCPU(b, q.rdb)
		begin := serverCPU(b, q.rdb)
		b.StartTimer()
		if err := op.call(q, ctx, prepared); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		total += serverCPU(b, q.rdb) - begin - (begin - empty) // without what asking costs
		b.StartTimer()
	}
	b.StopTimer()
	if total != 0 {
		b.ReportMetric(total/float64(b.N), "server-us/op")
	}
	q.ok(b, q.exchange(ctx, 0))
}
