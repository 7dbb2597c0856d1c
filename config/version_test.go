package config

import "testing"

func TestVersionConstraints(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		version, constraint string
		problem             summary
	}{
		{"0.4.2", ">= 0.1", ""},
		{"0.4.2", "0.4.2", ""},
		{"0.4.2", "= 0.4", sumUnsupportedVersion},
		{"0.4.2", "!= 0.4.2", sumUnsupportedVersion},
		{"0.4.2", "> 0.4.2", sumUnsupportedVersion},
		{"0.4.2", "<= 0.4.2, >0.4", ""},
		{"0.4.2", "< 0.4.2", sumUnsupportedVersion},
		{"0.4.2", "~> 0.4", ""},
		{"0.9.0", "~> 0.4", ""},
		{"1.0.0", "~> 0.4", sumUnsupportedVersion},
		{"0.4.2", "~> 0.4.1", ""},
		{"0.5.0", "~> 0.4.1", sumUnsupportedVersion},
		{"v1.2.3-rc1+x", ">= 1.2.3", ""},
		{"dev", ">= 99", ""},
		{"", ">= 99", ""},
		{"dev", ">= a", sumBadVersion},
		{"0.4.2", "", sumBadVersion},
		{"0.4.2", "=> 1", sumBadVersion},
		{"0.4.2", "1.2.3.4", sumBadVersion},
	} {
		t.Run(row.version+" "+row.constraint, func(t *testing.T) {
			t.Parallel()
			l := &loader{o: Options{Version: row.version}}
			l.checkVersion(row.constraint, wholeFile("x.hcl"))
			if row.problem == "" {
				if len(l.r.diags) > 0 {
					t.Error(l.r.diags)
				}
				return
			}
			if len(l.r.diags) != 1 || l.r.diags[0].Summary != string(row.problem) {
				t.Errorf("got %v, want %q", l.r.diags, row.problem)
			}
		})
	}
}
