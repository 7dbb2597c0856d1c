package config

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// hostile are fragments that lexers are easily wrong about.
var hostile = []string{
	"a = \"${\"${\"${b}\"}\"}\"\n",
	"a = <<EOT\n${b} EOT\n  EOT\n[\n",
	"a = <<-EOT\n$${ %%{ ${ { \"}\" = 1 } }\nEOT\nb = 1\n",
	"a = <<EOT\n%{ if x }%{ for y in z }%{ endfor }%{ endif }\nEOT\n",
	"a = \"$\"\nb = \"%\"\nc = \"$$\"\nd = \"$$${e}\"\nf = \"\\\"\\\\\"\n",
	"a = \"x\ny\"\njob \"b\" {}\n",
	"a /* } */ {\n}\n/* job \"x\" { */ b {}\n",
	"a = /* b\n*/ 1\n/*",
	"a = 1 # } { \"\n// \"\nb { c = 1 } // }\n",
	"a = { for b, c in d : b\n=> -1\n+ 2 if true }\n",
	"a = b ? c : d ? e : f\n",
	"a = [\n[\n(\n{\n}\n)\n]\n]\n",
	"a {\n} }\n{ b\n",
	"a = ( ] )\n",
	"a = 1e+5 - 1e-5 * 1.5.2\n",
	"\xef\xbb\xbfa = 1\n",
	"a = x[y][z][0].*.b[*].c\n",
	"a = \"${b ~}x${~ c}\"\n",
	"a = \"~}\"\nb = ~}\n",
	"job \"a\" {\n count = 1\n}\njob \"b\" { for_each = x }\njob \"c\" {\n d {\n count = 1\n }\n}\n",
	"a = <<EOT",
	"a = << EOT\nEOT\n",
	"a = <<E-T\r\nx\r\nE-T\r\n",
	"a\r\n= 1\r",
	"é = 1\na = \"é\"\n— \n",
	"job \"a\" {\n  exec {\n}\n\njob \"b\" {\n}\n",
	"a = \"%{ if x }\"\nb = \"%{ endif }%{endfor}\"\n",
	"a = {\n  for = 1\n}\n",
	"a = \"${{\"}\n\"}\"\n",
	"a = f(b...)\n",
	"job \"a\" {\n count {}\n}\njob \"b\" {\n for_each /* x */ /**/= y\n}\njob \"c\" {\n count /* = */ \"d\" {}\n}\n",
}

// FuzzScan checks what everything else stands on: the scan cuts a file where hclsyntax sees the borders of its blocks,
// and is never less careful about nesting.
func FuzzScan(f *testing.F) {
	corpus(f)
	for _, src := range hostile {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 1<<14 || !checkText("x.hcl", src, &report{}) {
			return
		}
		checkItems(t, src)
		checkNesting(t, src)
	})
}

func TestScanOfHostileFragments(t *testing.T) {
	t.Parallel()
	for _, src := range hostile {
		checkItems(t, []byte(src))
		checkNesting(t, []byte(src))
		both := []byte("job \"first\" {\n}\n" + src + "job \"last\" {\n}\n")
		checkItems(t, both)
		checkNesting(t, both)
	}
}

// checkItems compares the blocks of the items with those of the whole file, if that is valid.
func checkItems(t *testing.T, src []byte) {
	t.Helper()
	items, flaws := splitItems(src)
	end := 0
	for _, it := range items {
		if it.start < end || it.head < it.start || it.end < it.head || it.line != 1+bytes.Count(src[:it.start], []byte("\n")) {
			t.Fatalf("item %+v begins before %d or in another line in\n%s", it, end, src)
		}
		end = it.end
	}
	whole, diags := hclsyntax.ParseConfig(src, "x.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		return
	}
	if len(flaws) > 0 {
		if s := flaws[0].summary; s == sumNameTooLong || s == sumNumberTooLarge || s == sumTooDeep || strings.Contains(flaws[0].detail, "heredoc") {
			return // bounds of ours
		}
		t.Fatalf("%s: %q is valid for hclsyntax", flaws[0].summary, src)
	}
	var got, want []string
	for i := range items {
		it := &items[i]
		file, diags := hclsyntax.ParseConfig(src[it.start:it.end], "x.hcl", hcl.Pos{Line: it.line, Column: 1, Byte: it.start})
		if diags.HasErrors() {
			t.Fatalf("the whole is valid, and of this part hclsyntax says %v:\n%s", diags, src[it.start:it.end])
		}
		body := file.Body.(*hclsyntax.Body)
		got = append(got, bodyItems(body)...)
		if it.kind != "" && (len(body.Blocks) != 1 || body.Blocks[0].Type != it.kind || it.label != strings.Join(body.Blocks[0].Labels, " ")) {
			t.Fatalf("header %q %q of\n%s", it.kind, it.label, src[it.start:it.end])
		}
		if it.kind != "" {
			_, count := body.Blocks[0].Body.Attributes["count"]
			_, forEach := body.Blocks[0].Body.Attributes["for_each"]
			if it.instanced != (count || forEach) {
				t.Fatalf("instanced is %t of\n%s", it.instanced, src[it.start:it.end])
			}
		}
	}
	want = bodyItems(whole.Body.(*hclsyntax.Body))
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("in\n%s\n%s", src, d)
	}
}

// bodyItems lists what stands at the top of a body.
func bodyItems(body *hclsyntax.Body) []string {
	var list []string
	for _, b := range body.Blocks {
		list = append(list, b.Type+" "+strings.Join(b.Labels, " ")+" "+b.Range().String())
	}
	for name, a := range body.Attributes {
		list = append(list, name+" "+a.Range().String())
	}
	return list
}

// checkNesting compares the depth that the scan counted with that of the syntax tree.
func checkNesting(t *testing.T, src []byte) {
	t.Helper()
	s := &scanner{src: src, line: 1, limit: 1 << 30}
	if s.all() != nil {
		return // would not be parsed
	}
	file, diags := hclsyntax.ParseConfig(src, "x.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		return
	}
	var w depthWalker
	hclsyntax.Walk(file.Body.(*hclsyntax.Body), &w)
	if bound := 4*s.peak + 8; w.deepest > bound {
		t.Fatalf("the tree is %d deep, the scan counted %d:\n%s", w.deepest, s.peak, src)
	}
}

type depthWalker struct{ depth, deepest int }

func (w *depthWalker) Enter(hclsyntax.Node) hcl.Diagnostics {
	w.depth++
	w.deepest = max(w.deepest, w.depth)
	return nil
}

func (w *depthWalker) Exit(hclsyntax.Node) hcl.Diagnostics {
	w.depth--
	return nil
}
