package applier

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/internal/redistest"
	"github.com/waybill-dev/waybill/planner"
)

// shapes are the workflows that DESIGN.md section 8 measures: jobs on their own, chains of ten, and layers of a hundred in
// which each job waits for three of the layer above. The payload of a job has 200 bytes.
var shapes = map[string]func(n int) *config.Workflow{
	"roots": func(n int) *config.Workflow { return shaped(n, func(int) []int { return nil }) },
	"chains": func(n int) *config.Workflow {
		return shaped(n, func(i int) []int {
			if i%10 == 0 {
				return nil
			}
			return []int{i - 1}
		})
	},
	"layers": func(n int) *config.Workflow {
		return shaped(n, func(i int) []int {
			if i < 100 {
				return nil
			}
			up := (i/100 - 1) * 100
			return []int{up + i%100, up + (i+1)%100, up + (i+2)%100}
		})
	},
}

func shaped(n int, above func(i int) []int) *config.Workflow {
	w := &config.Workflow{Name: "w", Jobs: make([]*config.Job, n)}
	at := func(i int) config.Addr {
		return config.Addr{Name: "step", Key: config.InstanceKey{Kind: config.KeyInt, Int: i}}
	}
	for i := range w.Jobs {
		text := fmt.Appendf(nil, `{"step":%d,"text":"%0180d"}`, i, i)
		j := &config.Job{Addr: at(i), Type: "noop", Queue: "q", Priority: 1, Retry: defaultRetry, Payload: text, Shown: text}
		if ups := above(i); ups != nil {
			p := config.Predecessor{}
			for _, up := range ups {
				p.Jobs = append(p.Jobs, at(up))
			}
			j.Predecessors = []config.Predecessor{p}
		}
		w.Jobs[i] = j
	}
	return w
}

// BenchmarkApply is a first apply -detach on redis-server: reading state, planning, submitting. B/job is what Redis holds per
// job afterwards, record and definition included.
func BenchmarkApply(b *testing.B) {
	for _, shape := range []string{"roots", "chains", "layers"} {
		for _, n := range []int{1000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", shape, n), func(b *testing.B) {
				w := shapes[shape](n)
				rdb := redistest.Start(b).Client(b)
				b.ReportAllocs()
				empty, full := usedMemory(b, rdb), int64(0)
				var reading, planning, applying time.Duration
				for b.Loop() {
					c := newClient(b, rdb)
					at := time.Now()
					lap := func(to *time.Duration) { *to += time.Since(at); at = time.Now() }
					s, err := ReadState(b.Context(), c, "w")
					if err != nil {
						b.Fatal(err)
					}
					lap(&reading)
					p, diags := planner.Make(w, s, planner.Options{})
					if diags.HasErrors() {
						b.Fatal(diags)
					}
					lap(&planning)
					if _, err := Apply(b.Context(), c, Run{Plan: p, Workflow: w, Detach: true}); err != nil {
						b.Fatal(err)
					}
					lap(&applying)
					b.StopTimer()
					full = usedMemory(b, rdb)
					if err := rdb.FlushAll(b.Context()).Err(); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
				b.ReportMetric(float64(full-empty)/float64(n), "B/job")
				b.ReportMetric(float64(planning.Milliseconds())/float64(b.N), "ms-plan")
				b.ReportMetric(float64(applying.Milliseconds())/float64(b.N), "ms-apply")
			})
		}
	}
}

func usedMemory(b *testing.B, rdb *redis.Client) int64 {
	b.Helper()
	info, err := rdb.InfoMap(b.Context(), "memory").Result()
	if err != nil {
		b.Fatal(err)
	}
	n, err := strconv.ParseInt(info["Memory"]["used_memory"], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkReadState reads the state of finished jobs.
func BenchmarkReadState(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := shapes["layers"](n)
			c := newClient(b, redistest.Start(b).Client(b))
			p, diags := planner.Make(w, &planner.State{Workflow: "w"}, planner.Options{})
			if diags.HasErrors() {
				b.Fatal(diags)
			}
			if _, err := Apply(b.Context(), c, Run{Plan: p, Workflow: w, Detach: true}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadState(b.Context(), c, "w"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
