package planner_test

import (
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// TestNear names what was meant.
func TestNear(t *testing.T) {
	t.Parallel()
	addr := func(s string) config.Addr {
		a, err := config.ParseTarget(s)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	var all []config.Addr
	for _, s := range []string{`job.a`, `job.load`, `job.clean["eu"]`, `job.clean["us"]`, `module.shop["eu"].job.load`, `module.shop["eu"].module.days[0].job.x`} {
		all = append(all, addr(s))
	}
	for want, near := range map[string]string{
		"job.laod":                      "job.load",
		"job.claen":                     "job.clean",
		`job.clean["ew"]`:               `job.clean["eu"]`,
		"job.z":                         "job.a",
		"job.zzzz":                      "",
		"module.shp":                    "module.shop",
		`module.shop["es"]`:             `module.shop["eu"]`,
		`module.shop["eu"].module.dais`: `module.shop["eu"].module.days`,
		`module.shpo["eu"].job.load`:    `module.shop["eu"].job.load`,
		`module.shop.module.days[0]`:    "",
		`module.something`:              "",
	} {
		if got := planner.Near(addr(want), slices.Values(all)); got != near {
			t.Errorf("near %s is %q, want %q", want, got, near)
		}
	}
}
