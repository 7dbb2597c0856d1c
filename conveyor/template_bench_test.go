package conveyor_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// BenchmarkTemplates measures each operation of schedules while there are so many of them: none may cost more with more templates. The
// rows of one operation are to be compared with each other; server-us is processor time of the server, which other load on the
// machine distorts least.
func BenchmarkTemplates(b *testing.B) {
	for _, templates := range []int{100, 100_000} {
		b.Run(fmt.Sprint(templates), func(b *testing.B) {
			m := newManyTemplates(b, templates)
			for _, op := range manyTemplatesOps {
				b.Run(op.name, func(b *testing.B) {
					b.ReportAllocs()
					before := serverCPU(b, m.rdb)
					for b.Loop() {
						m.do(op.do(m, b.Context()))
					}
					b.ReportMetric((serverCPU(b, m.rdb)-before)/float64(b.N), "server-us/op")
				})
			}
		})
	}
}

// manyTemplates is a namespace with many schedules that are a century away, and one that fires each minute.
type manyTemplates struct {
	*conveyor.Client
	b      *testing.B
	rdb    *redis.Client
	now    time.Time
	number int64 // of exchanges
}

var manyTemplatesOps = []struct {
	name string
	do   func(m *manyTemplates, ctx context.Context) error
}{
	{"tick, nothing due", func(m *manyTemplates, ctx context.Context) error { _, err := m.Tick(ctx); return err }},
	{"tick, emit, run", func(m *manyTemplates, ctx context.Context) error {
		m.pass(time.Minute)
		if _, err := m.Tick(ctx); err != nil {
			return err
		}
		return m.exchange(ctx)
	}},
	{"run by hand", func(m *manyTemplates, ctx context.Context) error {
		if _, err := m.RunTemplate(ctx, "hot"); err != nil {
			return err
		}
		return m.exchange(ctx)
	}},
	{"pause, resume, tick", func(m *manyTemplates, ctx context.Context) error {
		if err := m.PauseTemplate(ctx, "hot"); err != nil {
			return err
		}
		if err := m.ResumeTemplate(ctx, "hot"); err != nil {
			return err
		}
		_, err := m.Tick(ctx)
		return err
	}},
	{"read", func(m *manyTemplates, ctx context.Context) error {
		_, err := m.Templates(ctx, []string{"hot"})
		return err
	}},
	{"add, cancel, remove", func(m *manyTemplates, ctx context.Context) error {
		if err := m.Add(ctx, job("new", every("1200 months"))); err != nil {
			return err
		}
		if err := m.Cancel(ctx, "new"); err != nil {
			return err
		}
		return m.Remove(ctx, "new")
	}},
}

func newManyTemplates(b *testing.B, n int) *manyTemplates {
	b.Helper()
	c, rdb := benchClient(b)
	m := &manyTemplates{Client: c, b: b, rdb: rdb}
	m.now = time.UnixMilli(start)
	m.pass(0)
	jobs := []*wire.Job{job("hot", every("minute"))}
	for i := range n - 1 {
		jobs = append(jobs, job(fmt.Sprint("cold-", i), every("1200 months")))
	}
	m.do(c.AddMany(b.Context(), jobs))
	for more := true; more; {
		reply, err := c.Tick(b.Context())
		m.do(err)
		more = reply.More
	}
	return m
}

func (m *manyTemplates) do(err error) {
	m.b.Helper()
	if err != nil {
		m.b.Fatal(err)
	}
}

// pass moves the store's clock.
func (m *manyTemplates) pass(d time.Duration) {
	m.now = m.now.Add(d)
	m.do(m.rdb.Set(context.Background(), m.Prefix()+"clock", fmt.Sprint("=", m.now.UnixMilli()), 0).Err())
}

// exchange reserves one job, which has to be there, and ends it.
func (m *manyTemplates) exchange(ctx context.Context) error {
	m.number++
	request := conveyor.ExchangeRequest{Worker: "w", Number: m.number, Queues: []string{"q"}, Want: 1}
	reply, err := m.Exchange(ctx, request)
	if err != nil || len(reply.Reserved) != 1 {
		return fmt.Errorf("%d jobs are ready, want 1: %w", len(reply.Reserved), err)
	}
	m.number++
	request.Number, request.Want, request.Done = m.number, 0, []conveyor.Ack{ack(reply.Reserved[0], conveyor.VerdictDone)}
	reply, err = m.Exchange(ctx, request)
	if err == nil && len(reply.Outdated) > 0 {
		err = fmt.Errorf("%v is not the worker's any more", reply.Outdated)
	}
	return err
}
