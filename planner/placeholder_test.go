package planner

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Texts of definitions are shown with their references as people write them, and say what of them is not known yet.
func TestTextsWithReferences(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text, planned, recorded string
	}{
		{"a result", `${job.a.result.rows}`, `(known after run)`, `job.a.result.rows`},
		{"a uuid", `${job.a.uuid}`, `(known after apply)`, `job.a.uuid`},
		{"a result in a text", `has ${job.a["eu"].result.rows} rows`, `"has ${job.a["eu"].result.rows} rows" (known after run)`, `"has ${job.a["eu"].result.rows} rows"`},
		{"a uuid in a text", `of ${job.a.uuid}`, `"of ${job.a.uuid}" (known after apply)`, `"of ${job.a.uuid}"`},
		{"both", `${job.a.uuid}/${module.m[0].job.a.result}`, `"${job.a.uuid}/${module.m[0].job.a.result}" (known after run)`, `"${job.a.uuid}/${module.m[0].job.a.result}"`},
		{"a brace in a key", `x${job.a["}"].result["a}b"]}}`, `"x${job.a["}"].result["a}b"]}}" (known after run)`, `"x${job.a["}"].result["a}b"]}}"`},
		{"quotes around", `{"n":"${job.a["k"].result.n}"}`, `"{\"n\":\"${job.a["k"].result.n}\"}" (known after run)`, `"{\"n\":\"${job.a["k"].result.n}\"}"`},
		{"a variable of a shell", `cd ${HOME} && ls "$1"`, `"cd ${HOME} && ls \"$1\""`, `"cd ${HOME} && ls \"$1\""`},
		{"a variable of a shell before", `${A} ${job.a.result.n}`, `"${A} ${job.a.result.n}" (known after run)`, `"${A} ${job.a.result.n}"`},
		{"without an end", `${job.a.result`, `"${job.a.result"`, `"${job.a.result"`},
		{"no job", `${var.a.result.b}`, `"${var.a.result.b}"`, `"${var.a.result.b}"`},
		{"a sensitive value", `(sensitive value)`, `(sensitive value)`, `(sensitive value)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff([]string{tt.planned, tt.recorded}, []string{scalar(tt.text), recorded(tt.text)}); diff != "" {
				t.Errorf("planned and recorded (-want +got):\n%s", diff)
			}
		})
	}
}
