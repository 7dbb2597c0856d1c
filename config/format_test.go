package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, src, want string }{
		{"empty", "", ""},
		{"blank lines only", "\n\n\n", ""},
		{"alignment", "job \"a\" {\ntype=\"noop\"\n  priority   =  1\n}\n", "job \"a\" {\n  type     = \"noop\"\n  priority = 1\n}\n"},
		{"blank lines", "\n\njob \"a\" {\n\n\n  type = \"noop\"\n\n\n  queue = \"q\"\n\n}\n\n\n\n# end\n\n", "job \"a\" {\n  type = \"noop\"\n\n  queue = \"q\"\n}\n\n# end\n"},
		{"no newline at the end", "locals {}", "locals {}\n"},
		{"lone interpolation", "locals {\n  a = \"${var.x}\"\n  b = [\"${var.x}\", \"${var.y}-\"]\n  c = { \"${var.k}\" = \"${ f(\"${x}\") }\" }\n}\n",
			"locals {\n  a = var.x\n  b = [var.x, \"${var.y}-\"]\n  c = { \"${var.k}\" = f(\"${x}\") }\n}\n"},
		{"trimming interpolation", "locals {\n  a = \"${~ var.x }\"\n}\n", "locals {\n  a = \"${~var.x}\"\n}\n"},
		{"heredoc", "locals {\n  a = <<EOT\n\n\n  x\n\n\nEOT\n\n\n  b = 1\n}\n", "locals {\n  a = <<EOT\n\n\n  x\n\n\nEOT\n\n  b = 1\n}\n"},
		{"comment of several lines", "/* a\n\n\n   b */\nlocals {\n}\n", "/* a\n\n\n   b */\nlocals {\n}\n"},
		{"values", "day=\"x\"\nregion   = 1\n", "day    = \"x\"\nregion = 1\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, diags := Format([]byte(row.src), "x.hcl")
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			if d := cmp.Diff(row.want, string(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestFormatRefuses(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"job \"a\" {", "a = \x00", "a = [[", "a = \"x\n"} {
		got, diags := Format([]byte(src), "x.hcl")
		if !diags.HasErrors() || string(got) != src {
			t.Errorf("%q: %q, %v", src, got, diags)
		}
		checkDiagnostics(t, diags)
	}
	if got, diags := Format([]byte("{}"), "x.hcl.json"); string(got) != "{}" || diags != nil {
		t.Errorf("JSON: %q, %v", got, diags)
	}
}

// FuzzFormat checks that the layout is the only thing that changes, and only once.
func FuzzFormat(f *testing.F) {
	corpus(f)
	for _, src := range hostile {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 1<<14 {
			return
		}
		once, diags := Format(src, "x.hcl")
		if diags.HasErrors() {
			return
		}
		if _, diags := hclsyntax.ParseConfig(src, "x.hcl", hcl.InitialPos); diags.HasErrors() {
			return // the same argument twice, which is for Load to report
		}
		if _, diags := hclsyntax.ParseConfig(once, "x.hcl", hcl.InitialPos); diags.HasErrors() {
			t.Fatalf("%q became %q: %v", src, once, diags)
		}
		twice, diags := Format(once, "x.hcl")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if d := cmp.Diff(string(once), string(twice)); d != "" {
			t.Fatalf("formatting %q again changes it:\n%s", src, d)
		}
	})
}
