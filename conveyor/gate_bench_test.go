package conveyor_test

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// BenchmarkGates ends a trigger of one gate while so many others wait for other labels, and opens that gate: it must not cost more
// with more of them. server-us is processor time of the server, which other load on the machine distorts least.
func BenchmarkGates(b *testing.B) {
	for _, gates := range []int{100, 100_000} {
		b.Run(fmt.Sprint(gates), func(b *testing.B) {
			rdb := redistest.Start(b).Client(b)
			c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: "bench"})
			if err != nil {
				b.Fatal(err)
			}
			check := func(err error) {
				b.Helper()
				if err != nil {
					b.Fatal(err)
				}
			}
			var jobs []*wire.Job
			for i := range gates {
				jobs = append(jobs, job(fmt.Sprint("g", i), gated(fmt.Sprint("label-", i), "never"), queue("other")))
			}
			check(c.AddMany(b.Context(), append(jobs, job("hot", gated("a"), queue("emitted"), func(j *wire.Job) {
				j.RetryPolicy = &wire.RetryPolicy{MaxAttempts: proto.Int32(1)}
			}))))
			number := int64(0)
			b.ReportAllocs()
			before := serverCPU(b, rdb)
			for b.Loop() {
				number++
				check(c.Add(b.Context(), job(fmt.Sprint("t", number), triggers("a"))))
				for range 2 { // the trigger, then what it opens
					reply, err := c.Exchange(b.Context(), conveyor.ExchangeRequest{Worker: "w", Number: 3 * number, Queues: []string{"q", "emitted"}, Want: 1})
					check(err)
					if len(reply.Reserved) != 1 {
						b.Fatalf("reserved %v", names(reply.Reserved))
					}
					number++
					_, err = c.Exchange(b.Context(), conveyor.ExchangeRequest{Worker: "w", Number: 3 * number, Done: []conveyor.Ack{ack(reply.Reserved[0], conveyor.VerdictDone)}})
					check(err)
					number++
				}
			}
			b.ReportMetric((serverCPU(b, rdb)-before)/float64(b.N), "server-us/op")
		})
	}
}
