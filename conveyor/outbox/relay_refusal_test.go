package outbox_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestRelayRefusals has the queue refuse jobs for good, one among others: it alone becomes a dead letter.
func TestRelayRefusals(t *testing.T) {
	t.Parallel()
	eachRig(t, func(r *rig) {
		r.ok(r.client.Add(r.Context(), &wire.Job{Uuid: "holder", Type: "t", Queue: "other", Unique: "k"}))
		bad := r.client.Prefix() + "queue:bad"
		r.ok(r.rdb.Set(r.Context(), bad, "no list", 0).Err())
		r.write("a")
		r.writeJob(&wire.Job{Uuid: "second", Type: "t", Queue: "q", Unique: "k"})
		r.writeJob(&wire.Job{Uuid: "lost", Type: "t", Queue: "bad"})
		r.writeRow("alias", []byte("\x0a\x05other\x12\x01t\x1a\x01q"))
		r.writeRow("nameless", []byte("\x12\x01t\x1a\x01q")) // the row's uuid is the job's
		r.write("b")
		relay := r.relay(r.client, outbox.RelayOptions{})
		r.once(relay, outbox.Relayed{Pushed: 3, Dead: 3})
		r.once(relay, outbox.Relayed{})
		r.wants([]string{"a", "nameless", "b"}, "second: add: job second: unique key t:k is held by job holder: wait for its end, or cancel it",
			"lost: add: pushing job: "+bad+" is a string, not a list", `alias: the row holds no job: its uuid is "alias", and in the job "other"`)

		r.ok(r.rdb.Del(r.Context(), bad).Err())
		n, err := r.table.RetryAll(r.Context(), r.db)
		if n != 3 || err != nil {
			r.Errorf("%d retried, %v", n, err)
		}
		r.once(r.relay(r.client, outbox.RelayOptions{}), outbox.Relayed{Pushed: 1, Dead: 2})
	})
}

// TestRelayBlamesNoJob: what is wrong with the way to the queue, or with the namespace, is waited out.
func TestRelayBlamesNoJob(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name           string
		breaks, mended []any
	}{
		{"rights", []any{"ACL", "SETUSER", "default", "-@scripting"}, []any{"ACL", "SETUSER", "default", "+@all"}},
		{"password", []any{"CONFIG", "SET", "requirepass", "secret"}, nil},
		{"namespace", []any{"SET", "{waybill}:status", "no hash"}, []any{"DEL", "{waybill}:status"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			eachRig(t, func(r *rig) {
				server := redistest.Start(r)
				rdb := server.Client(r)
				r.rdb, r.client = rdb, r.clientOn(rdb, "waybill")
				r.write("a", "b", "c", "d", "e")
				r.ok(rdb.Do(r.Context(), tt.breaks...).Err())
				through := rdb
				if tt.name == "password" {
					through = server.Client(r) // a connection of its own, made after the change
				}
				relay := r.relay(r.clientOn(through, "waybill"), outbox.RelayOptions{})
				for range 2 {
					if done, err := relay.Once(r.Context()); !errors.Is(err, outbox.ErrQueue) || done != (outbox.Relayed{}) {
						r.Errorf("%+v, %v", done, err)
					}
				}
				if tt.mended == nil {
					r.ok(rdb.Do(r.Context(), "CONFIG", "SET", "requirepass", "").Err())
				} else {
					r.ok(rdb.Do(r.Context(), tt.mended...).Err())
				}
				r.once(relay, outbox.Relayed{Pushed: 5})
				r.wants([]string{"a", "b", "c", "d", "e"})
			})
		})
	}
}

// TestRelayWakes has a relay take rows that are far too young for it, and long before its interval.
func TestRelayWakes(t *testing.T) {
	t.Parallel()
	eachRig(t, func(r *rig) {
		wake := make(chan func(), 1)
		relay := r.relay(r.client, outbox.RelayOptions{Leeway: time.Hour, Interval: time.Hour, Wake: func(ctx context.Context, woken func()) error {
			wake <- woken
			<-ctx.Done()
			return nil
		}})
		stop := r.run(relay)
		woken := <-wake
		<-r.seen.list // the round that every relay begins with
		r.write("a", "b")
		for range 100 {
			woken() // never blocks
		}
		for (<-r.seen.list).Pushed == 0 {
		}
		if err := relay.Run(r.Context()); !errors.Is(err, outbox.ErrRunning) {
			r.Error(err)
		}
		stop()
		r.wants([]string{"a", "b"})
	})
}

// TestRelayStops ends a relay while the queue has its batch: the batch is finished, and nothing else is begun.
func TestRelayStops(t *testing.T) {
	t.Parallel()
	eachRig(t, func(r *rig) {
		p := redistest.Shared(r).Proxy(r)
		ctx, cancel := context.WithCancel(r.Context())
		p.Plan(func(int) redistest.Fault {
			cancel()
			return redistest.Pass
		})
		r.write("a", "b", "c", "d")
		relay := r.relay(r.through(p), outbox.RelayOptions{Batch: 2})
		r.ok(relay.Run(ctx))
		r.wants([]string{"a", "b"}, "c", "d")
		if _, err := relay.Once(ctx); !errors.Is(err, context.Canceled) {
			r.Error(err)
		}
		r.once(r.relay(r.client, outbox.RelayOptions{}), outbox.Relayed{Pushed: 2}) // nothing is left locked or claimed
	})
}

// TestRelayBoundsMemory takes large jobs a few at a time, whatever the batch.
func TestRelayBoundsMemory(t *testing.T) {
	t.Parallel()
	eachRig(t, func(r *rig) {
		const jobs = 20 // a mebibyte each, nearly
		for range jobs {
			s := outbox.NewScheduler(r.table)
			r.ok(s.AddJob(&wire.Job{Type: "t", Queue: "q"}, bytes.Repeat([]byte("x"), 1_000_000)))
			r.ok(s.CreatePendingJobs(r.Context(), r.db))
		}
		r.once(r.relay(r.client, outbox.RelayOptions{}), outbox.Relayed{Pushed: jobs})
		if first := <-r.seen.list; first.Pushed < 10 || first.Pushed >= jobs {
			r.Errorf("the first round pushed %d of %d", first.Pushed, jobs)
		}
		if n := len(r.queued()); n != jobs {
			r.Errorf("%d on the queue", n)
		}
	})
}

func TestNewRelayRefuses(t *testing.T) {
	t.Parallel()
	_, err := outbox.NewRelay(nil, outbox.Table{}, nil, outbox.RelayOptions{Interval: 1, Batch: -1, PushTimeout: 1, MinBackoff: time.Minute, MaxBackoff: time.Second})
	for _, want := range []string{"Interval", "Batch", "PushTimeout", "MinBackoff", "database is nil", "client is nil", "ialect"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}
