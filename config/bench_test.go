package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// chains writes n jobs in chains of ten, as the budgets of plan are measured.
func chains(n int) string {
	var b strings.Builder
	b.WriteString("workflow \"bench\" {}\n\nvariable \"day\" {\n  type    = string\n  default = \"2026-11-20\"\n}\n\n")
	for i := range n {
		fmt.Fprintf(&b, "job \"step_%06d\" {\n  priority = 1\n  timeout  = \"5m\"\n\n  exec {\n    command = [\"run\", \"step-%d\", var.day]\n  }\n", i, i)
		if i%10 != 0 {
			fmt.Fprintf(&b, "\n  predecessor {\n    job = job.step_%06d\n  }\n", i-1)
		}
		b.WriteString("}\n\n")
	}
	return b.String()
}

// layers writes n jobs in layers of a hundred, each waiting for three of the layer before.
func layers(n int) string {
	var b strings.Builder
	b.WriteString("workflow \"bench\" {}\n\n")
	for i := range n {
		fmt.Fprintf(&b, "job \"step_%06d\" {\n  type    = \"noop\"\n  triggers = { step = %d }\n", i, i)
		if layer := i / 100; layer > 0 {
			below := func(k int) int { return (layer-1)*100 + (i+k)%100 }
			fmt.Fprintf(&b, "\n  predecessor {\n    jobs = [job.step_%06d, job.step_%06d, job.step_%06d]\n  }\n", below(0), below(1), below(37))
		}
		b.WriteString("}\n\n")
	}
	return b.String()
}

// repeated writes n jobs of one block, and as many children of them.
func repeated(n int) string {
	return fmt.Sprintf(`workflow "bench" {}

job "step" {
  count = %d
  exec {
    command = ["run", "step-${count.index}"]
    env     = { DAY = "2026-11-20" }
  }
  retry {
    max_attempts = 5
  }
}
`, n)
}

// forEach writes jobs of one block with for_each over the lines of a file.
const forEach = `workflow "bench" {}

job "step" {
  for_each = toset(split("\n", file("keys.txt")))
  exec {
    command = ["run", "step-${each.key}"]
    env     = { DAY = "2026-11-20" }
  }
  retry {
    max_attempts = 5
  }
}
`

// keys writes n lines.
func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "key-%06d\n", i)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func benchmarkLoad(b *testing.B, jobs int, text string) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "keys.txt"), []byte(keys(jobs)), 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		w, diags := Load(Options{Paths: []string{dir}, NeedVariables: true})
		if diags.HasErrors() || len(w.Jobs) != jobs {
			b.Fatalf("%d jobs, %v", len(w.Jobs), diags)
		}
	}
	b.StopTimer()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w, _ := Load(Options{Paths: []string{dir}})
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(jobs), "B-kept/job")
	runtime.KeepAlive(w)
}

// benchmarkModules loads one module block of n modules with ten jobs each.
func benchmarkModules(b *testing.B, n int) {
	dir := b.TempDir()
	var inner strings.Builder
	inner.WriteString("variable \"region\" {\n  type = string\n}\n\nlocals {\n  label = upper(var.region)\n}\n\noutput \"last\" {\n  value = job.step_000009\n}\n\n")
	inner.WriteString(strings.NewReplacer("workflow \"bench\" {}\n", "", "var.day", "local.label", "variable \"day\" {\n  type    = string\n  default = \"2026-11-20\"\n}\n", "").Replace(chains(10)))
	for name, text := range map[string]string{
		"main.hcl":     "module \"m\" {\n  source   = \"./inner\"\n  for_each = toset(split(\"\\n\", file(\"keys.txt\")))\n  region   = each.key\n}\n",
		"keys.txt":     keys(n),
		"inner/in.hcl": inner.String(),
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		w, diags := Load(Options{Paths: []string{dir}, NeedVariables: true})
		if diags.HasErrors() || len(w.Jobs) != 10*n {
			b.Fatalf("%d jobs, %v", len(w.Jobs), diags)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	shapes := []struct {
		name string
		text func(int) string
	}{{"chains", chains}, {"layers", layers}}
	for _, s := range shapes {
		for _, n := range []int{100, 1_000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", s.name, n), func(b *testing.B) { benchmarkLoad(b, n, s.text(n)) })
		}
	}
	b.Run("count/100000", func(b *testing.B) { benchmarkLoad(b, 100_000, repeated(100_000)) })
	b.Run("modules/100000", func(b *testing.B) { benchmarkModules(b, 10_000) })
	b.Run("for_each/100000", func(b *testing.B) { benchmarkLoad(b, 100_000, forEach) })
}
