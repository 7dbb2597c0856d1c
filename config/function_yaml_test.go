package config

import (
	"fmt"
	"strings"
	"testing"
)

// TestAliasesOfYAML: few of them are fine, also of one another; what they would make of a page of text decides.
func TestAliasesOfYAML(t *testing.T) {
	t.Parallel()
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	for _, row := range []struct {
		name, text, wrong string
	}{
		{"none", "a: 1\n", ""},
		{"signs in texts", "a: 'b & *c'\n", ""},
		{"one used twice", "base: &b {x: 1}\nf: *b\ng: {<<: *b, y: 2}\n", ""},
		{"of aliases", "a: &a [1]\nb: &b [*a, *a]\nc: [*b, *b]\n", ""},
		{"a bomb", bomb.String(), "more than 1000000 values"},
		{"of itself", "a: &a [*a]\n", "more than 1000000 values"},
		{"unknown", "a: &x 1\nb: *y\n", "unknown anchor"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			err := checkAliases(row.text)
			if (err == nil) != (row.wrong == "") || err != nil && !strings.Contains(err.Error(), row.wrong) {
				t.Errorf("got %v, want %q", err, row.wrong)
			}
			indented := "    " + strings.ReplaceAll(strings.TrimSuffix(row.text, "\n"), "\n", "\n    ")
			_, diags := loadText(t, []byte("locals {\n  a = yamldecode(<<-EOT\n"+indented+"\n  EOT\n  )\n}\n"))
			if diags.HasErrors() != (row.wrong != "") {
				t.Errorf("loaded, it has %v", diags)
			}
		})
	}
}
