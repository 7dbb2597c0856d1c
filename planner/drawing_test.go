package planner_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// TestDraw draws a graph in each format, with what a plan does and without.
func TestDraw(t *testing.T) {
	t.Parallel()
	w := workflowOf(`a["x\"y"]`, `b ^a["x\"y"]`, "c ?b", `d !b *c`, "e d @outside", "f b c")
	for _, name := range []string{"k1", "k2"} {
		j := jobOf(name + " b")
		j.Addr = config.Addr{Module: `module.m["eu"]`, Name: name}
		w.Jobs = append(w.Jobs, j)
	}
	s := stateOf(t, with(without(w, "f"), "gone"))
	p := mustMake(t, edited(w, "c", newWork), s, planner.Options{})
	g, diags := planner.NewGraph(w)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, f := range planner.Formats() {
		for name, plan := range map[string]*planner.Plan{"graph": nil, "planned": p} {
			var b strings.Builder
			if err := g.Draw(&b, f, plan); err != nil {
				t.Fatal(err)
			}
			compareGolden(t, "testdata/drawn/"+name+"."+string(f), []byte(b.String()))
		}
	}
	if err := g.Draw(&strings.Builder{}, "png", nil); err == nil {
		t.Error("it draws png")
	}
}
