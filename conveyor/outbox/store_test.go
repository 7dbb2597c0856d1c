package outbox_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// store is a namespace of the shared Redis.
type store struct {
	*conveyor.Client
	tb     testing.TB
	rdb    *redis.Client
	server *redistest.Server
}

// newStore opens a namespace of its own.
func newStore(tb testing.TB) *store {
	tb.Helper()
	return storeOn(tb, redistest.Shared(tb))
}

func storeOn(tb testing.TB, server *redistest.Server) *store {
	tb.Helper()
	rdb := clientOf(tb, server)
	c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: redistest.Namespace()})
	if err != nil {
		tb.Fatal(err)
	}
	return &store{Client: c, tb: tb, rdb: rdb, server: server}
}

// clientOf is a client that repeats nothing by itself, as the command's is.
func clientOf(tb testing.TB, server *redistest.Server) *redis.Client {
	tb.Helper()
	o := server.Options()
	o.MaxRetries, o.ContextTimeoutEnabled = -1, true
	rdb := redis.NewClient(o)
	tb.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// sound wants no violation of an invariant.
func (s *store) sound() {
	s.tb.Helper()
	violations, err := s.Verify(context.WithoutCancel(s.tb.Context()))
	if err != nil {
		s.tb.Fatal(err)
	}
	for _, v := range violations {
		s.tb.Errorf("violation: %+v", v)
	}
}

// through is a client of the namespace whose requests go through a proxy.
func (s *store) through(p *redistest.Proxy) *conveyor.Client {
	s.tb.Helper()
	rdb := redis.NewClient(p.Options())
	s.tb.Cleanup(func() { _ = rdb.Close() })
	c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: s.Namespace()})
	if err != nil {
		s.tb.Fatal(err)
	}
	return c
}

// wantQueued wants exactly these jobs on queue q, each once, in any order.
func (s *store) wantQueued(uuids []string) {
	s.tb.Helper()
	tickets, err := s.rdb.LRange(s.tb.Context(), s.Prefix()+"queue:q", 0, -1).Result()
	if err != nil {
		s.tb.Fatal(err)
	}
	times := make(map[string]int, len(uuids))
	for _, uuid := range uuids {
		times[uuid]--
	}
	for _, ticket := range tickets {
		var job wire.Job
		if err := proto.Unmarshal([]byte(ticket), &job); err != nil {
			s.tb.Fatal(err)
		}
		times[job.Uuid]++
	}
	var wrong []string
	for uuid, n := range times {
		if n != 0 && len(wrong) < 10 {
			wrong = append(wrong, fmt.Sprintf("%s: %+d", uuid, n))
		}
	}
	if len(wrong) > 0 || len(tickets) != len(uuids) {
		s.tb.Errorf("%d jobs on the queue for %d rows; too many or too few: %v", len(tickets), len(uuids), wrong)
	}
	s.sound()
}
