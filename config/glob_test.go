package config

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestGlob(t *testing.T) {
	t.Parallel()
	root := fstest.MapFS{}
	for _, name := range []string{"a.csv", "b.csv", "c.txt", "d/a.csv", "d/e/a.csv", "d/e/f/b.txt", ".waybill/a.csv", "d/.hidden", "x[1].csv"} {
		root[name] = &fstest.MapFile{}
	}
	for _, row := range []struct {
		pattern string
		want    []string
	}{
		{"*.csv", []string{"a.csv", "b.csv", "x[1].csv"}},
		{"?.csv", []string{"a.csv", "b.csv"}},
		{"[ab].csv", []string{"a.csv", "b.csv"}},
		{"[^a].csv", []string{"b.csv"}},
		{`x\[1\].csv`, []string{"x[1].csv"}},
		{"{a,c}.{csv,txt}", []string{"a.csv", "c.txt"}},
		{"{a,{b,c}}.*", []string{"a.csv", "b.csv", "c.txt"}},
		{"d/*", []string{"d/.hidden", "d/a.csv"}},
		{"**/a.csv", []string{"a.csv", "d/a.csv", "d/e/a.csv"}},
		{"d/**", []string{"d/.hidden", "d/a.csv", "d/e/a.csv", "d/e/f/b.txt"}},
		{"d/**/b.txt", []string{"d/e/f/b.txt"}},
		{"**/e/**/*.txt", []string{"d/e/f/b.txt"}},
		{"./a.csv", []string{"a.csv"}},
		{"d", nil},
		{"nothing/*", nil},
	} {
		t.Run(row.pattern, func(t *testing.T) {
			t.Parallel()
			g, err := parseGlob(row.pattern)
			if err != nil {
				t.Fatal(err)
			}
			got, err := g.files(root)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(row.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	for _, pattern := range []string{"/a", "../a", "a/../../b", "{a", "a}", "[a", "{1,2,3,4,5,6,7,8,9,0}{1,2,3,4,5,6,7,8,9,0}{1,2,3,4,5,6,7,8,9,0}{1,2}"} {
		if _, err := parseGlob(pattern); err == nil {
			t.Errorf("%q is taken", pattern)
		}
	}
}
