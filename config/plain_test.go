package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// corpus adds every file of HCL that there is to a fuzz target.
func corpus(f *testing.F) {
	for _, pattern := range []string{"testdata/*/*.hcl", "testdata/*/*/*.hcl", "../examples/*/*.hcl"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte(chains(3)))
	f.Add([]byte(layers(3)))
}

// FuzzPlain compares the parser of the plain part of the language with hclsyntax: what it reads at all it reads alike,
// ranges included.
func FuzzPlain(f *testing.F) {
	corpus(f)
	for _, body := range plainBodies {
		f.Add([]byte("job \"x\" {\n" + body + "\n}\n"))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if !checkText("x.hcl", src, &report{}) {
			return
		}
		comparePlain(t, src)
	})
}

// plainBodies are written in the plain part of the language, near its borders.
var plainBodies = []string{
	"  type = \"noop\"",
	"  type = \"\"",
	"  type = \"a\\n\\\\\\\"b\"\n  queue = \"\\u00e9\"",
	"  type = \"a${var.b}\"\n  queue = \"${var.c}-${each.key}\"\n  payload = { a = 1, b = [true, false, null,], \"c\" = 1.50\n d : x.y[0][\"k\"] }",
	"  triggers = {\n    # comment\n    a = 1 # one\n    b = \"2\" // two\n  }",
	"  count = length(local.list[each.key].x)\n  sleep { duration = \"1s\" }",
	"  predecessor {\n    jobs = [\n      job.a,\n      job.b[each.key], # last\n      job.c[0],\n    ]\n  }\n  predecessor { job = values(job.d)[0] }",
	"\texec {\r\n\t\tcommand = concat([\"a\"], f(1, 2,\n 3)) \r\n\t}",
	"  exec {}",
	"  retry {\n  }",
	"  payload = {}\n  queue = f()\n  type = f(a...)",
	"  payload = { for = 1 }",
	"  payload = [for x in y : x]",
	"  timeout = \"a\" + 1",
	"  timeout = var.a ? 1 : 2",
	"  timeout = -1",
	"  timeout = (1)",
	"  timeout = a.b.0.c",
	"  timeout = a.*.b",
	"  timeout = a[*].b",
	"  timeout = a . b",
	"  timeout = \"$\"",
	"  timeout = \"%{ if true }x%{ endif }\"",
	"  timeout = \"${~ a ~}\"",
	"  timeout = \"é\"",
	"  timeout = \"${[1,\n2]}\"",
	"  timeout = <<EOT\nx\nEOT",
	"  depends_on = []",
	"  timeout = 1\n  timeout = 2",
	"  timeout = \"${true}\"\n  queue = \"${\"x\"}\"\n  type = \"${1}a\"",
}

func comparePlain(t *testing.T, src []byte) {
	t.Helper()
	s := &source{name: "x.hcl", bytes: src}
	items, _ := splitItems(src)
	for i := range items {
		it := &items[i]
		if it.end-it.start > 1<<16 {
			continue // the fuzzer measures time too
		}
		got, ok := s.parsePlain(it, schema())
		if !ok {
			continue
		}
		text := src[it.start:it.end]
		file, diags := hclsyntax.ParseConfig(text, s.name, hcl.Pos{Line: it.line, Column: 1, Byte: it.start})
		if diags.HasErrors() {
			t.Fatalf("read as plain:\n%s\nbut hclsyntax says: %v", text, diags)
		}
		var r report
		want := openBody(file.Body, schema(), hcl.Range{}, &r)
		if r.failed() || len(want.blocks) != 1 || len(want.attrs) != 0 {
			t.Fatalf("read as plain:\n%s\nbut it opens as %d blocks, %v", text, len(want.blocks), r.diags)
		}
		sameBlock(t, text, &got, &want.blocks[0])
	}
}

func sameBlock(t *testing.T, text []byte, got, want *block) {
	t.Helper()
	var r report
	g, w := got.inner, want.open(&r)
	if r.failed() {
		t.Fatalf("read as plain:\n%s\nbut it opens with: %v", text, r.diags)
	}
	if got.kind != want.kind || got.label != want.label || got.labelRange != want.labelRange || got.header != want.header {
		t.Fatalf("in\n%s\nheader %s %q %v %v, want %s %q %v %v", text, got.kind.name, got.label, got.labelRange, got.header, want.kind.name, want.label, want.labelRange, want.header)
	}
	if len(g.attrs) != len(w.attrs) || len(g.blocks) != len(w.blocks) {
		t.Fatalf("in\n%s\n%d arguments and %d blocks, want %d and %d", text, len(g.attrs), len(g.blocks), len(w.attrs), len(w.blocks))
	}
	order := func(a, b attribute) int { return a.nameRange.Start.Byte - b.nameRange.Start.Byte }
	slices.SortFunc(g.attrs, order)
	slices.SortFunc(w.attrs, order)
	for i := range g.attrs {
		if !reflect.DeepEqual(g.attrs[i], w.attrs[i]) {
			t.Fatalf("in\n%s\nargument %#v\nwant %#v", text, g.attrs[i].expr, w.attrs[i].expr)
		}
	}
	for i := range g.blocks {
		sameBlock(t, text, &g.blocks[i], &w.blocks[i])
	}
}

// TestPlainIsUsed guards the speed: what the examples and benchmarks are made of has to be plain.
func TestPlainIsUsed(t *testing.T) {
	t.Parallel()
	for _, src := range []string{chains(20), layers(200), repeated(3), forEach} {
		s := &source{name: "x.hcl", bytes: []byte(src)}
		items, flaws := splitItems(s.bytes)
		if len(flaws) > 0 {
			t.Fatalf("flaws: %v", flaws)
		}
		for i := range items {
			if _, ok := s.parsePlain(&items[i], schema()); !ok {
				t.Errorf("not read as plain:\n%s", src[items[i].start:items[i].end])
			}
		}
	}
}
