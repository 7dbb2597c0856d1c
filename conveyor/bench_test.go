package conveyor_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// benchClient is a namespace on a server of its own, so that figures do not depend on other benchmarks.
func benchClient(b *testing.B) (*conveyor.Client, *redis.Client) {
	b.Helper()
	rdb := redistest.Start(b).Client(b)
	c, err := conveyor.NewClient(rdb, conveyor.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return c, rdb
}

// benchJobs makes n jobs with 200-byte payloads; edges, if given, adds those of job i.
func benchJobs(round, n int, edges func(uuid func(i int) string, i int, j *wire.Job)) []*wire.Job {
	payload := make([]byte, 200)
	uuid := func(i int) string { return fmt.Sprintf("%08d-0000-4000-8000-%012d", round, i) }
	jobs := make([]*wire.Job, n)
	for i := range jobs {
		jobs[i] = &wire.Job{Uuid: uuid(i), Type: "bench.v1.Job", Queue: "default", Payload: payload}
		if edges != nil {
			edges(uuid, i, jobs[i])
		}
	}
	return jobs
}

// chains of ten, dependents first.
func chains(uuid func(int) string, i int, j *wire.Job) {
	if i%10 != 9 {
		j.PredecessorUuid = uuid(i + 1)
	}
}

// layers of a hundred with three edges each, dependents first.
func layers(uuid func(int) string, i int, j *wire.Job) {
	if i >= 900 {
		return
	}
	for k := range 3 {
		up := i - i%100 + 100 + (i+k*31)%100
		j.Edges = append(j.Edges, &wire.Edge{Kind: wire.Edge_PREDECESSOR, Uuid: uuid(up)})
	}
}

var shapes = []struct {
	name  string
	edges func(func(int) string, int, *wire.Job)
}{{"plain", nil}, {"chains", chains}, {"layers", layers}}

// perJob reports the throughput of rounds of so many jobs.
func perJob(b *testing.B, jobs int) {
	b.ReportMetric(float64(jobs)*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

// serverTime reports the processor time of the server since it started, which a busy machine distorts least.
func serverTime(b *testing.B, rdb *redis.Client, jobs int) {
	b.ReportMetric(serverCPU(b, rdb)/float64(jobs)/float64(b.N), "server-us/job")
}

// serverCPU is the processor time that the server has spent on commands so far, in microseconds; 0 from one that does not tell.
func serverCPU(b *testing.B, rdb redis.UniversalClient) (us float64) {
	b.Helper()
	text, err := rdb.Info(context.Background(), "cpu").Result()
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(text) {
		field, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if strings.HasSuffix(field, "_main_thread") {
			seconds, _ := strconv.ParseFloat(value, 64)
			us += seconds * 1e6
		}
	}
	return us
}

func BenchmarkAddMany(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape.name, func(b *testing.B) {
			c, rdb := benchClient(b)
			b.ReportAllocs()
			for round := range b.N {
				b.StopTimer()
				jobs := benchJobs(round, 1000, shape.edges)
				if round%50 == 49 {
					rdb.FlushAll(context.Background())
				}
				b.StartTimer()
				if err := c.AddMany(context.Background(), jobs); err != nil {
					b.Fatal(err)
				}
			}
			perJob(b, 1000)
			serverTime(b, rdb, 1000)
		})
	}
}

// BenchmarkApply submits jobs with a companion write each, as an applier does.
func BenchmarkApply(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape.name, func(b *testing.B) {
			c, rdb := benchClient(b)
			record := append([]byte("1 "), make([]byte, 300)...)
			b.ReportAllocs()
			for round := range b.N {
				b.StopTimer()
				jobs := benchJobs(round, 1000, shape.edges)
				if round%50 == 49 {
					rdb.FlushAll(context.Background())
				}
				b.StartTimer()
				for from := 0; from < len(jobs); from += conveyor.MaxBatch {
					batch := conveyor.Batch{}
					for _, j := range jobs[from : from+conveyor.MaxBatch] {
						batch.Changes = append(batch.Changes, conveyor.Change{
							Kind: conveyor.ChangeAdd, Job: j,
							Attach: &conveyor.Attach{Key: "state:bench", Field: j.Uuid, Value: record},
						})
					}
					if err := c.Apply(context.Background(), batch); err != nil {
						b.Fatal(err)
					}
				}
			}
			perJob(b, 1000)
			serverTime(b, rdb, 1000)
		})
	}
}

// BenchmarkExchange runs no-op jobs to their end with 50 and 100 at a time.
func BenchmarkExchange(b *testing.B) {
	for _, shape := range shapes {
		for _, at := range []int{50, 100} {
			b.Run(fmt.Sprintf("%s/%d", shape.name, at), func(b *testing.B) {
				c, rdb := benchClient(b)
				ctx, number := context.Background(), int64(0)
				b.ReportAllocs()
				for round := range b.N {
					b.StopTimer()
					if round%20 == 19 {
						rdb.FlushAll(ctx)
					}
					if err := c.AddMany(ctx, benchJobs(round, 1000, shape.edges)); err != nil {
						b.Fatal(err)
					}
					if round == 0 {
						rdb.ConfigResetStat(ctx)
					}
					b.StartTimer()
					var done []conveyor.Ack
					for ended := 0; ended < 1000; {
						number++
						reply, err := c.Exchange(ctx, conveyor.ExchangeRequest{
							Worker: "w", Number: number, Queues: []string{"default"}, Want: at, Done: done,
						})
						if err != nil {
							b.Fatal(err)
						}
						ended += len(done)
						done = done[:0]
						for _, r := range reply.Reserved {
							done = append(done, conveyor.Ack{UUID: r.Job.Uuid, Fence: r.Fence})
						}
					}
				}
				perJob(b, 1000)
				serverTime(b, rdb, 1000)
			})
		}
	}
}

// BenchmarkPipelinedLPush is the floor: the same bytes pushed to a list, 200 commands in a pipeline.
func BenchmarkPipelinedLPush(b *testing.B) {
	_, rdb := benchClient(b)
	ctx := context.Background()
	b.ReportAllocs()
	defer func() { serverTime(b, rdb, 1000) }()
	for round := range b.N {
		b.StopTimer()
		jobs := benchJobs(round, 1000, nil)
		if round%50 == 49 {
			rdb.FlushAll(ctx)
		}
		b.StartTimer()
		for from := 0; from < len(jobs); from += conveyor.MaxBatch {
			pipe := rdb.Pipeline()
			for _, j := range jobs[from : from+conveyor.MaxBatch] {
				bytes, err := proto.Marshal(j)
				if err != nil {
					b.Fatal(err)
				}
				pipe.LPush(ctx, "list", bytes)
			}
			if _, err := pipe.Exec(ctx); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(1000*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

// BenchmarkMemory reports what the server needs per queued job with a 200-byte payload: added, and applied with a record of
// 300 bytes. With so many jobs the event log, which is bounded, hardly counts.
func BenchmarkMemory(b *testing.B) {
	const n = 200_000
	record := append([]byte("1 "), make([]byte, 300)...)
	for _, row := range []struct {
		name   string
		attach bool
	}{{"added", false}, {"applied", true}} {
		b.Run(row.name, func(b *testing.B) {
			for range b.N {
				c, rdb := benchClient(b)
				used := func() int64 {
					text, err := rdb.Info(b.Context(), "memory").Result()
					if err != nil {
						b.Fatal(err)
					}
					_, rest, _ := strings.Cut(text, "used_memory:")
					digits, _, _ := strings.Cut(rest, "\r")
					bytes, _ := strconv.ParseInt(digits, 10, 64)
					return bytes
				}
				before := used()
				for jobs := range slices.Chunk(benchJobs(0, n, nil), conveyor.MaxBatch) {
					var changes []conveyor.Change
					for _, j := range jobs {
						change := conveyor.Change{Kind: conveyor.ChangeAdd, Job: j}
						if row.attach {
							change.Attach = &conveyor.Attach{Key: "state:bench", Field: j.Uuid, Value: record}
						}
						changes = append(changes, change)
					}
					if err := c.Apply(b.Context(), conveyor.Batch{Changes: changes}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(used()-before)/n, "server-B/job")
			}
		})
	}
}
