package config

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAddrReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := Addr{Name: rapid.StringMatching(`[a-z_][a-z0-9_-]{0,5}`).Draw(t, "name")}
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 1:
			a.Key = InstanceKey{Kind: KeyString, Str: rapid.String().Draw(t, "key")}
		case 2:
			a.Key = InstanceKey{Kind: KeyInt, Int: rapid.IntRange(0, 1e9).Draw(t, "index")}
		}
		if rapid.Bool().Draw(t, "module") {
			for range rapid.IntRange(1, 3).Draw(t, "depth") {
				a.Module = inModule(a.Module, rapid.StringMatching(`[a-z_][a-z0-9_-]{0,5}`).Draw(t, "called"))
				switch rapid.IntRange(0, 2).Draw(t, "module kind") {
				case 1:
					a.Module += InstanceKey{Kind: KeyString, Str: rapid.String().Draw(t, "module key")}.String()
				case 2:
					a.Module += InstanceKey{Kind: KeyInt, Int: rapid.IntRange(0, 1e9).Draw(t, "module index")}.String()
				}
			}
		}
		got, err := ParseAddr(a.String())
		if err != nil || got != a {
			t.Fatalf("%s reads back as %+v, %v", a, got, err)
		}
		if a.Module == "" {
			return
		}
		module := Addr{Module: a.Module}
		if got, err := ParseTarget(a.Module); err != nil || got != module || got.String() != a.Module || !got.Covers(a) || got.Less(module) {
			t.Fatalf("%s reads back as %+v, %v", a.Module, got, err)
		}
	})
}

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		target string
		is, no []string
	}{
		{"job.a", []string{"job.a", "job.a[0]", `job.a["x"]`}, []string{"job.ab", "module.m.job.a"}},
		{"job.a[0]", []string{"job.a[0]"}, []string{"job.a", "job.a[1]"}},
		{"module.m", []string{"module.m.job.a", `module.m["x"].job.a[0]`, "module.m.module.n.job.a"}, []string{"job.m", "module.mm.job.a", "module.n.module.m.job.a"}},
		{`module.m["x.y"]`, []string{`module.m["x.y"].job.a`, `module.m["x.y"].module.n[0].job.a`}, []string{"module.m.job.a", `module.m["x"].job.a`, `module.m["x.y]"].job.a`}},
		{"module.m.module.n", []string{"module.m.module.n[1].job.a"}, []string{"module.m.job.a", "module.m.module.nn.job.a"}},
		{"module.m.job.a", []string{`module.m.job.a["k"]`}, []string{"job.a", "module.m[0].job.a"}},
	} {
		t.Run(row.target, func(t *testing.T) {
			t.Parallel()
			target, err := ParseTarget(row.target)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range append(row.is, row.no...) {
				addr, err := ParseAddr(s)
				if err != nil {
					t.Fatal(err)
				}
				if want := i < len(row.is); target.Covers(addr) != want {
					t.Errorf("%s: covers is not %t", s, want)
				}
			}
		})
	}
}

func TestAddrOrder(t *testing.T) {
	t.Parallel()
	want := []string{"job.a", "job.b[2]", "job.b[10]", `job.c["a"]`, `job.c["b"]`, "module.m.job.a", "module.m.job.b",
		"module.m.module.n.job.a", `module.m["a"].job.a`, `module.m["a"].job.b`, `module.m["a"].module.a.job.a`, `module.m["b"].job.a`, "module.m[2].job.a", "module.m[10].job.a", "module.m-2.job.a"}
	addrs := make([]Addr, len(want))
	for i, s := range want {
		addrs[len(want)-1-i], _ = ParseAddr(s)
	}
	slices.SortFunc(addrs, func(a, b Addr) int {
		if a.Less(b) {
			return -1
		}
		return 1
	})
	var got []string
	for _, a := range addrs {
		got = append(got, a.String())
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestMovesOfModules follows addresses through moved blocks of modules and jobs.
func TestMovesOfModules(t *testing.T) {
	t.Parallel()
	var list []Moved
	for _, pair := range [][2]string{
		{"module.a", "module.b"}, {"module.b.job.x", "module.b.job.y"}, {`module.m["k"]`, "module.single"}, {"module.one", "module.m[0]"},
		{"module.b.module.in", "module.out"}, {"job.root", `module.m["r"].job.root`}, {"module.out[1].job.z[0]", "job.z"},
	} {
		from, err := ParseTarget(pair[0])
		if err != nil {
			t.Fatal(err)
		}
		to, err := ParseTarget(pair[1])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, Moved{From: from, To: to})
	}
	moves := NewMoves(list)
	for from, want := range map[string]string{
		"module.a.job.w":                   "module.b.job.w",
		`module.a["k"].job.w[1]`:           `module.b["k"].job.w[1]`,
		`module.a.job.x["k"]`:              `module.b.job.y["k"]`,
		`module.m["k"].job.w`:              "module.single.job.w",
		`module.m["other"].job.w`:          "",
		"module.one.module.in.job.w":       "module.m[0].module.in.job.w",
		"module.one[0].job.w":              "",
		"module.a.module.in[1].job.z[0]":   "job.z",
		"module.a.module.in[1].job.z[1]":   "module.out[1].job.z[1]",
		"module.a.module.inn.job.z":        "module.b.module.inn.job.z",
		`job.root[0]`:                      `module.m["r"].job.root[0]`,
		"module.single.job.w":              "",
		`module.other.module.a.job.w["k"]`: "",
	} {
		addr, err := ParseAddr(from)
		if err != nil {
			t.Fatal(err)
		}
		to, moved := moves.Of(addr)
		if got := to.String(); moved != (want != "") || moved && got != want {
			t.Errorf("%s moves to %s, %t; want %s", from, got, moved, want)
		}
	}
}

func TestBadAddresses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a", "job.", "job.a[", "job.a[x]", "job.a[-1]", `job.a["x]`, "module.m", "job.a b", "job.a.b",
		"module.", "module..job.a", "module.m.", "module.m[0]", "module.m[x].job.a", `module.m["x].job.a`, "module.m[0]job.a", "module.m[-1].job.a", "module.m x.job.a", "module.m.n.job.a"} {
		if a, err := ParseAddr(s); err == nil {
			t.Errorf("%q reads as %s", s, a)
		}
	}
}
