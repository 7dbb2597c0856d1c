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
			a.Module = "module.m.module.n"
		}
		got, err := ParseAddr(a.String())
		if err != nil || got != a {
			t.Fatalf("%s reads back as %+v, %v", a, got, err)
		}
	})
}

func TestAddrOrder(t *testing.T) {
	t.Parallel()
	want := []string{"job.a", "job.b[2]", "job.b[10]", `job.c["a"]`, `job.c["b"]`, "module.m.job.a"}
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

func TestBadAddresses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a", "job.", "job.a[", "job.a[x]", "job.a[-1]", `job.a["x]`, "module.m", "job.a b", "job.a.b"} {
		if a, err := ParseAddr(s); err == nil {
			t.Errorf("%q reads as %s", s, a)
		}
	}
}
