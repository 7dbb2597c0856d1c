package embedded

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/internal/redistest"
)

// job writes what one queued job of the engine takes: its bytes, a status entry and a place in a queue.
func job(r *record, i int) {
	uuid := fmt.Sprintf("6ba7b810-9dad-11d1-80b4-%012d", i)
	r.add(0, "SET", "jobs:"+uuid, strings.Repeat("p", 200))
	r.add(0, "HSET", "status", uuid, "queued|1|etl|0000000001")
	r.add(0, "RPUSH", "queue:etl", "\x0a\x24"+uuid)
}

func BenchmarkAppend(b *testing.B) {
	j, err := createJournal(filepath.Join(b.TempDir(), "journal"), func(f *os.File) journalFile { return f }, func(io.Writer) error { return nil })
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = j.file.Close() }()
	r := newRecord(kindEffects)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.reset(kindEffects)
		job(r, i)
		if err := j.append(r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReplay reads a journal of 10,000 jobs, as a takeover does.
func BenchmarkReplay(b *testing.B) {
	var journal bytes.Buffer
	journal.WriteString(journalHeader)
	r := newRecord(kindEffects)
	for i := range 10_000 {
		r.reset(kindEffects)
		job(r, i)
		journal.Write(r.frame())
	}
	b.ReportAllocs()
	for b.Loop() {
		ds, err := newDataset(time.Now)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := replay("journal", bytes.NewReader(journal.Bytes()), int64(journal.Len()), ds.apply); err != nil {
			b.Fatal(err)
		}
		ds.close()
	}
}

// BenchmarkSnapshot writes 10,000 jobs, as a compaction does.
func BenchmarkSnapshot(b *testing.B) {
	ds, err := newDataset(time.Now)
	if err != nil {
		b.Fatal(err)
	}
	defer ds.close()
	r := newRecord(kindEffects)
	for i := range 10_000 {
		job(r, i)
	}
	if _, err := decodePayload(r.frame()[headSize:], ds.apply); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var out bytes.Buffer
		if err := ds.writeSnapshot(&out); err != nil {
			b.Fatal(err)
		}
	}
}

// cycle is a script of the size of the engine's: it takes a job out of a queue and puts it back in.
var cycle = redis.NewScript(`
	local uuid = redis.call('LPOP', KEYS[1]) or ARGV[1]
	local entry = redis.call('HGET', KEYS[2], uuid) or ''
	local now = redis.call('TIME')
	redis.call('HSET', KEYS[2], uuid, 'running|' .. now[1])
	redis.call('ZADD', KEYS[3], now[1], uuid)
	redis.call('ZREM', KEYS[3], uuid)
	redis.call('RPUSH', KEYS[1], uuid)
	return {uuid, #entry}`)

// BenchmarkScript runs the same script on this store, on plain miniredis and on Redis.
func BenchmarkScript(b *testing.B) {
	for name, rdb := range map[string]redis.UniversalClient{
		"embedded": open(b, storeDir(b)).Client(), "miniredis": redistest.Miniredis(b), "redis": redistest.Start(b).Client(b),
	} {
		b.Run(name, func(b *testing.B) {
			ctx := context.Background()
			keys := []string{"queue", "status", "scheduled"}
			must(b, cycle.Load(ctx, rdb))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				must(b, cycle.EvalSha(ctx, rdb, keys, i))
			}
		})
	}
}

// BenchmarkCommand is one plain write, there and back.
func BenchmarkCommand(b *testing.B) {
	for name, rdb := range map[string]redis.UniversalClient{
		"embedded": open(b, storeDir(b)).Client(), "redis": redistest.Start(b).Client(b),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must(b, rdb.Set(context.Background(), "k", "v", 0))
			}
		})
	}
}

// BenchmarkDue looks for due jobs among 10,000 scheduled ones, adds one and takes one, as each of the engine's
// exchanges does.
func BenchmarkDue(b *testing.B) {
	due := redis.NewScript(`
		redis.call('ZADD', KEYS[1], ARGV[1], ARGV[1])
		local found = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, 1)
		return redis.call('ZREM', KEYS[1], found[1])`)
	for name, rdb := range map[string]redis.UniversalClient{
		"embedded": open(b, storeDir(b)).Client(), "miniredis": redistest.Miniredis(b), "redis": redistest.Start(b).Client(b),
	} {
		b.Run(name, func(b *testing.B) {
			ctx := context.Background()
			for i := range 10_000 {
				must(b, rdb.ZAdd(ctx, "scheduled", redis.Z{Score: float64(i), Member: i}))
			}
			must(b, due.Load(ctx, rdb))
			b.ReportAllocs()
			for i := 10_000; b.Loop(); i++ {
				must(b, due.EvalSha(ctx, rdb, []string{"scheduled"}, i))
			}
		})
	}
}
