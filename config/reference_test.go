package config

import (
	"os"
	"strings"
	"testing"
)

// TestReference checks that REFERENCE.md tells of everything that may stand in a job, a queue or a moved block.
func TestReference(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("REFERENCE.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	var check func(k *kind, path string)
	check = func(k *kind, path string) {
		for _, a := range k.args {
			name := "`" + a.name + "`"
			if inner := "{ " + a.name + " }"; !a.later && !strings.Contains(text, name) && !strings.Contains(text, inner) {
				t.Errorf("%s%s is not in REFERENCE.md", path, a.name)
			}
			if a.later && (strings.Contains(text, name) || strings.Contains(text, "{ "+a.name+" }")) {
				t.Errorf("%s%s is in REFERENCE.md and not supported yet", path, a.name)
			}
		}
		for _, b := range k.blocks {
			if b.later {
				continue
			}
			if !strings.Contains(text, "`"+b.name+" {") {
				t.Errorf("the block %s%s is not in REFERENCE.md", path, b.name)
			}
			check(b, path+b.name+".")
		}
	}
	for _, name := range []string{"job", "queue", "moved"} {
		if !strings.Contains(text, "\n## "+name+"\n") {
			t.Errorf("the block %s is not in REFERENCE.md", name)
		}
		check(schema().block(name), name+".")
	}
}
